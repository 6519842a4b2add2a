//! Agents of this host behind connection strings: what services deliver to them, through the real transport.

mod back;
mod doctor;
mod outcomes;
mod strangers;
mod two_hosts;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use chorus_server::history::{Signing, export, import};
use chorus_server::signature::{Secret, sign};
use reqwest::Method;
use serde_json::{Value, json};

use crate::test_host::{Answer, START, TestHost, place, verify};

/// A host with the person ann, the agent bot, and an inbox for it; the inbox's string without the host, and its id.
pub(crate) async fn with_inbox(host: &TestHost, new: Value) -> (String, String) {
    let op = host.operator();
    host.post(&op, "/v1/members", json!({"id": "bot", "kind": "agent"})).await.ok();
    let mut body = json!({"agent": "bot"});
    body.as_object_mut().unwrap().extend(new.as_object().unwrap().clone());
    let made = host.post(&op, "/v1/inboxes", body).await.ok();
    let (url, id) = (made["url"].as_str().unwrap(), made["inbox"]["id"].as_str().unwrap());
    let path =
        url.strip_prefix(&host.running.url).expect("the string is at the host's own address");
    assert!(path.starts_with("/inbox/sk_") && path.len() == "/inbox/sk_".len() + 43, "{path}");
    (path.to_owned(), id.to_owned())
}

/// The spec's minimal example: a Slack adapter without tools.
pub(super) fn minimal(callback: &str) -> Value {
    json!({
        "channel": {
            "id": "C04ABCDEF",
            "name": "general",
            "service": "Slack",
            "context": "The Slack workspace of Sanity (sanity-io.slack.com).",
        },
        "message": {"id": "msg_1", "sender": "alice", "content": "hello"},
        "callback": callback,
    })
}

/// The spec's full example, with tools.
pub(super) fn full(callback: &str) -> Value {
    json!({
        "channel": {
            "id": "01HX...",
            "name": "engineering",
            "service": "Miriad — multi-agent collaboration studio",
            "context": "A channel in @svale's Miriad space. Used for protocol design and infrastructure work.",
        },
        "message": {"id": "01HY...", "sender": "svale", "content": "@timber can you review the auth spec?"},
        "callback": callback,
        "mcp": {
            "url": "https://miriad.example.com/mcp/01HX...",
            "headers": {"Authorization": "Bearer eyJhbGciOi..."},
        },
    })
}

const CALLBACK: &str = "https://slack-adapter.example.com/cb/C04ABCDEF/tok_abc123";

pub(super) async fn deliver(host: &TestHost, path: &str, body: &Value) -> Answer {
    TestHost::answer(host.request(Method::POST, path).json(body)).await
}

// covers: WHK-60, WHK-69, WHK-75, WHK-76, WHK-83
#[tokio::test]
async fn the_specs_examples_reach_the_agent_with_who_speaks_where_and_with_which_tools() {
    let host = TestHost::open().await;
    let (path, id) = with_inbox(&host, json!({})).await;
    let mut bot = host.connect(&host.token("bot").await).await;
    assert_eq!(deliver(&host, &path, &minimal(CALLBACK)).await.ok(), json!({}));
    let told = bot.take().await;
    assert_eq!(told["author"]["displayName"], "alice");
    assert_eq!(told["author"]["kind"], "human");
    assert_eq!(told["source"]["platform"], "Slack");
    assert_eq!(told["conversation"]["title"], "general · Slack");
    assert_eq!(told["channelContext"], "The Slack workspace of Sanity (sanity-io.slack.com).");
    assert_eq!(told["content"], json!([{"type": "text", "text": "hello"}]));
    assert_eq!(told["target"]["directedness"], "to_me");
    assert!(told.get("mcp").is_none());

    assert_eq!(deliver(&host, &path, &full(CALLBACK)).await.ok(), json!({}));
    let told = bot.take().await;
    assert_eq!(told["author"]["displayName"], "svale");
    assert_eq!(told["mcp"], json!([full("")["mcp"]]));

    // Nobody else is shown the callback or the tools' headers, wherever they look.
    let op = host.operator();
    let room = told["conversation"]["id"].as_str().unwrap();
    let shown = host.get(&op, &format!("/v1/inboxes/{id}")).await.ok();
    assert_eq!(shown["channels"], 2);
    let token = host.token("bot").await;
    let path = format!("/v1/messages?conversation={room}");
    let messages = host.get(&token, &path).await.ok();
    assert_eq!(messages["messages"][0]["author"]["display_name"], "svale");
    assert_eq!(messages["messages"][0]["source"]["author"], "svale");
    for (what, text) in [("inbox", shown.to_string()), ("messages", messages.to_string())] {
        for secret in ["tok_abc123", "eyJhbGciOi", "sk_"] {
            assert!(!text.contains(secret), "{what}: {text}");
        }
    }
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    assert!(verify(folder.path()).is_clean(), "{:?}", verify(folder.path()));

    // An export has the conversations, and no strings.
    let sign = Signing::open(&folder.path().join("keys")).unwrap();
    let mut lines = Vec::new();
    export(&place(folder.path()), &sign, START, None, &mut lines).unwrap();
    let text = String::from_utf8(lines.clone()).unwrap();
    assert!(text.contains("can you review the auth spec?"));
    for secret in ["tok_abc123", "eyJhbGciOi", "sk_", "sealed1:"] {
        assert!(!text.contains(secret), "{secret}");
    }
    let folders = tempfile::tempdir().unwrap();
    let imported = tempfile::TempDir::new_in(folders.path()).unwrap();
    let data = imported.path().to_owned();
    std::fs::remove_dir(&data).unwrap();
    import(&mut &lines[..], &place(&data), None, START).unwrap();
    assert!(verify(&data).is_clean(), "{:?}", verify(&data));
    let host = TestHost::open_in(imported, START).await;
    assert_eq!(host.get(&host.operator(), "/v1/inboxes").await.ok(), json!({"inboxes": []}));
    assert_eq!(deliver(&host, &path, &minimal(CALLBACK)).await.refused(401), "UNAUTHORIZED");
}

// covers: WHK-63, WHK-64
#[tokio::test]
async fn a_wrong_secret_and_one_that_was_replaced_are_answered_alike_and_change_nothing() {
    let host = TestHost::open().await;
    let (path, id) = with_inbox(&host, json!({})).await;
    deliver(&host, &path, &minimal(CALLBACK)).await.ok();
    let op = host.operator();
    let rotated = host.post(&op, &format!("/v1/inboxes/{id}/rotate"), json!({})).await.ok();
    assert_eq!(rotated["inbox"]["rotated_at"], "2026-09-21T14:13:20.000Z");
    let audited = host.get(&op, "/v1/audit").await.ok().to_string();
    assert!(audited.contains("inbox_changed") && !audited.contains("sk_"), "{audited}");
    let mut answers = Vec::new();
    let unknown = format!("/inbox/sk_{}", "A".repeat(43));
    for bad in [&*path, &unknown, "/inbox/sk_", "/inbox/x", "/inbox/%FF", "/inbox/sk_..%2F"] {
        for body in [minimal(CALLBACK), json!({"nonsense": true})] {
            let answer = deliver(&host, bad, &body).await;
            let mut error = answer.body["error"].clone();
            assert_eq!(answer.status, 401, "{bad}: {answer:?}");
            error.as_object_mut().unwrap().remove("request_id");
            answers.push(error);
        }
    }
    assert!(answers.windows(2).all(|two| two[0] == two[1]), "{answers:?}");
    let new = rotated["url"].as_str().unwrap().strip_prefix(&host.running.url).unwrap();
    deliver(&host, new, &full(CALLBACK)).await.ok();
    host.send(&op, Method::DELETE, &format!("/v1/inboxes/{id}"), None).await.ok();
    assert_eq!(deliver(&host, new, &full(CALLBACK)).await.refused(401), "UNAUTHORIZED");
    assert_eq!(host.get(&op, &format!("/v1/inboxes/{id}")).await.refused(404), "NOT_FOUND");
    assert_eq!(host.get(&op, "/v1/inboxes").await.ok(), json!({"inboxes": []}));
}

// covers: WHK-63, WHK-65, WHK-82
#[tokio::test]
async fn bad_deliveries_are_refused_by_name_and_change_nothing() {
    let host = TestHost::open().await;
    let (path, id) = with_inbox(&host, json!({})).await;
    let with = |key: &str, value: Value| {
        let mut body = minimal(CALLBACK);
        body[key] = value;
        body
    };
    let servers: Vec<Value> =
        (0..9).map(|n| json!({"url": format!("https://a.example/{n}")})).collect();
    let header = json!({"url": "https://a.example", "headers": {"x": "y".repeat(20_000)}});
    let says = |text: &str| json!({"id": "m", "sender": "alice", "content": text});
    for (body, status, code) in [
        (json!([]), 400, "VALIDATION_ERROR"),
        (json!({}), 400, "VALIDATION_ERROR"),
        (with("channel", json!("C04")), 400, "VALIDATION_ERROR"),
        (with("channel", json!({"id": ""})), 400, "VALIDATION_ERROR"),
        (with("channel", json!({"id": "x".repeat(513)})), 400, "VALIDATION_ERROR"),
        (with("message", says(" \n ")), 400, "VALIDATION_ERROR"),
        (with("message", says("a\0b")), 400, "VALIDATION_ERROR"),
        (with("message", json!({"id": "m", "sender": "alice"})), 400, "VALIDATION_ERROR"),
        (with("message", says(&"x".repeat(200_000))), 413, "PAYLOAD_TOO_LARGE"),
        (with("callback", json!("ftp://a.example/cb")), 400, "VALIDATION_ERROR"),
        (with("callback", json!("not a url")), 400, "VALIDATION_ERROR"),
        (with("callback", json!("http://10.0.0.1/cb")), 422, "ADDRESS_REFUSED"),
        (with("callback", json!("http://169.254.169.254/latest")), 422, "ADDRESS_REFUSED"),
        (with("mcp", json!(servers)), 413, "PAYLOAD_TOO_LARGE"),
        (with("mcp", header), 413, "PAYLOAD_TOO_LARGE"),
        (with("mcp", json!({"url": ""})), 400, "VALIDATION_ERROR"),
        (with("chorus", json!("hop")), 400, "VALIDATION_ERROR"),
    ] {
        let answer = deliver(&host, &path, &body).await;
        let (shown, got) = (body.to_string(), answer.body["error"]["code"].clone());
        assert_eq!(
            (answer.status, got),
            (status, json!(code)),
            "{}",
            &shown[..shown.len().min(200)]
        );
    }
    let large = host.request(Method::POST, &path).body("x".repeat(1024 * 1024 + 1));
    assert_eq!(TestHost::answer(large).await.refused(413), "PAYLOAD_TOO_LARGE");
    let cut =
        host.request(Method::POST, &path).body(minimal(CALLBACK).to_string()[..40].to_owned());
    assert_eq!(TestHost::answer(cut).await.refused(400), "VALIDATION_ERROR");
    let shown = host.get(&host.operator(), &format!("/v1/inboxes/{id}")).await.ok();
    assert_eq!(shown["channels"], 0);
    // A test is answered, and nothing comes of it.
    let test = with("chorus", json!({"test": true}));
    assert_eq!(deliver(&host, &path, &test).await.ok(), json!({}));
    let shown = host.get(&host.operator(), &format!("/v1/inboxes/{id}")).await.ok();
    assert_eq!(shown["channels"], 0);
}

// covers: WHK-66
#[tokio::test]
async fn only_addresses_that_the_owner_allows_deliver() {
    let host = TestHost::open().await;
    let (path, id) = with_inbox(&host, json!({"allow": ["192.0.2.0/24"]})).await;
    let wrong = deliver(&host, &path, &minimal(CALLBACK)).await;
    assert_eq!(wrong.refused(401), "UNAUTHORIZED");
    let (op, one) = (host.operator(), format!("/v1/inboxes/{id}"));
    let patch = |body| host.send(&op, Method::PATCH, &one, Some(body));
    let changed = patch(json!({"allow": ["192.0.2.0/24", "127.0.0.1"]})).await.ok();
    assert_eq!(changed["allow"], json!(["192.0.2.0/24", "127.0.0.1/32"]));
    deliver(&host, &path, &minimal(CALLBACK)).await.ok();
    assert_eq!(patch(json!({"allow": ["localhost"]})).await.refused(400), "VALIDATION_ERROR");
    assert_eq!(patch(json!({"allow": vec!["::1"; 33]})).await.refused(400), "VALIDATION_ERROR");
    assert_eq!(patch(json!({"nonsense": 1})).await.refused(400), "VALIDATION_ERROR");
}

// covers: WHK-67
#[tokio::test]
async fn signed_inbox_takes_valid_signatures_only() {
    let host = TestHost::open().await;
    let text = format!("whsec_{}", BASE64.encode([7; 32]));
    let (path, id) = with_inbox(&host, json!({"signing_secret": text})).await;
    let shown = host.get(&host.operator(), &format!("/v1/inboxes/{id}")).await.ok();
    assert_eq!(shown["signed"], true);
    assert!(!shown.to_string().contains("whsec_"));
    let body = minimal(CALLBACK).to_string();
    let send = async |secret: &str, at, body: &str, signed: &str| {
        let headers = sign(&Secret::parse(secret).unwrap(), "msg_1", at, signed.as_bytes());
        let request = host.request(Method::POST, &path).headers(headers).body(body.to_owned());
        TestHost::answer(request).await.status
    };
    let other = format!("whsec_{}", BASE64.encode([8; 32]));
    assert_eq!(deliver(&host, &path, &minimal(CALLBACK)).await.refused(401), "UNAUTHORIZED");
    assert_eq!(send(&other, START, &body, &body).await, 401);
    assert_eq!(send(&text, START, &body, "{}").await, 401);
    assert_eq!(send(&text, START.plus(-400_000), &body, &body).await, 401);
    assert_eq!(send(&text, START, &body, &body).await, 200);
    let (op, one) = (host.operator(), format!("/v1/inboxes/{id}"));
    let bad = host.send(&op, Method::PATCH, &one, Some(json!({"signing_secret": "secret"}))).await;
    assert_eq!(bad.refused(400), "VALIDATION_ERROR");
    host.send(&op, Method::PATCH, &one, Some(json!({"signing_secret": null}))).await.ok();
    deliver(&host, &path, &full(CALLBACK)).await.ok();
}

// covers: WHK-67
#[tokio::test]
async fn token_inbox_takes_its_own_tokens_only() {
    use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
    use rcgen::{KeyPair, PKCS_ED25519};

    let host = TestHost::open().await;
    let drawn = || KeyPair::generate_for(&PKCS_ED25519).unwrap();
    let (key, stranger) = (drawn(), drawn());
    let pem = key.public_key_pem();
    let (path, id) = with_inbox(&host, json!({"jwt_key": pem})).await;
    let now = START.0 / 1_000;
    let send = async |key: &KeyPair, claims: Value| {
        let signer = EncodingKey::from_ed_der(key.serialized_der());
        let token = encode(&Header::new(Algorithm::EdDSA), &claims, &signer).unwrap();
        let request = host.request(Method::POST, &path).bearer_auth(token);
        TestHost::answer(request.json(&minimal(CALLBACK))).await.status
    };
    let good = json!({"aud": id, "exp": now + 60, "iat": now});
    assert_eq!(deliver(&host, &path, &minimal(CALLBACK)).await.status, 401);
    assert_eq!(send(&stranger, good.clone()).await, 401);
    assert_eq!(send(&key, json!({"aud": "inb_other", "exp": now + 60})).await, 401);
    assert_eq!(send(&key, json!({"exp": now + 60})).await, 401);
    assert_eq!(send(&key, json!({"aud": id})).await, 401, "one that never ends");
    assert_eq!(send(&key, json!({"aud": id, "exp": now - 60})).await, 401);
    assert_eq!(send(&key, json!({"aud": id, "exp": now + 60, "nbf": now + 30})).await, 401);
    let mut extended = Header::new(Algorithm::EdDSA);
    extended.crit = Some(vec!["b64".to_owned()]);
    let signer = EncodingKey::from_ed_der(key.serialized_der());
    let token = encode(&extended, &good, &signer).unwrap();
    let request = host.request(Method::POST, &path).bearer_auth(token).json(&minimal(CALLBACK));
    assert_eq!(TestHost::answer(request).await.status, 401, "an extension that must be understood");
    // A key that is public signs nothing: a token by its text as a shared secret is none.
    let hmac = EncodingKey::from_secret(pem.as_bytes());
    let forged = encode(&Header::new(Algorithm::HS256), &good, &hmac).unwrap();
    let request = host.request(Method::POST, &path).bearer_auth(forged).json(&minimal(CALLBACK));
    assert_eq!(TestHost::answer(request).await.status, 401);
    assert_eq!(send(&key, good).await, 200);
    let (op, all) = (host.operator(), "/v1/inboxes");
    for bad in ["-----BEGIN PUBLIC KEY-----", &format!("{pem}{}", key.serialize_pem())] {
        let bad = json!({"agent": "bot", "jwt_key": bad});
        assert_eq!(host.post(&op, all, bad).await.refused(400), "VALIDATION_ERROR");
    }
}

// covers: WHK-61
#[tokio::test]
async fn inboxes_are_for_who_runs_the_room_and_stand_ins_have_no_tokens() {
    let host = TestHost::open().await;
    let (_, id) = with_inbox(&host, json!({"name": "bridge"})).await;
    let (op, bot) = (host.operator(), host.token("bot").await);
    let new = json!({"agent": "bot"});
    assert_eq!(host.post(&bot, "/v1/inboxes", new).await.refused(403), "INSUFFICIENT_AUTHORITY");
    assert_eq!(host.get(&bot, "/v1/inboxes").await.ok(), json!({"inboxes": []}));
    let one = format!("/v1/inboxes/{id}");
    assert_eq!(host.get(&bot, &one).await.refused(404), "NOT_FOUND");
    let rotated = host.post(&bot, &format!("{one}/rotate"), json!({})).await;
    assert_eq!(rotated.refused(404), "NOT_FOUND");
    let unknown = host.post(&op, "/v1/inboxes", json!({"agent": "nobody"})).await;
    assert_eq!(unknown.refused(404), "NOT_FOUND");
    let members = host.get(&op, "/v1/members").await.ok();
    let stand_in = |m: &&Value| m["id"].as_str().unwrap().starts_with("inbox_");
    let stand_ins: Vec<&Value> =
        members["members"].as_array().unwrap().iter().filter(stand_in).collect();
    assert_eq!(stand_ins.len(), 2);
    for member in stand_ins {
        assert_eq!(member["display_name"], "bridge");
        let token = json!({"agent": member["id"], "role": "worker"});
        assert_eq!(host.post(&op, "/v1/tokens", token).await.refused(409), "CONFLICT");
    }
}

// covers: WHK-101
#[tokio::test]
async fn superseding_delivery_repeats_no_earlier_message() {
    let host = TestHost::open().await;
    let (path, _) = with_inbox(&host, json!({})).await;
    let mut bot = host.connect(&host.token("bot").await).await;
    let piece = |id: &str, text: &str| json!({"id": id, "sender": "alice", "content": text});
    let mut body = minimal(CALLBACK);
    body["message"] = piece("m2", "The deploy");
    body["chorus"] = json!({"earlier": [piece("m1", "It is down.")]});
    deliver(&host, &path, &body).await.ok();
    assert_eq!(bot.take().await["content"][0]["text"], "It is down.\n\nThe deploy");
    body["message"] = piece("m4", "and why?");
    let earlier = [("m1", "It is down."), ("m2", "The deploy"), ("m3", "I mean")];
    let earlier = earlier.map(|(id, text)| piece(id, text));
    body["chorus"] = json!({"earlier": earlier, "supersedes": ["m2"]});
    deliver(&host, &path, &body).await.ok();
    assert_eq!(bot.take().await["content"][0]["text"], "I mean\n\nand why?");
}

// covers: WHK-68, WHK-77
#[tokio::test]
async fn fragments_parts_and_knocks_become_text_and_the_same_message_comes_once() {
    let host = TestHost::open().await;
    let (path, _) = with_inbox(&host, json!({})).await;
    let mut bot = host.connect(&host.token("bot").await).await;
    let mut body = minimal(CALLBACK);
    body["message"] = json!({"id": "m2", "sender": "al\nice", "content": "and why?"});
    body["chorus"] =
        json!({"earlier": [{"id": "m1", "sender": "alice", "content": "It is down."}]});
    for _ in 0..2 {
        deliver(&host, &path, &body).await.ok();
    }
    let told = bot.take().await;
    assert_eq!(told["content"][0]["text"], "It is down.\n\nand why?");
    assert_eq!(told["author"]["displayName"], "al ice");
    assert!(bot.is_quiet().await, "the same message is the same");
    body["message"] = json!({"id": "m3", "sender": "alice", "content": "see the log"});
    let log = json!({"type": "upload", "name": "log.txt", "media_type": "text/plain", "data": BASE64.encode("red")});
    let parts = json!([{"type": "text", "text": "see the log"}, log, {"type": "asset", "asset_id": "ast_theirs"}]);
    body["chorus"] = json!({"parts": parts});
    deliver(&host, &path, &body).await.ok();
    let told = bot.take().await;
    assert_eq!(told["content"][0]["text"], "see the log");
    let asset = told["content"][1]["asset_id"].as_str().unwrap();
    let token = host.token("bot").await;
    assert_eq!(host.get(&token, &format!("/v1/assets/{asset}")).await.status, 200);
    assert_eq!(
        told["content"][2],
        json!({"type": "text", "text": "[file ast_theirs of the service]"})
    );

    body["message"] = json!({"id": "m4", "sender": "alice", "content": ""});
    body["chorus"] = json!({"knock": {"pull_with": "chat.read_thread"}});
    deliver(&host, &path, &body).await.ok();
    let told = bot.take().await;
    assert_eq!(
        (&told["attention"]["policy"], &told["injection"]["mode"]),
        (&json!("may_respond"), &json!("notify"))
    );
    assert!(told.get("content").is_none(), "a knock is one here too");
}

// covers: WHK-65
#[tokio::test]
async fn too_fast_sender_is_told_to_wait() {
    let folder = tempfile::tempdir().unwrap();
    let host = TestHost::open_with(folder, START, |config| {
        config.settings.limits.member_per_second = 1;
        config.settings.limits.member_burst = 2;
    })
    .await;
    let (path, _) = with_inbox(&host, json!({})).await;
    for _ in 0..2 {
        deliver(&host, &path, &minimal(CALLBACK)).await.ok();
    }
    let limited = deliver(&host, &path, &minimal(CALLBACK)).await;
    assert_eq!(limited.refused(429), "RATE_LIMITED");
}
