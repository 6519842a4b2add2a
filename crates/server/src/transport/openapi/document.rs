//! The operations put together to one document, OpenAPI 3.1.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use bytes::Bytes;
use chorus_core::model::error::Code;
use chorus_wire::code;
use chorus_wire::error::Envelope;
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::{Draft, Operation, names};

/// Where schemas are found in the document.
const SCHEMAS: &str = "/components/schemas";

/// What any request may be refused with: by the check of `Host` and `Origin`, by the limits, and by mistakes.
const ALWAYS: [Code; 5] =
    [Code::Forbidden, Code::RateLimited, Code::Internal, Code::OutcomeUnknown, Code::Unavailable];

/// The document's text: a constant of the program, made when it is first asked for.
pub(super) fn bytes() -> Bytes {
    static BYTES: LazyLock<Bytes> = LazyLock::new(|| {
        let document = document(&crate::transport::all().operations);
        Bytes::from(serde_json::to_vec(&document).unwrap_or_default())
    });
    BYTES.clone()
}

pub(super) fn document(operations: &[Operation]) -> Value {
    let settings = || {
        SchemaSettings::draft2020_12().with(|s| {
            s.definitions_path = SCHEMAS.into();
            s.meta_schema = None;
        })
    };
    let mut asked = settings().for_deserialize().into_generator();
    let mut answered = settings().for_serialize().into_generator();
    answered.subschema_for::<Envelope>();
    let mut paths: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
    let mut bodies = Vec::new();
    let mut refusals = Map::new();
    for operation in operations {
        let mut told = describe(operation, &mut asked, &mut answered, &mut refusals);
        if let Some(body) = told.as_object_mut().and_then(|o| o.remove("requestBody")) {
            bodies.push((operation, body));
        }
        paths.entry(operation.path).or_default().insert(operation.method.to_owned(), told);
    }
    let (schemas, renamed) = merged(asked.take_definitions(true), answered.take_definitions(true));
    for (operation, body) in bodies {
        let body = with_names(&body, &renamed);
        if let Some(told) = paths.get_mut(operation.path).and_then(|p| p.get_mut(operation.method))
        {
            told["requestBody"] = body;
        }
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Chorus",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "A room for people and agents. Every refusal has the one envelope, with a code of docs/errors.md.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "responses": refusals,
            "securitySchemes": {"bearer": {
                "type": "http",
                "scheme": "bearer",
                "bearerFormat": "JWT",
                "description": "A token of `chorus token issue`, or a turn's token within its turn.",
            }},
        },
    })
}

/// One operation, as OpenAPI writes it.
fn describe(
    operation: &Operation,
    asked: &mut SchemaGenerator,
    answered: &mut SchemaGenerator,
    refusals: &mut Map<String, Value>,
) -> Value {
    let draft = drafted(operation, asked, answered);
    let examples = examples(operation);
    let mut answers = Map::new();
    for (status, media, schema) in &draft.answers {
        let answer = answers
            .entry(status.to_string())
            .or_insert_with(|| json!({"description": reason(*status)}));
        if let Some(schema) = schema {
            let mut content = json!({"schema": schema});
            if *media == "application/json" && !examples["answer"].is_null() {
                content["example"] = examples["answer"].clone();
            }
            answer["content"][*media] = content;
        }
    }
    let codes: BTreeSet<&str> = draft.codes.iter().map(|c| code::name(*c)).collect();
    let mut statuses: BTreeMap<u16, Vec<&str>> = BTreeMap::new();
    for name in codes {
        if let Some(code) = code::from_name(name) {
            statuses.entry(code::status(code)).or_default().push(name);
        }
    }
    for (status, names) in statuses {
        let name = names.join(".");
        answers
            .insert(status.to_string(), json!({"$ref": format!("#/components/responses/{name}")}));
        refusals.entry(name).or_insert_with(|| refusal(status, &names));
    }
    let mut parameters = Vec::new();
    for name in names::of(operation.path) {
        let (about, example) = names::meaning(operation, name).unwrap_or_default();
        parameters.push(json!({
            "name": name,
            "in": "path",
            "required": true,
            "description": about,
            "schema": names::schema(name, draft.asked),
            "example": example,
        }));
    }
    for mut parameter in draft.query {
        let example = &examples["query"][parameter["name"].as_str().unwrap_or_default()];
        if !example.is_null() {
            parameter["example"] = example.clone();
        }
        parameters.push(parameter);
    }
    let tools: Vec<&str> = operation.doc.same.iter().map(|like| like.tool.name).collect();
    let security = if draft.needs_token { json!([{"bearer": []}]) } else { json!([]) };
    let mut told = json!({
        "operationId": operation.doc.id,
        "summary": operation.doc.summary,
        "tags": [operation.tag],
        "security": security,
        "responses": answers,
        "x-tools": tools,
    });
    if !parameters.is_empty() {
        told["parameters"] = parameters.into();
    }
    if let Some(schema) = draft.body {
        let mut content = json!({"schema": schema});
        if !examples["body"].is_null() {
            content["example"] = examples["body"].clone();
        }
        // What is no JSON says what it is.
        let media = schema["contentMediaType"].as_str().unwrap_or("application/json").to_owned();
        let name = schema["$ref"].as_str().and_then(|r| r.strip_prefix(&format!("#{SCHEMAS}/")));
        let schema = name.and_then(|name| draft.asked.definitions().get(name)).unwrap_or(&schema);
        // No body reads as an empty object.
        let required = schema["required"].as_array().is_some_and(|r| !r.is_empty());
        told["requestBody"] = json!({"required": required, "content": {media: content}});
    }
    told
}

/// What the handler's type and the route's `Doc` say.
pub(super) fn drafted<'a>(
    operation: &Operation,
    asked: &'a mut SchemaGenerator,
    answered: &'a mut SchemaGenerator,
) -> Draft<'a> {
    let mut draft = Draft {
        asked,
        answered,
        needs_token: false,
        query: Vec::new(),
        body: None,
        answers: Vec::new(),
        codes: ALWAYS.to_vec(),
        #[cfg(test)]
        body_check: None,
        #[cfg(test)]
        answer_check: None,
    };
    (operation.describe)(&mut draft);
    for more in &operation.doc.more {
        more(&mut draft);
    }
    draft.codes.extend(operation.doc.codes);
    if !operation.doc.same.is_empty() {
        draft.codes.push(Code::ApprovalRequired);
    }
    draft
}

/// The examples of one operation; null where it has none, which a test refuses.
pub(super) fn examples(operation: &Operation) -> Value {
    let all: Value = serde_json::from_str(operation.examples).unwrap_or_default();
    all[operation.doc.id].clone()
}

/// The refusals that share a status: the envelope with one of these codes.
fn refusal(status: u16, names: &[&str]) -> Value {
    let envelope = json!({"$ref": format!("#{SCHEMAS}/Envelope")});
    let mut examples = Map::new();
    for name in names {
        let value = json!({"error": {
            "code": name,
            "message": "a sentence that says what to do next",
            "request_id": "req_0192f0c1a2b37c4d8e5f60718293a4b5",
        }});
        examples.insert((*name).to_owned(), json!({"value": value}));
    }
    let codes = json!({"properties": {"error": {"properties": {"code": {"enum": names}}}}});
    let mut answer = json!({
        "description": format!("Refused: {}.", names.join(", ")),
        "content": {"application/json": {
            "schema": {"allOf": [envelope, codes]},
            "examples": examples,
        }},
    });
    if status == 429 {
        answer["headers"]["Retry-After"] = json!({
            "description": "Seconds after which the request may succeed; absent where time does not help.",
            "schema": {"type": "integer", "minimum": 1},
        });
    }
    answer
}

fn reason(status: u16) -> &'static str {
    match status {
        101 => "The connection is a WebSocket now.",
        201 => "Made.",
        202 => "Taken.",
        204 => "Done; there is no body.",
        503 => "Not now.",
        _ => "The answer.",
    }
}

/// All schemas under one roof. A type that is read another way than it is written has two; the one that is
/// read has `Asked` after its name. Gives the new names too.
fn merged(
    asked: Map<String, Value>,
    answered: Map<String, Value>,
) -> (Map<String, Value>, BTreeSet<String>) {
    let mut renamed: BTreeSet<String> = asked
        .iter()
        .filter(|(name, schema)| answered.get(*name).is_some_and(|other| other != *schema))
        .map(|(name, _)| name.clone())
        .collect();
    // What refers to one with two forms has two forms itself.
    loop {
        let refers = |schema: &Value| {
            let text = schema.to_string();
            renamed.iter().any(|name| text.contains(&format!("\"#{SCHEMAS}/{name}\"")))
        };
        let more: Vec<String> = asked
            .iter()
            .filter(|(name, schema)| {
                answered.contains_key(*name) && !renamed.contains(*name) && refers(schema)
            })
            .map(|(name, _)| name.clone())
            .collect();
        if more.is_empty() {
            break;
        }
        renamed.extend(more);
    }
    let mut schemas = answered;
    for (name, schema) in asked {
        let schema = with_names(&schema, &renamed);
        let name = if renamed.contains(&name) { format!("{name}Asked") } else { name };
        schemas.insert(name, schema);
    }
    (schemas, renamed)
}

/// The schema with its references to `renamed` types set right.
fn with_names(schema: &Value, renamed: &BTreeSet<String>) -> Value {
    match schema {
        Value::Object(object) => object
            .iter()
            .map(|(key, value)| {
                let target = value.as_str().and_then(|v| v.strip_prefix(&format!("#{SCHEMAS}/")));
                let value = match target {
                    Some(name) if key == "$ref" && renamed.contains(name) => {
                        json!(format!("#{SCHEMAS}/{name}Asked"))
                    }
                    _ => with_names(value, renamed),
                };
                (key.clone(), value)
            })
            .collect::<Map<_, _>>()
            .into(),
        Value::Array(list) => list.iter().map(|v| with_names(v, renamed)).collect(),
        other => other.clone(),
    }
}
