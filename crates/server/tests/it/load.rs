//! What one caller does that costs the host more than it costs the caller: pictures, quotas, lines of the log, pings, and
//! the page that needs no token.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use chorus_server::config::limits::Limits;
use chorus_testing::eventually;
use futures_util::future::join_all;
use image::{ImageFormat, RgbImage};
use reqwest::Method;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use crate::harness::Harness;
use crate::test_host::{Answer, PATIENCE, START, TestHost};

async fn open_host(set: impl FnOnce(&mut Limits)) -> TestHost {
    TestHost::open_with(tempfile::tempdir().unwrap(), START, |config| {
        set(&mut config.settings.limits);
    })
    .await
}

/// The code of a refusal that says the limit.
fn limited(answer: Answer, says: &str) -> String {
    let message = answer.body["error"]["message"].as_str().unwrap_or_default().to_owned();
    assert!(message.contains(says), "{answer:?}");
    answer.refused(429)
}

/// The most memory that this process had, in KiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

async fn bring(host: &TestHost, token: &str, name: &str, kind: &str, data: Vec<u8>) -> Answer {
    let request = host.request(Method::POST, &format!("/v1/assets?name={name}"));
    TestHost::answer(request.bearer_auth(token).header("content-type", kind).body(data)).await
}

// covers: OPS-448
#[tokio::test]
async fn many_pictures_at_once_take_the_memory_of_one() {
    let host = TestHost::open().await;
    let room = host.room(&[]).await;
    let ann = host.token("ann").await;
    let mut png = std::io::Cursor::new(Vec::new());
    RgbImage::new(2_000, 2_000).write_to(&mut png, ImageFormat::Png).unwrap();
    let png = png.into_inner();
    assert!(png.len() < 65_536, "{} bytes are 12 MB of pixels", png.len());
    // What follows the end of a picture is not looked at, and makes it another file.
    let other = |n: u8| [&*png, &[n]].concat();
    let before = peak();
    let uploaded = join_all((0..16).map(|n| bring(&host, &ann, "x.png", "image/png", other(n))));
    let (host, ann, room) = (&host, &ann, &room);
    let posted = join_all((16..32).map(|n| async move {
        let data = BASE64.encode(other(n));
        let part =
            json!({"type": "upload", "name": "x.png", "media_type": "image/png", "data": data});
        let new =
            json!({"conversation": room, "idempotency_key": n.to_string(), "content": [part]});
        host.post(ann, "/v1/messages", new).await
    }));
    let (uploaded, posted) = tokio::join!(uploaded, posted);
    let ids = uploaded.into_iter().map(|kept| kept.ok()["asset_id"].as_str().unwrap().to_owned());
    let ids: Vec<_> = ids.collect();
    posted.into_iter().for_each(|answer| drop(answer.ok()));
    for id in &ids {
        // It is made soon; one that asks meanwhile may be told to come again.
        eventually(&format!("{id} has a thumbnail"), async || {
            host.get(ann, &format!("/v1/assets/{id}/thumbnail")).await.status == 200
        })
        .await;
    }
    let took = peak() - before;
    assert!(took < 150 * 1024, "{took} KiB; 32 pictures have 375 MiB of pixels");
}

// covers: OPS-451
#[tokio::test]
async fn a_member_makes_and_seats_only_so_many_in_a_day_and_hears_the_limit() {
    let host = open_host(|l| (l.conversations_per_day, l.seats_per_day) = (3, 4)).await;
    let room = host.room(&["bot", "aide"]).await;
    let (ann, op) = (host.token_of("ann", "orchestrator").await, host.operator());
    let made = std::cell::Cell::new(0);
    let new = |members: &[&str]| {
        made.set(made.get() + 1);
        json!({"title": format!("more-{}", made.get()), "members": members})
    };
    // Two seats each; whoever makes it takes its own.
    host.post(&ann, "/v1/channels", new(&["bot", "aide", "ann"])).await.ok();
    host.post(&ann, "/v1/channels", new(&["bot", "aide"])).await.ok();
    let refused = host.post(&ann, "/v1/channels", new(&["bot"])).await;
    assert_eq!(limited(refused, "at most 4 seats for others in a day"), "RATE_LIMITED");
    // What was refused has cost nothing.
    host.post(&ann, "/v1/channels", new(&[])).await.ok();
    let refused = host.post(&ann, "/v1/channels", new(&[])).await;
    assert_eq!(limited(refused, "conversations_per_day"), "RATE_LIMITED");
    // Through a project it is the same.
    let links = json!([{"channel": room, "mirror_members": true}]);
    let project = json!({"title": "Move", "members": ["ann", "bot", "aide"], "channels": links});
    let refused = host.post(&ann, "/v1/projects", project.clone()).await;
    assert_eq!(limited(refused, "seats_per_day"), "RATE_LIMITED");
    // Another has its own, who runs the host has none, and a day later there are more.
    let bot = host.token_of("bot", "orchestrator").await;
    host.post(&bot, "/v1/channels", new(&["aide"])).await.ok();
    for _ in 0..5 {
        host.post(&op, "/v1/channels", new(&["ann", "bot", "aide"])).await.ok();
    }
    host.clock.advance(86_400_000);
    let ann = host.token_of("ann", "orchestrator").await;
    host.post(&ann, "/v1/channels", new(&["bot"])).await.ok();
}

// covers: OPS-451
#[tokio::test]
async fn refused_request_uses_no_daily_budget() {
    let host = open_host(|l| (l.conversations_per_day, l.seats_per_day) = (1, 1)).await;
    let room = host.room(&["bot"]).await;
    let ann = host.token("ann").await;
    let seat = format!("/v1/channels/{room}/members/bot");
    for _ in 0..3 {
        let new = json!({"title": "more", "members": ["bot"]});
        let refused = host.post(&ann, "/v1/channels", new).await;
        assert_eq!(refused.refused(403), "INSUFFICIENT_AUTHORITY");
        let put = json!({"participation": "always_listen"});
        let refused = host.send(&ann, Method::PUT, &seat, Some(put)).await;
        assert_eq!(refused.refused(403), "INSUFFICIENT_AUTHORITY");
    }
    host.post(&ann, "/v1/channels", json!({"kind": "dm", "members": ["bot"]})).await.ok();
}

// covers: OPS-451
#[tokio::test]
async fn a_member_stores_only_so_much_and_hears_the_limit() {
    let host = open_host(|l| l.member_storage_mib = 1).await;
    let room = host.room(&[]).await;
    let (ann, op) = (host.token("ann").await, host.operator());
    let text = |n: u8| vec![b'a' + n; 400 * 1024];
    for n in 0..2 {
        bring(&host, &ann, "x.txt", "text/plain", text(n)).await.ok();
    }
    let refused = bring(&host, &ann, "x.txt", "text/plain", text(2)).await;
    assert_eq!(limited(refused, "at most 1 MiB ([limits] member_storage_mib)"), "RATE_LIMITED");
    // Nor within a message, nor after the store was asked anew.
    host.clock.advance(61_000);
    let data = BASE64.encode(text(3));
    let part = json!({"type": "upload", "name": "x.txt", "media_type": "text/plain", "data": data});
    let new = json!({"conversation": room, "idempotency_key": "k", "content": [part]});
    let refused = host.post(&ann, "/v1/messages", new).await;
    assert_eq!(limited(refused, "member_storage_mib"), "RATE_LIMITED");
    bring(&host, &ann, "x.txt", "text/plain", vec![b'x'; 1_000]).await.ok();
    for n in 0..4 {
        bring(&host, &op, "x.txt", "text/plain", text(n)).await.ok();
    }
}

// covers: OPS-444
#[tokio::test]
async fn an_agents_lines_in_the_log_are_cut_counted_and_apart() {
    let host = open_host(|l| (l.agent_lines_per_second, l.agent_lines_burst) = (1, 5)).await;
    host.room(&["bot"]).await;
    let bot = host.token("bot").await;
    let line = json!({
        "jsonrpc": "2.0", "method": "notifications/message",
        "params": {"level": "error", "logger": "l".repeat(10_000), "data": "ü".repeat(50_000)},
    });
    let mut statuses = Vec::new();
    for _ in 0..8 {
        statuses.push(host.post(&bot, "/v1/c2a", line.clone()).await.status);
    }
    assert_eq!(statuses, [202, 202, 202, 202, 202, 429, 429, 429]);
    // On a connection nobody hears of a refusal, and nothing is logged either.
    let mut harness = host.connect(&bot).await;
    harness.write(line).await;
    harness.call("ping", json!({})).await.unwrap();
    let lines = chorus_statements::lines();
    let said: Vec<_> = lines.iter().filter(|line| line.contains("üüü")).collect();
    assert_eq!(said.len(), 5);
    assert!(
        said.iter().all(|line| line.starts_with("agent ") && line.len() < 1_400),
        "{}",
        said[0]
    );
}

/// The code with which the host closes.
async fn closed(mut harness: Harness) -> Option<u16> {
    while harness.frame().await.is_some() {}
    harness.closed
}

// covers: OPS-453
#[tokio::test]
async fn empty_requests_are_rate_limited_on_every_transport() {
    let host = open_host(|l| (l.pings_per_second, l.pings_burst) = (1, 5)).await;
    let room = host.room(&["bot"]).await;
    let (ann, bot) = (host.token("ann").await, host.token("bot").await);
    // A ping is refused, and the connection stays.
    let mut harness = host.connect(&bot).await;
    for _ in 0..5 {
        harness.call("ping", json!({})).await.unwrap();
    }
    let refused = harness.call("ping", json!({})).await.unwrap_err();
    assert_eq!(refused["data"]["code"], "RATE_LIMITED", "{refused}");
    harness.call("tools/list", json!({})).await.unwrap();
    // Acknowledgements of what was offered are not counted, however many.
    for n in 0..8 {
        host.say(&ann, &room, &format!("@bot can you look at number {n}?")).await;
        let frame = harness.delivery().await;
        let taken = json!({"jsonrpc": "2.0", "id": frame["id"], "result": {"accepted": true}});
        harness.write(taken).await;
    }
    harness.call("tools/list", json!({})).await.unwrap();
    drop(harness);

    let mut harness = host.connect(&bot).await;
    for _ in 0..6 {
        harness.write(json!({"jsonrpc": "2.0", "id": "nothing", "result": {}})).await;
    }
    assert_eq!(closed(harness).await, Some(1008), "acknowledgements of nothing");
    let mut harness = host.connect(&bot).await;
    for _ in 0..6 {
        harness.raw(Message::Ping(Default::default())).await;
    }
    assert_eq!(closed(harness).await, Some(1008), "pings of the socket");

    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    for path in ["/v1/mcp", "/v1/c2a"] {
        let mut statuses = Vec::new();
        for _ in 0..7 {
            let request = host.request(Method::POST, path).bearer_auth(&ann).json(&ping);
            let request = request.header("accept", "application/json, text/event-stream");
            statuses.push(TestHost::answer(request).await.status);
        }
        let refused = statuses.iter().filter(|status| **status == 429).count();
        assert!(refused >= 2, "{path}: {statuses:?}");
        host.clock.advance(60_000);
    }
}

// covers: OPS-452
#[tokio::test]
async fn the_front_page_counts_without_asking_the_store() {
    let host = TestHost::open().await;
    host.room(&["bot"]).await;
    let op = host.operator();
    for n in 0..5 {
        host.post(&op, "/v1/channels", json!({"title": format!("more-{n}")})).await.ok();
    }
    let page = async || {
        let page = host.request(Method::GET, "/");
        match TestHost::answer(page).await.ok() {
            Value::String(page) => page,
            other => panic!("{other}"),
        }
    };
    // The first start makes one channel of its own, or none.
    let channels = host.get(&op, "/v1/channels").await.ok();
    let all = channels["channels"].as_array().unwrap();
    let count = all.iter().filter(|channel| channel["kind"] == "channel").count();
    let shown = format!("<dt>Channels</dt><dd>{count}</dd>");
    eventually("the page counts the channels", async || {
        let page = page().await;
        if page.contains(&shown) { Ok(()) } else { Err(page) }
    })
    .await;
    assert!(host.running.searchable(PATIENCE).await);
    let before = chorus_statements::statements();
    for _ in 0..200 {
        page().await;
    }
    let sent = chorus_statements::statements() - before;
    assert!(sent < 100, "200 pages sent {sent} statements");
    // It counts on from what is there after a restart.
    let now = host.clock_now();
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    let host = TestHost::open_in(folder, now).await;
    let page = TestHost::answer(host.request(Method::GET, "/")).await.ok();
    assert!(page.as_str().unwrap().contains(&shown), "{page}");
}
