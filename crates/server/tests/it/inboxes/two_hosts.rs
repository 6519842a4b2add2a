//! Two hosts that are connected by one connection string.

use std::time::Duration;

use chorus_core::model::limits;
use chorus_testing::eventually;
use reqwest::Method;
use serde_json::{Value, json};

use super::with_inbox;
use crate::test_host::TestHost;
use crate::webhook::{messages, open};

/// After which nobody says anything any more.
const QUIET: Duration = Duration::from_secs(2);

/// `here` has a room with ann and the agent `far`, which is the agent `bot` of `there`.
async fn connected(here: &TestHost, there: &TestHost) -> String {
    let (path, _) = with_inbox(there, json!({})).await;
    let room = here.room(&[]).await;
    let url = format!("{}{path}", there.running.url);
    let new = json!({"member": "far", "url": url, "channels": [room]});
    here.post(&here.operator(), "/v1/endpoints", new).await.ok();
    room
}

async fn until_said(host: &TestHost, room: &str, count: usize) -> Vec<(String, String)> {
    eventually(&format!("{count} messages are there"), async || {
        let all = messages(host, room).await;
        if all.len() >= count { Ok(all) } else { Err(all) }
    })
    .await
}

// covers: WHK-85
#[tokio::test]
async fn two_hosts_hold_a_conversation_by_one_string() {
    let (here, there) = (open().await, open().await);
    let room = connected(&here, &there).await;
    let mut bot = there.connect(&there.token("bot").await).await;
    let ann = here.token("ann").await;
    here.say(&ann, &room, "@far what broke the build?").await;
    let told = bot.take().await;
    assert_eq!(told["author"]["displayName"], "ann");
    assert_eq!(told["content"][0]["text"], "@far what broke the build?");
    assert_eq!(told["turn"]["hop"], 0);
    let url = told["mcp"][0]["url"].as_str().unwrap();
    assert!(url.starts_with(&here.running.url) && url.ends_with(&room), "{url}");
    bot.reply(&told, "a missing semicolon").await.unwrap();
    let all = until_said(&here, &room, 2).await;
    assert_eq!(all[1], ("far".to_owned(), "a missing semicolon".to_owned()));
    // It is an answer there too: the obligation has ended, and its hop is counted.
    let page = here.get(&here.operator(), &format!("/v1/messages?conversation={room}")).await.ok();
    let (asked, answer) = (&page["messages"][0], &page["messages"][1]);
    assert_eq!((&answer["hop"], &answer["in_reply_to"]), (&json!(1), &asked["event_id"]));
    here.say(&ann, &room, "@far and who wrote it?").await;
    let next = bot.take().await;
    assert_eq!(
        next["conversation"]["id"], told["conversation"]["id"],
        "one channel, one conversation"
    );
    bot.reply(&next, "nobody knows").await.unwrap();
    assert_eq!(until_said(&here, &room, 4).await[3].1, "nobody knows");
}

// covers: WHK-73, WHK-85
#[tokio::test]
async fn two_eager_agents_across_hosts_stop_as_they_would_on_one() {
    let (here, there) = (open().await, open().await);
    let room = connected(&here, &there).await;
    let op = here.operator();
    here.post(&op, "/v1/members", json!({"id": "near", "kind": "agent"})).await.ok();
    let seat = format!("/v1/channels/{room}/members/near");
    here.send(&op, Method::PUT, &seat, Some(json!({}))).await.ok();
    let mut bot = there.connect(&there.token("bot").await).await;
    let mut near = here.connect(&here.token("near").await).await;
    let ann = here.token("ann").await;
    here.say(&ann, &room, "@near please ask @far what it thinks").await;
    // Each answers whatever it is told, and asks the other again.
    let mut hops: Vec<u64> = Vec::new();
    loop {
        let next = async {
            tokio::select! {
                frame = near.delivery() => (true, frame),
                frame = bot.delivery() => (false, frame),
            }
        };
        let Ok((is_near, frame)) = tokio::time::timeout(QUIET, next).await else { break };
        if is_near {
            near.acknowledge(&frame).await
        } else {
            bot.acknowledge(&frame).await
        }
        let told = &frame["params"];
        hops.push(told["turn"]["hop"].as_u64().unwrap());
        assert!(hops.len() <= 40, "they have not stopped: {hops:?}");
        let answered = match is_near {
            true => near.reply(told, &format!("@far could you look again? {}", hops.len())).await,
            false => bot.reply(told, &format!("@near could you look again? {}", hops.len())).await,
        };
        let _: Result<Value, String> = answered;
    }
    let most = hops.iter().max().copied().unwrap_or_default();
    assert!(hops.len() > 2, "they have talked: {hops:?}");
    assert!(most < u64::from(limits::HOP_END), "{hops:?}");
}
