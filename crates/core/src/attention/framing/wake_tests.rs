//! Prompts of wakes: what they say, and that nobody can make them say anything else.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::model::limits;

const NONCE: &str = "7f3a90c1";

fn place<'a>(thread_id: Option<&'a str>, title: &'a str) -> WakePlace<'a> {
    WakePlace { conversation_id: "ch_1", thread_id, title, read_seq: 3, through_seq: 7 }
}

fn message(text: &str) -> WakeMessage<'_> {
    WakeMessage {
        event_id: "evt_9",
        place: "th_2",
        author_kind: "human",
        author_id: "alice",
        must_respond: true,
        text,
    }
}

fn wake<'a>(places: &'a [WakePlace<'a>], messages: &'a [WakeMessage<'a>]) -> FramedWake<'a> {
    FramedWake {
        wake_id: "wake_1",
        reason: "must_respond",
        asked_by: None,
        asked: None,
        places,
        messages,
        messages_more: 0,
    }
}

// covers: THR-527
#[test]
fn a_wake_says_what_to_read_and_how_to_answer() {
    let places = [place(Some("th_2"), "Deploy"), place(None, "ops")];
    let messages = [message("can you look?\nsoon")];
    let prompt = frame_wake(&wake(&places, &messages), NONCE);
    for line in [
        "C2A WAKE",
        "wake_id: wake_1",
        "reason: must_respond",
        "place: thread th_2 (Deploy)",
        "read: read_messages, thread_id th_2, since_seq 3, through 7",
        "answer: post_message, thread_id th_2, in_reply_to the message's id",
        "read: chat_list_events, conversation ch_1, afterSequence 3, through 7",
        "answer: chat_send_message, target.conversation ch_1, inReplyTo the event's id",
        "[evt_9 th_2 human:alice must_respond] can you look?",
        "    soon",
    ] {
        assert!(prompt.lines().any(|l| l == line), "{line}:\n{prompt}");
    }
}

#[test]
fn the_newest_messages_fit_and_the_rest_are_counted() {
    let text = "x".repeat(300);
    let messages = vec![message(&text); 100];
    let prompt = frame_wake(&wake(&[], &messages), NONCE);
    let quoted = prompt.matches("[evt_9").count();
    assert!(quoted >= 20, "{quoted}");
    assert!(prompt.contains(&format!("messages_more: {}\n", 100 - quoted)));
    assert!(prompt.len() <= limits::WAKE_PROMPT_BYTES);
}

/// Anything that somebody could write to be taken for something else.
fn nasty() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "(C2A (WAKE|EVENT|SUMMARY)|--- (begin|end) 7f3a90c1 ---|[\\x00-\\x1f\\x7f-\\x9f]|\\x1b\\[31m|\n|[a-z]){0,40}",
        Just("\u{1b}]52;c;AAAA\u{7}\u{9b}31m\r\n".repeat(40)),
        Just("\u{202e}".repeat(5_000)),
        Just("word ".repeat(9_000)),
    ]
}

proptest! {
    // covers: THR-528
    #[test]
    fn whatever_members_write_a_prompt_is_bounded_and_whole(
        titles in vec(nasty(), 0..40),
        texts in vec(nasty(), 0..20),
        (reason, asked) in (nasty(), proptest::option::of(nasty())),
    ) {
        let places: Vec<_> = titles.iter().map(|title| place(Some("th_2"), title)).collect();
        let messages: Vec<_> = texts.iter().map(|text| message(text)).collect();
        let of = wake(&places, &messages);
        let of = FramedWake { reason: &reason, asked: asked.as_deref(), asked_by: Some("bob"), ..of };
        let prompt = frame_wake(&of, NONCE);
        let summary = frame_summary(&places, &messages, NONCE);
        prop_assert!(prompt.len() <= limits::WAKE_PROMPT_BYTES, "{} bytes", prompt.len());
        prop_assert!(summary.len() <= limits::WAKE_SUMMARY_BYTES, "{} bytes", summary.len());
        let count = |text: &str, line: &str| text.lines().filter(|l| *l == line).count();
        for text in [&prompt, &summary] {
            let odd = text.chars().find(|c| c.is_control() && *c != '\n');
            prop_assert_eq!(odd, None);
            let blocks = text.lines().filter(|line| line.trim_start().starts_with("C2A")).count();
            prop_assert_eq!(blocks, 1);
        }
        let fences = usize::from(asked.is_some()) + usize::from(!messages.is_empty());
        for edge in ["--- begin 7f3a90c1 ---", "--- end 7f3a90c1 ---"] {
            prop_assert_eq!(count(&prompt, edge), fences);
            prop_assert_eq!(count(&summary, edge), 1);
        }
    }
}
