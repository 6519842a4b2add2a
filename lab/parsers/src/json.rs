//! JSON that a request brings: JSON-RPC frames, callback events and deliveries, the content of a message.

use chorus_core::model::event::Message;
use chorus_core::model::ids::{Prefix, Uid};
use chorus_core::model::limits::{METADATA_BYTES, TEXT_BYTES};
use chorus_wire::attention::tools::{CallParams, ListEvents, SendMessage};
use chorus_wire::canonical::canonical_json;
use chorus_wire::jsonrpc::{Incoming, Notification, ParseError, Request, Response, params};
use chorus_wire::part::{Content, PARTS, PARTS_BYTES, Part, text_of};
use chorus_wire::threads::PostMessage;
use chorus_wire::webhook::{CallbackEvent, Delivery};
use serde_json::Value;
use serde_json::value::RawValue;

/// A frame is read, refused with a number, or read the same once it is written again.
pub fn jsonrpc(data: &[u8]) {
    match Incoming::parse_bytes(data) {
        Ok(Incoming::Request { id, method, params }) => {
            calls(params);
            // What has no params is written with some.
            let params = params.map_or("{}", RawValue::get);
            let again = write(&Request::new(&id, &method, raw(params)));
            let Ok(Incoming::Request { id: i, method: m, params: p }) =
                Incoming::parse_bytes(&again)
            else {
                panic!("a request that was written again is none");
            };
            assert_eq!((i, m, p.map(RawValue::get)), (id, method, Some(params)));
        }
        Ok(Incoming::Notification { method, params }) => {
            calls(params);
            let params = params.map_or("{}", RawValue::get);
            let again = write(&Notification::new(&method, raw(params)));
            let Ok(Incoming::Notification { method: m, params: p }) = Incoming::parse_bytes(&again)
            else {
                panic!("a notification that was written again is none");
            };
            assert_eq!((m, p.map(RawValue::get)), (method, Some(params)));
        }
        Ok(Incoming::Response { id, answer: Err(error) }) => {
            let again = write(&Response::error(id.as_ref(), error.clone()));
            let Ok(Incoming::Response { id: i, answer: Err(e) }) = Incoming::parse_bytes(&again)
            else {
                panic!("an error that was written again is none");
            };
            assert_eq!((i, e), (id, error));
        }
        Ok(Incoming::Response { answer: Ok(_), .. }) => {}
        Err(wrong) => refused(data, &wrong),
    }
}

fn refused(data: &[u8], wrong: &ParseError) {
    assert!([-32700, -32600, -32602].contains(&wrong.number), "{}", wrong.number);
    // A refusal quotes what it refuses at most once, escaped.
    assert!(wrong.message.len() <= 512 + data.len() * 10, "{} bytes", wrong.message.len());
    let answer = write(&wrong.response("req_1"));
    assert!(matches!(
        Incoming::parse_bytes(&answer),
        Ok(Incoming::Response { answer: Err(_), .. })
    ));
}

/// The params as those of a call, and its arguments as those of some tools.
fn calls(raw: Option<&RawValue>) {
    let Ok(call) = params::<CallParams>(raw) else { return };
    let arguments = call.arguments.as_deref();
    if let Ok(said) = params::<SendMessage>(arguments) {
        drop(Content::read(said.text, said.content));
    }
    if let Ok(said) = params::<PostMessage>(arguments) {
        assert!(!format!("{said:?}").is_empty());
    }
    drop(params::<ListEvents>(arguments));
}

/// An event of a callback, or a delivery to an inbox, reads the same once it is written again.
pub fn callback(data: &[u8]) {
    if let Ok(event) = serde_json::from_slice::<CallbackEvent>(data) {
        let values = match &event {
            CallbackEvent::ToolCall { args: value, .. }
            | CallbackEvent::ToolResult { content: value, .. } => value.as_ref(),
            _ => None,
        };
        if !values.is_some_and(has_fraction) {
            let again = serde_json::from_slice::<CallbackEvent>(&write(&event));
            assert_eq!(again.ok(), Some(event));
        }
    }
    if let Ok(delivery) = serde_json::from_slice::<Delivery>(data) {
        let again = serde_json::from_slice::<Delivery>(&write(&delivery));
        assert_eq!(again.ok(), Some(delivery));
    }
}

/// The last digit of a fraction is not kept by `serde_json`, and nothing in these bodies counts on it.
fn has_fraction(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_f64(),
        Value::Array(list) => list.iter().any(has_fraction),
        Value::Object(fields) => fields.values().any(has_fraction),
        _ => false,
    }
}

/// Content parts, which do here what multipart bodies do elsewhere: what is kept is bounded, has one form, and refers to
/// the files that were named and no others. Metadata has one form too.
pub fn parts(data: &[u8]) {
    if let Ok(text) = std::str::from_utf8(data)
        && let Ok(canonical) = canonical_json(text, METADATA_BYTES)
    {
        assert!(canonical.len() <= METADATA_BYTES);
        assert_eq!(canonical_json(&canonical, METADATA_BYTES).ok(), Some(canonical));
    }
    let Ok(given) = serde_json::from_slice::<Vec<Part>>(data) else { return };
    let Ok(kept) = Content::read(None, Some(given.clone())) else { return };
    assert!(given.len() <= PARTS && kept.text.len() <= TEXT_BYTES);
    assert_eq!(kept.text, text_of(&given));
    let Some(json) = kept.parts else {
        assert!(matches!(given.as_slice(), [Part::Text { .. }]));
        return;
    };
    assert!(json.len() <= PARTS_BYTES);
    assert_eq!(canonical_json(&json, PARTS_BYTES).as_deref(), Ok(&*json));
    assert_eq!(serde_json::from_str::<Vec<Part>>(&json).ok().as_ref(), Some(&given));
    let message = Message { parts: Some(json.into()), ..Message::default() };
    let mut named: Vec<Uid> = Vec::new();
    for part in &given {
        let Part::Asset { asset_id } = part else { continue };
        let id = Uid::read(Prefix::Asset, asset_id);
        named.extend(id.filter(|id| !named.contains(id)));
    }
    assert_eq!(message.assets(), named);
}

fn raw(json: &str) -> &RawValue {
    match serde_json::from_str(json) {
        Ok(raw) => raw,
        Err(why) => panic!("what was read as JSON is none: {why}"),
    }
}

fn write<T: serde::Serialize>(value: &T) -> Vec<u8> {
    match serde_json::to_vec(value) {
        Ok(bytes) => bytes,
        Err(why) => panic!("what was read cannot be written: {why}"),
    }
}
