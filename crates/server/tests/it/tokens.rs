//! Tokens: who may give whom which, that they are listed, and that they end: together, with the key that signed them, and
//! with them the turns that stem from them.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use chorus_testing::eventually;
use reqwest::Method;
use serde_json::{Value, json};

use crate::test_host::{START, TestHost, damage, place};

const DAY_MS: i64 = 24 * 3_600_000;

async fn revoke_all(host: &TestHost, by: &str, member: &str) -> Value {
    let path = format!("/v1/members/{member}/tokens");
    host.send(by, Method::DELETE, &path, None).await.ok()
}

async fn jti(host: &TestHost, token: &str) -> String {
    host.get(token, "/v1/whoami").await.ok()["jti"].as_str().unwrap().to_owned()
}

/// What of a token stands before its signature.
fn part(token: &str, n: usize) -> Value {
    serde_json::from_slice(&BASE64.decode(token.split('.').nth(n).unwrap()).unwrap()).unwrap()
}

// covers: OPS-428
#[tokio::test]
async fn a_revoked_token_stays_revoked_whatever_the_clock_has_said() {
    let host = TestHost::open().await;
    let (bob, ann) = (host.token("bob").await, host.token("ann").await);
    let path = format!("/v1/tokens/{}", jti(&host, &bob).await);
    host.send(&host.operator(), Method::DELETE, &path, None).await.ok();
    // The clock is ahead for a while, in which all of them expire and are forgotten: while the host runs, or as it
    // starts.
    host.pass(40 * DAY_MS).await;
    host.running.drop_old().await;
    assert_eq!(host.get(&ann, "/v1/whoami").await.status, 401);
    host.clock.set(START);
    host.get(&ann, "/v1/whoami").await.ok();
    assert_eq!(host.get(&bob, "/v1/whoami").await.status, 401);
    let cyd = host.token("cyd").await;
    let path = format!("/v1/tokens/{}", jti(&host, &cyd).await);
    host.send(&host.operator(), Method::DELETE, &path, None).await.ok();
    let mut host = host;
    for now in [START.plus(40 * DAY_MS), START] {
        let TestHost { running, folder, .. } = host;
        running.stop().await;
        host = TestHost::open_in(folder, now).await;
        host.running.drop_old().await;
        assert_eq!(host.get(&cyd, "/v1/whoami").await.status, 401);
    }
    // Those that the member is given now are good.
    host.get(&host.token("bob").await, "/v1/whoami").await.ok();
}

// covers: OPS-400
#[tokio::test]
async fn the_operator_stays() {
    let host = TestHost::open().await;
    let boss = host.token_of("boss", "operator").await;
    let chief = host.token_of("chief", "orchestrator").await;
    for token in [&boss, &chief] {
        let refused = host.send(token, Method::DELETE, "/v1/members/operator", None).await;
        assert!(refused.body["error"]["message"].as_str().unwrap().contains("operator"));
        assert_eq!(refused.refused(409), "CONFLICT");
    }
    host.get(&host.operator(), "/v1/members/operator").await.ok();
}

// covers: OPS-401, OPS-402
#[tokio::test]
async fn a_host_without_its_operator_starts_and_the_doctor_makes_it_again() {
    let host = TestHost::open().await;
    host.room(&["bot"]).await;
    let (ann, op) = (host.token("ann").await, host.operator());
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    // As an earlier version let it be.
    damage(folder.path(), "UPDATE member SET removed = 1 WHERE workspace = 1 AND id = 'operator'");
    let host = TestHost::open_in(folder, START).await;
    assert_eq!(host.running.operator_link, "");
    host.get(&ann, "/v1/whoami").await.ok();
    assert_eq!(host.get(&op, "/v1/whoami").await.refused(404), "NOT_FOUND");
    let TestHost { running, folder, .. } = host;
    running.stop().await;

    let mended = chorus_store::repair(&place(folder.path()), folder.path()).unwrap();
    assert_eq!(mended.iter().map(|r| r.part.name()).collect::<Vec<_>>(), ["operator"]);
    assert_eq!(chorus_store::repair(&place(folder.path()), folder.path()).unwrap(), []);
    let host = TestHost::open_in(folder, START.plus(1_000)).await;
    assert_eq!(host.get(&host.operator(), "/v1/whoami").await.ok()["role"], "operator");
    assert_eq!(host.get(&op, "/v1/whoami").await.refused(401), "UNAUTHORIZED");
    let audit = host.get(&host.operator(), "/v1/audit?kind=repaired").await.ok();
    assert_eq!(audit["entries"][0]["name"], "operator");
}

// covers: OPS-403, OPS-422
#[tokio::test]
async fn an_orchestrator_gives_agents_the_role_worker_and_nothing_else() {
    let host = TestHost::open().await;
    host.room(&["bot"]).await;
    let chief = host.token_of("chief", "orchestrator").await;
    for (agent, role) in [
        ("ann", "worker"),
        ("ann", "auditor"),
        ("operator", "worker"),
        ("bot", "auditor"),
        ("bot", "orchestrator"),
        ("chief", "auditor"),
        ("somebody_new", "auditor"),
    ] {
        let new = json!({"agent": agent, "role": role});
        let code = host.post(&chief, "/v1/tokens", new).await.refused(403);
        assert_eq!(code, "INSUFFICIENT_AUTHORITY", "{agent} {role}");
    }
    let person = json!({"id": "eve", "kind": "human", "token_role": "worker"});
    let code = host.post(&chief, "/v1/members", person).await.refused(403);
    assert_eq!(code, "INSUFFICIENT_AUTHORITY");
    let op = host.operator();
    assert_eq!(host.get(&op, "/v1/members/eve").await.refused(404), "NOT_FOUND");
    host.post(&chief, "/v1/tokens", json!({"agent": "bot", "role": "worker"})).await.ok();
    // Nor does it end what it could not give.
    let (ann, bot) = (host.token("ann").await, host.token("bot").await);
    for path in
        ["/v1/members/ann/tokens".to_owned(), format!("/v1/tokens/{}", jti(&host, &ann).await)]
    {
        let code = host.send(&chief, Method::DELETE, &path, None).await.refused(403);
        assert_eq!(code, "INSUFFICIENT_AUTHORITY", "{path}");
    }
    revoke_all(&host, &chief, "bot").await;
    assert_eq!(host.get(&bot, "/v1/whoami").await.refused(401), "UNAUTHORIZED");
    host.get(&ann, "/v1/whoami").await.ok();
}

// covers: OPS-405, OPS-407
#[tokio::test]
async fn tokens_are_listed_and_never_shown() {
    let host = TestHost::open().await;
    host.room(&["bot"]).await;
    let (op, ann, bot) = (host.operator(), host.token("ann").await, host.token("bot").await);
    let new = json!({"id": "new", "kind": "agent", "token_role": "worker"});
    let made = host.post(&op, "/v1/members", new).await.ok();
    let new = made["token"].as_str().unwrap();
    let all = host.get(&op, "/v1/tokens").await.ok();
    let tokens = all["tokens"].as_array().unwrap();
    for (token, member) in
        [(op.as_str(), "operator"), (ann.as_str(), "ann"), (bot.as_str(), "bot"), (new, "new")]
    {
        let id = jti(&host, token).await;
        let found = tokens.iter().find(|t| t["jti"] == id.as_str()).unwrap();
        assert_eq!((&found["member"], &found["revoked"]), (&json!(member), &json!(false)));
        assert_eq!(found["kid"], part(token, 0)["kid"]);
        let claims = part(token, 1);
        let seconds = claims["exp"].as_i64().unwrap() - claims["iat"].as_i64().unwrap();
        assert!(seconds <= 30 * 24 * 3_600, "{member}: {seconds} s");
        assert!(!all.to_string().contains(token));
    }
    // Others see their own.
    let own = host.get(&bot, "/v1/tokens").await.ok();
    assert_eq!(own["tokens"].as_array().unwrap().len(), 1);
    assert_eq!(own["tokens"][0]["member"], "bot");
    let code = host.get(&bot, "/v1/tokens?member=ann").await.refused(403);
    assert_eq!(code, "INSUFFICIENT_AUTHORITY");
    let of_ann = host.get(&op, "/v1/tokens?member=ann").await.ok();
    assert_eq!(of_ann["tokens"].as_array().unwrap().len(), 1);
    // The list is what it was after a restart; what has expired is not in it.
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    let host = TestHost::open_in(folder, START.plus(1_000)).await;
    assert_eq!(host.get(&op, "/v1/tokens").await.ok(), all);
    host.pass(2 * DAY_MS).await;
    let left = host.get(&op, "/v1/tokens").await.ok();
    assert_eq!(left["tokens"].as_array().unwrap().len(), 1, "the operator's: {left}");
}

// covers: OPS-406
#[tokio::test]
async fn all_tokens_of_a_member_end_at_once() {
    let host = TestHost::open().await;
    host.room(&["bot"]).await;
    let (op, other) = (host.operator(), host.token("ann").await);
    let old = [host.token("bot").await, host.token("bot").await];
    let mut open = host.connect(&old[0]).await;
    assert_eq!(revoke_all(&host, &op, "bot").await, json!({"member": "bot", "revoked": 2}));
    for token in &old {
        assert_eq!(host.get(token, "/v1/whoami").await.refused(401), "UNAUTHORIZED");
    }
    while open.heard().await.is_some() {}
    host.get(&other, "/v1/whoami").await.ok();
    // What is handed out after that is good, within the same second too.
    let new = host.token("bot").await;
    host.get(&new, "/v1/whoami").await.ok();
    let listed = host.get(&op, "/v1/tokens?member=bot").await.ok();
    let revoked = listed["tokens"].as_array().unwrap().iter().filter(|t| t["revoked"] == true);
    assert_eq!(revoked.count(), 2);
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    let host = TestHost::open_in(folder, START.plus(1_000)).await;
    assert_eq!(host.get(&old[0], "/v1/whoami").await.refused(401), "UNAUTHORIZED");
    host.get(&new, "/v1/whoami").await.ok();
    // Everybody may end its own.
    assert_eq!(revoke_all(&host, &new, "bot").await["revoked"], 1);
    assert_eq!(host.get(&new, "/v1/whoami").await.refused(401), "UNAUTHORIZED");
}

// covers: OPS-408
#[tokio::test]
async fn another_key_signs_and_the_old_ones_tokens_are_honoured_until_they_end() {
    let host = TestHost::open().await;
    host.room(&["bot"]).await;
    let (op, old) = (host.operator(), host.token("bot").await);
    let before = std::fs::read(host.folder.path().join("keys/signing.pem")).unwrap();
    let bot = host.token_of("bot", "orchestrator").await;
    let refused = host.post(&bot, "/v1/tokens/rotate", json!({})).await.refused(403);
    assert_eq!(refused, "INSUFFICIENT_AUTHORITY");
    let rotated = host.post(&op, "/v1/tokens/rotate", json!({})).await.ok();
    assert_ne!(std::fs::read(host.folder.path().join("keys/signing.pem")).unwrap(), before);
    let new = host.token("bot").await;
    assert_eq!(part(&new, 0)["kid"], rotated["kid"]);
    assert_eq!(part(&old, 0)["kid"], rotated["retired"][0]["kid"]);
    // Whoever has taken the old key signs with it, and is in no list.
    let pem = String::from_utf8(before).unwrap();
    let der: String = pem.lines().filter(|line| !line.starts_with('-')).collect();
    let der = base64::engine::general_purpose::STANDARD.decode(der).unwrap();
    let key = jsonwebtoken::EncodingKey::from_ed_der(&der);
    let sign = |change: fn(&mut Value)| {
        let mut claims = part(&old, 1);
        change(&mut claims);
        let mut header = jsonwebtoken::Header::new(jsonwebtoken::Algorithm::EdDSA);
        header.kid = part(&old, 0)["kid"].as_str().map(str::to_owned);
        jsonwebtoken::encode(&header, &claims, &key).unwrap()
    };
    let forged = [
        sign(|c| c["jti"] = json!("0123456789abcdef0123456789abcdef")),
        sign(|c| c["agent_id"] = json!("operator")),
        sign(|c| c["role"] = json!("auditor")),
        // Nor is what the list says of a token the token.
        sign(|c| c["exp"] = json!(c["exp"].as_i64().unwrap() + 3_600)),
        sign(|c| c["session_id"] = json!("sess_01890000000070008000000000000001")),
        sign(|c| drop(c.as_object_mut().unwrap().remove("nonce"))),
    ];
    let check = async |host: &TestHost| {
        for token in [&old, &new, &op] {
            host.get(token, "/v1/whoami").await.ok();
        }
        for token in &forged {
            assert_eq!(host.get(token, "/v1/whoami").await.refused(401), "UNAUTHORIZED");
        }
    };
    check(&host).await;
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    let host = TestHost::open_in(folder, START.plus(1_000)).await;
    check(&host).await;
    let audit = host.get(&op, "/v1/audit?kind=signing_key_rotated").await.ok();
    // The first entry is the one that was refused.
    assert_eq!(audit["entries"][1]["name"], rotated["kid"]);
}

// covers: OPS-407
#[tokio::test]
async fn the_operators_token_is_renewed_before_it_ends() {
    let host = TestHost::open().await;
    let first = host.operator();
    host.get(&first, "/v1/whoami").await.ok();
    host.pass(20 * DAY_MS).await;
    let kept = || std::fs::read_to_string(host.folder.path().join("operator.token")).unwrap();
    eventually("the token is renewed", async || kept() != first).await;
    assert_eq!(host.get(&kept(), "/v1/whoami").await.ok()["role"], "operator");
}

// covers: OPS-410
#[tokio::test]
async fn a_turn_ends_with_the_token_that_it_was_given_for() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let (op, ann, token) = (host.operator(), host.token("ann").await, host.token("bot").await);
    let mut bot = host.connect(&token).await;
    host.say(&ann, &room, "@bot are you there?").await;
    let offer = bot.take().await;
    let turn = offer["turn"]["token"].as_str().unwrap().to_owned();
    host.get(&turn, &format!("/v1/messages?conversation={room}")).await.ok();
    let path = format!("/v1/tokens/{}", jti(&host, &token).await);
    host.send(&op, Method::DELETE, &path, None).await.ok();
    assert_eq!(host.get(&turn, "/v1/whoami").await.refused(401), "UNAUTHORIZED");
    let said = json!({"conversation": room, "text": "yes", "idempotency_key": "y", "in_reply_to": offer["eventId"]});
    assert_eq!(host.post(&turn, "/v1/messages", said).await.refused(401), "UNAUTHORIZED");
    // Nor is it good beside another token of the same agent.
    let another = host.token("bot").await;
    let args = json!({"target": {"conversation": room}, "idempotencyKey": "z", "visibility": "channel",
        "directedness": "to_other", "text": "yes", "turn": turn});
    let refused = host.tool(&another, "chat.send_message", args).await.unwrap_err();
    assert_eq!(refused, "STALE_TURN");
}

// covers: OPS-410
#[tokio::test]
async fn a_turn_is_no_longer_than_the_token_that_it_was_given_for() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let (op, ann) = (host.operator(), host.token("ann").await);
    let short = json!({"agent": "bot", "role": "worker", "ttl_s": 60});
    let short = host.post(&op, "/v1/tokens", short).await.ok();
    let mut bot = host.connect(short["token"].as_str().unwrap()).await;
    host.say(&ann, &room, "@bot are you there?").await;
    let offer = bot.take().await;
    let turn = offer["turn"]["token"].as_str().unwrap().to_owned();
    host.get(&turn, "/v1/whoami").await.ok();
    host.clock.advance(61_000);
    assert_eq!(host.get(&turn, "/v1/whoami").await.refused(401), "UNAUTHORIZED");
}

// covers: OPS-410
#[tokio::test]
async fn an_mcp_bearer_ends_with_the_connection_string_it_was_sent_to() {
    use crate::webhook::{Remote, open, reached};
    for removed in [false, true] {
        let host = open().await;
        let mut remote = Remote::open().await;
        let room = reached(&host, &remote).await;
        let (op, ann) = (host.operator(), host.token("ann").await);
        host.say(&ann, &room, "@weather hello?").await;
        let delivery = remote.take().await;
        let bearer = delivery["mcp"]["headers"]["Authorization"].as_str().unwrap().to_owned();
        let token = bearer.strip_prefix("Bearer ").unwrap();
        host.get(token, "/v1/whoami").await.ok();
        match removed {
            true => {
                host.send(&op, Method::DELETE, "/v1/endpoints/weather", None).await.ok();
            }
            false => {
                let url = json!({"url": remote.at("/inbox/sk_other")});
                host.post(&op, "/v1/endpoints/weather/rotate", url).await.ok();
            }
        }
        assert_eq!(host.get(token, "/v1/whoami").await.refused(401), "UNAUTHORIZED");
        let read = json!({"conversation": room});
        let call = json!({"name": "chat.read_thread", "arguments": read});
        assert_eq!(host.rpc(token, "tools/call", call).await.refused(401), "UNAUTHORIZED");
    }
}

// covers: OPS-412
#[tokio::test]
async fn why_a_token_is_refused_is_said_in_words() {
    let host = TestHost::open().await;
    host.room(&["bot"]).await;
    let good = host.token("bot").await;
    let parts: Vec<_> = good.split('.').collect();
    let header = |header: Value| BASE64.encode(header.to_string());
    let mut foreign = part(&good, 1);
    foreign["iss"] = json!("https://login.example/");
    let changed = part(&good, 1).to_string().replace("worker", "operator");
    for (token, words) in [
        (format!("{}.{}.", header(json!({"alg": "none"})), parts[1]), "not signed"),
        (format!("{}.{}.{}", header(json!({"alg": "HS256"})), parts[1], parts[2]), "EdDSA"),
        (
            format!(
                "{}.{}.{}",
                header(json!({"alg": "RS256"})),
                BASE64.encode(foreign.to_string()),
                parts[2]
            ),
            "issuer that this host does not trust",
        ),
        (format!("{}.{}.{}", parts[0], BASE64.encode(changed), parts[2]), "signature"),
        (
            format!("{}.{}.{}", header(json!({"alg": "EdDSA", "kid": "00"})), parts[1], parts[2]),
            "key that this host does not sign with",
        ),
        ("guess".to_owned(), "no token"),
        ("a.b.c".to_owned(), "no token"),
    ] {
        let refused = host.get(&token, "/v1/whoami").await;
        let why = refused.body["error"]["message"].as_str().unwrap().to_owned();
        assert_eq!(refused.refused(401), "UNAUTHORIZED");
        assert!(why.contains(words), "{words}: {why}");
        for raw in ["InvalidAlgorithm", "InvalidSignature", "expected value", "line 1", "Error("] {
            assert!(!why.contains(raw), "{why}");
        }
    }
}
