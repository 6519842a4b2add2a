//! Tokens that are good for nothing, tried on every operation: each is refused before anything is looked at, and nothing is
//! different afterwards.

use std::collections::BTreeMap;

use reqwest::Method;
use serde_json::{Value, json};

use super::operations;
use super::secrets::{self, Used};
use super::table::{Caller, Cell, Findings};
use super::world::{World, answer, text};
use crate::test_host::TestHost;
use crate::webhook::Remote;

/// What they are, the bearer, and the status with which it is refused.
type Bad = (&'static str, String, u16);

impl World {
    /// A token of a member of its own, and its id.
    async fn issued(&mut self, ttl_s: u64) -> (String, String, String) {
        let (member, op) = (self.id(), self.host.operator());
        let new = json!({"agent": member, "role": "worker", "ttl_s": ttl_s});
        let made = self.host.post(&op, "/v1/tokens", new).await.ok();
        (member, text(&made["token"]), text(&made["jti"]))
    }

    /// The token of a turn that was given for a token which has been revoked since.
    async fn turn_of_revoked(&mut self) -> String {
        let op = self.host.operator();
        let new = json!({"agent": "bot", "role": "worker"});
        let made = self.host.post(&op, "/v1/tokens", new).await.ok();
        let event = self.make("question").await;
        let claim = json!({"event": event});
        let claim = self.host.post(&text(&made["token"]), "/v1/claims", claim).await.ok();
        self.delete(&format!("/v1/tokens/{}", text(&made["jti"]))).await;
        text(&claim["turn_token"])
    }

    async fn delete(&self, path: &str) {
        self.host.send(&self.host.operator(), Method::DELETE, path, None).await.ok();
    }
}

/// A token whose second part says another thing than was signed.
fn forged(token: &str) -> String {
    let mut parts: Vec<&str> = token.split('.').collect();
    let middle: String = parts[1].chars().rev().collect();
    parts[1] = &middle;
    parts.join(".")
}

/// The same claims without a signature: `{"alg":"none","typ":"JWT"}`.
fn unsigned(token: &str) -> String {
    let claims = token.split('.').nth(1).unwrap();
    format!("eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.{claims}.")
}

/// One of each kind. Time goes on, and stands still when this returns.
async fn bad(world: &mut World, remote: &mut Remote) -> Vec<Bad> {
    let op = world.host.operator();
    let (_, of_old_key, _) = world.issued(60).await;
    let (_, revoked_of_old_key, jti) = world.issued(86_400).await;
    world.delete(&format!("/v1/tokens/{jti}")).await;
    let elsewhere_of_old_key = world.elsewhere.operator();
    world.host.post(&op, "/v1/tokens/rotate", json!({})).await.ok();
    world.open_elsewhere_anew().await;
    let (_, expired, _) = world.issued(60).await;
    let (_, revoked, jti) = world.issued(86_400).await;
    world.delete(&format!("/v1/tokens/{jti}")).await;
    let (removed, of_removed, _) = world.issued(86_400).await;
    world.delete(&format!("/v1/members/{removed}")).await;
    let turn = world.turn().await;
    let strange = TestHost::open().await;
    let before_rotation = secrets::delivered(world, remote).await;
    let new = json!({"url": remote.at("/inbox/sk_new")});
    let path = format!("/v1/endpoints/{}/rotate", secrets::MEMBER);
    world.host.post(&op, &path, new).await.ok();
    // More than half an hour, in which turns end too.
    world.host.pass(40 * 60_000).await;
    let of_revoked = world.turn_of_revoked().await;
    let alive = secrets::delivered(world, remote).await;
    let cut = |token: &str| token[..token.len() - 4].to_owned();
    vec![
        ("an expired token", expired, 401),
        ("a revoked token", revoked, 401),
        ("an expired token of a key that was rotated out", of_old_key, 401),
        ("a revoked token of a key that was rotated out", revoked_of_old_key, 401),
        ("another workspace's token of a key that was rotated out", elsewhere_of_old_key, 403),
        ("a removed member's token", of_removed, 401),
        ("a turn's token whose time is over", turn, 401),
        ("a turn's token, given for a token that was revoked", of_revoked, 401),
        ("a token of other keys", strange.operator(), 401),
        ("a token of another workspace under the same keys", world.elsewhere.operator(), 403),
        ("the bearer of a delivery before the rotation", before_rotation.bearer, 401),
        ("a callback's token from before the rotation", before_rotation.token, 401),
        ("a callback's token, as a bearer", alive.token, 401),
        ("a cut turn's token", cut(&alive.bearer), 401),
        ("a forged token", forged(&op), 401),
        ("an unsigned token", unsigned(&op), 401),
        ("nonsense", "x".to_owned(), 401),
        ("nothing", String::new(), 401),
    ]
}

/// The secret in the path counts here, and no token is looked at.
const BY_SECRET: [&str; 9] = [
    "answer_challenge",
    "job_callback",
    "callback",
    "deliver_to_inbox",
    "sign_in",
    "sign_in_back",
    "use_sign_in_link",
    "invitation",
    "accept_invitation",
];

/// Lines of an export that say how far things are rather than what there is.
const PROGRESS: [&str; 4] = ["{\"header\"", "{\"session\"", "{\"head\"", "{\"end\""];

/// What is noted of a delivery a moment after it was made, and of turns when they end.
const IN_PASSING: [&str; 3] = ["turn_", "delivery_", "session_"];

/// All that is kept.
async fn everything(world: &World) -> (Vec<String>, Vec<Value>) {
    let op = world.host.operator();
    let export = text(&world.host.get(&op, "/v1/export").await.ok());
    let is_told = |line: &&str| PROGRESS.iter().all(|what| !line.starts_with(what));
    let lines = export.lines().filter(is_told).map(str::to_owned).collect();
    let audit = world.host.get(&op, "/v1/audit?limit=1000").await.ok();
    assert!(audit.get("next").is_none_or(Value::is_null), "the page holds all");
    let is_kept = |entry: &&Value| {
        let kind = entry["kind"].as_str().unwrap_or_default();
        !IN_PASSING.iter().any(|what| kind.starts_with(what))
    };
    let entries = audit["entries"].as_array().unwrap().iter().filter(is_kept);
    (lines, entries.cloned().collect())
}

// covers: OPS-461
#[tokio::test]
async fn no_operation_takes_a_token_that_is_good_for_nothing() {
    let mut world = World::open().await;
    let mut remote = Remote::open().await;
    secrets::reach(&mut world, &remote).await;
    let rows = operations::rows();
    let mut requests = Vec::new();
    for row in &rows {
        // Made before anything is compared.
        requests.push(world.fill(&row.asked, false).await);
    }
    let bad = bad(&mut world, &mut remote).await;
    let before = everything(&world).await;
    let mut findings = Findings::default();
    for (what, bearer, status) in &bad {
        let mut wrong: BTreeMap<(String, u16), Vec<&str>> = BTreeMap::new();
        for (row, asked) in rows.iter().zip(&requests) {
            let nobody = row.cell(Caller::Nobody);
            let expected = match nobody {
                Cell::Status(401) if !BY_SECRET.contains(&row.name.as_str()) => {
                    Cell::Status(*status)
                }
                // A token is not looked at.
                other => other,
            };
            let (got, _) = answer(world.request(asked, Some(bearer.as_str()))).await;
            if Cell::of(got) != expected {
                wrong.entry((expected.to_string(), got)).or_default().push(&row.name);
            }
        }
        for ((expected, got), operations) in wrong {
            let operations = operations.join(", ");
            findings.say(format!("{what}: expected {expected}, got {got}: {operations}"));
        }
    }
    findings.none();
    let after = everything(&world).await;
    assert_eq!(before.0, after.0, "the export");
    assert_eq!(before.1, after.1, "the audit");
}

// covers: OPS-461
#[tokio::test]
async fn credentials_of_a_delivery_end_with_its_connection_string() {
    for (how, method, path, body) in [
        (
            "rotated",
            Method::POST,
            format!("/v1/endpoints/{}/rotate", secrets::MEMBER),
            Some(json!({"url": "http://127.0.0.1:9/inbox/sk_9"})),
        ),
        ("removed", Method::DELETE, format!("/v1/endpoints/{}", secrets::MEMBER), None),
        ("the member removed", Method::DELETE, format!("/v1/members/{}", secrets::MEMBER), None),
    ] {
        let mut world = World::open().await;
        let mut remote = Remote::open().await;
        secrets::reach(&mut world, &remote).await;
        let delivered = secrets::delivered(&mut world, &mut remote).await;
        let Used { callback, tools } = delivered.used(&world).await;
        assert_eq!((callback, tools), (200, 200), "before it is {how}");
        let op = world.host.operator();
        world.host.send(&op, method, &path, body).await.ok();
        let Used { callback, tools } = delivered.used(&world).await;
        assert_eq!((callback, tools), (401, 401), "{how}");
    }
}
