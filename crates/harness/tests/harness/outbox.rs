//! What was journaled reaches the host, once, whatever the connection does.

use crate::host::{Agent, Host, delivery};

// covers: ATT-107, ATT-110
#[tokio::test]
async fn a_reply_whose_answer_was_lost_is_sent_again_with_the_same_key_and_body() {
    let (host, state) = (Host::start().await, tempfile::tempdir().unwrap());
    host.refuse("chat.send_message", Some("CUT"));
    let agent = Agent::join(&host, state.path(), "date +%s%N");
    host.deliver(delivery("evt_1", "must_respond"));
    host.wait("chat.send_message", 1).await;
    host.refuse("chat.send_message", Some("IDEMPOTENCY_CONFLICT"));
    let sent = host.wait("chat.send_message", 2).await;
    assert_eq!(sent[0], sent[1]);
    assert_eq!(host.seen("initialize")[1]["session"]["id"], "sess_1");
    // A conflict on its own key is an answer: nothing more is sent.
    host.deliver(delivery("evt_2", "must_not_respond"));
    host.wait("chat/disposition", 1).await;
    assert_eq!(host.seen("chat.send_message").len(), 2);
    agent.stop().await;
}

// covers: ATT-107
#[tokio::test]
async fn a_reply_survives_the_harness_that_made_it() {
    let (host, state) = (Host::start().await, tempfile::tempdir().unwrap());
    host.refuse("chat.send_message", Some("CUT"));
    let agent = Agent::join(&host, state.path(), "echo first");
    host.deliver(delivery("evt_1", "must_respond"));
    host.wait("chat.send_message", 1).await;
    agent.kill().await;
    host.refuse("chat.send_message", None);
    let agent = Agent::join(&host, state.path(), "echo second");
    let sent = host.wait("chat.send_message", 2).await;
    assert_eq!(sent.last().unwrap()["text"], "first");
    agent.stop().await;
}

// covers: ATT-110
#[tokio::test]
async fn a_refused_reply_is_dropped_and_one_that_may_be_taken_later_is_kept() {
    let (host, state) = (Host::start().await, tempfile::tempdir().unwrap());
    host.refuse("chat.send_message", Some("RATE_LIMITED"));
    let agent = Agent::join(&host, state.path(), "echo hello");
    host.deliver(delivery("evt_1", "must_respond"));
    host.wait("chat.send_message", 2).await;
    host.refuse("chat.send_message", Some("FORBIDDEN"));
    let ends = host.wait("chat/disposition", 1).await;
    assert_eq!((&ends[0]["eventId"], &ends[0]["disposition"]), (&"evt_1".into(), &"failed".into()));
    // What the host said, for people: no code and no request.
    assert_eq!(ends[0]["note"], "no");
    agent.stop().await;
}

// covers: ATT-107, ATT-177
#[tokio::test]
async fn a_reply_on_a_paused_line_waits_for_the_host_over_restarts_and_holds_up_no_other() {
    let (host, state) = (Host::start().await, tempfile::tempdir().unwrap());
    host.refuse("chat.send_message", Some("REPLY_BUDGET_SPENT"));
    let agent = Agent::join(&host, state.path(), "echo first");
    host.deliver(delivery("evt_1", "must_respond"));
    let asked = host.wait("chat/disposition", 1).await;
    assert_eq!(asked[0]["disposition"], "claimed", "{asked:?}");
    // After a restart it is tried once, and waits again.
    agent.kill().await;
    let agent = Agent::join(&host, state.path(), "echo second");
    host.wait("chat/disposition", 2).await;
    host.refuse("chat.send_message", None);
    host.deliver(delivery("evt_2", "must_respond"));
    let sent = host.wait("chat.send_message", 3).await;
    assert_eq!(sent[2]["inReplyTo"], "evt_2", "{sent:?}");
    // Offered again, by which the host says that the line goes on.
    host.deliver(delivery("evt_1", "must_respond"));
    let sent = host.wait("chat.send_message", 4).await;
    assert_eq!(sent[3], sent[0]);
    assert_eq!((&sent[3]["inReplyTo"], &sent[3]["text"]), (&"evt_1".into(), &"first".into()));
    agent.stop().await;
    assert_eq!(host.seen("chat.send_message").len(), 4);
}

/// A host that came back refuses what it has not offered yet in this life, and offers it a moment later.
// covers: ATT-102, ATT-105
#[tokio::test]
async fn an_end_is_told_again_when_an_offer_overtook_the_answer_to_it() {
    let (host, state) = (Host::start().await, tempfile::tempdir().unwrap());
    let agent = Agent::join(&host, state.path(), "echo hello");
    let told = || delivery("evt_1", "must_not_respond");
    host.deliver_before_answering("chat/disposition", told());
    host.deliver(told());
    let ends = host.wait("chat/disposition", 2).await;
    assert_eq!(ends[0], ends[1]);
    agent.stop().await;
}

// covers: ATT-94
#[tokio::test]
async fn output_beyond_the_budget_of_a_turn_is_dropped() {
    let (host, state) = (Host::start().await, tempfile::tempdir().unwrap());
    host.refuse("chat.send_message", Some("REPLY_BUDGET_SPENT"));
    host.has_ended("responded");
    let agent = Agent::join(&host, state.path(), "echo the sixth");
    host.deliver(delivery("evt_1", "must_respond"));
    host.wait("chat/disposition", 1).await;
    // However often it is offered, the host is told how it ended and nothing is said.
    host.deliver(delivery("evt_1", "must_respond"));
    let ends = host.wait("chat/disposition", 2).await;
    assert_eq!(ends[1]["disposition"], "responded", "{ends:?}");
    host.cut();
    host.wait("initialize", 2).await;
    host.deliver(delivery("evt_2", "must_not_respond"));
    host.wait("chat/disposition", 3).await;
    assert_eq!(host.seen("chat.send_message").len(), 1);
    agent.stop().await;
}

// covers: ATT-102
#[tokio::test]
async fn the_host_may_go_and_come_back() {
    let (host, state) = (Host::start().await, tempfile::tempdir().unwrap());
    let agent = Agent::join(&host, state.path(), "echo hello");
    host.wait("initialize", 1).await;
    host.cut();
    host.wait("initialize", 2).await;
    host.deliver(delivery("evt_1", "must_respond"));
    host.wait("chat.send_message", 1).await;
    agent.stop().await;
}

#[tokio::test]
async fn a_token_of_another_agent_and_a_second_harness_are_refused() {
    let (host, state) = (Host::start().await, tempfile::tempdir().unwrap());
    let agent = Agent::join(&host, state.path(), "echo hello");
    host.wait("initialize", 1).await;
    let second = Agent::join(&host, state.path(), "echo hello");
    let error = second.running.await.unwrap().unwrap_err();
    assert!(error.to_string().contains("another harness runs on"), "{error}");
    agent.stop().await;

    let other = tempfile::tempdir().unwrap();
    let runtime = chorus_harness::Runtime::Command { line: "echo".into() };
    let options = chorus_harness::Options::new(&host.url, "t", "builder", other.path(), runtime);
    let error = chorus_harness::run(options, std::future::pending()).await.unwrap_err();
    assert!(error.to_string().contains("the token is of agent scout, not builder"), "{error}");
}

#[tokio::test]
async fn two_harnesses_of_one_session_do_not_take_it_from_each_other_in_turn() {
    let (host, state) = (Host::start().await, tempfile::tempdir().unwrap());
    let agent = Agent::join(&host, state.path(), "echo hello");
    host.wait("initialize", 1).await;
    let reason = "a newer connection of this session has taken over";
    host.notify("notifications/closing", serde_json::json!({"reason": reason}));
    let error = agent.running.await.unwrap().unwrap_err();
    assert!(error.to_string().contains(reason), "{error}");
    assert_eq!(host.seen("initialize").len(), 1);
}
