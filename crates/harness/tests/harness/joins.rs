//! What comes after the compose window has closed joins the run, with the settings that every agent has by default.

use std::path::Path;

use chorus_testing::eventually;
use serde_json::{Value, json};

use crate::host::{Agent, Host, delivery};

/// A run that writes down its prompt and waits until it is let go; `$0` is the folder.
const WAITS: &str = "n=$(ls $0 | grep -c prompt); cat >$0/new; mv $0/new $0/prompt.$n; \
    while [ ! -e $0/go ]; do sleep 0.02; done; echo \"answer $n\"";

fn line(before: &str, folder: &Path) -> String {
    format!("{before} {WAITS}").replace("$0", folder.to_str().unwrap())
}

/// The prompt of the run with this number, once it has begun.
async fn prompt(folder: &Path, n: usize) -> String {
    let file = folder.join(format!("prompt.{n}"));
    eventually(&format!("run {n} begins"), async || std::fs::read_to_string(&file)).await
}

fn ends(host: &Host) -> Vec<(Value, Value)> {
    let ends = host.seen("chat/disposition");
    ends.iter().map(|end| (end["eventId"].clone(), end["disposition"].clone())).collect()
}

// covers: ATT-55, ATT-305
#[tokio::test]
async fn a_late_piece_joins_the_run_twice_and_the_one_answer_ends_them_all() {
    let (host, state) = (Host::start().await, tempfile::tempdir().unwrap());
    let runs = tempfile::tempdir().unwrap();
    let agent = Agent::join_by_default(&host, state.path(), &line("", runs.path()));
    for n in 0..3 {
        host.deliver(delivery(&format!("evt_{n}"), "must_respond"));
        let prompt = prompt(runs.path(), n).await;
        for piece in 0..=n {
            assert!(prompt.contains(&format!("Is evt_{piece} blocked?")), "{prompt}");
        }
    }
    // The fourth waits for the next turn.
    host.deliver(delivery("evt_3", "must_respond"));
    host.wait("ack", 4).await;
    assert_eq!(host.seen("chat.send_message").len(), 0);
    std::fs::write(runs.path().join("go"), "").unwrap();
    let sent = host.wait("chat.send_message", 2).await;
    let answers: Vec<_> =
        sent.iter().map(|s| (s["inReplyTo"].clone(), s["text"].clone())).collect();
    let answer = |event: &str, text: &str| (json!(event), json!(text));
    assert_eq!(answers, [answer("evt_2", "answer 2"), answer("evt_3", "answer 3")]);
    host.wait("chat/disposition", 2).await;
    assert_eq!(ends(&host), [answer("evt_0", "superseded"), answer("evt_1", "superseded")]);
    agent.stop().await;
}

// covers: ATT-303
#[tokio::test]
async fn a_run_of_which_something_was_seen_goes_on_and_is_not_joined() {
    // It tells its progress; or it has answered by itself, with the token of its turn.
    for (before, itself) in [("echo 'progress: half' >&2;", false), ("", true)] {
        let (host, state) = (Host::start().await, tempfile::tempdir().unwrap());
        let runs = tempfile::tempdir().unwrap();
        let agent = Agent::join_by_default(&host, state.path(), &line(before, runs.path()));
        host.deliver(delivery("evt_0", "must_respond"));
        prompt(runs.path(), 0).await;
        if itself {
            host.show(json!({
                "eventId": "evt_said", "conversation": "ch_1", "sequence": 8,
                "createdAt": "2026-06-02T19:10:30.000Z", "inReplyTo": "evt_0", "text": "wait a moment",
                "author": {"id": "scout", "kind": "agent", "displayName": "Scout"}
            }));
        } else {
            let told = |p: &Value| p["message"] == "half";
            while !host.wait("notifications/progress", 1).await.iter().any(told) {}
        }
        let looked = host.seen("chat.read_thread").len();
        host.deliver(delivery("evt_1", "must_respond"));
        host.wait("ack", 2).await;
        if itself {
            host.wait("chat.read_thread", looked + 1).await;
        }
        std::fs::write(runs.path().join("go"), "").unwrap();
        let sent = host.wait("chat.send_message", 2).await;
        assert_eq!(
            (&sent[0]["inReplyTo"], &sent[0]["text"]),
            (&"evt_0".into(), &"answer 0".into())
        );
        assert_eq!(
            (&sent[1]["inReplyTo"], &sent[1]["text"]),
            (&"evt_1".into(), &"answer 1".into())
        );
        agent.stop().await;
    }
}
