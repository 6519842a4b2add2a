//! The tools: their descriptors agree with the types that read their arguments.

use std::collections::BTreeSet;

use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::Timestamp;
use chorus_wire::attention::content::TurnGrant;
use chorus_wire::attention::tools::{CallResult, Claimed};
use chorus_wire::error::ErrorBody;
use chorus_wire::tool::{Names, Reach};
use chorus_wire::tool_list::{self, list_tools};
use serde_json::value::RawValue;
use serde_json::{Value, json};

// covers: ATT-76, THR-31
#[test]
fn the_tools_may_grow_but_never_change() {
    let list = list_tools(Names::Dotted);
    let path =
        concat!(env!("CARGO_MANIFEST_DIR"), "/tests/wire/snapshots/wire__tools__the_list.snap");
    let snapshot = std::fs::read_to_string(path).unwrap();
    let agreed: Value = serde_json::from_str(snapshot.splitn(3, "---\n").nth(2).unwrap()).unwrap();
    assert_eq!(broken(&agreed, &json!(list)), Vec::<String>::new());
    insta::assert_json_snapshot!("the_list", list);

    // A change that would break somebody is found.
    let without = |pointer: &str, name: &str| {
        let mut new = json!(list);
        new.pointer_mut(pointer).unwrap().as_object_mut().unwrap().remove(name).unwrap();
        broken(&json!(list), &new)
    };
    assert_eq!(without("/tools/0/inputSchema/properties", "title").len(), 1);
    assert_eq!(without("/tools/0/outputSchema/properties", "thread_id").len(), 1);
    assert_eq!(
        without("/tools/3/outputSchema/properties/messages/items/properties", "body").len(),
        1
    );
    let mut new = json!(list);
    new["tools"][0]["inputSchema"]["properties"]["title"]["type"] = json!("integer");
    new["tools"][0]["inputSchema"]["required"] = json!(["title", "type"]);
    new["tools"].as_array_mut().unwrap().pop();
    assert_eq!(broken(&json!(list), &new).len(), 3);
}

/// What a client of `old` would miss in `new`, in words.
fn broken(old: &Value, new: &Value) -> Vec<String> {
    let mut found = Vec::new();
    for was in old["tools"].as_array().unwrap() {
        let name = was["name"].as_str().unwrap();
        let Some(is) = new["tools"].as_array().unwrap().iter().find(|t| t["name"] == name) else {
            found.push(format!("the tool {name} was removed"));
            continue;
        };
        for schema in ["inputSchema", "outputSchema"] {
            compare(&format!("{name}.{schema}"), &was[schema], &is[schema], &mut found);
        }
        let needed = |schema: &Value| schema["required"].as_array().cloned().unwrap_or_default();
        let before = needed(&was["inputSchema"]);
        for name in needed(&is["inputSchema"]).iter().filter(|name| !before.contains(name)) {
            found.push(format!("{name} is needed now"));
        }
    }
    found
}

fn compare(what: &str, was: &Value, is: &Value, found: &mut Vec<String>) {
    if was["type"] != is["type"] {
        found.push(format!("{what} has another type"));
    }
    for (name, old) in was["properties"].as_object().into_iter().flatten() {
        match is["properties"].get(name) {
            Some(new) => compare(&format!("{what}.{name}"), old, new, found),
            None => found.push(format!("{what}.{name} was removed")),
        }
    }
    if was["items"].is_object() {
        compare(&format!("{what}[]"), &was["items"], &is["items"], found);
    }
}

#[test]
fn both_spellings_of_a_name_find_the_tool() {
    let underscored = list_tools(Names::Underscore);
    for (tool, descriptor) in tool_list::all().zip(underscored.tools) {
        assert_eq!(descriptor.name, tool.name.replace('.', "_"));
        assert_eq!(tool_list::find(tool.name), Some(tool));
        assert_eq!(tool_list::find(&descriptor.name), Some(tool));
    }
    for bad in
        ["", "chat", "chat.", "chat_", "send_message", "chat.nope", "Chat.react", "chat_chat.react"]
    {
        assert_eq!(tool_list::find(bad), None, "{bad}");
    }
}

/// A value that satisfies a property's schema and fits its name.
fn sample(name: &str, schema: &Value) -> Value {
    if let Some(words) = schema["enum"].as_array() {
        return words[0].clone();
    }
    if let Some(first) = schema["oneOf"].get(0) {
        return if first["const"].is_null() { sample(name, first) } else { first["const"].clone() };
    }
    match schema["type"].as_str().unwrap() {
        "string" if matches!(name, "since" | "until" | "expires_at") => {
            json!("2026-06-02T19:10:00Z")
        }
        "string" => json!("x"),
        "integer" | "number" => json!(1),
        "boolean" => json!(true),
        "array" if name == "content" => json!([{"type": "text", "text": "x"}]),
        "array" => json!(["x"]),
        "object" if name == "target" => json!({"conversation": "ch_1", "thread": "th_1"}),
        "object" => json!({}),
        other => panic!("{name}: {other}"),
    }
}

// covers: ATT-77, ATT-76
/// Each type reads all properties of its schema together, requires each required one, and refuses
/// any other.
#[test]
fn schemas_agree_with_types() {
    for tool in tool_list::all() {
        let mut schema = tool.descriptor(Names::Dotted).input_schema;
        assert_eq!(schema["additionalProperties"], json!(false), "{tool:?}");
        let properties = schema["properties"].as_object_mut().unwrap();
        // Fields that state who calls are removed before the type reads the rest.
        for field in tool.caller_fields.unwrap_or_default() {
            assert!(properties.remove(*field).is_some(), "{tool:?} shows no {field}");
        }
        let whole: serde_json::Map<_, _> =
            properties.iter().map(|(name, schema)| (name.clone(), sample(name, schema))).collect();
        // As on the wire: raw fields do not read out of a value.
        let reads = |arguments: &serde_json::Map<String, Value>| {
            tool.try_read(&json!(arguments).to_string())
        };
        reads(&whole).unwrap_or_else(|e| panic!("{tool:?}: {e}"));
        let required: BTreeSet<_> = schema["required"]
            .as_array()
            .map(|names| names.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        for name in whole.keys() {
            let mut without = whole.clone();
            without.remove(name);
            let needed = required.contains(name.as_str());
            assert_eq!(reads(&without).is_err(), needed, "{tool:?} {name}");
        }
        let mut more = whole;
        more.insert("notAField".into(), json!(1));
        assert!(reads(&more).is_err(), "{tool:?} takes what it does not know");
    }
}

/// The TypeScript SDK refuses a whole list in which one field has `true` for a schema.
#[test]
fn every_field_has_an_object_for_a_schema() {
    fn look(what: &str, schema: &Value) {
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            assert!(field.is_object(), "{what}.{name} is {field}");
            look(&format!("{what}.{name}"), field);
        }
        if schema["items"].is_object() {
            look(&format!("{what}[]"), &schema["items"]);
        }
    }
    for tool in tool_list::all() {
        let descriptor = tool.descriptor(Names::Dotted);
        look(tool.name, &descriptor.input_schema);
        look(tool.name, &descriptor.output_schema);
    }
}

/// What narrows or widens a tool is an argument of it.
#[test]
fn a_reach_names_arguments() {
    for tool in tool_list::all() {
        let Reach::All { narrowed_by, widened_by } = tool.reach else { continue };
        let schema = tool.descriptor(Names::Dotted).input_schema;
        for name in [narrowed_by].into_iter().chain(widened_by) {
            assert!(schema["properties"][name].is_object(), "{tool:?} {name}");
        }
    }
}

#[test]
fn a_result_is_text_and_structure_and_a_refusal_is_an_envelope() {
    let ok = CallResult::ok(&json!({"eventId": "evt_1"}));
    insta::assert_snapshot!(serde_json::to_string(&ok).unwrap(), @r#"{"content":[{"type":"text","text":"{\"eventId\":\"evt_1\"}"}],"structuredContent":{"eventId":"evt_1"},"isError":false}"#);
    assert_eq!(ok.into_result(), Ok(json!({"eventId": "evt_1"})));

    let body = ErrorBody::of(&Refusal::new(Code::ClaimedByOther, "scout has it"), "req_1");
    let refused = CallResult::refused(body.clone());
    assert!(refused.is_error);
    assert!(refused.structured_content.get().contains(r#""code":"CLAIMED_BY_OTHER""#));
    let json = serde_json::to_string(&refused).unwrap();
    let read: CallResult = serde_json::from_str(&json).unwrap();
    assert_eq!(read.into_result(), Err(body));
}

#[test]
fn a_claim_contains_the_event_verbatim() {
    let claimed = Claimed {
        event_id: "evt_1".into(),
        holder: "scout".into(),
        fence: 2,
        expires_at: Timestamp(0).into(),
        turn: TurnGrant { token: "turn_x".into(), fence: 2, hop: 1 },
        event: RawValue::from_string(r#"{"eventId":"evt_1","z":1,"a":2}"#.into()).unwrap(),
    };
    let result = CallResult::ok(&claimed);
    assert!(result.structured_content.get().contains(r#""event":{"eventId":"evt_1","z":1,"a":2}"#));
    let read: Claimed = serde_json::from_value(result.into_result().unwrap()).unwrap();
    assert_eq!((read.fence, read.turn), (2, claimed.turn));
}

#[test]
fn a_foreign_tool_error_keeps_its_text() {
    let foreign =
        r#"{"content":[{"type":"text","text":"boom"}],"structuredContent":null,"isError":true}"#;
    let read: CallResult = serde_json::from_str(foreign).unwrap();
    assert_eq!(read.into_result().unwrap_err().message, "boom");
}
