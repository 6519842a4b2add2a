//! Wakes over the transports: what a runner is sent, what it reports, and what others see of it (threads spec section
//! 3.8).

use serde_json::{Value, json};

use crate::harness::Harness;
use crate::test_host::TestHost;

/// The runner of an agent's program.
async fn runner(host: &TestHost, token: &str) -> Harness {
    let session = json!({
        "runner": true, "runtime": "codex_cli", "resumable": true, "managed": true,
        "folder": "/srv/app", "resumeId": "thr_1",
    });
    host.connect_as(token, session).await
}

async fn report(
    runner: &mut Harness,
    wake: &Value,
    result: &str,
    more: Value,
) -> Result<Value, Value> {
    let mut report = json!({"wakeId": wake["wakeId"], "fence": wake["fence"], "result": result});
    report.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    runner.call("wake/report", report).await
}

async fn confirmed(runner: &mut Harness, wake: &Value) -> Value {
    let lane = json!({"lane": "codex_socket", "evidence": "turn/started t1"});
    report(runner, wake, "confirmed", lane).await.unwrap()
}

/// The token of the program itself, which names the runner's session.
async fn programs_token(host: &TestHost, runner: &Harness, agent: &str) -> String {
    let session = &runner.hello["session"]["id"];
    let new = json!({"agent": agent, "role": "worker", "session": session});
    let made = host.post(&host.operator(), "/v1/tokens", new).await.ok();
    made["token"].as_str().unwrap().to_owned()
}

// covers: ATT-470, ATT-472
#[tokio::test]
async fn a_mention_wakes_the_program_and_its_answer_ends_the_wake() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let ann = host.token("ann").await;
    let mut bot = runner(&host, &host.token("bot").await).await;
    let program = programs_token(&host, &bot, "bot").await;

    let asked = host.say(&ann, &room, "@bot please look at CI").await;
    let wake = bot.wake().await;
    assert_eq!(
        (&wake["again"], &wake["force"], &wake["fence"]),
        (&json!(false), &json!(false), &json!(1))
    );
    assert_eq!(wake["threads"][0]["conversationId"], room.as_str());
    let prompt = wake["prompt"].as_str().unwrap();
    assert!(prompt.contains(&room) && prompt.len() <= 8_192, "{prompt}");
    assert!(bot.is_quiet().await, "nothing is delivered to a runner");

    let event = asked["event_id"].as_str().unwrap();
    let why = format!("/v1/events/{event}/attention");
    let told = host.get(&ann, &why).await.ok();
    assert_eq!(told["told"][0]["receipt"]["state"], "waiting", "{told}");
    let running = confirmed(&mut bot, &wake).await;
    assert_eq!(running["state"], "running");
    let told = host.get(&ann, &why).await.ok();
    assert_eq!(told["told"][0]["receipt"]["state"], "accepted", "{told}");
    assert_eq!(told["wakes"][0]["attempts"][0]["lane"], "codex_socket", "{told}");

    let answer = json!({
        "target": {"conversation": room}, "inReplyTo": event, "idempotencyKey": "k1",
        "visibility": "channel", "directedness": "to_other", "text": "it is green again",
    });
    host.tool(&program, "chat.send_message", answer).await.unwrap();
    let told = host.get(&ann, &why).await.ok();
    assert_eq!(told["told"][0]["receipt"]["disposition"], "responded", "{told}");
    let done = report(&mut bot, &wake, "ended", json!({})).await.unwrap();
    assert_eq!(done["state"], "done");
    let told = host.get(&ann, &why).await.ok();
    assert_eq!(told["wakes"][0]["outcome"], "answered", "{told}");
}

// covers: ATT-470
#[tokio::test]
async fn a_thousand_messages_to_one_sleeper_are_one_wake() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let op = host.operator();
    let mut bot = runner(&host, &host.token("bot").await).await;
    for n in 0..1_000 {
        host.say(&op, &room, &format!("@bot please do {n}")).await;
    }
    let first = bot.wake().await;
    bot.call("ping", json!({})).await.unwrap();
    let wakes = host.get(&op, "/v1/wakes").await.ok();
    assert_eq!(wakes["wakes"].as_array().unwrap().len(), 1, "{wakes}");
    assert_eq!(wakes["wakes"][0]["id"], first["wakeId"]);
    assert!(wakes["wakes"][0]["threads"][0]["through_seq"].as_u64() >= Some(1_000), "{wakes}");
}

// covers: ATT-471, ATT-473
#[tokio::test]
async fn a_runner_that_is_gone_is_sent_its_wake_again_and_an_old_fence_is_stale() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let (ann, token) = (host.token("ann").await, host.token("bot").await);
    let mut bot = runner(&host, &token).await;
    let session = bot.hello["session"]["id"].clone();
    host.say(&ann, &room, "@bot please look at CI").await;
    let wake = bot.wake().await;

    // It connects again.
    drop(bot);
    let again = json!({"id": session, "runner": true, "runtime": "codex_cli", "resumable": true});
    let mut bot = host.connect_as(&token, again).await;
    let same = bot.wake().await;
    assert_eq!((&same["wakeId"], &same["fence"]), (&wake["wakeId"], &wake["fence"]));
    assert_eq!(same["again"], true);

    // It says nothing for too long.
    host.pass(46_000).await;
    let mut next = bot.wake().await;
    // It may have been sent once more when the first connection was seen to have ended.
    while next["fence"] == 1 {
        next = bot.wake().await;
    }
    assert_eq!((&next["wakeId"], &next["fence"]), (&wake["wakeId"], &json!(2)));
    let stale = report(&mut bot, &wake, "confirmed", json!({"lane": "pty"})).await.unwrap_err();
    assert_eq!(stale["data"]["code"], "CONFLICT", "{stale}");
    let none =
        json!({"wakeId": "wake_0192f0c1a2b37c4d8e5f60718293a4b5", "fence": 1, "result": "working"});
    let none = bot.call("wake/report", none).await.unwrap_err();
    assert_eq!(none["data"]["code"], "NOT_FOUND", "{none}");
    let mut other = runner(&host, &ann).await;
    let theirs = report(&mut other, &next, "confirmed", json!({"lane": "pty"})).await.unwrap_err();
    assert_eq!(theirs["data"]["code"], "NOT_FOUND", "{theirs}");
}

// covers: ATT-474
#[tokio::test]
async fn turns_that_answer_nothing_are_no_progress_and_end_with_a_person() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let ann = host.token("ann").await;
    let mut bot = runner(&host, &host.token("bot").await).await;
    host.say(&ann, &room, "@bot please look at CI").await;
    let mut skipped = Vec::new();
    for _ in 0..3 {
        let wake = bot.wake().await;
        skipped.push(wake["skip"].as_array().unwrap().len());
        confirmed(&mut bot, &wake).await;
        let lines = json!({"lane": "codex_socket", "lines": "Completed."});
        report(&mut bot, &wake, "ended", lines).await.unwrap();
    }
    assert_eq!(skipped, [0, 0, 1], "the lane that brought nothing twice is left out");
    let wakes = host.get(&host.operator(), "/v1/wakes").await.ok();
    let wake = &wakes["wakes"][0];
    assert_eq!((&wake["state"], &wake["outcome"]), (&json!("dead"), &json!("no_progress")));
    assert_eq!(wake["lines"], "Completed.");
}

// covers: ATT-475
#[tokio::test]
async fn without_a_runner_a_wake_is_given_up_after_four_minutes() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let (ann, token) = (host.token("ann").await, host.token("bot").await);
    let mut bot = runner(&host, &token).await;
    bot.call("ping", json!({})).await.unwrap();
    drop(bot);
    let gone = |all: Value| all["agents"][0]["online"] == false;
    while !gone(host.get(&ann, "/v1/agents").await.ok()) {
        tokio::task::yield_now().await;
    }
    host.say(&ann, &room, "@bot please look at CI").await;
    let op = host.operator();
    let wakes = host.get(&op, "/v1/wakes").await.ok();
    assert_eq!(wakes["wakes"][0]["state"], "pending", "{wakes}");
    host.pass(239_000).await;
    assert_eq!(host.get(&op, "/v1/wakes").await.ok()["wakes"][0]["state"], "pending");
    host.pass(2_000).await;
    let wakes = host.get(&op, "/v1/wakes").await.ok();
    assert_eq!(wakes["wakes"][0]["outcome"], "no_runner", "{wakes}");
}

// covers: THR-533, THR-534
#[tokio::test]
async fn a_trigger_is_refused_with_its_reason_and_changes_nothing() {
    let host = TestHost::open().await;
    let room = host.room(&["bot", "other"]).await;
    let (ann, token) = (host.token("ann").await, host.token("bot").await);
    let op = host.operator();
    let wake = |member: &str, thread: &str| json!({"member": member, "thread": thread});
    let ask = |token: String, body: Value| {
        let host = &host;
        async move { host.post(&token, "/v1/wakes", body).await }
    };
    host.say(&ann, &room, "has anybody seen this?").await;
    assert_eq!(ask(ann.clone(), wake("bot", &room)).await.refused(409), "WAKE_FAILED");
    assert_eq!(ask(ann.clone(), wake("nobody", &room)).await.refused(404), "NOT_FOUND");
    let elsewhere = "ch_0192f0c1a2b37c4d8e5f60718293a4b5";
    assert_eq!(ask(ann.clone(), wake("bot", elsewhere)).await.refused(404), "NOT_FOUND");
    let beat = json!({"session_id": "thr_9", "runtime": "codex_cli", "status": "idle"});
    host.tool(&token, "heartbeat_session", beat).await.unwrap();
    assert_eq!(ask(ann.clone(), wake("bot", &room)).await.refused(409), "UNMANAGED_RUNTIME");
    let mut bot = runner(&host, &token).await;
    let mut forced = wake("bot", &room);
    forced["force"] = json!(true);
    let refused = ask(ann.clone(), forced.clone()).await.refused(403);
    assert_eq!(refused, "INSUFFICIENT_AUTHORITY");
    assert_eq!(host.get(&op, "/v1/wakes").await.ok()["wakes"], json!([]));
    let opened = ask(op.clone(), forced).await.ok();
    assert_eq!(opened["wake"]["force"], true);
    assert_eq!(bot.wake().await["force"], true);
    let audit = host.get(&op, "/v1/audit").await.ok().to_string();
    assert!(audit.contains("force"), "{audit}");
}

// covers: THR-500
#[tokio::test]
async fn a_heartbeat_is_for_oneself_and_goes_stale() {
    let host = TestHost::open().await;
    host.room(&["bot", "other"]).await;
    let token = host.token("bot").await;
    let beat = |more: Value| {
        let mut beat = json!({
            "session_id": "sess_rv_12", "runtime": "codex_cli", "resumable": true, "status": "active",
        });
        beat.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        beat
    };
    let done = host.tool(&token, "heartbeat_session", beat(json!({}))).await.unwrap();
    assert_eq!(done["ok"], true);
    let of = |all: &Value| {
        let all = all["sessions"].as_array().unwrap();
        all.iter().find(|one| one["id"] == done["session_id"]).cloned().unwrap()
    };
    let sessions = host.get(&token, "/v1/sessions").await.ok();
    let shown = of(&sessions);
    assert_eq!((&shown["status"], &shown["proof"]), (&json!("active"), &json!("heartbeat")));
    assert_eq!((&shown["resume_id"], &shown["connected"]), (&json!("sess_rv_12"), &json!(false)));
    let other = host.token("other").await;
    let seen = of(&host.get(&other, "/v1/sessions").await.ok());
    assert!(seen.get("resume_id").is_none(), "{seen}");
    host.pass(91_000).await;
    let sessions = host.get(&token, "/v1/sessions").await.ok();
    assert_eq!(of(&sessions)["status"], "offline");
    for (more, code) in [
        (json!({"agent_id": "other"}), "CLAIM_MISMATCH"),
        (json!({"workspace_id": "wk_else"}), "OUT_OF_SCOPE_WORKSPACE"),
        (json!({"session_id": ""}), "VALIDATION_ERROR"),
        (json!({"session_id": "a\nb"}), "VALIDATION_ERROR"),
        (json!({"session_id": "x".repeat(201)}), "VALIDATION_ERROR"),
        (json!({"status": "asleep"}), "VALIDATION_ERROR"),
        (json!({"mood": "good"}), "VALIDATION_ERROR"),
    ] {
        let refused = host.tool(&token, "heartbeat_session", beat(more.clone())).await.unwrap_err();
        assert_eq!(refused, code, "{more}");
    }
}
