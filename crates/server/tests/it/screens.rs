//! The terminal of a program that a runner keeps, for those who look at it.

use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::Harness;
use crate::test_host::TestHost;

/// A host with a runner of bot's program, whose owner is ann; the path of its screen.
async fn running() -> (TestHost, Harness, String) {
    let host = TestHost::open().await;
    host.room(&["bot"]).await;
    let owner = json!({"owner_id": "ann"});
    host.send(&host.operator(), Method::PATCH, "/v1/members/bot", Some(owner)).await.ok();
    let session = json!({"runner": true, "runtime": "codex_cli", "managed": true});
    let runner = host.connect_as(&host.token("bot").await, session).await;
    let path = format!("/v1/sessions/{}/screen", runner.hello["session"]["id"].as_str().unwrap());
    (host, runner, path)
}

fn screen(text: &str) -> Value {
    let lines = json!([[{"text": text, "color": 2, "bold": true}]]);
    json!({"columns": 80, "rows": 24, "lines": lines, "cursor": {"row": 0, "column": 3}})
}

impl Harness {
    /// Until somebody looks.
    async fn is_watched(&mut self) {
        loop {
            let frame = self.heard().await.expect("a look");
            if frame["method"] == "session/watch" {
                assert!(frame["params"]["forMs"].as_u64().unwrap() >= 30_000, "{frame}");
                return;
            }
        }
    }

    async fn shows(&mut self, screen: Value) {
        self.write(json!({"jsonrpc": "2.0", "method": "notifications/screen", "params": screen}))
            .await;
    }
}

// covers: ATT-495, ATT-496
#[tokio::test]
async fn an_agents_owner_and_operators_see_its_programs_screen_as_it_changes() {
    let (host, mut runner, path) = running().await;
    let (ann, operator) = (host.token("ann").await, host.operator());
    // Of what nobody looks at, nothing is kept.
    runner.shows(screen("nobody sees this")).await;
    let (seen, ()) = tokio::join!(host.get(&ann, &path), async {
        runner.is_watched().await;
        runner.shows(screen("cargo test")).await;
    });
    let seen = seen.ok();
    assert_eq!(seen["screen"], screen("cargo test"));
    // Whoever comes later has the newest at once; who has it waits for what is newer.
    let also = host.get(&operator, &path).await.ok();
    assert_eq!(also, seen);
    let after = format!("{path}?after={}", seen["version"]);
    let (newer, ()) = tokio::join!(host.get(&ann, &after), async {
        runner.is_watched().await;
        runner.shows(screen("ok")).await;
    });
    let newer = newer.ok();
    assert_eq!(newer["screen"]["lines"][0][0]["text"], "ok");
    assert!(newer["version"].as_u64() > seen["version"].as_u64());
}

// covers: ATT-495, ATT-497
#[tokio::test]
async fn others_do_not_see_it_and_a_look_is_in_the_audit_log() {
    let (host, mut runner, path) = running().await;
    let (eve, bot) = (host.token("eve").await, host.token("bot").await);
    assert_eq!(host.get(&eve, &path).await.refused(403), "INSUFFICIENT_AUTHORITY");
    assert_eq!(host.get(&bot, &path).await.refused(403), "INSUFFICIENT_AUTHORITY");
    let orchestrator = host.token_of("ed", "orchestrator").await;
    assert_eq!(host.get(&orchestrator, &path).await.refused(403), "INSUFFICIENT_AUTHORITY");
    let plain = host.connect(&bot).await;
    let other = format!("/v1/sessions/{}/screen", plain.hello["session"]["id"].as_str().unwrap());
    assert_eq!(host.get(&host.operator(), &other).await.refused(409), "CONFLICT");
    let operator = host.operator();
    for _ in 0..2 {
        let (seen, ()) = tokio::join!(host.get(&operator, &path), async {
            runner.is_watched().await;
            runner.shows(screen("$")).await;
        });
        seen.ok();
    }
    let audit = host.get(&host.operator(), "/v1/audit?kind=screen_watched").await.ok();
    assert_eq!(audit["entries"].as_array().map(Vec::len), Some(1), "{audit}");
}

// covers: ATT-496, ATT-497
#[tokio::test]
async fn secrets_are_blacked_out_and_what_is_no_screen_is_refused() {
    let (host, mut runner, path) = running().await;
    let operator = host.operator();
    let (seen, ()) = tokio::join!(host.get(&operator, &path), async {
        runner.is_watched().await;
        // Refused without an answer: a notification has none.
        runner.shows(json!({"columns": 80, "rows": 24, "lines": vec![json!([]); 501]})).await;
        runner.shows(json!({"columns": -1})).await;
        let half = |text: &str| json!({"text": text});
        let first = json!([half("key AKIAIOSF"), half("ODNN7EXAMPLE")]);
        let lines = json!([first, [half("a key AKIAIOSF")], [half("ODNN7EXAMPLE")]]);
        runner.shows(json!({"columns": 14, "rows": 24, "lines": lines})).await;
    });
    // In spans of one line, and over lines that the terminal has wrapped.
    let lines = &seen.ok()["screen"]["lines"];
    let texts = [0, 1].map(|line| lines[line][0]["text"].as_str().unwrap_or_default());
    assert!(texts.concat().contains("key [redacted: aws-access-key]"), "{lines}");
    assert!(!lines.to_string().contains("ODNN7"), "{lines}");
}

// covers: ATT-495
#[tokio::test]
async fn who_loses_the_right_while_waiting_sees_nothing_more() {
    let (host, mut runner, path) = running().await;
    let (ann, operator) = (host.token("ann").await, host.operator());
    let (seen, ()) = tokio::join!(host.get(&ann, &path), async {
        runner.is_watched().await;
        let owner = json!({"owner_id": "operator"});
        host.send(&operator, Method::PATCH, "/v1/members/bot", Some(owner)).await.ok();
        runner.shows(screen("not for ann")).await;
    });
    assert_eq!(seen.refused(403), "INSUFFICIENT_AUTHORITY");
}
