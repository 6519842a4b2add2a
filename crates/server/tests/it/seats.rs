//! Seats over the transports: their kinds, what agents are called, and which of their sessions is asked.

use chorus_server::history::{Signing, export, import};
use reqwest::Method;
use serde_json::{Value, json};

use crate::test_host::{Answer, START, TestHost, place, verify};

async fn put(host: &TestHost, token: &str, room: &str, member: &str, seat: Value) -> Answer {
    let path = format!("/v1/channels/{room}/members/{member}");
    host.send(token, Method::PUT, &path, Some(seat)).await
}

async fn seat(host: &TestHost, room: &str, member: &str) -> Value {
    let shown = host.get(&host.operator(), &format!("/v1/channels/{room}")).await.ok();
    let seats = shown["members"].as_array().unwrap().clone();
    seats.into_iter().find(|seat| seat["member"] == member).unwrap()
}

async fn rename(host: &TestHost, member: &str, name: &str) {
    let patch = json!({"display_name": name});
    host.send(&host.operator(), Method::PATCH, &format!("/v1/members/{member}"), Some(patch))
        .await
        .ok();
}

// covers: CHN-220, CHN-221, CHN-223
#[tokio::test]
async fn an_agent_has_a_name_of_its_own_in_a_channel_or_follows_the_one_it_has() {
    let host = TestHost::open().await;
    let room = host.room(&["bot", "other"]).await;
    let (op, ann, bot) = (host.operator(), host.token("ann").await, host.token("bot").await);
    rename(&host, "bot", "Bot the First").await;
    let usual = seat(&host, &room, "bot").await;
    assert_eq!(
        usual,
        json!({"member": "bot", "kind": "session", "display_name": "Bot the First",
            "display": "follow_agent", "participation": "selected_only"})
    );
    let person = seat(&host, &room, "ann").await;
    assert_eq!((&person["kind"], person.get("display")), (&json!("human_actor"), None));
    let said = host.say(&bot, &room, "good morning").await;
    let author = async |host: &TestHost, token: &str| {
        let id = said["message_id"].as_str().unwrap();
        let shown = host.get(token, &format!("/v1/messages/{id}")).await.ok();
        shown["author"]["display_name"].as_str().unwrap().to_owned()
    };
    assert_eq!(author(&host, &ann).await, "Bot the First");
    rename(&host, "bot", "Bot the Second").await;
    assert_eq!(author(&host, &ann).await, "Bot the Second", "it follows");

    let manual = json!({"display": "manual", "display_name": "Night watch"});
    let shown = put(&host, &bot, &room, "bot", manual).await.ok();
    assert_eq!(
        (&shown["display"], &shown["display_name"]),
        (&json!("manual"), &json!("Night watch"))
    );
    rename(&host, "bot", "Bot the Third").await;
    assert_eq!(author(&host, &ann).await, "Night watch", "it stays");
    let log = host.get(&ann, &format!("/v1/events?conversation={room}&after=0")).await.ok();
    let events = log["events"].as_array().unwrap();
    let posted = events.iter().find(|e| e["type"] == "message_posted").unwrap();
    assert_eq!(posted["actor"]["display_name"], "Night watch");
    assert_eq!(posted["message"]["author"]["display_name"], "Night watch");
    let feed = host.get(&ann, &format!("/v1/channels/{room}/feed")).await.ok();
    assert_eq!(feed["entries"][0]["actor"]["display_name"], "Night watch");
    // Elsewhere it is what it is.
    let new = json!({"title": "elsewhere", "members": ["bot"]});
    let elsewhere = host.post(&op, "/v1/channels", new).await.ok();
    let elsewhere = elsewhere["id"].as_str().unwrap();
    assert_eq!(seat(&host, elsewhere, "bot").await["display_name"], "Bot the Third");
    // Agents are told it by that name.
    let mut other = host.connect(&host.token("other").await).await;
    host.say(&bot, &room, "@other are you there?").await;
    assert_eq!(other.take().await["author"]["displayName"], "Night watch");

    for (member, bad) in [
        ("bot", json!({"display": "manual"})),
        ("bot", json!({"display": "follow_agent", "display_name": "x"})),
        ("bot", json!({"display": "loud", "display_name": "x"})),
        ("bot", json!({"display_name": " "})),
        ("bot", json!({"display_name": "two\nlines"})),
        ("bot", json!({"session_id": "ch_1"})),
        ("bot", json!({"session_id": "sess_00000000000000000000000000000001"})),
        ("ann", json!({"display_name": "the boss"})),
    ] {
        let before = seat(&host, &room, member).await;
        let refused = put(&host, &op, &room, member, bad.clone()).await.refused(400);
        assert_eq!(refused, "VALIDATION_ERROR", "{bad}");
        assert_eq!(seat(&host, &room, member).await, before, "{bad}");
    }
    let name = json!({"display_name": "fool"});
    let refused = put(&host, &host.token("other").await, &room, "bot", name).await.refused(403);
    assert_eq!(refused, "INSUFFICIENT_AUTHORITY");
    put(&host, &bot, &room, "bot", json!({"display": "follow_agent"})).await.ok();
    assert_eq!(author(&host, &ann).await, "Bot the Third");
}

// covers: CHN-222, CHN-223
#[tokio::test]
async fn a_pinned_seat_outlives_the_host_and_an_export() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let (op, ann, bot) = (host.operator(), host.token("ann").await, host.token("bot").await);
    let mut first = host.connect(&bot).await;
    let mut second = host.connect(&bot).await;
    let id = first.hello["session"]["id"].clone();
    assert!(id.is_string(), "{}", first.hello);
    let pin = json!({"session_id": id, "display_name": "Night watch"});
    let shown = put(&host, &op, &room, "bot", pin).await.ok();
    assert_eq!(shown["session_id"], id);
    host.say(&ann, &room, "@bot are you there?").await;
    let offer = first.take().await;
    first.reply(&offer, "yes").await.unwrap();
    assert!(second.is_quiet().await, "the other session is told nothing");
    let kept = seat(&host, &room, "bot").await;

    let TestHost { running, folder, .. } = host;
    running.stop().await;
    assert_eq!(verify(folder.path()).problems, []);
    let sign = Signing::open(&folder.path().join("keys")).unwrap();
    let (now, mut lines) = (START.plus(1_000), Vec::new());
    export(&place(folder.path()), &sign, now, None, &mut lines).unwrap();
    let folders = tempfile::tempdir().unwrap();
    let imported = tempfile::TempDir::new_in(folders.path()).unwrap();
    std::fs::remove_dir(imported.path()).unwrap();
    import(&mut &lines[..], &place(imported.path()), None, now).unwrap();
    assert_eq!(verify(imported.path()).problems, []);
    let moved = TestHost::open_in(imported, now).await;
    assert_eq!(seat(&moved, &room, "bot").await, kept);
    let host = TestHost::open_in(folder, now).await;
    assert_eq!(seat(&host, &room, "bot").await, kept);
    let any = json!({"session_id": null});
    let shown = put(&host, &host.operator(), &room, "bot", any).await.ok();
    assert_eq!((shown.get("session_id"), &shown["display"]), (None, &json!("manual")));
}
