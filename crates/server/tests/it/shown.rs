//! What an agent was told in private, and shows elsewhere in other words than messages.

use chorus_core::model::ids::Timestamp;
use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::Harness;
use crate::mcp::clients::Wire;
use crate::test_host::{Answer, START, TestHost, damage, doctor};

const SECRET: &str = "the merger is off";

/// The bot was told a secret by ann, in private, and is done with that; what it has said in the channel before.
struct Told {
    host: TestHost,
    room: String,
    token: String,
    bot: Harness,
    before: String,
}

impl Told {
    async fn new() -> Self {
        let host = TestHost::open().await;
        let room = host.room(&["bot", "other"]).await;
        let (ann, token) = (host.token("ann").await, host.token("bot").await);
        let mut bot = host.connect(&token).await;
        let before = host.say(&token, &room, "good morning").await;
        let before = before["event_id"].as_str().unwrap().to_owned();
        let new = json!({"title": "pair", "kind": "dm", "members": ["bot"]});
        let pair = host.post(&ann, "/v1/channels", new).await.ok();
        host.say(&ann, pair["id"].as_str().unwrap(), &format!("{SECRET}, is that clear?")).await;
        let event = bot.take().await;
        bot.reply(&event, "It is.").await.unwrap();
        Self { host, room, token, bot, before }
    }

    async fn ask(&self, method: Method, path: &str, body: Value) -> Answer {
        self.host.send(&self.token, method, path, Some(body)).await
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
async fn private_content_needs_approval_wherever_it_is_written() {
    let told = Told::new().await;
    let (host, room) = (&told.host, &told.room);
    let (ann, op) = (host.token("ann").await, host.operator());
    let new = json!({"conversation": room, "title": "work"});
    let thread = host.post(&ann, "/v1/threads", new).await.ok();
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
    let log = host.get(&op, &format!("/v1/events?conversation={room}&after=0&limit=200")).await;
    assert!(!log.ok().to_string().contains(SECRET));
    let waits = host.get(&ann, "/v1/approvals").await.ok();
    let waits = waits["approvals"].as_array().unwrap();
    assert_eq!(waits.len(), acts.len() + 1, "{waits:?}");
    let others = host.token("other").await;
    assert_eq!(host.get(&others, "/v1/approvals").await.ok()["approvals"], json!([]));

    // Whoever could read it there agrees, and the same call is made.
    let stimulus = waits.iter().find(|w| w["tool"] == "create_channel_stimulus").unwrap();
    assert_eq!(stimulus["arguments"]["text"], SECRET);
    let path = format!("/v1/approvals/{}", stimulus["id"].as_str().unwrap());
    host.post(&ann, &path, json!({"approved": true})).await.ok();
    let (method, path, body) = acts[6].clone();
    told.ask(method, &path, body).await.ok();
}

// covers: ATT-421
#[tokio::test]
async fn call_that_names_a_public_turn_is_checked_against_it() {
    let mut told = Told::new().await;
    let ann = told.host.token("ann").await;
    told.host.say(&ann, &told.room, "@bot is the build green?").await;
    let event = told.bot.take().await;
    told.bot.reply(&event, "It is.").await.unwrap();
    // Without that it is not known what it speaks of; and others were told nothing.
    let new =
        |key: &str| json!({"conversation": told.room, "text": "green", "idempotency_key": key});
    let answer = told.ask(Method::POST, "/v1/messages", new("k1")).await;
    assert_eq!(answer.refused(403), "APPROVAL_REQUIRED");
    let other = told.host.token("other").await;
    told.host.post(&other, "/v1/messages", new("k2")).await.ok();
}

// covers: ATT-421
#[tokio::test]
async fn it_is_remembered_over_a_restart_of_the_host_while_the_session_goes_on() {
    let told = Told::new().await;
    let session = told.bot.hello["session"]["id"].clone();
    let Told { host, room, token, bot, .. } = told;
    drop(bot);
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    let host = TestHost::open_in(folder, Timestamp(START.0 + 60_000)).await;
    let bot = host.connect_as(&token, json!({"id": session})).await;
    let new = json!({"conversation": room, "text": SECRET, "idempotency_key": "k1"});
    let answer = host.post(&token, "/v1/messages", new.clone()).await;
    assert_eq!(answer.refused(403), "APPROVAL_REQUIRED");
    drop(bot);
}

// covers: ATT-422
#[tokio::test]
async fn a_sensitive_tool_waits_over_rest_as_well() {
    let host = TestHost::open_with(tempfile::tempdir().unwrap(), START, |config| {
        let tools = ["create_thread", "update_thread_status", "chat.react", "get_thread"];
        let more = ["create_channel_stimulus", "chat.read_thread"];
        config.settings.approvals.sensitive_tools =
            tools.iter().chain(&more).map(|tool| (*tool).to_owned()).collect();
    })
    .await;
    let room = host.room(&["bot"]).await;
    let (ann, bot) = (host.token("ann").await, host.token("bot").await);
    let said = host.say(&ann, &room, "anybody?").await;
    let said = said["event_id"].as_str().unwrap();
    let new = json!({"conversation": room, "title": "work"});
    let thread = host.post(&ann, "/v1/threads", new.clone()).await.ok();
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
        let answer = host.send(&bot, method.clone(), &path, body.clone()).await;
        assert_eq!(answer.refused(403), "APPROVAL_REQUIRED", "{method} {path}");
        let answer = host.send(&ann, method.clone(), &path, body).await;
        assert_ne!(answer.body["error"]["code"], "APPROVAL_REQUIRED", "{method} {path}");
    }
    // The same as a tool is the same request.
    let asked = host.get(&host.operator(), "/v1/approvals").await.ok();
    let count = asked["approvals"].as_array().unwrap().len();
    let mut args = idea;
    args["channel_id"] = json!(room);
    let refused = host.tool(&bot, "create_channel_stimulus", args).await.unwrap_err();
    assert_eq!(refused, "APPROVAL_REQUIRED");
    let asked = host.get(&host.operator(), "/v1/approvals").await.ok();
    assert_eq!(asked["approvals"].as_array().unwrap().len(), count, "{asked}");
}

/// A message that names no turn.
async fn tells(host: &TestHost, token: &str, room: &str, key: &str) -> Answer {
    let new = json!({"conversation": room, "text": SECRET, "idempotency_key": key});
    host.post(token, "/v1/messages", new).await
}

/// A direct conversation of ann and the bot.
async fn pair(host: &TestHost, ann: &str) -> String {
    let new = json!({"title": "pair", "kind": "dm", "members": ["bot"]});
    host.post(ann, "/v1/channels", new).await.ok()["id"].as_str().unwrap().to_owned()
}

// covers: ATT-421
#[tokio::test]
async fn an_agent_without_a_session_is_held_for_half_an_hour() {
    for how in ["tool", "rest", "answer"] {
        let host = TestHost::open().await;
        let room = host.room(&["bot", "other"]).await;
        let (ann, bot) = (host.token("ann").await, host.token("bot").await);
        let pair = pair(&host, &ann).await;
        let said = host.say(&ann, &pair, &format!("{SECRET}, is that clear?")).await;
        let event = said["event_id"].as_str().unwrap();
        tells(&host, &bot, &room, "before").await.ok();
        let _ = match how {
            "tool" => host.tool(&bot, "chat.claim", json!({"eventId": event})).await.unwrap(),
            "rest" => host.post(&bot, "/v1/claims", json!({"event": event})).await.ok(),
            _ => {
                let answer = json!({"conversation": pair, "text": "It is.", "in_reply_to": event,
                    "idempotency_key": "k0"});
                host.post(&bot, "/v1/messages", answer).await.ok()
            }
        };
        let refused = tells(&host, &bot, &room, "k1").await.refused(403);
        assert_eq!(refused, "APPROVAL_REQUIRED", "{how}");
        let idea = json!({"kind": "agent_idea", "text": SECRET});
        let stimuli = format!("/v1/channels/{room}/stimuli");
        let refused = host.post(&bot, &stimuli, idea).await.refused(403);
        assert_eq!(refused, "APPROVAL_REQUIRED", "{how}");
        // What it was asked in public it answers there.
        let asked = host.say(&ann, &room, "@bot is the build green?").await;
        let answer = json!({"conversation": room, "text": "It is green.",
            "in_reply_to": asked["event_id"], "idempotency_key": "k2"});
        host.post(&bot, "/v1/messages", answer).await.ok();
        host.pass(31 * 60_000).await;
        tells(&host, &bot, &room, "k3").await.ok();
    }
}

// covers: ATT-421
#[tokio::test]
async fn a_token_of_another_session_is_judged_by_what_the_agent_was_told() {
    let told = Told::new().await;
    let (host, room) = (&told.host, &told.room);
    let session = "sess_00000000000000000000000000000001";
    let new = json!({"agent": "bot", "role": "worker", "session": session});
    let made = host.post(&host.operator(), "/v1/tokens", new).await.ok();
    let token = made["token"].as_str().unwrap();
    let mine = json!({"title": "mine", "participants": []});
    let thread = host.post(token, "/v1/threads", mine).await.ok();
    // By this its session is known, though it never connected.
    let status = json!({"thread_id": thread["id"], "status": "blocked"});
    host.mcp(token, Wire::Stateless).await.call("update_thread_status", status).await.unwrap();
    assert_eq!(tells(host, token, room, "k1").await.refused(403), "APPROVAL_REQUIRED");
}

// covers: ATT-421
#[tokio::test]
async fn it_is_remembered_over_a_restart_wherever_it_was_told() {
    for ephemeral in [true, false] {
        let host = TestHost::open().await;
        let room = host.room(&["bot", "other"]).await;
        let (ann, bot) = (host.token("ann").await, host.token("bot").await);
        let mut harness = host.connect_as(&bot, json!({"resumable": true})).await;
        if ephemeral {
            let new = json!({"conversation": room, "text": format!("@bot {SECRET}, is that clear?"),
                "visibility": "ephemeral", "only": ["bot"], "idempotency_key": "k0"});
            host.post(&ann, "/v1/messages", new).await.ok();
            let event = harness.take().await;
            harness.reply(&event, "It is.").await.unwrap();
        } else {
            let new =
                json!({"title": "narrow", "visibility": "private", "members": ["bot", "ann"]});
            let narrow = host.post(&host.operator(), "/v1/channels", new).await.ok();
            let narrow = narrow["id"].as_str().unwrap();
            host.say(&ann, narrow, &format!("@bot {SECRET}, is that clear?")).await;
            let event = harness.take().await;
            harness.reply(&event, "It is.").await.unwrap();
            let seat = format!("/v1/channels/{narrow}/members/bot");
            host.send(&bot, Method::DELETE, &seat, None).await.ok();
        }
        for n in 0..70 {
            host.say(&ann, &room, &format!("line {n}")).await;
        }
        let session = json!({"id": harness.hello["session"]["id"], "resumable": true});
        drop(harness);
        let TestHost { running, folder, .. } = host;
        running.stop().await;
        let host = TestHost::open_in(folder, Timestamp(START.0 + 60_000)).await;
        // Before it is back, too.
        let refused = tells(&host, &bot, &room, "k1").await.refused(403);
        assert_eq!(refused, "APPROVAL_REQUIRED", "ephemeral: {ephemeral}");
        let harness = host.connect_as(&bot, session).await;
        host.pass(600_000).await;
        let refused = tells(&host, &bot, &room, "k1").await.refused(403);
        assert_eq!(refused, "APPROVAL_REQUIRED", "ephemeral: {ephemeral}");
        drop(harness);
    }
}

// covers: ATT-421
#[tokio::test]
async fn a_private_room_that_is_damaged_stops_nobody_who_was_told_nothing_there() {
    let host = TestHost::open().await;
    let room = host.room(&["bot", "other"]).await;
    let (ann, bot) = (host.token("ann").await, host.token("bot").await);
    let mut harness = host.connect_as(&bot, json!({"resumable": true})).await;
    let narrow = json!({"title": "narrow", "visibility": "private", "members": ["bot", "ann"]});
    let narrow = host.post(&host.operator(), "/v1/channels", narrow).await.ok();
    let narrow = narrow["id"].as_str().unwrap();
    host.say(&ann, narrow, "nothing for you").await;
    let pair = pair(&host, &ann).await;
    host.say(&ann, &pair, &format!("{SECRET}, is that clear?")).await;
    let event = harness.take().await;
    harness.reply(&event, "It is.").await.unwrap();
    let now = host.clock_now();
    let session = json!({"id": harness.hello["session"]["id"], "resumable": true});
    drop(harness);
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    damage(
        folder.path(),
        "UPDATE event SET hop = hop + 1 WHERE workspace = 1 AND conversation = 2",
    );
    let host = TestHost::open_in(folder, now).await;
    host.running.verified().await;
    let harness = host.connect_as(&bot, session).await;
    // A person is asked about what it was told in the other.
    assert_eq!(tells(&host, &bot, &room, "k1").await.refused(403), "APPROVAL_REQUIRED");
    let said = json!({"conversation": pair, "text": "And the press?", "idempotency_key": "k2"});
    host.post(&bot, "/v1/messages", said).await.ok();
    drop(harness);
}

// covers: ATT-420
#[tokio::test]
async fn a_call_that_was_decided_keeps_no_words() {
    let told = Told::new().await;
    let (host, before) = (&told.host, &told.before);
    let ann = host.token("ann").await;
    let path = format!("/v1/messages/{before}");
    let edit = || Some(json!({"text": SECRET}));
    let code = host.send(&told.token, Method::PATCH, &path, edit()).await.refused(403);
    assert_eq!(code, "APPROVAL_REQUIRED");
    let waits = host.get(&ann, "/v1/approvals").await.ok();
    let id = waits["approvals"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(waits["approvals"][0]["arguments"]["text"], SECRET);
    let decided = host.post(&ann, &format!("/v1/approvals/{id}"), json!({"approved": true})).await;
    assert!(!decided.ok().to_string().contains(SECRET));
    let all = host.get(&ann, "/v1/approvals?all=true").await.ok();
    assert_eq!(all["approvals"][0]["state"], "approved");
    assert!(!all.to_string().contains(SECRET), "{all}");
    // Nor has its row any, by which the host knows it again after a restart.
    let Told { host, token, bot, .. } = told;
    drop(bot);
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    let found = doctor(folder.path()).problems;
    assert!(found.is_empty(), "{found:?}");
    let host = TestHost::open_in(folder, START).await;
    let other = Some(json!({"text": "the merger is on"}));
    let code = host.send(&token, Method::PATCH, &path, other).await.refused(403);
    assert_eq!(code, "APPROVAL_REQUIRED", "it was agreed to just that");
    host.send(&token, Method::PATCH, &path, edit()).await.ok();
}
