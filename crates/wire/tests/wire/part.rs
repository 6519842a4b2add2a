//! Content: what a message may contain, and its two forms.

use chorus_core::model::error::Code;
use chorus_core::model::limits;
use chorus_wire::part::{Content, PARTS, Part};

fn read(json: &str) -> Result<Part, String> {
    serde_json::from_str(json).map_err(|e| e.to_string())
}

#[test]
fn parts_are_read_and_written() {
    let parts = vec![
        Part::text("hello"),
        Part::Asset { asset_id: "ast_1".into() },
        Part::Upload { name: "a.png".into(), media_type: "image/png".into(), data: "AA==".into() },
        Part::BoardReference { board_id: "b1".into(), item_id: None },
    ];
    insta::assert_snapshot!(serde_json::to_string(&parts).unwrap(), @r#"[{"type":"text","text":"hello"},{"type":"asset","asset_id":"ast_1"},{"type":"upload","name":"a.png","media_type":"image/png","data":"AA=="},{"type":"board_reference","board_id":"b1"}]"#);
    let json = serde_json::to_string(&parts).unwrap();
    assert_eq!(serde_json::from_str::<Vec<Part>>(&json).unwrap(), parts);
}

#[test]
fn unknown_parts_and_misspelt_fields_are_refused() {
    for bad in [
        r#"{"type":"video","url":"x"}"#,
        r#"{"text":"no type"}"#,
        r#"{"type":"text"}"#,
        r#"{"type":"text","text":"a","txt":"b"}"#,
        r#"{"type":"text","text":1}"#,
        r#""text""#,
    ] {
        assert!(read(bad).is_err(), "{bad}");
    }
}

#[test]
fn a_message_needs_exactly_one_of_text_and_content() {
    let code = |text: Option<&str>, content: Option<Vec<Part>>| {
        Content::read(text.map(str::to_owned), content).map_err(|refusal| refusal.code)
    };
    let plain = code(Some("hi"), None).unwrap();
    assert_eq!((plain.text.as_str(), &plain.parts), ("hi", &None));
    // One text part is the same message as the text.
    assert_eq!(code(None, Some(vec![Part::text("hi")])), Ok(plain));
    let asset = || Part::Asset { asset_id: "ast_1".into() };
    let mixed = code(None, Some(vec![Part::text("a"), asset(), Part::text("b")])).unwrap();
    assert_eq!(mixed.text, "a\nb");
    assert!(mixed.parts.unwrap().starts_with(r#"[{"text":"a","type":"text"},{"asset_id""#));
    assert_eq!(code(None, Some(vec![asset()])).unwrap().text, "");

    let invalid = Err(Code::ValidationError);
    assert_eq!(code(None, None), invalid);
    assert_eq!(code(Some("a"), Some(vec![Part::text("a")])), invalid);
    assert_eq!(code(Some("  \n"), None), invalid);
    assert_eq!(code(Some("nul\0"), None), invalid);
    assert_eq!(code(None, Some(vec![])), invalid);
    assert_eq!(code(None, Some(vec![Part::text(" "), Part::text("")])), invalid);
    assert_eq!(code(None, Some(vec![asset(); PARTS + 1])), invalid);
    let long = "x".repeat(limits::TEXT_BYTES + 1);
    assert_eq!(code(Some(&long), None), Err(Code::PayloadTooLarge));
    assert_eq!(code(None, Some(vec![asset(), Part::text(long)])), Err(Code::PayloadTooLarge));
}
