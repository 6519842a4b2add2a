//! The audit over REST: who may read it, what it shows, and the signed ends of the chains.

use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use serde_json::{Value, json};

use crate::test_host::TestHost;

fn kinds(audit: &Value) -> Vec<&str> {
    audit["entries"].as_array().unwrap().iter().map(|e| e["kind"].as_str().unwrap()).collect()
}

// covers: OPS-7, OPS-10
#[tokio::test]
async fn both_logs_are_read_in_one_order_page_by_page() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let (ann, op) = (host.token("ann").await, host.operator());
    let token = host.token("bot").await;
    let mut bot = host.connect(&token).await;
    let event = host.say(&ann, &room, "@bot what is hunter2?").await;
    let offer = bot.take().await;
    bot.tool("chat.read_thread", json!({"conversation": room})).await.unwrap();
    bot.reply(&offer, "a secret").await.unwrap();
    host.pass(2_000).await;

    let all = host.get(&op, "/v1/audit?limit=1000").await.ok();
    let found = kinds(&all);
    for kind in [
        "member_added",
        "token_issued",
        "conversation_created",
        "message_posted",
        "delivery_accepted",
        "delivery_settled",
        "tool_called",
        "session_opened",
    ] {
        assert!(found.contains(&kind), "{kind}: {found:?}");
    }
    assert!(!all.to_string().contains("hunter2") && !all.to_string().contains("a secret"));
    let times: Vec<_> =
        all["entries"].as_array().unwrap().iter().map(|e| e["at"].as_str().unwrap()).collect();
    assert!(times.is_sorted());

    // The same, one by one.
    let (mut paged, mut after) = (Vec::new(), String::new());
    loop {
        let page = host.get(&op, &format!("/v1/audit?limit=2{after}")).await.ok();
        paged.extend(page["entries"].as_array().unwrap().clone());
        match page["next"].as_str() {
            Some(next) => after = format!("&after={next}"),
            None => break,
        }
    }
    assert_eq!(&Value::Array(paged), &all["entries"]);

    let of_bot = host.get(&op, "/v1/audit?member=bot&kind=message_posted").await.ok();
    assert_eq!(kinds(&of_bot), ["message_posted"]);
    assert_eq!(of_bot["entries"][0]["by"], "bot");
    let called = host.get(&op, "/v1/audit?kind=tool_called").await.ok();
    assert_eq!(called["entries"][0]["name"], "chat.read_thread");
    let here =
        host.get(&op, &format!("/v1/audit?conversation={room}&kind=delivery_accepted")).await;
    let here = here.ok();
    assert_eq!(here["entries"][0]["seq"], event["seq"]);
    let later = host.get(&op, "/v1/audit?since=2040-01-01T00:00:00.000Z").await.ok();
    assert_eq!(later["entries"], json!([]));
}

// covers: OPS-10, OPS-11
#[tokio::test]
async fn the_audit_is_for_auditors_and_operators_and_its_ends_are_signed() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let (ann, op) = (host.token("ann").await, host.operator());
    let orchestrator = host.token_of("bot", "orchestrator").await;
    let auditor = host.token_of("bot", "auditor").await;
    for path in ["/v1/audit", "/v1/audit/heads"] {
        for token in [&ann, &orchestrator] {
            assert_eq!(host.get(token, path).await.refused(403), "INSUFFICIENT_AUTHORITY");
        }
        host.get(&auditor, path).await.ok();
    }
    for bad in ["limit=0", "after=nonsense", "after=1.2", "since=yesterday", "unknown=1"] {
        let refused = host.get(&op, &format!("/v1/audit?{bad}")).await.refused(400);
        assert_eq!(refused, "VALIDATION_ERROR", "{bad}");
    }
    assert_eq!(host.get(&op, "/v1/audit?member=nobody").await.refused(404), "NOT_FOUND");
    // What stands in a conversation that the operator may not read is not shown to it.
    let dm = json!({"kind": "dm", "members": ["bot"]});
    let dm = host.post(&ann, "/v1/channels", dm).await.ok()["id"].as_str().unwrap().to_owned();
    host.say(&ann, &dm, "between us").await;
    let in_dm = |audit: &Value| {
        let entries = audit["entries"].as_array().unwrap();
        entries.iter().filter(|e| e["conversation"] == json!(dm) && e.get("role").is_none()).count()
    };
    assert_eq!(in_dm(&host.get(&op, "/v1/audit?limit=1000").await.ok()), 0);
    assert!(in_dm(&host.get(&auditor, "/v1/audit?limit=1000").await.ok()) > 0);

    let signed = host.get(&op, "/v1/audit/heads").await.ok();
    let key: Vec<u8> = (0..32)
        .map(|n| {
            u8::from_str_radix(&signed["key"].as_str().unwrap()[2 * n..2 * n + 2], 16).unwrap()
        })
        .collect();
    let mut validation = Validation::new(Algorithm::EdDSA);
    validation.required_spec_claims.clear();
    validation.validate_exp = false;
    validation.set_audience(&["chorus-heads"]);
    let text = signed["signed"].as_str().unwrap();
    let read = jsonwebtoken::decode::<Value>(text, &DecodingKey::from_ed_der(&key), &validation);
    let mut read = read.unwrap().claims;
    read.as_object_mut().unwrap().remove("aud");
    assert_eq!(read, signed["heads"]);
    let length = host.length(&room).await;
    assert_eq!(signed["heads"]["conversations"][&room]["seq"], length);
    // It is no token.
    assert_eq!(host.get(text, "/v1/audit").await.refused(401), "UNAUTHORIZED");
}
