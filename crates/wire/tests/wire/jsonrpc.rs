//! Frames: which are read, which are refused with which error number, and that nothing panics.

use chorus_wire::jsonrpc::{
    ErrorObject, Id, Incoming, Notification, PARSE_ERROR, Request, Response, params,
};
use proptest::prelude::*;
use serde_json::json;

fn number(frame: &str) -> i32 {
    Incoming::parse(frame).expect_err(frame).number
}

#[test]
fn requests_notifications_and_responses_are_read() {
    let id = Id::from("1");
    let frame = serde_json::to_string(&Request::new(&id, "m", json!({"a": 1}))).unwrap();
    assert_eq!(frame, r#"{"jsonrpc":"2.0","id":"1","method":"m","params":{"a":1}}"#);
    let Incoming::Request { id: read, method, params } = Incoming::parse(&frame).unwrap() else {
        panic!("{frame}")
    };
    assert_eq!((read, &*method, params.unwrap().get()), (id.clone(), "m", r#"{"a":1}"#));

    let frame = serde_json::to_string(&Notification::new("n", json!({}))).unwrap();
    assert_eq!(frame, r#"{"jsonrpc":"2.0","method":"n","params":{}}"#);
    assert!(matches!(Incoming::parse(&frame), Ok(Incoming::Notification { .. })));

    let frame = serde_json::to_string(&Response::result(&id, json!({"ok": true}))).unwrap();
    assert_eq!(frame, r#"{"jsonrpc":"2.0","id":"1","result":{"ok":true}}"#);
    let Incoming::Response { id: read, answer } = Incoming::parse(&frame).unwrap() else {
        panic!("{frame}")
    };
    assert_eq!((read, answer.unwrap().get()), (Some(id), r#"{"ok":true}"#));
}

#[test]
fn a_null_result_is_a_result_and_an_error_may_lack_an_id() {
    let frame = r#"{"jsonrpc":"2.0","id":7,"result":null}"#;
    let Ok(Incoming::Response { id, answer: Ok(result) }) = Incoming::parse(frame) else {
        panic!()
    };
    assert_eq!((id, result.get()), (Some(Id::Number(7)), "null"));
    let frame = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}"#;
    let Ok(Incoming::Response { id: None, answer: Err(error) }) = Incoming::parse(frame) else {
        panic!()
    };
    assert_eq!(error, ErrorObject { code: PARSE_ERROR, message: "m".into(), data: None });
}

// covers: ATT-16, ATT-9
#[test]
fn invalid_frames_are_refused_with_their_error_number() {
    for bad in ["", " ", "{", "nope", r#"{"jsonrpc":"2.0""#, "{}x", "\u{0}", "{\"a\":\"\n\"}"] {
        assert_eq!(number(bad), -32700, "{bad}");
    }
    for bad in [
        "1",
        "null",
        r#""text""#,
        "{}",
        "[]",
        r#"[{"jsonrpc":"2.0","method":"m"}]"#,
        r#"{"jsonrpc":"1.0","id":1,"method":"m"}"#,
        r#"{"jsonrpc":2.0,"id":1,"method":"m"}"#,
        r#"{"id":1,"method":"m"}"#,
        r#"{"jsonrpc":"2.0","id":1}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":7}"#,
        r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#,
        r#"{"jsonrpc":"2.0","id":1.5,"method":"m"}"#,
        r#"{"jsonrpc":"2.0","id":18446744073709551615,"method":"m"}"#,
        r#"{"jsonrpc":"2.0","id":{},"method":"m"}"#,
        r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"m","result":1}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1,"message":""}}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":"text"}"#,
        &format!(r#"{{"jsonrpc":"2.0","id":"{}","method":"m"}}"#, "x".repeat(257)),
        &format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{}"}}"#, "x".repeat(129)),
    ] {
        assert_eq!(number(bad), -32600, "{bad}");
    }
    for bad in ["[]", "1", "null", "\"x\""] {
        let frame = format!(r#"{{"jsonrpc":"2.0","id":"a","method":"m","params":{bad}}}"#);
        let error = Incoming::parse(&frame).unwrap_err();
        assert_eq!((error.number, error.id), (-32602, Some(Id::from("a"))), "{bad}");
    }
    assert_eq!(Incoming::parse_bytes(b"{\"a\":\"\xff\"}").unwrap_err().number, -32700);
}

// covers: ATT-9
#[test]
fn a_refusal_has_the_frames_id_if_that_is_readable() {
    let error = Incoming::parse(r#"{"jsonrpc":"1.0","id":5,"method":"m"}"#).unwrap_err();
    let answer = serde_json::to_value(error.response("req_9")).unwrap();
    assert_eq!(answer["id"], 5);
    assert_eq!(answer["error"]["data"]["code"], "VALIDATION_ERROR");
    assert_eq!(answer["error"]["data"]["request_id"], "req_9");
    let error = Incoming::parse("{").unwrap_err();
    let answer = serde_json::to_value(error.response("")).unwrap();
    assert!(answer["id"].is_null() && answer.get("id").is_some());
}

#[test]
fn fields_beyond_the_standard_are_ignored_and_nesting_does_not_overflow() {
    let frame = r#"{"jsonrpc":"2.0","method":"m","meta":{"x":[1]}}"#;
    assert!(Incoming::parse(frame).is_ok());
    let deep = format!("{}{}", "[".repeat(500_000), "]".repeat(500_000));
    let frame = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{{"a":{deep}}}}}"#);
    if let Ok(Incoming::Request { params: raw, .. }) = Incoming::parse(&frame) {
        assert!(params::<serde_json::Value>(raw).is_err());
    }
}

#[test]
fn absent_params_are_an_empty_object() {
    #[derive(serde::Deserialize)]
    struct Empty {}
    assert!(params::<Empty>(None).is_ok());
}

proptest! {
    // covers: ATT-16
    #[test]
    fn no_bytes_panic(bytes: Vec<u8>) {
        let _ = Incoming::parse_bytes(&bytes);
    }

    /// Mutations of a valid message find more than random bytes.
    #[test]
    fn no_mutation_panics(at in 0usize..120, byte: u8, cut in 0usize..120) {
        let frame = br#"{"jsonrpc":"2.0","id":"dlv_1.1","method":"chat/deliver","params":{"eventId":"evt_1","a":[1,2,{"b":null}]}}"#;
        let mut frame = frame.to_vec();
        if let Some(old) = frame.get_mut(at) {
            *old = byte;
        }
        frame.truncate(cut);
        let _ = Incoming::parse_bytes(&frame);
    }

    #[test]
    fn every_request_is_read_back(id: i64, text in ".{0,60}", method in ".{1,30}", named: bool) {
        let id = if named { Id::String(text.clone()) } else { Id::Number(id) };
        let frame = serde_json::to_string(&Request::new(&id, &method, json!({"text": text}))).unwrap();
        let Ok(Incoming::Request { id: read_id, method: read, params: raw }) = Incoming::parse(&frame) else {
            panic!("{frame}")
        };
        prop_assert_eq!((read_id, &*read), (id, method.as_str()));
        let value: serde_json::Value = params(raw).unwrap();
        prop_assert_eq!(&value["text"], &json!(text));
    }
}
