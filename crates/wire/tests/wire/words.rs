//! Every word of core reads back, and an unknown one is an error that lists the known ones.

use std::collections::BTreeSet;
use std::fmt::Debug;

use chorus_core::model::attention::{Directedness, Intent, Mode, Policy, Priority};
use chorus_core::model::caller::Authority;
use chorus_core::model::conversation::{ConversationKind, Participation, Visibility};
use chorus_core::model::delivery::Disposition;
use chorus_core::model::event::MessageKind;
use chorus_core::model::member::MemberKind;
use chorus_core::model::reaction::Signal;
use chorus_core::model::thread::{ThreadKind, ThreadStatus};
use chorus_wire::words::{As, Word};

fn check<W: Word + Debug + PartialEq>(expected: &str) {
    let words: Vec<_> = W::WORDS.iter().map(|value| value.word()).collect();
    assert_eq!(words.join(" "), expected);
    assert_eq!(words.iter().collect::<BTreeSet<_>>().len(), words.len());
    for value in W::WORDS {
        let json = serde_json::to_string(&As(*value)).unwrap();
        assert_eq!(serde_json::from_str::<As<W>>(&json).unwrap().0, *value);
    }
    for bad in [r#""""#, r#""No_Such""#, "1", "null", "[]"] {
        assert!(serde_json::from_str::<As<W>>(bad).is_err(), "{bad}");
    }
}

// covers: ATT-70
#[test]
fn every_word_reads_back() {
    check::<Directedness>("to_me to_my_role to_other ambient");
    check::<Policy>("must_respond may_respond ack_only must_not_respond");
    check::<Mode>("immediate buffered notify tool_mailbox digest silent");
    check::<Priority>("low normal high urgent");
    check::<Intent>(
        "request question assignment approval blocker cancel thanks social status statement",
    );
    check::<Disposition>("responded acknowledged deferred claimed ignored superseded failed");
    check::<Signal>("seen agree working queued claimed done declined blocked unclear");
    check::<Authority>("auditor worker orchestrator operator");
    check::<ConversationKind>("channel dm thread system tool");
    check::<Participation>("selected_only manual_only prefer_selected always_listen");
    check::<Visibility>("public private");
    check::<MessageKind>("chat event system");
    check::<MemberKind>("human agent");
    check::<ThreadKind>("conversation workflow incident");
    check::<ThreadStatus>("active blocked resolved closed");
}

#[test]
fn an_unknown_word_is_shown_short_and_escaped_beside_those_that_are() {
    let forged = format!("\"must\\n{}\"", "x".repeat(4000));
    let error = serde_json::from_str::<As<Policy>>(&forged).unwrap_err().to_string();
    assert!(error.starts_with(r#"unknown policy "must\nxxx"#), "{error}");
    assert!(error.contains("known: must_respond, may_respond, ack_only, must_not_respond"));
    assert!(error.len() < 200, "{error}");
}
