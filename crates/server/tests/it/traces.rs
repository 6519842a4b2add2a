//! Traces, at a collector that listens on a real socket and reads protobuf by itself. They need the feature
//! `otlp`: `cargo nextest run -p chorus-server --features otlp traces::`. What a host without it does is shown in
//! `lab/tests/it/binary.rs`.

#[cfg(feature = "otlp")]
mod with {
    use std::collections::HashMap;
    use std::sync::{Arc, Mutex};
    use std::time::{Duration, Instant};

    use axum::Router;
    use axum::body::Bytes;
    use axum::http::HeaderMap;
    use reqwest::Method;
    use serde_json::json;
    use tokio::net::TcpListener;

    use crate::house::{House, PATIENCE, START};

    /// What a collector was sent: types of content, and bodies.
    type Sent = Arc<Mutex<Vec<(String, Bytes)>>>;

    async fn collector() -> (String, Sent) {
        let sent = Sent::default();
        let its = sent.clone();
        let router = Router::new().route(
            "/v1/traces",
            axum::routing::post(async move |headers: HeaderMap, body: Bytes| {
                let kind = headers["content-type"].to_str().unwrap().to_owned();
                its.lock().unwrap().push((kind, body));
            }),
        );
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        (url, sent)
    }

    async fn house(endpoint: String) -> House {
        House::open_with(tempfile::tempdir().unwrap(), START, |config| {
            config.settings.otlp.endpoint = Some(endpoint);
        })
        .await
    }

    /// The fields of a message: numbers, and what has a length.
    fn fields(mut bytes: &[u8]) -> Vec<(u64, u64, &[u8])> {
        fn varint(bytes: &mut &[u8]) -> u64 {
            let mut value = 0;
            for shift in (0..).step_by(7) {
                let (first, rest) = bytes.split_first().unwrap();
                *bytes = rest;
                value |= u64::from(first & 0x7f) << shift;
                if first & 0x80 == 0 {
                    break;
                }
            }
            value
        }
        let mut out = Vec::new();
        while !bytes.is_empty() {
            let key = varint(&mut bytes);
            let length = match key & 7 {
                0 => {
                    out.push((key >> 3, varint(&mut bytes), &[][..]));
                    continue;
                }
                1 => 8,
                2 => usize::try_from(varint(&mut bytes)).unwrap(),
                5 => 4,
                other => panic!("wire type {other}"),
            };
            let (value, rest) = bytes.split_at(length);
            bytes = rest;
            let number = value.try_into().map_or(0, u64::from_le_bytes);
            out.push((key >> 3, number, value));
        }
        out
    }

    #[derive(Debug)]
    struct Span {
        trace: Vec<u8>,
        id: Vec<u8>,
        parent: Vec<u8>,
        name: String,
        began: u64,
        ended: u64,
        said: HashMap<String, String>,
    }

    fn inner<'a>(of: &[(u64, u64, &'a [u8])], field: u64) -> Vec<&'a [u8]> {
        of.iter().filter(|(f, ..)| *f == field).map(|(_, _, value)| *value).collect()
    }

    fn span(bytes: &[u8]) -> Span {
        let all = fields(bytes);
        let one = |field| inner(&all, field).first().map_or_else(Vec::new, |b| b.to_vec());
        let number = |field| all.iter().find(|(f, ..)| *f == field).unwrap().1;
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let said = inner(&all, 9).into_iter().map(|pair| {
            let pair = fields(pair);
            let value = fields(inner(&pair, 2)[0]);
            let value = match value[0] {
                (1, _, bytes) => text(bytes),
                (_, number, _) => number.to_string(),
            };
            (text(inner(&pair, 1)[0]), value)
        });
        Span {
            trace: one(1),
            id: one(2),
            parent: one(4),
            name: text(&one(5)),
            began: number(7),
            ended: number(8),
            said: said.collect(),
        }
    }

    fn spans(body: &[u8]) -> Vec<Span> {
        let resources = inner(&fields(body), 1);
        let scopes = resources.into_iter().flat_map(|resource| inner(&fields(resource), 2));
        scopes.flat_map(|scope| inner(&fields(scope), 2)).map(span).collect()
    }

    const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
    const CALLER: &str = "b7ad6b7169203331";

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_post_is_followed_from_its_request_to_its_delivery_and_never_quoted() {
        let (url, sent) = collector().await;
        let house = house(url).await;
        let room = house.room(&["bot"]).await;
        let (ann, token) = (house.token("ann").await, house.token("bot").await);
        let mut bot = house.connect(&token).await;
        // Once it is answered, what the session is owed was asked for: the post is offered live, and once.
        bot.call("ping", json!({})).await.unwrap();
        let new = json!({
            "conversation": room, "text": "@bot is the marmalade ready?", "idempotency_key": "quince"
        });
        let request = house.request(Method::POST, "/v1/messages?").bearer_auth(&ann).json(&new);
        let request = request.header("traceparent", format!("00-{TRACE}-{CALLER}-01"));
        House::answer(request).await.ok();
        let event = bot.take().await;
        bot.reply(&event, "the marmalade is set").await.unwrap();
        // A method that is none, and a path that is none.
        let odd = house.request(Method::from_bytes(b"MARMALADE").unwrap(), "/marmalade");
        House::answer(odd.bearer_auth(&ann)).await.refused(404);
        let operator = house.operator();
        house.running.stop().await;

        let sent = sent.lock().unwrap();
        assert!(sent.iter().all(|(kind, _)| kind == "application/x-protobuf"));
        let all: Vec<Span> = sent.iter().flat_map(|(_, body)| spans(body)).collect();
        let hex = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
        let of = |name: &str, parent: &str| {
            let mut found = all.iter().filter(|s| s.name == name && hex(&s.parent) == parent);
            let first = found.next().unwrap_or_else(|| panic!("{name} under {parent}: {all:#?}"));
            assert!(found.next().is_none(), "one {name} under {parent}: {all:#?}");
            assert_eq!(hex(&first.trace), TRACE, "{name}");
            assert!(first.ended >= first.began && first.began > 0, "{first:?}");
            first
        };
        let request = of("request", CALLER);
        assert_eq!(request.said["http.route"], "/v1/messages");
        assert_eq!(request.said["http.request.method"], "POST");
        assert!(request.said["http.response.status_code"].starts_with('2'));
        let command = of("command", &hex(&request.id));
        assert_eq!(command.said["chorus.command"], "Post");
        assert_eq!(command.said["chorus.event"], event["eventId"].as_str().unwrap());
        let commit = of("commit", &hex(&command.id));
        assert!(commit.said["chorus.commands"].parse::<u32>().unwrap() >= 1);
        assert!(commit.ended <= command.ended + 1_000_000, "it ends before its command does");
        let offer = of("offer", &hex(&command.id));
        assert_eq!(offer.said["chorus.policy"], "must_respond");
        assert_eq!(offer.said["chorus.attempt"], "1");
        of("delivery", &hex(&offer.id));
        // The bot's own work is there too, in traces of its own.
        assert!(all.iter().any(|s| s.name == "call" && s.parent.is_empty()));
        for (_, body) in &*sent {
            let body = String::from_utf8_lossy(body).to_lowercase();
            for secret in ["marmalade", "quince", &operator, &ann, &token] {
                assert!(!body.contains(&secret.to_lowercase()), "{secret} is in a trace");
            }
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_trace_that_is_not_to_be_kept_is_not() {
        let (url, sent) = collector().await;
        let house = house(url).await;
        for flags in ["00", "01"] {
            let request = house.request(Method::GET, "/healthz");
            let parent = format!("00-{TRACE}-{CALLER}-{flags}");
            House::answer(request.header("traceparent", parent)).await.ok();
        }
        house.running.stop().await;
        let all: Vec<Span> = sent.lock().unwrap().iter().flat_map(|(_, b)| spans(b)).collect();
        assert_eq!(all.iter().filter(|s| s.said.get("http.route").is_some()).count(), 1, "{all:?}");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_collector_that_never_answers_or_is_not_there_holds_nobody_up() {
        let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        for addr in [silent.local_addr().unwrap(), closed] {
            let house = house(format!("http://{addr}")).await;
            let room = house.room(&[]).await;
            let ann = house.token("ann").await;
            // More spans than wait for a collector: the rest is dropped.
            let mut slowest = Duration::ZERO;
            for n in 0..600 {
                let began = Instant::now();
                house.say(&ann, &room, &n.to_string()).await;
                slowest = slowest.max(began.elapsed());
            }
            assert!(slowest < Duration::from_secs(2), "{slowest:?}");
            let began = Instant::now();
            house.running.stop().await;
            assert!(began.elapsed() < PATIENCE, "{:?}", began.elapsed());
        }
    }
}
