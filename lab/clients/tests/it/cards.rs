//! An agent's card, read and verified by A2A's own Python SDK.

use chorus_clients::kit::{Kit, run};
use serde_json::{Value, json};

use crate::house::House;

// covers: REG-80, REG-81
#[tokio::test]
async fn the_sdk_of_a2a_reads_a_card_and_verifies_it() {
    let kit = Kit::installed().expect("cargo xtask test installs the clients");
    let house = House::open();
    let offer = ["skill", "offer", "translate_text", "--cost", "0.05", "--agent", "translator"];
    let agent = house.json(&offer)["agent_id"].as_str().unwrap().to_owned();
    let token = house.token("reader", "worker");
    let door = house.door(&token);
    let host = door.url.strip_suffix("/v1/mcp").unwrap();
    let mut reads = kit.python("a2a_card.py");
    reads.args([host, &agent, &token]);
    let output = run(reads).await.unwrap();
    let card: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr)));
    assert_eq!((&card["name"], &card["verified"]), (&json!("translator"), &json!(true)));
    assert_eq!(card["skills"], json!(["translate_text"]), "{card:#}");
}
