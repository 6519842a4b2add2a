//! The model of the screen redraws what the program drew.

use std::time::Instant;

use proptest::prelude::*;

use super::super::Size;
use super::super::modes::Query;
use super::super::screen::Model;

fn model() -> Model {
    Model::new(Size { rows: 6, columns: 20 }, Instant::now())
}

fn shown(pieces: &[&[u8]]) -> (String, Vec<u8>) {
    let mut model = model();
    for piece in pieces {
        model.print(piece);
    }
    (model.text(), model.redraw())
}

/// Bytes as programs print them: text, sequences whole and broken, and anything.
fn output() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        "[ -~é漢🙂\r\n\t]{0,12}".prop_map(String::into_bytes),
        "\u{1b}\\[[?>=<]?[0-9;:]{0,6}[ -/]?[@-~]".prop_map(String::into_bytes),
        "\u{1b}[ -~]".prop_map(String::into_bytes),
        "\u{1b}\\][0-9]{1,2};[a-z?]{0,5}(\u{7}|\u{1b}\\\\)".prop_map(String::into_bytes),
        Just(b"\x1b[?1049h".to_vec()),
        Just(b"\x1b[?1049l".to_vec()),
        prop::collection::vec(any::<u8>(), 0..8),
    ];
    prop::collection::vec(part, 0..24).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn output_may_be_cut_anywhere(output in output(), at: prop::sample::Index) {
        let at = if output.is_empty() { 0 } else { at.index(output.len()) };
        let whole = shown(&[&output]);
        prop_assert_eq!(&whole, &shown(&[&output[..at], &output[at..]]));
        // Parsed in between, too.
        let mut parsed = model();
        parsed.print(&output[..at]);
        parsed.text();
        parsed.print(&output[at..]);
        prop_assert_eq!(whole, (parsed.text(), parsed.redraw()));
    }

    #[test]
    fn a_redraw_shows_the_same_screen(output in output()) {
        let mut first = model();
        first.print(&output);
        let redraw = first.redraw();
        let mut second = model();
        second.print(b"\x1b[3;4rrubbish\x1b[?1049h\x1b[31mmore");
        second.print(&redraw);
        prop_assert_eq!(first.rows(), second.rows());
        // What is typed then goes to the same place.
        prop_assert_eq!(first.replies(&[Query::Cursor]), second.replies(&[Query::Cursor]));
    }

    #[test]
    fn no_size_breaks_it(output in output(), rows in 0u16..8, columns in 0u16..24) {
        let mut model = model();
        model.print(&output);
        model.resize(Size { rows, columns });
        model.print(&output);
        model.text();
        model.redraw();
    }
}

#[test]
fn of_a_flood_the_end_is_shown_with_the_modes_that_it_set() {
    let mut model = model();
    model.print(b"\x1b[?2004h\x1b[?1004h\x1b[>1u\x1b[?25l");
    for number in 0..200_000 {
        model.print(format!("\x1b[3{}mline {number}\r\n", number % 8).as_bytes());
    }
    assert_eq!(model.text().lines().next(), Some("line 199995"));
    let redraw = String::from_utf8(model.redraw()).unwrap();
    for mode in ["\x1b[?2004h", "\x1b[?1004h", "\x1b[>1u"] {
        assert!(redraw.contains(mode), "{mode:?}");
    }
    assert!(!redraw.contains("\x1b[?2004l"), "the model of the screen does not know it");
}

#[test]
fn a_character_cut_in_two_costs_nothing_after_it() {
    let mut model = model();
    model.print("0é \u{e9}".as_bytes().split_last().unwrap().1);
    model.text();
    model.print(b"\xa9 \xc3");
    model.text();
    model.print("\u{e9} 漢".as_bytes().split_first().unwrap().1);
    assert_eq!(model.text(), "0é é é 漢");
}

#[test]
fn a_flood_ends_on_the_screen_that_it_ended_on() {
    let mut model = model();
    model.print(b"main");
    model.text();
    model.print(b"\x1b[?1049h\x1b[H\x1b[?2004h");
    for _ in 0..60_000 {
        model.print(b"\x1b[Hsame line \r");
    }
    model.print(b"\x1b[2J\x1b[Hover there");
    assert_eq!(model.text().trim(), "over there");
    let redraw = String::from_utf8(model.redraw()).unwrap();
    assert!(redraw.contains("\x1b[?1049h") && redraw.contains("\x1b[?2004h"));
    model.print(b"\x1b[?1049l");
    assert_eq!(model.text().trim(), "main");
}
