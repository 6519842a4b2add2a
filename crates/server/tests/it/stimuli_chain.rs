//! Stimuli and schedules of agents, judged as their messages are: by hops, and by what may be said without a person.

use reqwest::Method;
use serde_json::{Value, json};

use crate::test_host::TestHost;

/// What is due is claimed, and a moment later said.
async fn pass(host: &TestHost) {
    host.pass(1_000).await;
    host.pass(1_000).await;
}

async fn stimulus(host: &TestHost, token: &str, room: &str, made: &Value) -> Value {
    let id = made["id"].as_str().unwrap();
    host.get(token, &format!("/v1/channels/{room}/stimuli/{id}")).await.ok()
}

async fn why(host: &TestHost, event: &Value) -> Value {
    let path = format!("/v1/events/{}/attention", event.as_str().unwrap());
    host.get(&host.operator(), &path).await.ok()
}

/// A channel of ann, bot and other that answers on its line.
async fn room(host: &TestHost) -> String {
    let room = host.room(&["bot", "other"]).await;
    let path = format!("/v1/channels/{room}");
    let patch = Some(json!({"replies": "line"}));
    host.send(&host.operator(), Method::PATCH, &path, patch).await.ok();
    room
}

async fn thread(host: &TestHost, token: &str, room: &str, kind: &str) -> String {
    let new = json!({
        "conversation": room, "title": "talk", "type": kind, "participants": ["bot", "other"],
    });
    let thread = host.post(token, "/v1/threads", new).await.ok();
    thread["id"].as_str().unwrap().to_owned()
}

// covers: CHN-420
#[tokio::test]
async fn two_agents_that_wake_each_other_by_stimuli_come_to_an_end() {
    wake_each_other("worker", None).await;
}

// covers: CHN-420
#[tokio::test]
async fn two_agents_that_wake_each_other_in_a_persons_name_come_to_an_end() {
    wake_each_other("orchestrator", Some("ann")).await;
}

async fn wake_each_other(role: &str, source: Option<&str>) {
    let host = TestHost::open().await;
    let room = room(&host).await;
    let ann = host.token("ann").await;
    let thread = thread(&host, &ann, &room, "workflow").await;
    let names = ["bot", "other"];
    let tokens = [host.token_of("bot", role).await, host.token_of("other", role).await];
    let mut agents = [host.connect(&tokens[0]).await, host.connect(&tokens[1]).await];
    let (mut turn, mut hops, mut owed) = (Value::Null, Vec::new(), 0);
    for n in 0..40 {
        let (me, next) = (n % 2, (n + 1) % 2);
        let mut args = json!({
            "channel_id": room, "kind": "agent_idea", "scope": "thread", "thread": thread,
            "text": format!("@{} what do you think of part {n}?", names[next]),
            "targets": [names[next]],
        });
        if let Some(source) = source {
            args["source"] = json!(source);
        }
        if turn.is_string() {
            args["turn"] = turn;
        }
        let made = agents[me].tool("create_channel_stimulus", args).await.unwrap();
        pass(&host).await;
        let said = stimulus(&host, &ann, &room, &made).await;
        let shown = why(&host, &said["event_id"]).await;
        hops.push(shown["hop"].as_u64().unwrap());
        let told = shown["told"].as_array().unwrap();
        owed += told.iter().filter(|t| t["policy"] == "must_respond").count();
        if agents[next].is_quiet().await {
            break;
        }
        turn = agents[next].take().await["turn"]["token"].clone();
    }
    let counted: Vec<u64> = (1..=hops.len() as u64).collect();
    assert_eq!(hops, counted, "each is one further from a person than what woke it");
    assert!(hops.len() <= 12 && owed <= 5, "{hops:?}, {owed} owed");
}

// covers: CHN-421
#[tokio::test]
async fn stimuli_of_agents_are_within_what_may_be_said_without_a_person() {
    within_budget("worker", None).await;
}

// covers: CHN-421
#[tokio::test]
async fn request_of_an_agent_in_a_persons_name_counts_as_its_own() {
    within_budget("orchestrator", Some("ann")).await;
}

async fn within_budget(role: &str, source: Option<&str>) {
    let host = TestHost::open().await;
    let room = room(&host).await;
    let (ann, bot) = (host.token("ann").await, host.token_of("bot", role).await);
    let thread = thread(&host, &ann, &room, "conversation").await;
    let path = format!("/v1/channels/{room}/stimuli");
    let new = |n: usize| {
        let mut new = json!({
            "kind": "agent_idea", "scope": "thread", "thread": thread,
            "text": format!("what do you think of part {n}?"), "targets": ["other"],
        });
        if let Some(source) = source {
            new["source"] = json!(source);
        }
        new
    };
    let mut said = 0;
    for n in 0..20 {
        let made = host.post(&bot, &path, new(n)).await;
        if made.status == 429 {
            assert_eq!(made.refused(429), "REPLY_BUDGET_SPENT");
            break;
        }
        pass(&host).await;
        assert_eq!(stimulus(&host, &ann, &room, &made.ok()).await["state"], "dispatched");
        said += 1;
    }
    assert_eq!(said, 8, "as many as messages");
    let thread = thread.as_str();
    host.post(&ann, &format!("/v1/threads/{thread}/continue"), json!({})).await.ok();
    let made = host.post(&bot, &path, new(99)).await.ok();
    pass(&host).await;
    assert_eq!(stimulus(&host, &ann, &room, &made).await["state"], "dispatched");
    // What a person asks for is no talk of agents.
    for n in 0..10 {
        let made = host.post(&ann, &path, new(100 + n)).await.ok();
        pass(&host).await;
        assert_eq!(stimulus(&host, &ann, &room, &made).await["state"], "dispatched");
    }
}

// covers: CHN-420
#[tokio::test]
async fn a_schedule_keeps_the_hop_of_the_turn_that_it_was_made_in() {
    let host = TestHost::open().await;
    let room = room(&host).await;
    let ann = host.token("ann").await;
    let tokens = [host.token("bot").await, host.token("other").await];
    let (mut bot, mut other) = (host.connect(&tokens[0]).await, host.connect(&tokens[1]).await);
    host.say(&ann, &room, "@other can you see to it that the build is looked after?").await;
    let event = other.take().await;
    let handed = json!({
        "conversation": room, "text": "@bot can you look after the build?",
        "in_reply_to": event["eventId"], "idempotency_key": "k1",
    });
    host.post(&tokens[1], "/v1/messages", handed).await.ok();
    bot.take().await;
    // Its run is under way: what it asks for now is of that turn, two hops from ann.
    let new = json!({"text": "how is the build?", "every_ms": 3_600_000, "targets": ["other"]});
    host.post(&tokens[0], &format!("/v1/channels/{room}/schedules"), new).await.ok();
    host.pass(3_600_000).await;
    pass(&host).await;
    let all = host.get(&ann, &format!("/v1/channels/{room}/stimuli")).await.ok();
    let mut said = all["stimuli"].as_array().unwrap().iter();
    let said = said.find(|s| s["kind"] == "schedule_fire").unwrap();
    assert_eq!(said["state"], "dispatched", "{all}");
    assert_eq!(why(&host, &said["event_id"]).await["hop"], 2);
}
