//! The table of codes is complete, alphabetical and one to one.

use std::collections::BTreeSet;

use chorus_core::model::error::{Code, Refusal};
use chorus_wire::code::{self, TABLE};
use chorus_wire::error::{Envelope, ErrorBody};
use chorus_wire::jsonrpc::ErrorObject;

// covers: ATT-128
#[test]
fn the_table_is_complete_alphabetical_and_one_to_one() {
    let names: Vec<_> = TABLE.iter().map(|row| row.name).collect();
    assert!(names.is_sorted(), "{names:?}");
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), TABLE.len());
    let numbers: BTreeSet<_> = TABLE.iter().map(|row| row.number).collect();
    assert_eq!(numbers.len(), TABLE.len());
    for row in &TABLE {
        assert_eq!(code::of(row.code), row, "a row stands where its code looks for it");
        assert_eq!(code::from_name(row.name), Some(row.code));
        assert_eq!(code::from_number(row.number), Some(row.code));
        assert!((-32099..=-32000).contains(&row.number));
        assert!((400..600).contains(&row.status));
        // What the host itself broke may have happened; what it refused has not.
        let may_be_done = matches!(row.code, Code::Internal | Code::OutcomeUnknown);
        assert_eq!(row.has_no_side_effects, !may_be_done, "{}", row.name);
    }
    assert_eq!(code::from_name("stale_turn"), None);
}

// covers: ATT-128
#[test]
fn names_are_those_of_core() {
    for row in &TABLE {
        let core: String = format!("{:?}", row.code);
        assert_eq!(row.name.replace('_', "").to_lowercase(), core.to_lowercase());
    }
}

// covers: ATT-10
#[test]
fn a_refusal_has_the_same_body_in_every_protocol() {
    let refusal = Refusal::new(Code::StaleTurn, "the event was edited; read it again");
    let envelope = Envelope::of(&refusal, "req_1");
    insta::assert_snapshot!(serde_json::to_string(&envelope).unwrap(), @r#"{"error":{"code":"STALE_TURN","message":"the event was edited; read it again","request_id":"req_1"}}"#);
    let error = ErrorObject::of(&refusal, "req_1");
    insta::assert_snapshot!(serde_json::to_string(&error).unwrap(), @r#"{"code":-32016,"message":"the event was edited; read it again","data":{"code":"STALE_TURN","message":"the event was edited; read it again","request_id":"req_1"}}"#);
    assert_eq!(error.body(), envelope.error);
}

#[test]
fn a_foreign_error_gets_an_envelope() {
    let foreign = r#"{"code":-32016,"message":"old","data":["something","else"]}"#;
    let error: ErrorObject = serde_json::from_str(foreign).unwrap();
    assert_eq!(error.body(), ErrorBody::new(Code::StaleTurn, "old", ""));
    let unknown: ErrorBody = serde_json::from_str(r#"{"code":"NEWER","message":"m"}"#).unwrap();
    assert_eq!((unknown.known(), unknown.request_id.as_str()), (None, ""));
}
