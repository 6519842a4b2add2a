//! Bad neighbours on real sockets, end to end: agents that take a POST badly, and callbacks that are called badly. Each costs what
//! is its own, and nothing is lost with it.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use chorus_server::config::kind::Span;
use chorus_testing::eventually;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use super::{Remote, asked, at_once, call, messages, reached, text};
use crate::test_host::{PATIENCE, START, TestHost};

/// How an agent takes what is posted.
#[derive(Clone, Copy, Debug)]
pub(super) enum Manner {
    /// It never answers.
    Hangs,
    Resets,
    /// 200, and then a body without an end.
    Endless,
    /// To an address that nobody may post to, and one that answers.
    Redirects(u16),
    /// Its answer is of two lengths.
    Lies,
    /// Less comes than it said.
    Short,
    Well,
}

/// An agent whose manners change.
pub(super) struct Neighbour {
    port: u16,
    manner: Arc<Mutex<Manner>>,
    posts: mpsc::UnboundedReceiver<Value>,
}

impl Neighbour {
    pub(super) async fn open(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let manner = Arc::new(Mutex::new(manner));
        let (sent, posts) = mpsc::unbounded_channel();
        let now = manner.clone();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (now, sent) = (now.clone(), sent.clone());
                tokio::spawn(async move {
                    let Some(post) = request(&mut stream).await else { return };
                    let manner = *now.lock().unwrap();
                    if matches!(manner, Manner::Well | Manner::Endless | Manner::Short) {
                        sent.send(post).unwrap();
                    }
                    behave(manner, stream).await;
                });
            }
        });
        Self { port, manner, posts }
    }

    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/inbox/sk_1", self.port)
    }

    /// From now on it takes what comes.
    fn mend(&self) {
        *self.manner.lock().unwrap() = Manner::Well;
    }

    /// The texts of what comes, as time goes on, until there are so many.
    async fn hears(&mut self, host: &TestHost, count: usize) -> Vec<String> {
        let (began, mut heard) = (Instant::now(), Vec::new());
        while heard.len() < count {
            match tokio::time::timeout(Duration::from_millis(20), self.posts.recv()).await {
                Ok(Some(post)) => heard.push(text(&post["message"]["content"])),
                _ => host.pass(5_000).await,
            }
            assert!(began.elapsed() < PATIENCE, "only {heard:?}");
        }
        heard
    }
}

/// Reads one request; its JSON.
async fn request(stream: &mut TcpStream) -> Option<Value> {
    let mut got = Vec::new();
    loop {
        if let Some(at) = got.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&got[..at]).to_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            let length: usize = length.unwrap().parse().unwrap();
            if got.len() >= at + 4 + length {
                return serde_json::from_slice(&got[at + 4..]).ok();
            }
        }
        if stream.read_buf(&mut got).await.ok()? == 0 {
            return None;
        }
    }
}

async fn behave(manner: Manner, mut stream: TcpStream) {
    let say = match manner {
        Manner::Hangs => {
            // Until the other side has had enough.
            let _ = stream.read(&mut [0]).await;
            return;
        }
        Manner::Resets => return stream.set_zero_linger().unwrap(),
        Manner::Endless => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await;
            while stream.write_all(&[b'x'; 16 * 1024]).await.is_ok() {}
            return;
        }
        Manner::Redirects(port) => format!(
            "HTTP/1.1 307 Elsewhere\r\nLocation: http://127.0.0.1:{port}/\r\nLocation: http://10.0.0.1/\r\n\
             Content-Length: 0\r\nConnection: close\r\n\r\n"
        ),
        Manner::Lies => {
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nok".to_owned()
        }
        Manner::Short => "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nok".to_owned(),
        Manner::Well => {
            "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".to_owned()
        }
    };
    let _ = stream.write_all(say.as_bytes()).await;
}

// covers: WHK-12, WHK-13, WHK-14, WHK-17
#[tokio::test]
async fn endpoint_that_fails_delays_no_other_and_loses_no_message() {
    let host = TestHost::open_with(tempfile::tempdir().unwrap(), START, |config| {
        at_once(config);
        config.settings.webhook.timeout = Span::seconds(3);
    })
    .await;
    let (mut remote, elsewhere) = (Remote::open().await, Neighbour::open(Manner::Well).await);
    let room = reached(&host, &remote).await;
    let (ann, op) = (host.token("ann").await, host.operator());
    let mut bad = Vec::new();
    for (name, manner) in [
        ("hangs", Manner::Hangs),
        ("resets", Manner::Resets),
        ("endless", Manner::Endless),
        ("redirects", Manner::Redirects(elsewhere.port)),
        ("lies", Manner::Lies),
        ("short", Manner::Short),
    ] {
        let neighbour = Neighbour::open(manner).await;
        let new = json!({"member": name, "url": neighbour.url(), "channels": [room]});
        host.post(&op, "/v1/endpoints", new).await.ok();
        bad.push((name, neighbour));
    }
    let said: Vec<_> = (0..4)
        .map(|n| format!("@weather @hangs @resets @endless @redirects @lies @short what is {n}?"))
        .collect();
    // No time passes, so that whatever is to be tried again is not: the good neighbour hears it all, and is heard.
    for text_of_it in &said {
        host.say(&ann, &room, text_of_it).await;
        let delivery = remote.take().await;
        assert_eq!(delivery["message"]["content"], text_of_it.as_str());
        call(&host, &delivery, json!({"type": "message", "content": "Well."})).await.ok();
    }
    let replies = messages(&host, &room).await.into_iter().filter(|(who, _)| who == "weather");
    assert_eq!(replies.count(), said.len());

    for (name, why) in [
        ("hangs", "no answer in time"),
        ("resets", "the connection ended before the answer"),
        ("redirects", "HTTP 307"),
        ("lies", "the answer is no HTTP"),
    ] {
        let shown = eventually("the endpoint shows why its post failed", async || {
            let shown = host.get(&op, &format!("/v1/endpoints/{name}")).await.ok();
            if shown["last_error"]["why"] == why { Ok(shown) } else { Err(shown) }
        })
        .await;
        assert_eq!(shown["last_taken_at"], Value::Null, "{shown}");
        assert_eq!(shown["failures"], if name == "redirects" { 0 } else { 1 }, "{shown}");
    }
    // What is taken is taken, whatever the body is like; each waits for the one before.
    for (name, neighbour) in bad.iter_mut().filter(|(name, _)| ["endless", "short"].contains(name))
    {
        assert_eq!(neighbour.hears(&host, said.len()).await, said, "{name}");
        let shown = host.get(&op, &format!("/v1/endpoints/{name}")).await.ok();
        assert_eq!((&shown["failures"], &shown["breaker"]), (&json!(0), &json!("closed")));
    }
    // Those who are better now have it all, in order, as time goes on; what was refused is sent again by hand.
    for (name, neighbour) in &mut bad {
        neighbour.mend();
        if *name == "redirects" {
            let path = "/v1/deliveries?state=dead&member=redirects";
            let dead = eventually("all of them are dead letters", async || {
                let dead = host.get(&op, path).await.ok()["deliveries"].clone();
                if dead.as_array().unwrap().len() == said.len() { Ok(dead) } else { Err(dead) }
            })
            .await;
            for letter in dead.as_array().unwrap() {
                let path = format!("/v1/deliveries/{}/redeliver", text(&letter["id"]));
                host.post(&op, &path, json!({})).await.ok();
            }
            let mut heard = neighbour.hears(&host, said.len()).await;
            heard.sort();
            assert_eq!(heard, said);
        } else if ["hangs", "resets", "lies"].contains(name) {
            assert_eq!(neighbour.hears(&host, said.len()).await, said, "{name}");
        }
    }
    let mut elsewhere = elsewhere;
    assert!(elsewhere.posts.try_recv().is_err(), "no redirect is followed");
}

/// A POST to a callback whose body is written bit by bit.
struct Wire {
    reading: OwnedReadHalf,
    writing: OwnedWriteHalf,
}

impl Wire {
    async fn open(host: &TestHost, delivery: &Value) -> Self {
        let url = text(&delivery["callback"]);
        let path = url.strip_prefix(&host.running.url).unwrap();
        let stream = TcpStream::connect(host.running.addr).await.unwrap();
        stream.set_nodelay(true).unwrap();
        let (reading, mut writing) = stream.into_split();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nTransfer-Encoding: chunked\r\n\r\n",
            host.running.addr
        );
        writing.write_all(head.as_bytes()).await.unwrap();
        Self { reading, writing }
    }

    async fn write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        let chunk =
            [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n".as_slice()].concat();
        self.writing.write_all(&chunk).await
    }

    async fn event(&mut self, event: Value) {
        self.write(format!("{event}\n").as_bytes()).await.unwrap();
    }

    async fn end(&mut self) {
        self.writing.write_all(b"0\r\n\r\n").await.unwrap();
    }

    /// The answer: its status and its body.
    async fn answer(&mut self) -> (u16, Value) {
        answer(&mut self.reading).await
    }
}

async fn answer(reading: &mut OwnedReadHalf) -> (u16, Value) {
    let mut got = Vec::new();
    loop {
        let read = tokio::time::timeout(PATIENCE, reading.read_buf(&mut got)).await;
        let read = read.unwrap().unwrap();
        let shown = String::from_utf8_lossy(&got).into_owned();
        if let Some((head, body)) = shown.split_once("\r\n\r\n")
            && let Ok(body) = serde_json::from_str(body)
        {
            return (head.split(' ').nth(1).unwrap().parse().unwrap(), body);
        }
        assert!(read > 0, "{shown}");
    }
}

fn said(content: &str) -> Value {
    json!({"type": "message", "content": content})
}

/// Waits until the newest message is this one.
async fn until_said(host: &TestHost, room: &str, content: &str) {
    eventually("the message is there", async || {
        let all = messages(host, room).await;
        if all.last().is_some_and(|(_, text)| text == content) { Ok(()) } else { Err(all) }
    })
    .await;
}

// covers: WHK-25
#[tokio::test]
async fn callback_events_are_applied_while_the_body_is_open() {
    let (host, _remote, room, delivery) = asked("@weather how does it look?").await;
    let ann = host.token("ann").await;
    let mut wire = Wire::open(&host, &delivery).await;
    wire.event(said("Clouds.")).await;
    until_said(&host, &room, "Clouds.").await;
    // Half a line is no event yet.
    let rain = format!("{}\n", said("Rain."));
    let (half, rest) = rain.split_at(rain.len() / 2);
    wire.write(half.as_bytes()).await.unwrap();
    host.say(&ann, &room, "hm").await;
    until_said(&host, &room, "hm").await;
    wire.write(rest.as_bytes()).await.unwrap();
    until_said(&host, &room, "Rain.").await;
    // What is behind the last line break is one too.
    wire.write(said("Sun.").to_string().as_bytes()).await.unwrap();
    wire.end().await;
    assert_eq!(wire.answer().await, (200, json!({"accepted": 3, "duplicates": 0})));
    until_said(&host, &room, "Sun.").await;
}

// covers: WHK-25
#[tokio::test]
async fn a_slow_event_is_taken_and_who_stops_or_drips_is_ended() {
    let (host, _remote, room, delivery) = asked("@weather and?").await;
    // Half a minute is the time of an event, and time goes on here only when it is told to.
    let mut slow = Wire::open(&host, &delivery).await;
    for event in ["Slow.", "Slower."] {
        let line = format!("{}\n", said(event));
        let (half, rest) = line.split_at(line.len() / 2);
        slow.write(half.as_bytes()).await.unwrap();
        host.pass(20_000).await;
        slow.write(rest.as_bytes()).await.unwrap();
        until_said(&host, &room, event).await;
    }
    slow.end().await;
    assert_eq!(slow.answer().await.0, 200);
    for (what, first, byte) in [
        ("silence", "", ""),
        ("silence after an event", "First.", ""),
        ("drops of an event", "Second.", "{"),
        ("blank lines", "Third.", "\n"),
    ] {
        let mut wire = Wire::open(&host, &delivery).await;
        if !first.is_empty() {
            wire.event(said(first)).await;
            until_said(&host, &room, first).await;
        }
        let Wire { mut reading, mut writing } = wire;
        let answered = tokio::spawn(async move { answer(&mut reading).await });
        eventually(what, async || {
            if !byte.is_empty() {
                // It may have been ended in this moment.
                let _ = writing.write_all(format!("1\r\n{byte}\r\n").as_bytes()).await;
            }
            host.pass(5_000).await;
            answered.is_finished()
        })
        .await;
        let (status, refused) = answered.await.unwrap();
        assert_eq!(
            (status, &refused["error"]["code"]),
            (400, &json!("VALIDATION_ERROR")),
            "{what}"
        );
        assert!(text(&refused["error"]["message"]).contains("too long"), "{refused}");
    }
    let all: Vec<_> = messages(&host, &room).await.into_iter().skip(1).map(|(_, t)| t).collect();
    assert_eq!(all, ["Slow.", "Slower.", "First.", "Second.", "Third."]);
}

// covers: WHK-28
#[tokio::test]
async fn a_hundred_megabytes_are_refused_long_before_they_have_come() {
    let (host, _remote, room, delivery) = asked("@weather all of it?").await;
    let line = [json!({"type": "status", "status": "x".repeat(4_000)}).to_string(), "\n".into()];
    let lines = line.concat().repeat(16);
    for (what, part, most) in [
        // Of what an event may be little more is taken than that and what both kernels hold; of a body of events what a
        // body may be.
        ("one event", vec![b'{'; 64 * 1024], 16),
        ("line breaks", vec![b'\n'; 64 * 1024], 32),
        ("events", lines.into_bytes(), 32),
    ] {
        let Wire { mut reading, writing } = Wire::open(&host, &delivery).await;
        let answered = tokio::spawn(async move { answer(&mut reading).await });
        let (mut wire, mut sent) = (writing, 0);
        let head = format!("{:x}\r\n", part.len());
        let chunk = [head.as_bytes(), &part, b"\r\n".as_slice()].concat();
        while sent < 100 << 20 && !answered.is_finished() && wire.write_all(&chunk).await.is_ok() {
            sent += chunk.len();
        }
        let (status, refused) = answered.await.unwrap();
        assert_eq!((status, text(&refused["error"]["code"])), (413, "PAYLOAD_TOO_LARGE".into()));
        assert!(sent < most << 20, "{what}: {sent} bytes");
    }
    assert_eq!(messages(&host, &room).await.len(), 1, "nothing was said by any of it");
    call(&host, &delivery, said("In short: yes.")).await.ok();
}

// covers: WHK-28
#[tokio::test]
async fn whole_events_of_an_aborted_body_are_kept() {
    const OPEN: &str = "chorus_open_connections";
    let (host, _remote, room, delivery) = asked("@weather and then?").await;
    let connections = host.metric(OPEN).await;
    for (number, reset) in [false, true].into_iter().enumerate() {
        let whole = format!("whole {number}");
        let mut wire = Wire::open(&host, &delivery).await;
        wire.event(said(&whole)).await;
        until_said(&host, &room, &whole).await;
        // One that is not whole is none, however little of it is missing.
        let broken = said("broken off").to_string();
        wire.write(&broken.as_bytes()[..broken.len() - 1]).await.unwrap();
        let stream = wire.reading.reunite(wire.writing).unwrap();
        if reset {
            stream.set_zero_linger().unwrap();
        }
        drop(stream);
        host.until_metric(OPEN, connections).await;
        until_said(&host, &room, &whole).await;
    }
    call(&host, &delivery, said("The end.")).await.ok();
    let all: Vec<_> = messages(&host, &room).await.into_iter().skip(1).map(|(_, t)| t).collect();
    assert_eq!(all, ["whole 0", "whole 1", "The end."]);
}
