//! What an agent was told in private, and shows elsewhere in other words than messages.

use chorus_core::ids::Timestamp;
use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::Harness;
use crate::house::{Answer, House, START};

const SECRET: &str = "the merger is off";

/// The bot was told a secret by ann, in private, and is done with that; what it has said in the channel before.
struct Told {
    house: House,
    room: String,
    token: String,
    bot: Harness,
    before: String,
}

impl Told {
    async fn new() -> Self {
        let house = House::open().await;
        let room = house.room(&["bot", "other"]).await;
        let (ann, token) = (house.token("ann").await, house.token("bot").await);
        let mut bot = house.connect(&token).await;
        let before = house.say(&token, &room, "good morning").await;
        let before = before["event_id"].as_str().unwrap().to_owned();
        let new = json!({"title": "pair", "kind": "dm", "members": ["bot"]});
        let pair = house.post(&ann, "/v1/channels", new).await.ok();
        house.say(&ann, pair["id"].as_str().unwrap(), &format!("{SECRET}, is that clear?")).await;
        let event = bot.take().await;
        bot.reply(&event, "It is.").await.unwrap();
        Self { house, room, token, bot, before }
    }

    async fn ask(&self, method: Method, path: &str, body: Value) -> Answer {
        self.house.send(&self.token, method, path, Some(body)).await
    }

    /// All that an agent can write down, but messages.
    fn acts(&self, thread: &str) -> Vec<(Method, String, Value)> {
        let (room, before) = (&self.room, &self.before);
        let post = |path: String, body: Value| (Method::POST, path, body);
        let patch = |path: String, body: Value| (Method::PATCH, path, body);
        vec![
            patch(format!("/v1/messages/{before}"), json!({"text": SECRET})),
            post("/v1/threads".into(), json!({"conversation": room, "title": SECRET})),
            post("/v1/threads".into(), json!({"title": SECRET, "participants": ["other"]})),
            post(
                "/v1/channels".into(),
                json!({"title": SECRET, "kind": "dm", "members": ["other"]}),
            ),
            patch(format!("/v1/threads/{thread}"), json!({"status": "blocked", "reason": SECRET})),
            patch(
                format!("/v1/threads/{thread}/work"),
                json!({"progress": {"key": "k", "text": SECRET}}),
            ),
            post(
                format!("/v1/channels/{room}/stimuli"),
                json!({"kind": "agent_idea", "text": SECRET}),
            ),
            post(
                format!("/v1/channels/{room}/schedules"),
                json!({"text": SECRET, "every_ms": 3_600_000}),
            ),
            (
                Method::PUT,
                format!("/v1/messages/{before}/reactions/working"),
                json!({"eta": SECRET}),
            ),
        ]
    }
}

// covers: ATT-420, ATT-421
#[tokio::test]
async fn what_was_told_in_private_waits_whatever_it_is_written_into() {
    let told = Told::new().await;
    let (house, room) = (&told.house, &told.room);
    let (ann, op) = (house.token("ann").await, house.operator());
    let new = json!({"conversation": room, "title": "work"});
    let thread = house.post(&ann, "/v1/threads", new).await.ok();
    let thread = thread["id"].as_str().unwrap();
    let acts = told.acts(thread);
    for (method, path, body) in &acts {
        let answer = told.ask(method.clone(), path, body.clone()).await;
        assert_eq!(answer.refused(403), "APPROVAL_REQUIRED", "{method} {path}");
        // The same again is the same request.
        let answer = told.ask(method.clone(), path, body.clone()).await;
        assert_eq!(answer.refused(403), "APPROVAL_REQUIRED", "{method} {path}");
    }
    // A message that names no turn waits too, though the private one is long over.
    let new = json!({"conversation": room, "text": SECRET, "idempotency_key": "k1"});
    let answer = told.ask(Method::POST, "/v1/messages", new).await;
    assert_eq!(answer.refused(403), "APPROVAL_REQUIRED");
    let log = house.get(&op, &format!("/v1/events?conversation={room}&after=0&limit=200")).await;
    assert!(!log.ok().to_string().contains(SECRET));
    let waits = house.get(&ann, "/v1/approvals").await.ok();
    let waits = waits["approvals"].as_array().unwrap();
    assert_eq!(waits.len(), acts.len() + 1, "{waits:?}");
    let others = house.token("other").await;
    assert_eq!(house.get(&others, "/v1/approvals").await.ok()["approvals"], json!([]));

    // Whoever could read it there agrees, and the same call is made.
    let stimulus = waits.iter().find(|w| w["tool"] == "create_channel_stimulus").unwrap();
    assert_eq!(stimulus["arguments"]["text"], SECRET);
    let path = format!("/v1/approvals/{}", stimulus["id"].as_str().unwrap());
    house.post(&ann, &path, json!({"approved": true})).await.ok();
    let (method, path, body) = acts[6].clone();
    told.ask(method, &path, body).await.ok();
}

// covers: ATT-421
#[tokio::test]
async fn who_names_a_public_turn_is_judged_by_that() {
    let mut told = Told::new().await;
    let ann = told.house.token("ann").await;
    told.house.say(&ann, &told.room, "@bot is the build green?").await;
    let event = told.bot.take().await;
    told.bot.reply(&event, "It is.").await.unwrap();
    // Without that it is not known what it speaks of; and others were told nothing.
    let new =
        |key: &str| json!({"conversation": told.room, "text": "green", "idempotency_key": key});
    let answer = told.ask(Method::POST, "/v1/messages", new("k1")).await;
    assert_eq!(answer.refused(403), "APPROVAL_REQUIRED");
    let other = told.house.token("other").await;
    told.house.post(&other, "/v1/messages", new("k2")).await.ok();
}

// covers: ATT-421
#[tokio::test]
async fn it_is_remembered_over_a_restart_of_the_host_while_the_session_goes_on() {
    let told = Told::new().await;
    let session = told.bot.hello["session"]["id"].clone();
    let Told { house, room, token, bot, .. } = told;
    drop(bot);
    let House { running, folder, .. } = house;
    running.stop().await;
    let house = House::open_in(folder, Timestamp(START.0 + 60_000)).await;
    let bot = house.connect_as(&token, json!({"id": session})).await;
    let new = json!({"conversation": room, "text": SECRET, "idempotency_key": "k1"});
    let answer = house.post(&token, "/v1/messages", new.clone()).await;
    assert_eq!(answer.refused(403), "APPROVAL_REQUIRED");
    drop(bot);
}

// covers: ATT-422
#[tokio::test]
async fn a_sensitive_tool_waits_over_rest_as_well() {
    let house = House::open_with(tempfile::tempdir().unwrap(), START, |config| {
        let tools = ["create_thread", "update_thread_status", "chat.react", "get_thread"];
        let more = ["create_channel_stimulus", "chat.read_thread"];
        config.settings.approvals.sensitive_tools =
            tools.iter().chain(&more).map(|tool| (*tool).to_owned()).collect();
    })
    .await;
    let room = house.room(&["bot"]).await;
    let (ann, bot) = (house.token("ann").await, house.token("bot").await);
    let said = house.say(&ann, &room, "anybody?").await;
    let said = said["event_id"].as_str().unwrap();
    let new = json!({"conversation": room, "title": "work"});
    let thread = house.post(&ann, "/v1/threads", new.clone()).await.ok();
    let thread = thread["id"].as_str().unwrap();
    let idea = json!({"kind": "agent_idea", "text": "an idea"});
    for (method, path, body) in [
        (Method::POST, "/v1/threads".to_owned(), Some(new)),
        (Method::PATCH, format!("/v1/threads/{thread}"), Some(json!({"status": "blocked"}))),
        (Method::PUT, format!("/v1/messages/{said}/reactions/working"), Some(json!({}))),
        (Method::DELETE, format!("/v1/messages/{said}/reactions/working"), None),
        (Method::POST, format!("/v1/channels/{room}/stimuli"), Some(idea.clone())),
        (Method::GET, format!("/v1/threads/{thread}"), None),
        (Method::GET, format!("/v1/messages?conversation={room}"), None),
    ] {
        let answer = house.send(&bot, method.clone(), &path, body.clone()).await;
        assert_eq!(answer.refused(403), "APPROVAL_REQUIRED", "{method} {path}");
        let answer = house.send(&ann, method.clone(), &path, body).await;
        assert_ne!(answer.body["error"]["code"], "APPROVAL_REQUIRED", "{method} {path}");
    }
    // The same as a tool is the same request.
    let asked = house.get(&house.operator(), "/v1/approvals").await.ok();
    let count = asked["approvals"].as_array().unwrap().len();
    let mut args = idea;
    args["channel_id"] = json!(room);
    let refused = house.tool(&bot, "create_channel_stimulus", args).await.unwrap_err();
    assert_eq!(refused, "APPROVAL_REQUIRED");
    let asked = house.get(&house.operator(), "/v1/approvals").await.ok();
    assert_eq!(asked["approvals"].as_array().unwrap().len(), count, "{asked}");
}
