//! What is owed and not done, over the transports: leads, lists for everybody concerned, and what comes back.

use reqwest::Method;
use serde_json::{Value, json};

use crate::test_host::TestHost;

async fn overdue(host: &TestHost, token: &str, query: &str) -> Vec<Value> {
    let path = format!("/v1/deliveries?state=overdue{query}");
    host.get(token, &path).await.ok()["deliveries"].as_array().unwrap().clone()
}

// covers: ATT-140, ATT-143
#[tokio::test]
async fn an_overdue_obligation_is_listed_for_all_whom_it_concerns() {
    let host = TestHost::open().await;
    let room = host.room(&["bot", "chief", "other"]).await;
    let op = host.operator();
    let channel = format!("/v1/channels/{room}");
    let patched = host.send(&op, Method::PATCH, &channel, Some(json!({"lead": "chief"}))).await;
    assert_eq!(patched.ok()["lead"], "chief");
    let unknown = host.send(&op, Method::PATCH, &channel, Some(json!({"lead": "nobody"}))).await;
    assert_eq!(unknown.refused(404), "NOT_FOUND");
    let (ann, bot) = (host.token("ann").await, host.token("bot").await);
    let (chief, other) = (host.token("chief").await, host.token("other").await);
    let mine = host.send(&ann, Method::PATCH, &channel, Some(json!({"lead": "ann"}))).await;
    assert_eq!(mine.refused(403), "INSUFFICIENT_AUTHORITY");

    let posted = host.say(&ann, &room, "@bot can you restart it?").await;
    assert_eq!(overdue(&host, &ann, "").await, Vec::<Value>::new(), "in time");
    host.pass(300_000).await;
    for token in [&op, &ann, &bot, &chief] {
        let all = overdue(&host, token, "").await;
        assert_eq!(all.len(), 1, "{all:?}");
        assert_eq!(all[0]["event_id"], posted["event_id"]);
        let of = ["member", "author", "reason"].map(|f| all[0][f].as_str().unwrap().to_owned());
        assert_eq!(of, ["chief", "ann", "escalated"]);
        assert_eq!((&all[0]["moved_from"], &all[0]["overdue"]), (&json!(["bot"]), &json!(true)));
        assert!(all[0]["due_at"].is_string(), "{all:?}");
    }
    assert_eq!(overdue(&host, &other, "").await, Vec::<Value>::new());
    assert_eq!(overdue(&host, &op, "&member=other").await, Vec::<Value>::new());
    assert_eq!(overdue(&host, &op, "&member=bot").await.len(), 1);
    let unknown = host.get(&op, "/v1/deliveries?state=overdue&member=nobody").await;
    assert_eq!(unknown.refused(404), "NOT_FOUND", "unknown is not empty");
    let foreign = host.get(&other, "/v1/deliveries?state=overdue&member=bot").await;
    assert_eq!(foreign.refused(403), "INSUFFICIENT_AUTHORITY");

    // The same as a tool; and it is there for who had it as for who has it.
    for (token, count) in [(&bot, 1), (&chief, 1), (&other, 0)] {
        let listed = host.tool(token, "chat.list_events", json!({"overdue": true})).await.unwrap();
        assert_eq!(listed["events"].as_array().unwrap().len(), count);
    }
    // It ends at a person, and stays listed there over a restart.
    host.pass(300_000).await;
    assert_eq!(overdue(&host, &op, "").await[0]["member"], "operator");
    let now = chorus_core::model::ids::Timestamp(crate::test_host::START.0 + 7_200_000);
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    let host = TestHost::open_in(folder, now).await;
    let op = host.operator();
    let all = overdue(&host, &op, "").await;
    assert_eq!((all.len(), &all[0]["member"]), (1, &json!("operator")));
    assert_eq!(all[0]["moved_from"], json!(["bot", "chief"]));
    assert!(all[0].get("due_at").is_none(), "a person has no deadline");
}

// covers: ATT-144, ATT-145
#[tokio::test]
async fn deferred_delivery_returns_and_its_author_sees_when() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let ann = host.token("ann").await;
    let token = host.token("bot").await;
    let mut bot = host.connect(&token).await;
    let posted = host.say(&ann, &room, "@bot can you restart it?").await;
    let id = posted["event_id"].as_str().unwrap().to_owned();
    let first = bot.delivery().await;
    bot.acknowledge(&first).await;
    let args = json!({"eventId": id, "reason": "after the deploy", "until": "1h"});
    assert_eq!(bot.tool("chat.defer", args).await.unwrap()["disposition"], "deferred");
    let why = host.get(&ann, &format!("/v1/events/{id}/attention")).await.ok();
    let receipt = &why["told"][0]["receipt"];
    assert_eq!(
        (&receipt["state"], &receipt["disposition"]),
        (&json!("deferred"), &json!("deferred"))
    );
    let until = chorus_wire::time::format(crate::test_host::START.plus(3_600_000));
    assert_eq!(receipt["deferred_until"], json!(until));

    host.pass(3_599_000).await;
    assert!(bot.is_quiet().await);
    let now = chorus_core::model::ids::Timestamp(crate::test_host::START.0 + 3_599_500);
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    let host = TestHost::open_in(folder, now).await;
    let mut bot = host.connect(&token).await;
    assert!(bot.is_quiet().await, "it sleeps over a restart");
    host.pass(1_000).await;
    let again = bot.delivery().await;
    assert_eq!(again["params"]["eventId"], first["params"]["eventId"]);
    assert_eq!(again["params"]["reliability"]["attempt"], 2);
    assert_eq!(again["params"]["attention"]["policy"], "must_respond");
    assert_ne!(again["params"]["turn"]["token"], first["params"]["turn"]["token"]);
    bot.acknowledge(&again).await;
    bot.reply(&again["params"], "restarted").await.unwrap();
    let why = host.get(&ann, &format!("/v1/events/{id}/attention")).await.ok();
    assert_eq!(why["told"][0]["receipt"]["disposition"], "responded");
}
