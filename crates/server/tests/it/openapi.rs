//! The OpenAPI document, against the published one (`docs/openapi.json`): it may grow, and nothing in
//! it may go or change. The published one has an operation or a type a line, and is renewed with
//! `CHORUS_RENEW_OPENAPI=1 cargo nextest run -p chorus-server openapi`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use reqwest::Method;
use serde_json::Value;

use crate::house::House;

const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// What a client that was made from `old` would miss in `new`, in words.
fn breaks(old: &Value, new: &Value) -> Vec<String> {
    let mut found = Vec::new();
    for (path, methods) in object(&old["paths"]) {
        for method in METHODS.iter().filter(|m| methods.get(**m).is_some()) {
            let what = format!("{} {path}", method.to_uppercase());
            let (was, is) = (&methods[*method], &new["paths"][path][*method]);
            match is.is_null() {
                true => found.push(format!("route {what} was removed")),
                false => operation(&what, was, is, &mut found),
            }
        }
    }
    let asked = asked(old);
    for (name, was) in object(&old["components"]["schemas"]) {
        let is = &new["components"]["schemas"][name];
        match is.is_null() {
            true => found.push(format!("type {name} was removed")),
            false => schema(name, was, is, asked.contains(name), &mut found),
        }
    }
    found
}

/// The types that stand in bodies of requests, directly or within another.
fn asked(document: &Value) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut stack: Vec<&Value> = object(&document["paths"])
        .flat_map(|(_, methods)| object(methods))
        .map(|(_, operation)| &operation["requestBody"])
        .collect();
    while let Some(value) = stack.pop() {
        if let Some(name) = value["$ref"].as_str().and_then(|r| r.rsplit('/').next())
            && names.insert(name.to_owned())
        {
            stack.push(&document["components"]["schemas"][name]);
        }
        match value {
            Value::Object(object) => stack.extend(object.values()),
            Value::Array(list) => stack.extend(list),
            _ => {}
        }
    }
    names
}

fn operation(what: &str, was: &Value, is: &Value, found: &mut Vec<String>) {
    if was["operationId"] != is["operationId"] {
        found.push(format!(
            "{what} is called {} now, was {}",
            is["operationId"], was["operationId"]
        ));
    }
    let named = |of: &Value, like: &Value| {
        let same = |p: &&Value| p["name"] == like["name"] && p["in"] == like["in"];
        of["parameters"].as_array().into_iter().flatten().find(same).cloned()
    };
    for old in was["parameters"].as_array().into_iter().flatten() {
        let name = old["name"].as_str().unwrap();
        match named(is, old) {
            None => found.push(format!("parameter {name} of {what} was removed")),
            Some(new) => {
                schema(
                    &format!("parameter {name} of {what}"),
                    &old["schema"],
                    &new["schema"],
                    true,
                    found,
                );
                if new["required"] == true && old["required"] != true {
                    found.push(format!("parameter {name} of {what} is required now"));
                }
            }
        }
    }
    for new in is["parameters"].as_array().into_iter().flatten() {
        if new["required"] == true && named(was, new).is_none() {
            found.push(format!("{what} requires a new parameter {}", new["name"]));
        }
    }
    if is["requestBody"]["required"] == true && was["requestBody"]["required"] != true {
        found.push(format!("{what} requires a body now"));
    }
    let body = |of: &Value| of["requestBody"]["content"]["application/json"]["schema"].clone();
    if !body(was).is_null() {
        schema(&format!("the body of {what}"), &body(was), &body(is), true, found);
    }
    for (status, old) in object(&was["responses"]).filter(|(status, _)| status.starts_with('2')) {
        let new = &is["responses"][status];
        if new.is_null() {
            found.push(format!("{what} answers {status} no longer"));
        }
        for (media, old) in object(&old["content"]) {
            let new = &new["content"][media]["schema"];
            match new.is_null() {
                true => found.push(format!("{what} answers no {media} any more")),
                false => {
                    schema(&format!("the answer of {what}"), &old["schema"], new, false, found)
                }
            }
        }
    }
}

/// `asked`: it is read by the host, so that it must not require more; else it must not promise less.
fn schema(what: &str, was: &Value, is: &Value, asked: bool, found: &mut Vec<String>) {
    let (old, new) = (words(was), words(is));
    for gone in old.difference(&new) {
        found.push(format!("the word {gone} of {what} was removed"));
    }
    // A list of words is written in several ways, and none is another type.
    if old.is_empty() {
        forms(what, was, is, asked, found);
    }
    for (name, old) in object(&was["properties"]) {
        let new = &is["properties"][name];
        match new.is_null() {
            true => found.push(format!("field {name} of {what} was removed")),
            false => schema(&format!("field {name} of {what}"), old, new, asked, found),
        }
    }
    let required = |of: &Value| -> BTreeSet<String> {
        let names = of["required"].as_array().into_iter().flatten();
        names.map(|n| n.as_str().unwrap().to_owned()).collect()
    };
    let (old, new) = (required(was), required(is));
    if asked {
        for name in new.difference(&old) {
            found.push(format!("field {name} of {what} is required now"));
        }
    } else {
        for name in old.difference(&new) {
            found.push(format!("field {name} of {what} is not always there any more"));
        }
    }
}

/// The words that a value can be, if it is one of some.
fn words(of: &Value) -> BTreeSet<String> {
    let one = of.get("const").into_iter();
    let here = of["enum"].as_array().into_iter().flatten().chain(one).map(Value::to_string);
    let within = of["oneOf"].as_array().into_iter().flatten().flat_map(words);
    here.chain(within).collect()
}

fn forms(what: &str, was: &Value, is: &Value, asked: bool, found: &mut Vec<String>) {
    for key in ["$ref", "type", "format", "items"] {
        if key == "items" && was[key].is_object() {
            schema(&format!("the items of {what}"), &was[key], &is[key], asked, found);
        } else if was[key] != is[key] {
            found.push(format!("{what} has {key} {} now, was {}", is[key], was[key]));
        }
    }
    for key in ["anyOf", "oneOf", "allOf"] {
        let shapes = |of: &Value| -> Vec<Value> {
            of[key].as_array().into_iter().flatten().map(shape).collect()
        };
        let now = shapes(is);
        for one in shapes(was).iter().filter(|one| !now.contains(one)) {
            found.push(format!("{what} was changed in one of its forms ({key}): {one}"));
        }
    }
}

/// A schema without its descriptions, which may change.
fn shape(of: &Value) -> Value {
    match of {
        // A property may be called description; its schema is an object.
        Value::Object(fields) => {
            let kept =
                |(key, value): &(&String, &Value)| *key != "description" || !value.is_string();
            fields.iter().filter(kept).map(|(key, value)| (key.clone(), shape(value))).collect()
        }
        Value::Array(values) => values.iter().map(shape).collect(),
        other => other.clone(),
    }
}

fn object(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

fn published() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/openapi.json")
}

/// The document as it was agreed.
fn agreed() -> Option<Value> {
    let text = std::fs::read_to_string(published()).ok()?;
    Some(serde_json::from_str(&text).expect("docs/openapi.json is JSON"))
}

/// The document as it is published: an operation, a type or an answer a line.
fn laid_out(document: &Value) -> String {
    let mut text = String::new();
    entries(document, 0, &mut text);
    text.push('\n');
    text
}

/// The entries of an object, one a line; `depth` says how many objects it stands in.
fn entries(of: &Value, depth: usize, text: &mut String) {
    for (at, (name, value)) in object(of).enumerate() {
        let before = if at == 0 { "{" } else { "," };
        let _ = write!(text, "{before}\n{}:", Value::from(name.as_str()));
        let opens = match depth {
            0 => ["paths", "components"].contains(&name.as_str()),
            depth => depth == 1 && object(value).next().is_some(),
        };
        match opens {
            true => entries(value, depth + 1, text),
            false => text.push_str(&value.to_string()),
        }
    }
    text.push_str("\n}");
}

// covers: OPS-92
#[tokio::test]
async fn the_document_keeps_what_was_agreed() {
    let house = House::open().await;
    let shown = House::answer(house.request(Method::GET, "/v1/openapi.json")).await;
    assert_eq!(shown.status, 200);
    let shown = shown.body;
    if let Some(agreed) = agreed() {
        let broken = breaks(&agreed, &shown);
        assert!(broken.is_empty(), "clients would break:\n  {}", broken.join("\n  "));
    }
    let text = laid_out(&shown);
    if std::env::var_os("CHORUS_RENEW_OPENAPI").is_some() {
        std::fs::write(published(), &text).unwrap();
    }
    let known = std::fs::read_to_string(published()).unwrap_or_default();
    let changed: Vec<&str> =
        text.lines().filter(|line| !known.lines().any(|l| l == *line)).collect();
    assert!(
        known == text,
        "docs/openapi.json is stale; renew it with CHORUS_RENEW_OPENAPI=1. New lines:\n{}",
        changed.join("\n")
    );
}

#[test]
fn the_document_is_laid_out_in_lines_and_says_the_same() {
    let agreed = agreed().expect("docs/openapi.json");
    let text = laid_out(&agreed);
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), agreed);
    let operations = object(&agreed["paths"]).flat_map(|(_, methods)| object(methods)).count();
    let schemas = object(&agreed["components"]["schemas"]).count();
    let line_of = |start: &str| text.lines().filter(|line| line.starts_with(start)).count();
    assert!(text.lines().count() > operations + schemas);
    assert_eq!(line_of("\"Posted\":{"), 1);
}

/// Removes or changes one thing, and reads what is said of it.
#[track_caller]
fn check(change: impl FnOnce(&mut Value), said: &str) {
    let old = agreed().expect("docs/openapi.json");
    let mut new = old.clone();
    change(&mut new);
    assert_ne!(old, new, "nothing was changed");
    let found = breaks(&old, &new);
    assert!(found.iter().any(|f| f == said), "{found:#?}");
}

fn remove(from: &mut Value, key: &str) {
    from.as_object_mut().unwrap().remove(key).unwrap();
}

// covers: OPS-92
#[test]
fn what_would_break_clients_is_named() {
    let old = agreed().expect("docs/openapi.json");
    assert!(breaks(&old, &old).is_empty());
    check(
        |d| remove(&mut d["components"]["schemas"]["Posted"]["properties"], "seq"),
        "field seq of Posted was removed",
    );
    check(
        |d| d["components"]["schemas"]["Posted"]["properties"]["seq"]["type"] = "string".into(),
        "field seq of Posted has type \"string\" now, was \"integer\"",
    );
    check(|d| remove(&mut d["paths"], "/v1/whoami"), "route GET /v1/whoami was removed");
    check(
        |d| remove(&mut d["paths"]["/v1/messages"], "post"),
        "route POST /v1/messages was removed",
    );
    check(
        |d| {
            let parameters = d["paths"]["/v1/messages"]["get"]["parameters"].as_array_mut();
            parameters.unwrap().retain(|p| p["name"] != "limit");
        },
        "parameter limit of GET /v1/messages was removed",
    );
    check(
        |d| d["components"]["schemas"]["NewClaim"]["required"] = serde_json::json!(["event", "x"]),
        "field x of NewClaim is required now",
    );
    check(|d| remove(&mut d["components"]["schemas"], "Whoami"), "type Whoami was removed");
    // What is new breaks nobody.
    let mut new = old.clone();
    new["paths"]["/v1/new"] = old["paths"]["/v1/whoami"].clone();
    new["components"]["schemas"]["Posted"]["properties"]["more"] = serde_json::json!({});
    assert!(breaks(&old, &new).is_empty());
}
