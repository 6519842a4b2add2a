//! What a job's input and output must fit: the schemas that agents register (registry spec section 3.1).
//!
//! A schema is a stranger's, and is used on data of another stranger. So it is bounded before it is used: no
//! `$ref` leaves it, none leads back to itself, and what it says when everything is written out, times the data it
//! is used on, is work that ends. Patterns are matched by an engine without backtracking.
//!
//! It is a crate of its own because the library is generic, and would be compiled anew, at full optimisation, in the server.

use std::collections::BTreeSet;

use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::limits::SCHEMA_BYTES;
use chorus_wire::canonical::canonical_json;
use jsonschema::PatternOptions;
use serde_json::{Map, Value, json};

/// Parts of a schema when every reference is written out: more than anybody writes by hand.
const PARTS: usize = 2_000;
/// A pattern counts as so many parts: compiling it takes as long.
const PATTERN: usize = 20;
/// Parts of all the schemas that are registered at once: about a tenth of a second of work.
const PARTS_AT_ONCE: usize = 10_000;
/// Parts of the schema times bytes of the data: about a second of work.
const WORK: usize = 50_000_000;
/// Memory of one compiled pattern in bytes.
const PATTERN_BYTES: usize = 1 << 20;
/// Mistakes that are told at once.
const MISTAKES: usize = 5;

/// Words that only a JSON Schema has. An object without any of them gives each field the name of its type, if it can be
/// read like that.
const KEYWORDS: [&str; 18] = [
    "$schema",
    "$ref",
    "$defs",
    "$comment",
    "$id",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "enum",
    "const",
    "properties",
    "items",
    "required",
    "additionalProperties",
    "patternProperties",
    "prefixItems",
];

/// Words of a JSON Schema that may be names of fields too.
const MORE_KEYWORDS: [&str; 25] = [
    "additionalItems",
    "contains",
    "default",
    "definitions",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "description",
    "examples",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "pattern",
    "propertyNames",
    "title",
    "uniqueItems",
];

const TYPES: [&str; 7] = ["object", "array", "string", "number", "integer", "boolean", "null"];

/// Checks the schemas that are registered at once, which are bounded together.
#[derive(Default)]
pub struct Checker {
    parts: usize,
}

impl Checker {
    /// The canonical form of a schema that can be used; `what` is said in the refusal.
    pub fn checked(&mut self, json: &str, what: &str) -> Result<String, Refusal> {
        let canonical = canonical_json(json, SCHEMA_BYTES).map_err(|refusal| Refusal {
            message: format!("{what}: {}", refusal.message),
            ..refusal
        })?;
        let invalid = |why: String| Refusal::invalid(format!("{what}: {why}"));
        let schema = read(&canonical).map_err(invalid)?;
        self.parts += parts(&schema).map_err(invalid)?;
        if self.parts > PARTS_AT_ONCE {
            let why = format!(
                "the schemas have more than {PARTS_AT_ONCE} parts together, of which a pattern is {PATTERN}"
            );
            return Err(invalid(why));
        }
        compile(&schema).map_err(invalid)?;
        Ok(canonical)
    }
}

/// Refuses data that does not fit a schema that was [checked](Checker).
pub fn must_fit(schema: &str, data: &str, what: &str) -> Result<(), Refusal> {
    let unusable =
        |why: String| Refusal::new(Code::Conflict, format!("the schema of {what}: {why}"));
    let schema = read(schema).map_err(unusable)?;
    let parts = parts(&schema).map_err(unusable)?;
    if parts.saturating_mul(data.len()) > WORK {
        let why = format!("{what} is too long for a schema as large as this one");
        return Err(Refusal::new(Code::PayloadTooLarge, why));
    }
    let validator = compile(&schema).map_err(unusable)?;
    let data: Value = serde_json::from_str(data)
        .map_err(|e| Refusal::invalid(format!("{what} is no JSON: {e}")))?;
    let mistakes = validator.iter_errors(&data).take(MISTAKES).map(|error| {
        let at = error.instance_path().to_string();
        let at = if at.is_empty() { what.to_owned() } else { format!("{what}{at}") };
        // What is wrong may be anything and long.
        let said: String = error.to_string().chars().take(200).collect();
        format!("{at}: {said}")
    });
    let mistakes: Vec<_> = mistakes.collect();
    match mistakes.is_empty() {
        true => Ok(()),
        false => Err(Refusal::invalid(format!(
            "{what} does not fit the skill's schema: {}",
            mistakes.join("; ")
        ))),
    }
}

/// A schema in full: the short form is written out.
fn read(json: &str) -> Result<Value, String> {
    let schema: Value = serde_json::from_str(json).map_err(|e| format!("no JSON: {e}"))?;
    match &schema {
        Value::Bool(_) => Ok(schema),
        Value::Object(fields) if is_short(fields) => match short(fields) {
            Err(_) if fields.keys().any(|name| MORE_KEYWORDS.contains(&name.as_str())) => {
                Ok(schema)
            }
            read => read,
        },
        Value::Object(_) => Ok(schema),
        _ => Err("a schema is an object: a JSON Schema, or fields with the names of their types"
            .to_owned()),
    }
}

fn is_short(fields: &Map<String, Value>) -> bool {
    let is_type = |value: &Value| match value {
        Value::String(name) => TYPES.contains(&name.as_str()),
        Value::Array(_) => true,
        _ => false,
    };
    let full = fields.keys().any(|name| KEYWORDS.contains(&name.as_str()));
    // `{"type": "string"}` says what a value is; `{"type": "list"}` is a field of that name.
    !fields.is_empty() && !full && !fields.get("type").is_some_and(is_type)
}

/// `{"text": "string"}` and `{"entities": "list"}`, as the spec writes them: every field is required.
fn short(fields: &Map<String, Value>) -> Result<Value, String> {
    let mut properties = Map::new();
    for (name, of) in fields {
        let of = match of {
            Value::String(of) => named(of).ok_or_else(|| {
                let of: String = of.chars().take(40).collect();
                format!(
                    "the field {name:?} has the type {of:?}; known are string, number, integer, boolean, list, \
                     object, null and any"
                )
            })?,
            Value::Object(inner) => short(inner)?,
            _ => return Err(format!("the field {name:?} has no type")),
        };
        properties.insert(name.clone(), of);
    }
    let required: Vec<_> = fields.keys().collect();
    Ok(json!({"type": "object", "properties": properties, "required": required}))
}

fn named(name: &str) -> Option<Value> {
    let known = match name {
        "string" | "str" | "text" => "string",
        "number" | "float" => "number",
        "integer" | "int" => "integer",
        "boolean" | "bool" => "boolean",
        "list" | "array" => "array",
        "object" | "dict" | "map" => "object",
        "null" => "null",
        "any" => return Some(json!({})),
        _ => return None,
    };
    Some(json!({"type": known}))
}

fn compile(schema: &Value) -> Result<jsonschema::Validator, String> {
    let patterns = PatternOptions::regex().size_limit(PATTERN_BYTES);
    let options = jsonschema::options().with_pattern_options(patterns);
    options.build(schema).map_err(|error| {
        let said: String = error.to_string().chars().take(200).collect();
        format!("not a usable JSON Schema: {said}")
    })
}

/// How many parts a schema has when every reference is written out.
fn parts(schema: &Value) -> Result<usize, String> {
    let mut count = 0;
    let mut open = BTreeSet::new();
    count_parts(schema, schema, &mut open, &mut count)?;
    Ok(count)
}

fn count_parts<'a>(
    root: &'a Value,
    part: &'a Value,
    open: &mut BTreeSet<&'a str>,
    count: &mut usize,
) -> Result<(), String> {
    *count += 1;
    if *count > PARTS {
        return Err(format!(
            "it has more than {PARTS} parts, of which a pattern is {PATTERN}, when its references are written out"
        ));
    }
    match part {
        Value::Object(fields) => {
            for (name, value) in fields {
                *count += match (name.as_str(), value) {
                    ("pattern", Value::String(_)) => PATTERN,
                    ("patternProperties", Value::Object(patterns)) => PATTERN * patterns.len(),
                    _ => 0,
                };
                match (name.as_str(), value) {
                    ("$ref", Value::String(to)) => follow(root, to, open, count)?,
                    (
                        "$dynamicRef" | "$recursiveRef" | "$id" | "id" | "$anchor"
                        | "$dynamicAnchor",
                        Value::String(_),
                    ) if name.starts_with('$') => {
                        return Err(format!(
                            "{name} is not supported; refer to a part by \"#/$defs/…\""
                        ));
                    }
                    _ => count_parts(root, value, open, count)?,
                }
            }
            Ok(())
        }
        Value::Array(items) => items.iter().try_for_each(|i| count_parts(root, i, open, count)),
        _ => Ok(()),
    }
}

fn follow<'a>(
    root: &'a Value,
    to: &'a str,
    open: &mut BTreeSet<&'a str>,
    count: &mut usize,
) -> Result<(), String> {
    let shown: String = to.chars().take(80).collect();
    let Some(pointer) = to.strip_prefix('#') else {
        return Err(format!("{shown:?} is elsewhere, and nothing is fetched; put it into $defs"));
    };
    let target = root.pointer(pointer).ok_or_else(|| format!("{shown:?} leads nowhere"))?;
    if !open.insert(to) {
        return Err(format!("{shown:?} leads back to itself, which is not supported"));
    }
    count_parts(root, target, open, count)?;
    open.remove(to);
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[track_caller]
    fn fits(schema: &str, data: &str) -> bool {
        let schema = Checker::default().checked(schema, "input_schema").unwrap();
        must_fit(&schema, data, "input_data").is_ok()
    }

    // covers: REG-12
    #[test]
    fn a_schema_is_a_json_schema_or_names_the_types_of_its_fields() {
        for (schema, data, good) in [
            (r#"{"text": "string"}"#, r#"{"text": "hello"}"#, true),
            (r#"{"text": "string"}"#, r#"{"text": 1}"#, false),
            (r#"{"text": "string"}"#, r#"{}"#, false),
            (r#"{"text": "string"}"#, r#"{"text": "a", "more": 1}"#, true),
            (r#"{"entities": "list"}"#, r#"{"entities": [{"type": "revenue"}]}"#, true),
            (r#"{"entities": "list"}"#, r#"{"entities": {}}"#, false),
            (r#"{"a": {"b": "int"}}"#, r#"{"a": {"b": 1}}"#, true),
            (r#"{"a": {"b": "int"}}"#, r#"{"a": {"b": "1"}}"#, false),
            (r#"{"type": "list"}"#, r#"{"type": []}"#, true),
            ("{}", r#"{"anything": 1}"#, true),
            (r#"{"type": "object", "required": ["x"]}"#, r#"{"x": 1}"#, true),
            (r#"{"type": "object", "required": ["x"]}"#, r#"{}"#, false),
            (r##"{"$ref": "#/$defs/n", "$defs": {"n": {"minimum": 2}}}"##, "1", false),
            (r#"{"minLength": 5}"#, r#""four""#, false),
            (r#"{"minLength": 5}"#, r#""fifty""#, true),
            (r#"{"pattern": "^a"}"#, r#""ba""#, false),
            (r#"{"dependentRequired": {"a": ["b"]}}"#, r#"{"a": 1}"#, false),
            (r#"{"propertyNames": {"pattern": "^a"}}"#, r#"{"b": 1}"#, false),
            (r#"{"title": "string", "pattern": "string"}"#, r#"{"title": "a"}"#, false),
            (
                r#"{"title": "string", "pattern": "string"}"#,
                r#"{"title": "a", "pattern": "b"}"#,
                true,
            ),
        ] {
            assert_eq!(fits(schema, data), good, "{schema} {data}");
        }
    }

    // covers: REG-13
    #[test]
    fn a_schema_that_could_do_harm_is_refused() {
        let deep = format!("{}{}{}", r#"{"not":"#.repeat(40), "{}", "}".repeat(40));
        let many: Vec<_> = (0..2_100).map(|n| format!(r#""f{n}": "string""#)).collect();
        let doubling: Vec<_> = (0..30)
            .map(|n| format!(r##""d{n}": {{"allOf": [{{"$ref": "#/$defs/d{}"}}, {{"$ref": "#/$defs/d{}"}}]}}"##, n + 1, n + 1))
            .collect();
        let doubling = format!(
            r##"{{"$ref": "#/$defs/d0", "$defs": {{{}, "d30": {{}}}}}}"##,
            doubling.join(",")
        );
        for bad in [
            "[]",
            "7",
            r#"{"a": "strin"}"#,
            r#"{"a": 7}"#,
            r#"{"type": "object", "properties": {"a": {"type": "strin"}}}"#,
            r#"{"$ref": "https://example.com/schema.json"}"#,
            r#"{"$ref": "file:///etc/passwd"}"#,
            r##"{"$ref": "#"}"##,
            r##"{"$ref": "#/$defs/nobody"}"##,
            r##"{"$ref": "#/$defs/a", "$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}]}}}"##,
            r#"{"properties": {"a": {"$id": "https://example.com/"}}}"#,
            r##"{"properties": {"a": {"$dynamicRef": "#a"}}}"##,
            r#"{"properties": {"a": {"pattern": "("}}}"#,
            r#"{"properties": {"a": {"pattern": "((a{1000}){1000}){1000}"}}}"#,
            &deep,
            &format!("{{{}}}", many.join(",")),
            &doubling,
            &format!(r#"{{"a": "{}"}}"#, "x".repeat(200_000)),
        ] {
            let shown: String = bad.chars().take(80).collect();
            assert!(Checker::default().checked(bad, "input_schema").is_err(), "{shown}");
        }
        let heavy: Vec<_> =
            (0..120).map(|n| format!(r#"{{"pattern": "a{{1,900}}{n}"}}"#)).collect();
        let heavy = format!(r#"{{"anyOf": [{}]}}"#, heavy.join(","));
        assert!(Checker::default().checked(&heavy, "input_schema").is_err());
        // Each of them is light, and all of them are not.
        let light: Vec<_> = (0..60).map(|n| format!(r#"{{"pattern": "a{n}"}}"#)).collect();
        let light = format!(r#"{{"anyOf": [{}]}}"#, light.join(","));
        let mut checker = Checker::default();
        let taken =
            (0..128).take_while(|_| checker.checked(&light, "input_schema").is_ok()).count();
        assert_eq!(taken, 7);
        let evil = r#"{"properties": {"a": {"pattern": "^(a+)+$"}}}"#;
        let long = format!(r#"{{"a": "{}!"}}"#, "a".repeat(50_000));
        assert!(!fits(evil, &long), "it is matched without backtracking");
    }
}
