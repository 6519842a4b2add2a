//! Seats over the transports: their kinds, what agents are called, and which of their sessions is asked.

use chorus_server::history::{Signing, export, import};
use reqwest::Method;
use serde_json::{Value, json};

use crate::house::{Answer, House, START, place, verify};

async fn put(house: &House, token: &str, room: &str, member: &str, seat: Value) -> Answer {
    let path = format!("/v1/channels/{room}/members/{member}");
    house.send(token, Method::PUT, &path, Some(seat)).await
}

async fn seat(house: &House, room: &str, member: &str) -> Value {
    let shown = house.get(&house.operator(), &format!("/v1/channels/{room}")).await.ok();
    let seats = shown["members"].as_array().unwrap().clone();
    seats.into_iter().find(|seat| seat["member"] == member).unwrap()
}

async fn rename(house: &House, member: &str, name: &str) {
    let patch = json!({"display_name": name});
    house
        .send(&house.operator(), Method::PATCH, &format!("/v1/members/{member}"), Some(patch))
        .await
        .ok();
}

// covers: CHN-220, CHN-221, CHN-223
#[tokio::test]
async fn an_agent_has_a_name_of_its_own_in_a_channel_or_follows_the_one_it_has() {
    let house = House::open().await;
    let room = house.room(&["bot", "other"]).await;
    let (op, ann, bot) = (house.operator(), house.token("ann").await, house.token("bot").await);
    rename(&house, "bot", "Bot the First").await;
    let usual = seat(&house, &room, "bot").await;
    assert_eq!(
        usual,
        json!({"member": "bot", "kind": "session", "display_name": "Bot the First",
            "display": "follow_agent", "participation": "selected_only"})
    );
    let person = seat(&house, &room, "ann").await;
    assert_eq!((&person["kind"], person.get("display")), (&json!("human_actor"), None));
    let said = house.say(&bot, &room, "good morning").await;
    let author = async |house: &House, token: &str| {
        let id = said["message_id"].as_str().unwrap();
        let shown = house.get(token, &format!("/v1/messages/{id}")).await.ok();
        shown["author"]["display_name"].as_str().unwrap().to_owned()
    };
    assert_eq!(author(&house, &ann).await, "Bot the First");
    rename(&house, "bot", "Bot the Second").await;
    assert_eq!(author(&house, &ann).await, "Bot the Second", "it follows");

    let manual = json!({"display": "manual", "display_name": "Night watch"});
    let shown = put(&house, &bot, &room, "bot", manual).await.ok();
    assert_eq!(
        (&shown["display"], &shown["display_name"]),
        (&json!("manual"), &json!("Night watch"))
    );
    rename(&house, "bot", "Bot the Third").await;
    assert_eq!(author(&house, &ann).await, "Night watch", "it stays");
    let log = house.get(&ann, &format!("/v1/events?conversation={room}&after=0")).await.ok();
    let events = log["events"].as_array().unwrap();
    let posted = events.iter().find(|e| e["type"] == "message_posted").unwrap();
    assert_eq!(posted["actor"]["display_name"], "Night watch");
    assert_eq!(posted["message"]["author"]["display_name"], "Night watch");
    let feed = house.get(&ann, &format!("/v1/channels/{room}/feed")).await.ok();
    assert_eq!(feed["entries"][0]["actor"]["display_name"], "Night watch");
    // Elsewhere it is what it is.
    let new = json!({"title": "elsewhere", "members": ["bot"]});
    let elsewhere = house.post(&op, "/v1/channels", new).await.ok();
    let elsewhere = elsewhere["id"].as_str().unwrap();
    assert_eq!(seat(&house, elsewhere, "bot").await["display_name"], "Bot the Third");
    // Agents are told it by that name.
    let mut other = house.connect(&house.token("other").await).await;
    house.say(&bot, &room, "@other are you there?").await;
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
        let before = seat(&house, &room, member).await;
        let refused = put(&house, &op, &room, member, bad.clone()).await.refused(400);
        assert_eq!(refused, "VALIDATION_ERROR", "{bad}");
        assert_eq!(seat(&house, &room, member).await, before, "{bad}");
    }
    let name = json!({"display_name": "fool"});
    let refused = put(&house, &house.token("other").await, &room, "bot", name).await.refused(403);
    assert_eq!(refused, "INSUFFICIENT_AUTHORITY");
    put(&house, &bot, &room, "bot", json!({"display": "follow_agent"})).await.ok();
    assert_eq!(author(&house, &ann).await, "Bot the Third");
}

// covers: CHN-222, CHN-223
#[tokio::test]
async fn a_pinned_seat_outlives_the_host_and_an_export() {
    let house = House::open().await;
    let room = house.room(&["bot"]).await;
    let (op, ann, bot) = (house.operator(), house.token("ann").await, house.token("bot").await);
    let mut first = house.connect(&bot).await;
    let mut second = house.connect(&bot).await;
    let id = first.hello["session"]["id"].clone();
    assert!(id.is_string(), "{}", first.hello);
    let pin = json!({"session_id": id, "display_name": "Night watch"});
    let shown = put(&house, &op, &room, "bot", pin).await.ok();
    assert_eq!(shown["session_id"], id);
    house.say(&ann, &room, "@bot are you there?").await;
    let offer = first.take().await;
    first.reply(&offer, "yes").await.unwrap();
    assert!(second.is_quiet().await, "the other session is told nothing");
    let kept = seat(&house, &room, "bot").await;

    let House { running, folder, .. } = house;
    running.stop().await;
    assert_eq!(verify(folder.path()).problems, []);
    let sign = Signing::open(&folder.path().join("keys")).unwrap();
    let (now, mut lines) = (START.plus(1_000), Vec::new());
    export(&place(folder.path()), &sign, now, &mut lines).unwrap();
    let folders = tempfile::tempdir().unwrap();
    let imported = tempfile::TempDir::new_in(folders.path()).unwrap();
    std::fs::remove_dir(imported.path()).unwrap();
    import(&mut &lines[..], &place(imported.path()), None, now).unwrap();
    assert_eq!(verify(imported.path()).problems, []);
    let moved = House::open_in(imported, now).await;
    assert_eq!(seat(&moved, &room, "bot").await, kept);
    let house = House::open_in(folder, now).await;
    assert_eq!(seat(&house, &room, "bot").await, kept);
    let any = json!({"session_id": null});
    let shown = put(&house, &house.operator(), &room, "bot", any).await.ok();
    assert_eq!((shown.get("session_id"), &shown["display"]), (None, &json!("manual")));
}
