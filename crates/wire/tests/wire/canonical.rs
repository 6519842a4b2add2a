//! Canonical JSON: equal values have equal texts, of bounded size and depth.

use chorus_core::model::error::Code;
use chorus_core::model::limits;
use chorus_wire::canonical::{DEPTH, canonical_json, metadata};
use proptest::prelude::*;
use serde_json::Value;
use serde_json::value::RawValue;

fn canonical(json: &str) -> Result<String, Code> {
    canonical_json(json, 10_000).map_err(|refusal| refusal.code)
}

#[test]
fn keys_are_sorted_and_whitespace_is_removed() {
    let text = canonical(
        " { \"b\" : [ 1 , -2, 1.5, true, null ],\n\"a\":{\"z\":\"é\\u00e9\\n\",\"A\":0} } ",
    );
    assert_eq!(text.unwrap(), r#"{"a":{"A":0,"z":"éé\n"},"b":[1,-2,1.5,true,null]}"#);
}

#[test]
fn ambiguous_json_is_refused() {
    for bad in [r#"{"a":1,"a":2}"#, r#"{"a":{"b":1,"b":1}}"#, r#"{"a":1,"\u0061":2}"#, "1e999"] {
        assert_eq!(canonical(bad), Err(Code::ValidationError), "{bad}");
    }
    for bad in ["", "{", "{}{}", "nul", "{'a':1}", "[1,]", "NaN", "\u{feff}{}"] {
        assert_eq!(canonical(bad), Err(Code::ValidationError), "{bad}");
    }
}

#[test]
fn depth_and_size_are_bounded() {
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    assert!(canonical(&nested(DEPTH)).is_ok());
    assert_eq!(canonical(&nested(DEPTH + 1)), Err(Code::ValidationError));
    assert_eq!(canonical(&"[".repeat(9_000)), Err(Code::ValidationError));
    assert!(canonical_json(r#""123""#, 5).is_ok());
    assert_eq!(canonical_json(r#""1234""#, 5).unwrap_err().code, Code::PayloadTooLarge);
    // Whitespace does not count, but not without end either.
    assert!(canonical_json("  1  ", 5).is_ok());
    assert_eq!(canonical_json(&" ".repeat(30), 5).unwrap_err().code, Code::PayloadTooLarge);
}

#[test]
fn metadata_must_be_an_object() {
    let raw = |json: &str| RawValue::from_string(json.to_owned()).unwrap();
    assert_eq!(metadata(&raw(r#"{"b":1,"a":2}"#)).unwrap(), r#"{"a":2,"b":1}"#);
    for bad in ["[]", "1", "null", "\"x\""] {
        assert_eq!(metadata(&raw(bad)).unwrap_err().code, Code::ValidationError);
    }
    let long = format!(r#"{{"a":"{}"}}"#, "x".repeat(limits::METADATA_BYTES));
    assert_eq!(metadata(&raw(&long)).unwrap_err().code, Code::PayloadTooLarge);
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn canonical_json_is_stable_and_keeps_its_meaning(value in json()) {
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        let text = canonical_json(&pretty, 1 << 20).unwrap();
        prop_assert_eq!(canonical_json(&text, 1 << 20).unwrap(), text.clone());
        prop_assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }

    #[test]
    fn no_text_panics(text: String) {
        let _ = canonical(&text);
    }
}
