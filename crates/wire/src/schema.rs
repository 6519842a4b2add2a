//! JSON Schemas for the descriptors of tools, derived from the types of their arguments and
//! results, in the subset of JSON Schema that model APIs understand.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

/// The schema of a tool's arguments.
pub(crate) fn arguments<T: JsonSchema>() -> Value {
    schema::<T>(settings().for_deserialize().into_generator())
}

/// The schema of a tool's result. Nothing is required at the top, because a refusal's envelope must
/// satisfy the schema too.
pub(crate) fn result<T: JsonSchema>() -> Value {
    let mut schema = schema::<T>(settings().for_serialize().into_generator());
    if let Some(object) = schema.as_object_mut() {
        object.remove("required");
    }
    schema
}

fn settings() -> SchemaSettings {
    SchemaSettings::draft2020_12().with(|s| {
        s.meta_schema = None;
        s.inline_subschemas = true;
    })
}

fn schema<T: JsonSchema>(generator: SchemaGenerator) -> Value {
    let mut schema = generator.into_root_schema_for::<T>().to_value();
    if let Some(object) = schema.as_object_mut() {
        object.remove("title");
        // The type's comment is for readers of the code; the tool has a description of its own.
        object.remove("description");
    }
    plain(&mut schema);
    schema
}

/// Removes what some model APIs and clients reject: `null` as a type, `true` as the schema of a
/// field, Rust's integer formats, and defaults that only say that a field may be absent.
fn plain(schema: &mut Value) {
    if let Some(object) = schema.as_object_mut() {
        without_null(object);
        if let Some(Value::Object(fields)) = object.get_mut("properties") {
            for field in fields.values_mut().filter(|field| **field == Value::Bool(true)) {
                *field = json!({});
            }
        }
        if object.get("format").and_then(Value::as_str).is_some_and(|f| f.starts_with("uint")) {
            object.remove("format");
        }
        if object.get("default").is_some_and(|d| d.is_null() || *d == json!([])) {
            object.remove("default");
        }
        object.values_mut().for_each(plain);
    } else if let Some(list) = schema.as_array_mut() {
        list.iter_mut().for_each(plain);
    }
}

fn without_null(object: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|t| t != "null");
        if let [one] = types.as_slice() {
            let one = one.clone();
            object.insert("type".to_owned(), one);
        }
    }
    if let Some(Value::Array(some)) = object.get_mut("anyOf") {
        some.retain(|s| s["type"] != "null");
        if let [Value::Object(one)] = some.as_slice() {
            let mut one = one.clone();
            object.remove("anyOf");
            one.extend(std::mem::take(object));
            *object = one;
        }
    }
    if let Some(Value::Array(words)) = object.get_mut("enum") {
        words.retain(|w| !w.is_null());
    }
}
