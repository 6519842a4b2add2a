//! What counts as a key of a person, and what as an answer of their terminal.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::super::typing::Typing;

fn fed(pieces: &[&[u8]]) -> (bool, Typing) {
    let mut typing = Typing::default();
    let mut keys = false;
    for piece in pieces {
        keys |= typing.feed(piece, Instant::now());
    }
    (keys, typing)
}

/// What terminals say by themselves or when asked.
const ANSWERS: [&[u8]; 16] = [
    b"\x1b[8;40;120t",
    b"\x1b[12;40R",
    b"\x1b[?12;40R",
    b"\x1b[I",
    b"\x1b[O",
    b"\x1b[<0;10;20M",
    b"\x1b[<35;10;20m",
    b"\x1b[M !!",
    b"\x1b[?62;22c",
    b"\x1b[>1;10;0c",
    b"\x1b[?1u",
    b"\x1b[0n",
    b"\x1b[?2026;2$y",
    b"\x1b]11;rgb:0000/0000/0000\x1b\\",
    b"\x1b]10;rgb:ffff/ffff/ffff\x07",
    b"\x1bP>|xterm(370)\x1b\\",
];

#[test]
fn answers_of_a_terminal_are_no_keys() {
    for answer in ANSWERS {
        let (keys, typing) = fed(&[answer]);
        assert!(!keys, "{}", answer.escape_ascii());
        assert!(!typing.has_draft() && typing.last_key().is_none());
    }
}

#[test]
fn after_an_answer_a_letter_is_a_key() {
    for answer in ANSWERS {
        let (keys, typing) = fed(&[answer, b"x"]);
        assert!(keys && typing.has_draft(), "{}", answer.escape_ascii());
    }
}

#[test]
fn an_answer_in_two_pieces_is_no_draft() {
    for answer in ANSWERS {
        for at in 1..answer.len() {
            let (_, typing) = fed(&[&answer[..at], &answer[at..]]);
            assert!(!typing.has_draft(), "{} at {at}", answer.escape_ascii());
        }
    }
}

#[test]
fn drafts() {
    let draft = |bytes: &[u8]| fed(&[bytes]).1.has_draft();
    for (bytes, expected) in [
        (b"hello".as_slice(), true),
        (b"hello\r", false),
        (b"hello\x03", false),
        (b"hello\x15", false),
        (b"hi\x7f", true),
        (b"hi\x7f\x7f", false),
        (b"hi\x7f\x7f\x7f\x7fa", true),
        ("é\u{7f}".as_bytes(), false),
        (b"a\x7f\n", true),
        (b"a\\\r", true),
        (b"a\\\r\r", false),
        (b"\x1b\r", true),
        (b"\x1b[A", true),
        (b"\x1bOA", true),
        (b"\x1b[A\r", false),
        (b"\x1b[C\x1b[D\x1b[H", false),
        (b"\x12", true),
        (b"\t", true),
        (b"\x1b[200~pasted\x1b[201~", true),
        (b"\x1b[200~pasted\r\x1b[201~", true),
        (b"\x1b[200~pasted", true),
        (b"\x1b[200~pasted\x1b[201~\r", false),
        (b"\x1b[200~\x03\x1b[201~", true),
        (b"\x1b[97u", true),
        (b"\x1b[97;1:3u", false),
        (b"a\x1b[13u", false),
        (b"a\x1b[13;2u", true),
        (b"a\x1b[99;5u", false),
        (b"a\x1b[127u", false),
        (b"a\x1b[27;2;13~", true),
        (b"\x1b", false),
    ] {
        assert_eq!(draft(bytes), expected, "{}", bytes.escape_ascii());
    }
}

#[test]
fn the_time_is_that_of_the_last_key() {
    let mut typing = Typing::default();
    let first = Instant::now();
    let second = first + Duration::from_secs(3);
    assert!(typing.feed(b"\x1b", first));
    assert!(typing.feed(b"[C", second));
    assert!(!typing.feed(b"\x1b[I", second + Duration::from_secs(1)));
    assert_eq!(typing.last_key(), Some(second));
}

proptest! {
    /// However input is cut, the draft is the same.
    #[test]
    fn input_may_be_cut_anywhere(bytes: Vec<u8>, at: prop::sample::Index) {
        let at = if bytes.is_empty() { 0 } else { at.index(bytes.len()) };
        let whole = fed(&[&bytes]).1;
        let cut = fed(&[&bytes[..at], &bytes[at..]]).1;
        prop_assert_eq!(whole.has_draft(), cut.has_draft());
    }
}
