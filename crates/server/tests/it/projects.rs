//! Projects over the transports: members on the rosters of channels, tasks that wait for each other, over a restart.

use std::fs;

use chorus_core::model::ids::Timestamp;
use chorus_server::history::{Signing, export, import};
use reqwest::Method;
use serde_json::{Value, json};

use crate::test_host::{Answer, TestHost, place, verify};

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_else(|| panic!("{key} of {value}"))
}

async fn put(host: &TestHost, token: &str, path: &str, body: Value) -> Answer {
    host.send(token, Method::PUT, path, Some(body)).await
}

async fn patch(host: &TestHost, token: &str, path: &str, body: Value) -> Answer {
    host.send(token, Method::PATCH, path, Some(body)).await
}

async fn delete(host: &TestHost, token: &str, path: &str) -> Answer {
    host.send(token, Method::DELETE, path, None).await
}

/// Member, the ids under which it is mirrored, and whether it is there through these alone.
async fn roster(host: &TestHost, room: &str) -> Vec<(String, Vec<String>, bool)> {
    let shown = host.get(&host.operator(), &format!("/v1/channels/{room}")).await.ok();
    let seat = |s: &Value| {
        let ids = s.get("mirrored").and_then(Value::as_array).cloned().unwrap_or_default();
        let ids = ids.iter().map(|id| id.as_str().unwrap().to_owned()).collect();
        (text(s, "member").to_owned(), ids, s["by_mirror"] == true)
    };
    shown["members"].as_array().unwrap().iter().map(seat).collect()
}

async fn is_seated(host: &TestHost, room: &str, member: &str) -> bool {
    roster(host, room).await.iter().any(|(m, _, _)| m == member)
}

async fn again(host: TestHost, later: i64) -> TestHost {
    let now = host.clock_now();
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    assert_eq!(verify(folder.path()).problems, []);
    TestHost::open_in(folder, Timestamp(now.0 + later)).await
}

async fn add_task(host: &TestHost, token: &str, project: &str, new: Value) -> Answer {
    host.post(token, &format!("/v1/projects/{project}/tasks"), new).await
}

// covers: CHN-170, CHN-171, CHN-173, CHN-174, CHN-176, CHN-180, CHN-181, CHN-183, CHN-184, CHN-185
#[tokio::test]
async fn a_project_goes_from_its_beginning_to_a_task_that_is_done() {
    let host = TestHost::open().await;
    let room = host.room(&["bot", "other"]).await;
    let op = host.operator();
    host.post(&op, "/v1/members", json!({"id": "late", "kind": "agent"})).await.ok();
    let new = json!({
        "title": "Move", "members": ["ann", "bot", "other"],
        "channels": [{"channel": room, "mirror_members": true}],
        "kickoff": "We move on Friday.",
    });
    let made = host.post(&op, "/v1/projects", new).await.ok();
    let project = text(&made, "id").to_owned();
    assert!(project.starts_with("prj_"), "{made}");
    assert_eq!(made["channels"][0]["default"], true);
    assert_eq!(made["channels"][0]["title"], "room");
    let at = format!("/v1/projects/{project}");
    // Who comes later is on the roster, under both of its ids, and can be addressed by either.
    assert!(!is_seated(&host, &room, "late").await);
    let late = json!({"member": "late", "title": "the standby"});
    let shown = put(&host, &op, &format!("{at}/members/helper"), late).await.ok();
    let mirrored = format!("project:{project}:helper");
    assert_eq!((&shown["member"], &shown["mirrored_id"]), (&json!("late"), &json!(mirrored)));
    let seats = roster(&host, &room).await;
    assert!(seats.contains(&("late".into(), vec![mirrored.clone()], true)), "{seats:?}");
    let bot_seat = seats.iter().find(|(m, _, _)| m == "bot").unwrap();
    assert_eq!(bot_seat, &("bot".into(), vec![format!("project:{project}:bot")], false));
    let ann = host.token("ann").await;
    let ask = json!({
        "conversation": room, "text": "is the standby up?", "idempotency_key": "k1",
        "recipient": mirrored,
    });
    host.post(&ann, "/v1/messages", ask).await.ok();
    let late_token = host.token("late").await;
    let mut standby = host.connect(&late_token).await;
    let told = standby.delivery().await.to_string();
    assert!(told.contains("is the standby up?") && told.contains("must_respond"), "{told}");
    drop(standby);

    let first = json!({"title": "Copy the data", "assignee": "bot"});
    let first = add_task(&host, &ann, &project, first).await.ok();
    let second = json!({"title": "Switch over", "assignee": "other", "depends_on": [first["id"]]});
    let second = add_task(&host, &ann, &project, second).await.ok();
    assert_eq!(second["waits_for"], json!([first["id"]]));
    let (one, two) = (text(&first, "id").to_owned(), text(&second, "id").to_owned());
    let (bot, other) = (host.token("bot").await, host.token("other").await);
    let begun = json!({"state": "in_progress"});
    let early = patch(&host, &other, &format!("{at}/tasks/{two}"), begun.clone()).await;
    assert_eq!(early.refused(409), "CONFLICT");
    patch(&host, &bot, &format!("{at}/tasks/{one}"), begun.clone()).await.ok();

    let host = again(host, 0).await;
    let op = host.operator();
    let (bot, other) = (host.token("bot").await, host.token("other").await);
    let done = json!({"state": "done"});
    patch(&host, &bot, &format!("{at}/tasks/{one}"), done.clone()).await.ok();
    // Saying it twice is saying it once.
    patch(&host, &bot, &format!("{at}/tasks/{one}"), done.clone()).await.ok();
    let waiting = host.get(&op, &format!("/v1/channels/{room}/stimuli")).await.ok();
    let queue = waiting["stimuli"].as_array().unwrap().clone();
    assert_eq!(queue.len(), 1, "{waiting}");
    assert_eq!(queue[0]["kind"], "task_completed");
    assert_eq!((&queue[0]["source"], &queue[0]["targets"]), (&json!("bot"), &json!(["other"])));
    let host = again(host, 600_000).await;
    let op = host.operator();
    host.pass(2_000).await;
    host.pass(2_000).await;
    let host = again(host, 600_000).await;
    host.pass(2_000).await;
    let feed = host.get(&op, &format!("/v1/channels/{room}/feed")).await.ok();
    let said: Vec<_> = feed["entries"].as_array().unwrap().iter().collect();
    let said: Vec<_> = said.iter().filter(|e| e["message"]["kind"] == "event").collect();
    assert_eq!(said.len(), 1, "{feed}");
    let words = text(&said[0]["message"], "text");
    assert!(words.contains("Copy the data") && words.contains("Switch over"), "{words}");
    let kicked = feed["entries"].as_array().unwrap().iter();
    let kicked = kicked.filter(|e| e["message"]["text"] == "We move on Friday.");
    assert_eq!(kicked.count(), 1, "{feed}");
    patch(&host, &other, &format!("{at}/tasks/{two}"), begun).await.ok();

    // What came with the project goes with it, and what was there before stays.
    let shown = host.get(&op, &at).await.ok();
    assert_eq!(shown["tasks"], json!({"done": 1, "in_progress": 1}));
    delete(&host, &op, &format!("{at}/members/helper")).await.ok();
    assert!(!is_seated(&host, &room, "late").await);
    let off = json!({"mirror_members": false});
    put(&host, &op, &format!("{at}/channels/{room}"), off).await.ok();
    let seats = roster(&host, &room).await;
    assert!(seats.iter().any(|(m, _, _)| m == "bot"), "{seats:?}");
    assert!(seats.iter().all(|(_, ids, by)| ids.is_empty() && !by), "{seats:?}");
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    assert_eq!(verify(folder.path()).problems, []);
}

// covers: CHN-172, CHN-175, CHN-177, CHN-178, CHN-179, CHN-181, CHN-182, CHN-186
#[tokio::test]
async fn invalid_project_change_is_refused_and_changes_nothing() {
    let host = TestHost::open().await;
    let room = host.room(&["bot", "other"]).await;
    let op = host.operator();
    let more = json!({"title": "more"});
    let second = text(&host.post(&op, "/v1/channels", more).await.ok(), "id").to_owned();
    let hidden = json!({"title": "the secret name", "visibility": "private"});
    let hidden = text(&host.post(&op, "/v1/channels", hidden).await.ok(), "id").to_owned();
    let (ann, bot, other) =
        (host.token("ann").await, host.token("bot").await, host.token("other").await);
    let dm = json!({"kind": "dm", "members": ["bot"]});
    let dm = text(&host.post(&ann, "/v1/channels", dm).await.ok(), "id").to_owned();
    let none = "ch_0192f0c1a2b37c4d8e5f60718293a4b5";
    let long = "x".repeat(10_000);
    for (token, new, status, code) in [
        (&bot, json!({"title": "p"}), 403, "INSUFFICIENT_AUTHORITY"),
        (&op, json!({}), 400, "VALIDATION_ERROR"),
        (&op, json!({"title": " "}), 400, "VALIDATION_ERROR"),
        (&op, json!({"title": long}), 400, "VALIDATION_ERROR"),
        (&op, json!({"title": "p", "description": long}), 400, "VALIDATION_ERROR"),
        (&op, json!({"title": "p", "owner": "ann"}), 400, "VALIDATION_ERROR"),
        (&op, json!({"title": "p", "members": ["nobody"]}), 404, "NOT_FOUND"),
        (&op, json!({"title": "p", "channels": [{"channel": none}]}), 404, "NOT_FOUND"),
        (&op, json!({"title": "p", "channels": [{"channel": dm}]}), 404, "NOT_FOUND"),
        (&op, json!({"title": "p", "kickoff": "Go."}), 400, "VALIDATION_ERROR"),
        (
            &op,
            json!({"title": "p", "channels": [{"channel": room}], "kickoff": long}),
            413,
            "PAYLOAD_TOO_LARGE",
        ),
        (
            &op,
            json!({"title": "p", "channels": [
                {"channel": room, "default": true}, {"channel": second, "default": true},
            ]}),
            400,
            "VALIDATION_ERROR",
        ),
    ] {
        let answer = host.post(token, "/v1/projects", new.clone()).await;
        assert_eq!(answer.refused(status), code, "{new}");
    }
    assert_eq!(host.get(&op, "/v1/projects").await.ok(), json!({"projects": []}));

    let new = json!({
        "title": "p", "members": ["bot"],
        "channels": [{"channel": room}, {"channel": second}, {"channel": hidden}],
    });
    let made = host.post(&op, "/v1/projects", new).await.ok();
    let project = text(&made, "id").to_owned();
    let at = format!("/v1/projects/{project}");
    // Whom it does not concern it is unknown; whoever may not see a channel is not told its name.
    assert_eq!(host.get(&other, &at).await.refused(404), "NOT_FOUND");
    assert_eq!(host.get(&other, "/v1/projects").await.ok(), json!({"projects": []}));
    assert_eq!(
        add_task(&host, &other, &project, json!({"title": "t"})).await.refused(404),
        "NOT_FOUND"
    );
    let shown = host.get(&bot, &at).await.ok();
    assert!(!shown.to_string().contains("secret name"), "{shown}");
    assert_eq!(shown["channels"][2]["channel"], hidden);
    assert_eq!(host.get(&op, &at).await.ok()["channels"][2]["title"], "the secret name");
    let change = patch(&host, &bot, &at, json!({"title": "mine"})).await;
    assert_eq!(change.refused(403), "INSUFFICIENT_AUTHORITY");

    // Of several channels one is the default, whatever is asked for.
    let link = |room: &str| format!("{at}/channels/{room}");
    let not = put(&host, &op, &link(&room), json!({"default": false})).await;
    assert_eq!(not.refused(409), "CONFLICT");
    assert_eq!(delete(&host, &op, &link(&room)).await.refused(409), "CONFLICT");
    let archived = json!({"archived": true});
    let of_room = format!("/v1/channels/{room}");
    assert_eq!(patch(&host, &op, &of_room, archived.clone()).await.refused(409), "CONFLICT");
    put(&host, &op, &link(&second), json!({"default": true})).await.ok();
    let links = host.get(&op, &format!("{at}/channels")).await.ok();
    let defaults: Vec<_> =
        links["channels"].as_array().unwrap().iter().map(|l| l["default"] == true).collect();
    assert_eq!(defaults, [false, true, false]);
    delete(&host, &op, &link(&hidden)).await.ok();
    assert_eq!(delete(&host, &op, &link(&hidden)).await.refused(404), "NOT_FOUND");

    // Tasks that wait for each other.
    let first =
        text(&add_task(&host, &bot, &project, json!({"title": "a"})).await.ok(), "id").to_owned();
    let on_first = json!({"title": "b", "depends_on": [first], "assignee": "bot"});
    let next = text(&add_task(&host, &bot, &project, on_first).await.ok(), "id").to_owned();
    let task = |id: &str| format!("{at}/tasks/{id}");
    let circle = patch(&host, &bot, &task(&first), json!({"depends_on": [next]})).await;
    assert!(circle.body["error"]["message"].as_str().unwrap().contains(&next), "{circle:?}");
    assert_eq!(circle.refused(409), "CONFLICT");
    let unknown = "task_0192f0c1a2b37c4d8e5f60718293a4b5";
    for (body, status, code) in [
        (json!({"depends_on": [first]}), 409, "CONFLICT"),
        (json!({"depends_on": [unknown]}), 404, "NOT_FOUND"),
        (json!({"assignee": "ann"}), 404, "NOT_FOUND"),
        (json!({"thread": "th_0192f0c1a2b37c4d8e5f60718293a4b5"}), 404, "NOT_FOUND"),
        (json!({"state": "gone"}), 400, "VALIDATION_ERROR"),
        (json!({"title": long}), 400, "VALIDATION_ERROR"),
        (json!({"text": long}), 400, "VALIDATION_ERROR"),
        (json!({"priority": 1}), 400, "VALIDATION_ERROR"),
    ] {
        let answer = patch(&host, &bot, &task(&first), body.clone()).await;
        assert_eq!(answer.refused(status), code, "{body}");
    }
    let done = json!({"title": "c", "state": "done"});
    assert_eq!(add_task(&host, &bot, &project, done).await.refused(400), "VALIDATION_ERROR");
    let kept = host.get(&bot, &task(&first)).await.ok();
    assert_eq!((&kept["state"], &kept["depends_on"]), (&json!("open"), &json!([])));

    // What others depend on is not taken away.
    let of_bot = format!("{at}/members/bot");
    let refused = delete(&host, &op, &of_bot).await;
    assert!(refused.body["error"]["message"].as_str().unwrap().contains(&next), "{refused:?}");
    assert_eq!(refused.refused(409), "CONFLICT");
    assert_eq!(delete(&host, &op, &at).await.refused(409), "CONFLICT");
    assert_eq!(delete(&host, &bot, &task(&first)).await.refused(409), "CONFLICT");
    for id in [&next, &first] {
        patch(&host, &bot, &task(id), json!({"state": "cancelled"})).await.ok();
    }
    assert_eq!(delete(&host, &bot, &task(&first)).await.refused(409), "CONFLICT");
    patch(&host, &bot, &task(&next), json!({"state": "open"})).await.ok();
    patch(&host, &bot, &task(&next), json!({"state": "done"})).await.ok();
    let again = patch(&host, &bot, &task(&next), json!({"state": "open"})).await;
    assert_eq!(again.refused(409), "CONFLICT");
    let mirror = |on: bool| json!({"mirror_members": on});
    put(&host, &op, &link(&room), mirror(true)).await.ok();
    assert_eq!(delete(&host, &op, &at).await.refused(409), "CONFLICT");
    let seat = format!("/v1/channels/{room}/members/bot");
    assert_eq!(delete(&host, &bot, &seat).await.refused(409), "CONFLICT");
    put(&host, &op, &link(&room), mirror(false)).await.ok();
    delete(&host, &bot, &seat).await.ok();
    delete(&host, &op, &at).await.ok();
    assert_eq!(host.get(&op, &at).await.refused(404), "NOT_FOUND");
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    assert_eq!(verify(folder.path()).problems, []);
}

// covers: CHN-179, CHN-185
#[tokio::test]
async fn projects_go_with_an_export_and_without_who_left() {
    let host = TestHost::open().await;
    let room = host.room(&["bot", "other"]).await;
    let op = host.operator();
    host.post(&op, "/v1/members", json!({"id": "late", "kind": "agent"})).await.ok();
    let new = json!({
        "title": "Move", "members": ["late", "other"],
        "channels": [{"channel": room, "mirror_members": true}],
    });
    let project = text(&host.post(&op, "/v1/projects", new).await.ok(), "id").to_owned();
    let at = format!("/v1/projects/{project}");
    let first = json!({"title": "a", "assignee": "late"});
    let first = add_task(&host, &op, &project, first).await.ok();
    let thread = json!({"conversation": room, "title": "the move"});
    let thread = host.post(&op, "/v1/threads", thread).await.ok();
    let next = json!({"title": "b", "depends_on": [first["id"]], "thread": thread["id"]});
    let next = add_task(&host, &op, &project, next).await.ok();
    let shown = host.get(&op, &format!("/v1/threads/{}", text(&thread, "id"))).await.ok();
    assert_eq!(shown["work"]["bindings"][0]["id"], next["id"], "{shown}");
    // Whoever leaves the workspace leaves the project, and what it was to do is nobody's.
    delete(&host, &op, "/v1/members/late").await.ok();
    assert!(!is_seated(&host, &room, "late").await);
    let tasks = host.get(&op, &format!("{at}/tasks")).await.ok();
    assert!(tasks["tasks"][0].get("assignee").is_none(), "{tasks}");
    let audit = host.get(&op, "/v1/audit?limit=200").await.ok().to_string();
    for act in ["project_created", "task_added", "member_removed"] {
        assert!(audit.contains(act), "{act}: {audit}");
    }
    let (whole, seats) = (host.get(&op, &at).await.ok(), roster(&host, &room).await);

    let now = host.clock_now();
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    assert_eq!(verify(folder.path()).problems, []);
    let sign = Signing::open(&folder.path().join("keys")).unwrap();
    let mut lines = Vec::new();
    export(&place(folder.path()), &sign, now, None, &mut lines).unwrap();
    let folders = tempfile::tempdir().unwrap();
    let imported = tempfile::TempDir::new_in(folders.path()).unwrap();
    let data = imported.path().to_owned();
    fs::remove_dir(&data).unwrap();
    import(&mut &lines[..], &place(&data), None, now).unwrap();
    assert_eq!(verify(&data).problems, []);
    let host = TestHost::open_in(imported, now).await;
    let op = host.operator();
    assert_eq!(host.get(&op, &at).await.ok(), whole);
    assert_eq!(host.get(&op, &format!("{at}/tasks")).await.ok(), tasks);
    assert_eq!(roster(&host, &room).await, seats);
}

// covers: CHN-346
#[tokio::test]
async fn a_project_that_is_removed_leaves_no_binding() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let op = host.operator();
    let new = json!({"title": "Move", "members": ["bot"], "channels": [{"channel": room}]});
    let project = text(&host.post(&op, "/v1/projects", new).await.ok(), "id").to_owned();
    let mut threads = Vec::new();
    for title in ["the move", "beside it", "what is over"] {
        let new = json!({"conversation": room, "title": title});
        threads.push(text(&host.post(&op, "/v1/threads", new).await.ok(), "id").to_owned());
    }
    let task = json!({"title": "pack", "assignee": "bot", "thread": threads[0]});
    let task = text(&add_task(&host, &op, &project, task).await.ok(), "id").to_owned();
    let by_hand = json!({"bind": [{"kind": "task", "id": task}, {"kind": "run", "id": "ci/1"}]});
    for thread in &threads[1..] {
        patch(&host, &op, &format!("/v1/threads/{thread}/work"), by_hand.clone()).await.ok();
    }
    let closed = json!({"status": "closed"});
    patch(&host, &op, &format!("/v1/threads/{}", threads[2]), closed).await.ok();
    let of = async |thread: &str| {
        let shown = host.get(&op, &format!("/v1/threads/{thread}")).await.ok();
        let bound = shown["work"]["bindings"].as_array().cloned().unwrap_or_default();
        bound.iter().map(|b| text(b, "kind").to_owned()).collect::<Vec<_>>()
    };
    let at = format!("/v1/projects/{project}");
    patch(&host, &op, &format!("{at}/tasks/{task}"), json!({"state": "cancelled"})).await.ok();
    assert_eq!(of(&threads[0]).await, ["task"]);
    assert_eq!(of(&threads[1]).await, ["run", "task"]);
    delete(&host, &op, &at).await.ok();
    assert!(of(&threads[0]).await.is_empty());
    assert_eq!(of(&threads[1]).await, ["run"]);
    assert_eq!(of(&threads[2]).await, ["run", "task"], "what is closed stays as it is");
    again(host, 1_000).await;
}
