//! What we sign, checked by the libraries of Standard Webhooks themselves: `standardwebhooks` of PyPI and of npm.

use std::time::{SystemTime, UNIX_EPOCH};

use chorus_clients::kit::{Kit, run};
use chorus_core::model::ids::Timestamp;
use chorus_server::signature::{Secret, sign};
use serde_json::{Map, Value, json};
use tokio::process::Command;

const ID: &str = "dlv_01890000000070008000000000000000";
const BODY: &str =
    r#"{"channel":{"id":"ch_1"},"message":{"content":"Ünïcode, \"quotes\" and 🦀\n"}}"#;

/// Which of some deliveries a library takes for signed: null, or what it said.
pub(crate) async fn judged(mut library: Command, deliveries: &Value) -> Vec<Value> {
    library.env("DELIVERIES", deliveries.to_string());
    let output = run(library).await.unwrap();
    let complained = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {complained}"))
}

/// What we post, as the one who receives it has it.
fn delivery(secret: &Secret, at: Timestamp) -> Value {
    let headers = sign(secret, ID, at, BODY.as_bytes());
    let headers: Map<String, Value> = headers
        .iter()
        .map(|(name, value)| (name.to_string(), json!(value.to_str().unwrap())))
        .collect();
    json!({"secret": secret.reveal(), "headers": headers, "body": BODY})
}

#[tokio::test]
async fn standard_webhooks_are_taken_by_the_schemes_own_libraries() {
    let kit = Kit::installed().expect("cargo xtask test installs the clients");
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
    let now = Timestamp(i64::try_from(now).unwrap());
    let secret = Secret::new([0xfb; 32]);
    let good = delivery(&secret, now);
    let with = |path: &str, value: Value| {
        let mut changed = good.clone();
        *changed.pointer_mut(path).unwrap() = value;
        changed
    };
    let wrong = "No matching signature found";
    let cases = [
        (good.clone(), None),
        (delivery(&Secret::new([0; 32]), now.plus(-200_000)), None),
        (with("/body", json!(BODY.replace("ch_1", "ch_2"))), Some(wrong)),
        (with("/body", json!(format!("{BODY} "))), Some(wrong)),
        (with("/headers/webhook-id", json!("dlv_2")), Some(wrong)),
        (with("/secret", json!(Secret::new([1; 32]).reveal())), Some(wrong)),
        (delivery(&secret, now.plus(-400_000)), Some("Message timestamp too old")),
        (delivery(&secret, now.plus(400_000)), Some("Message timestamp too new")),
    ];
    let deliveries: Vec<&Value> = cases.iter().map(|(delivery, _)| delivery).collect();
    let expected: Vec<Value> = cases.iter().map(|(_, complaint)| json!(complaint)).collect();
    for library in [kit.python("webhooks.py"), kit.script("webhooks.mjs")] {
        assert_eq!(judged(library, &json!(deliveries)).await, expected);
    }
}
