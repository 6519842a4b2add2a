//! Members whom a sender leaves out, over the API.

use serde_json::json;

use crate::test_host::TestHost;

// covers: ATT-486
#[tokio::test]
async fn what_was_previewed_without_one_is_what_happens_and_why_says_so() {
    let host = TestHost::open().await;
    let room = host.room(&["scout", "parrot"]).await;
    let ann = host.token("ann").await;
    let mut new = json!({"conversation": room, "text": "@scout @parrot can you look?",
        "not_to": ["scout"]});
    let preview = host.post(&ann, "/v1/attention/preview", new.clone()).await.ok();
    new["idempotency_key"] = json!("k");
    let posted = host.post(&ann, "/v1/messages", new.clone()).await.ok();
    assert_eq!(posted["told"], preview["told"]);
    let event = posted["event_id"].as_str().unwrap();
    let why = host.get(&ann, &format!("/v1/events/{event}/attention")).await.ok();
    let told = |id: &str| {
        let all = why["told"].as_array().unwrap();
        all.iter().find(|one| one["member"] == id).unwrap().clone()
    };
    assert_eq!(
        (&told("scout")["reason"], &told("scout")["mode"]),
        (&json!("left_out"), &json!("silent"))
    );
    assert_eq!(told("parrot")["policy"], "must_respond");
    // The same key for another audience is another message, and what names nobody is refused.
    new["not_to"] = json!([]);
    let other = host.post(&ann, "/v1/messages", new.clone()).await;
    assert_eq!(other.refused(409), "IDEMPOTENCY_CONFLICT");
    new["not_to"] = json!(["nobody"]);
    assert_eq!(
        host.post(&ann, "/v1/attention/preview", new.clone()).await.refused(404),
        "NOT_FOUND"
    );
    new["not_to"] = json!(["scout"]);
    new["recipient"] = json!("scout");
    let both = host.post(&ann, "/v1/attention/preview", new).await;
    assert_eq!(both.refused(400), "VALIDATION_ERROR");
}
