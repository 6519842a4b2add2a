//! Tokens of other issuers, signed with keys that a server of the test publishes.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use chorus_server::config::Settings;
use chorus_server::config::issuers::{AccessTokens, HighestRole, Issuer};
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde_json::{Value, json};

use crate::test_host::{START, TestHost};

const ISS: &str = "https://login.example/";

/// A key pair of the issuer's.
struct Key {
    id: &'static str,
    pair: rcgen::KeyPair,
}

impl Key {
    fn new(id: &'static str) -> Self {
        Self { id, pair: rcgen::KeyPair::generate().unwrap() }
    }

    /// As the issuer publishes it.
    fn public(&self) -> Value {
        let raw = self.pair.public_key_raw();
        let (x, y) = (BASE64.encode(&raw[1..33]), BASE64.encode(&raw[33..65]));
        json!({"kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": self.id, "x": x, "y": y})
    }

    /// An access token, whose header says that it is one.
    fn sign(&self, claims: &Value) -> String {
        self.sign_as(Some("at+jwt"), claims)
    }

    fn sign_as(&self, typ: Option<&str>, claims: &Value) -> String {
        let mut header = Header::new(Algorithm::ES256);
        header.typ = typ.map(str::to_owned);
        header.kid = Some(self.id.to_owned());
        let key = EncodingKey::from_ec_der(&self.pair.serialize_der());
        jsonwebtoken::encode(&header, claims, &key).unwrap()
    }
}

/// What the issuer publishes, whether it is up, and how often it was asked.
#[derive(Default)]
struct Published {
    keys: Mutex<Vec<Value>>,
    down: AtomicBool,
    asked: AtomicUsize,
}

impl Published {
    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    fn publish(&self, keys: &[&Key]) {
        let mut keys: Vec<Value> = keys.iter().map(|key| key.public()).collect();
        // A kind of key that nobody has heard of, and a shared one, are no reason to honour none.
        keys.push(json!({"kty": "NEW", "kid": "new", "q": 1}));
        keys.push(json!({"kty": "oct", "kid": "shared", "k": BASE64.encode("secret")}));
        *self.keys.lock().unwrap() = keys;
    }
}

async fn answer(State(published): State<Arc<Published>>) -> Response {
    published.asked.fetch_add(1, Ordering::SeqCst);
    if published.down.load(Ordering::SeqCst) {
        return StatusCode::BAD_GATEWAY.into_response();
    }
    json!({"keys": *published.keys.lock().unwrap()}).to_string().into_response()
}

async fn open_host(change: impl FnOnce(&mut Issuer)) -> (TestHost, Arc<Published>) {
    let (mut issuer, published) = issuer().await;
    change(&mut issuer);
    let mut settings = Settings::default();
    settings.issuers.insert("corp".to_owned(), issuer);
    (open(settings).await, published)
}

async fn open(settings: Settings) -> TestHost {
    TestHost::open_with(tempfile::tempdir().unwrap(), START, |config| config.settings = settings)
        .await
}

/// One that is called [`ISS`].
async fn issuer() -> (Issuer, Arc<Published>) {
    let published = Arc::new(Published::default());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/jwks", listener.local_addr().unwrap());
    let router = Router::new().route("/jwks", get(answer)).with_state(published.clone());
    tokio::spawn(async move { axum::serve(listener, router).await });
    (Issuer { issuer: ISS.to_owned(), jwks_url: url, ..Issuer::default() }, published)
}

fn claims(change: impl FnOnce(&mut Value)) -> Value {
    let now = START.0 / 1000;
    let mut claims = json!({"iss": ISS, "aud": "chorus", "sub": "bot", "iat": now, "exp": now + 3_600, "jti": "a"});
    change(&mut claims);
    claims
}

// covers: OPS-72
#[tokio::test]
async fn a_token_of_a_trusted_issuer_is_its_members() {
    let (host, published) = open_host(|_| {}).await;
    let room = host.room(&["bot"]).await;
    let key = Key::new("one");
    published.publish(&[&key]);
    let token = key.sign(&claims(|_| {}));
    let me = host.get(&token, "/v1/whoami").await.ok();
    assert_eq!((&me["member"]["id"], &me["role"]), (&json!("bot"), &json!("worker")));
    let mut bot = host.connect(&token).await;
    host.say(&host.operator(), &room, "@bot are you one of us?").await;
    let event = bot.take().await;
    bot.reply(&event, "I am").await.unwrap();
    assert_eq!(published.asked(), 1, "keys are asked for once");
    // It is revoked like any other, and what it opened ends.
    let path = format!("/v1/tokens/{}", me["jti"].as_str().unwrap());
    let revoked = host.send(&host.operator(), reqwest::Method::DELETE, &path, None).await;
    assert_eq!(revoked.status, 204);
    while let Some(heard) = bot.heard().await {
        assert!(heard["method"] != "chat/deliver");
    }
    assert_eq!(host.get(&token, "/v1/whoami").await.refused(401), "UNAUTHORIZED");
}

// covers: OPS-410, OPS-411
#[tokio::test]
async fn all_tokens_of_a_member_end_whoever_issued_them() {
    let (host, published) = open_host(|_| {}).await;
    let room = host.room(&["bot"]).await;
    let key = Key::new("one");
    published.publish(&[&key]);
    let token = key.sign(&claims(|_| {}));
    let mut bot = host.connect(&token).await;
    host.say(&host.operator(), &room, "@bot are you one of us?").await;
    let event = bot.take().await;
    let turn = event["turn"]["token"].as_str().unwrap().to_owned();
    host.get(&turn, "/v1/whoami").await.ok();
    let all = "/v1/members/bot/tokens";
    host.send(&host.operator(), reqwest::Method::DELETE, all, None).await.ok();
    for ended in [&token, &turn] {
        assert_eq!(host.get(ended, "/v1/whoami").await.refused(401), "UNAUTHORIZED");
    }
    while bot.heard().await.is_some() {}
    // What is issued after that is good.
    host.clock.advance(2_000);
    let later = key.sign(&claims(|c| {
        c["iat"] = (START.0 / 1000 + 2).into();
        c["jti"] = "b".into();
    }));
    host.get(&later, "/v1/whoami").await.ok();
}

// covers: OPS-73
#[tokio::test]
async fn token_claims_are_checked_against_the_settings() {
    let (host, published) = open_host(|issuer| issuer.highest_role = HighestRole::Auditor).await;
    host.room(&["bot"]).await;
    let (key, other) = (Key::new("one"), Key::new("one"));
    published.publish(&[&key]);
    let now = START.0 / 1000;
    let id = host.running.workspace_id.clone();
    type Change = fn(&mut Value);
    let refused: [(Change, u16, &str); 12] = [
        (|c| c["aud"] = "somebody else".into(), 401, "UNAUTHORIZED"),
        (|c| drop(c.as_object_mut().unwrap().remove("aud")), 401, "UNAUTHORIZED"),
        (|c| c["iss"] = "https://login.example".into(), 401, "UNAUTHORIZED"),
        (|c| c["exp"] = (START.0 / 1000 - 6).into(), 401, "UNAUTHORIZED"),
        (|c| drop(c.as_object_mut().unwrap().remove("exp")), 401, "UNAUTHORIZED"),
        (|c| c["nbf"] = (START.0 / 1000 + 60).into(), 401, "UNAUTHORIZED"),
        (
            |c| c["workspace_id"] = "wk_00000000000000000000000000000001".into(),
            403,
            "OUT_OF_SCOPE_WORKSPACE",
        ),
        (|c| c["role"] = "orchestrator".into(), 403, "INSUFFICIENT_AUTHORITY"),
        (|c| c["role"] = "operator".into(), 403, "INSUFFICIENT_AUTHORITY"),
        (|c| c["role"] = "king".into(), 401, "UNAUTHORIZED"),
        (|c| c["sub"] = "operator".into(), 403, "FORBIDDEN"),
        (|c| c["sub"] = "stranger".into(), 404, "NOT_FOUND"),
    ];
    for (change, status, code) in refused {
        let claims = claims(change);
        let token = key.sign(&claims);
        assert_eq!(host.get(&token, "/v1/whoami").await.refused(status), code, "{claims}");
        // Nor is it good for a connection or a call by POST.
        let call = host.rpc(&token, "tools/list", json!({})).await;
        assert_eq!(call.refused(status), code, "{claims}");
    }
    let named = claims(|c| c["workspace_id"] = id.into());
    host.get(&key.sign(&named), "/v1/whoami").await.ok();
    let auditor = claims(|c| c["role"] = "auditor".into());
    host.get(&key.sign(&auditor), "/v1/deliveries?state=all").await.ok();

    // Signed by somebody else under the same key id, by nobody, or with what everybody knows.
    let good = claims(|_| {});
    assert_eq!(host.get(&other.sign(&good), "/v1/whoami").await.refused(401), "UNAUTHORIZED");
    let part = |value: &Value| BASE64.encode(value.to_string());
    let none = format!("{}.{}.", part(&json!({"alg": "none", "kid": "one"})), part(&good));
    assert_eq!(host.get(&none, "/v1/whoami").await.refused(401), "UNAUTHORIZED");
    for (id, secret) in
        [("shared", b"secret".to_vec()), ("one", key.pair.public_key_raw().to_vec())]
    {
        let mut header = Header::new(Algorithm::HS256);
        header.kid = Some(id.to_owned());
        let token =
            jsonwebtoken::encode(&header, &good, &EncodingKey::from_secret(&secret)).unwrap();
        assert_eq!(host.get(&token, "/v1/whoami").await.refused(401), "UNAUTHORIZED");
    }
    let mut cut = key.sign(&claims(|c| c["exp"] = (now + 7_200).into()));
    cut.truncate(cut.len() - 4);
    assert_eq!(host.get(&cut, "/v1/whoami").await.refused(401), "UNAUTHORIZED");
}

// covers: OPS-73
#[tokio::test]
async fn an_issuer_is_pinned_to_its_workspace_members_and_algorithms() {
    let other = Some("wk_00000000000000000000000000000001".to_owned());
    let (elsewhere, published) = open_host(|issuer| issuer.workspace = other).await;
    elsewhere.room(&["bot"]).await;
    let key = Key::new("one");
    published.publish(&[&key]);
    let token = key.sign(&claims(|_| {}));
    assert_eq!(elsewhere.get(&token, "/v1/whoami").await.refused(403), "OUT_OF_SCOPE_WORKSPACE");
    let (few, published) = open_host(|issuer| {
        issuer.members = vec!["ann".to_owned()];
        issuer.algorithms.retain(|a| *a != chorus_server::config::issuers::Algorithm::EdDsa);
    })
    .await;
    few.room(&["bot"]).await;
    published.publish(&[&key]);
    assert_eq!(few.get(&token, "/v1/whoami").await.refused(403), "FORBIDDEN");
    few.get(&key.sign(&claims(|c| c["sub"] = "ann".into())), "/v1/whoami").await.ok();
    let (no_ec, published) = open_host(|issuer| {
        issuer.algorithms = vec![chorus_server::config::issuers::Algorithm::Rs256];
    })
    .await;
    no_ec.room(&["bot"]).await;
    published.publish(&[&key]);
    assert_eq!(no_ec.get(&token, "/v1/whoami").await.refused(401), "UNAUTHORIZED");
    assert_eq!(published.asked(), 0, "not even looked up");
}

// covers: OPS-429
#[tokio::test]
async fn id_token_is_no_access_token() {
    use AccessTokens::{Any, Recognized, Typed};
    // The header's typ, what the claims have besides, and who takes it.
    let rows: [(Option<&str>, Value, &[AccessTokens]); 17] = [
        (Some("at+jwt"), json!({}), &[Typed, Recognized, Any]),
        (Some("application/AT+JWT"), json!({"nonce": "n"}), &[Typed, Recognized, Any]),
        // Keycloak, Cognito, Entra (for a person, and for a service), Okta, Auth0.
        (Some("JWT"), json!({"typ": "Bearer", "nonce": "n"}), &[Recognized, Any]),
        (None, json!({"token_use": "access"}), &[Recognized, Any]),
        (Some("JWT"), json!({"scp": "chat"}), &[Recognized, Any]),
        (Some("JWT"), json!({"azpacr": "1", "roles": ["a"]}), &[Recognized, Any]),
        (None, json!({"cid": "c", "scp": ["chat"]}), &[Recognized, Any]),
        (Some("JWT"), json!({"azp": "c", "gty": "client-credentials"}), &[Recognized, Any]),
        (Some("JWT"), json!({"scope": "openid"}), &[Recognized, Any]),
        // The ID tokens of the same.
        (Some("JWT"), json!({"typ": "ID", "azp": "c"}), &[Any]),
        (None, json!({"token_use": "id"}), &[Any]),
        (Some("JWT"), json!({"nonce": "n", "scope": "openid"}), &[Any]),
        (Some("JWT"), json!({"at_hash": "h"}), &[Any]),
        // A workload's, or an ID token that says nothing.
        (Some("JWT"), json!({"roles": ["a"], "azp": "c"}), &[Any]),
        (None, json!({}), &[Any]),
        // Neither.
        (Some("logout+jwt"), json!({"scope": "openid"}), &[]),
        (Some("JWT"), json!({"typ": "Refresh", "scope": "openid"}), &[]),
    ];
    for set in [Typed, Recognized, Any] {
        let (host, published) = open_host(|issuer| issuer.access_tokens = set).await;
        host.room(&["bot"]).await;
        let key = Key::new("one");
        published.publish(&[&key]);
        for (n, (typ, more, taken)) in rows.iter().enumerate() {
            let claims = claims(|c| {
                c["jti"] = n.to_string().into();
                c.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            });
            let answer = host.get(&key.sign_as(*typ, &claims), "/v1/whoami").await;
            match taken.contains(&set) {
                true => drop(answer.ok()),
                false => assert_eq!(answer.refused(401), "UNAUTHORIZED", "{set:?} {typ:?} {more}"),
            }
        }
    }
    assert_eq!(Issuer::default().access_tokens, Recognized);
}

// covers: OPS-430
#[tokio::test]
async fn the_same_id_with_two_issuers_is_not_one_member() {
    const OTHER: &str = "https://other.example/";
    let (first, published) = issuer().await;
    let (mut second, others) = issuer().await;
    second.issuer = OTHER.to_owned();
    second.members = vec!["ann".to_owned()];
    let mut settings = Settings::default();
    settings.issuers.extend([("corp".to_owned(), first), ("partner".to_owned(), second)]);
    let host = open(settings).await;
    host.room(&["bot"]).await;
    let (key, other) = (Key::new("one"), Key::new("one"));
    published.publish(&[&key]);
    others.publish(&[&other]);
    let by_first = |sub: &str| key.sign(&claims(|c| c["sub"] = sub.into()));
    let by_second = |sub: &str| {
        other.sign(&claims(|c| {
            c["sub"] = sub.into();
            c["iss"] = OTHER.into();
        }))
    };
    for (token, ok) in [
        (by_first("bot"), true),
        (by_second("bot"), false),
        (by_second("ann"), true),
        (by_first("ann"), false),
    ] {
        let answer = host.get(&token, "/v1/whoami").await;
        match ok {
            true => drop(answer.ok()),
            false => assert_eq!(answer.refused(403), "FORBIDDEN"),
        }
    }
}

// covers: OPS-74
#[tokio::test]
async fn keys_change_and_one_that_is_withdrawn_is_honoured_no_more() {
    let (host, published) = open_host(|_| {}).await;
    host.room(&["bot"]).await;
    let (old, new) = (Key::new("old"), Key::new("new"));
    published.publish(&[&old]);
    let long = |c: &mut Value| c["exp"] = (START.0 / 1000 + 360_000).into();
    let (by_old, by_new) = (old.sign(&claims(long)), new.sign(&claims(long)));
    host.get(&by_old, "/v1/whoami").await.ok();
    published.publish(&[&old, &new]);
    // An unknown key asks the issuer again, though not in every breath.
    assert_eq!(host.get(&by_new, "/v1/whoami").await.refused(401), "UNAUTHORIZED");
    assert_eq!(published.asked(), 1);
    host.clock.advance(30_000);
    host.get(&by_new, "/v1/whoami").await.ok();
    assert_eq!(published.asked(), 2);
    for _ in 0..20 {
        let stranger = Key::new("stranger").sign(&claims(long));
        assert_eq!(host.get(&stranger, "/v1/whoami").await.refused(401), "UNAUTHORIZED");
    }
    assert_eq!(published.asked(), 2, "strangers cost the issuer nothing");
    // A key that is published no more ends with the next look.
    published.publish(&[&new]);
    host.get(&by_old, "/v1/whoami").await.ok();
    host.clock.advance(600_000);
    assert_eq!(host.get(&by_old, "/v1/whoami").await.refused(401), "UNAUTHORIZED");
    host.get(&by_new, "/v1/whoami").await.ok();
}

// covers: OPS-74
#[tokio::test]
async fn an_issuer_that_is_down_is_done_without_for_a_while() {
    let (host, published) = open_host(|_| {}).await;
    host.room(&["bot"]).await;
    let key = Key::new("one");
    published.publish(&[&key]);
    let token = key.sign(&claims(|c| c["exp"] = (START.0 / 1000 + 360_000).into()));
    published.down.store(true, Ordering::SeqCst);
    assert_eq!(host.get(&token, "/v1/whoami").await.refused(503), "UNAVAILABLE");
    assert_eq!(host.get(&host.operator(), "/v1/whoami").await.status, 200, "the rest goes on");
    published.down.store(false, Ordering::SeqCst);
    host.clock.advance(30_000);
    host.get(&token, "/v1/whoami").await.ok();
    published.down.store(true, Ordering::SeqCst);
    host.clock.advance(3_600_000);
    host.get(&token, "/v1/whoami").await.ok();
    host.clock.advance(700_000);
    assert_eq!(host.get(&token, "/v1/whoami").await.refused(503), "UNAVAILABLE");
    published.down.store(false, Ordering::SeqCst);
    host.clock.advance(30_000);
    host.get(&token, "/v1/whoami").await.ok();
}
