//! Every name of core's enums is read back, and an unknown one is an error that lists the known ones.

use std::collections::BTreeSet;
use std::fmt::Debug;

use chorus_core::model::attention::{Directedness, Intent, Mode, Policy, Priority};
use chorus_core::model::caller::Authority;
use chorus_core::model::conversation::{ConversationKind, Participation, Visibility};
use chorus_core::model::disposition::Disposition;
use chorus_core::model::event::MessageKind;
use chorus_core::model::member::MemberKind;
use chorus_core::model::reaction::Signal;
use chorus_core::model::thread::{ThreadKind, ThreadStatus};
use chorus_wire::named::{Named, NamedEnum};

fn check<E: NamedEnum + Debug + PartialEq>(expected: &str) {
    let names: Vec<_> = E::VALUES.iter().map(|value| value.name()).collect();
    assert_eq!(names.join(" "), expected);
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
    for value in E::VALUES {
        let json = serde_json::to_string(&Named(*value)).unwrap();
        assert_eq!(serde_json::from_str::<Named<E>>(&json).unwrap().0, *value);
    }
    for bad in [r#""""#, r#""No_Such""#, "1", "null", "[]"] {
        assert!(serde_json::from_str::<Named<E>>(bad).is_err(), "{bad}");
    }
}

// covers: ATT-70
#[test]
fn every_name_is_read_back() {
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
fn the_error_for_an_unknown_name_shortens_it_and_lists_the_known_ones() {
    let forged = format!("\"must\\n{}\"", "x".repeat(4000));
    let error = serde_json::from_str::<Named<Policy>>(&forged).unwrap_err().to_string();
    assert!(error.starts_with(r#"unknown policy "must\nxxx"#), "{error}");
    assert!(error.contains("known: must_respond, may_respond, ack_only, must_not_respond"));
    assert!(error.len() < 200, "{error}");
}
