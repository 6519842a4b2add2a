//! The keys that detach a viewer, and the frames between it and the terminal.

use super::super::frames::{DetachKeys, Frame, read_frame, write_frame};
use super::super::{Exit, Size};

#[test]
fn two_in_a_row_detach_and_one_is_a_key() {
    let mut keys = DetachKeys::default();
    assert_eq!(keys.feed(b"a\x1c"), (b"a".to_vec(), false));
    assert_eq!(keys.feed(b"b"), (b"\x1cb".to_vec(), false));
    assert_eq!(keys.feed(b"c\x1c"), (b"c".to_vec(), false));
    assert!(keys.is_holding());
    assert_eq!(keys.feed(b"\x1c"), (Vec::new(), true));
    assert!(!keys.is_holding());
    assert_eq!(keys.feed(b"x\x1c\x1cy"), (b"x".to_vec(), true));
}

#[test]
fn keyboards_of_kitty_detach_too() {
    let mut keys = DetachKeys::default();
    assert_eq!(keys.feed(b"\x1b[92;5u\x1b[92;5u"), (Vec::new(), true));
    assert_eq!(keys.feed(b"\x1b[92;5u"), (Vec::new(), false));
    assert_eq!(keys.release(), b"\x1b[92;5u");
    assert_eq!(keys.feed(b"\x1b[A"), (b"\x1b[A".to_vec(), false));
}

#[tokio::test]
async fn frames_come_back_as_they_were() {
    let frames = [
        Frame::Input(b"keys".to_vec()),
        Frame::Size(Size { rows: 300, columns: 2 }),
        Frame::Output(vec![0, 0x1b, 0xff]),
        Frame::Exit(Exit { code: 143 }),
    ];
    let mut bytes = Vec::new();
    for frame in &frames {
        write_frame(&mut bytes, frame).await.unwrap();
    }
    let mut from = bytes.as_slice();
    for frame in frames {
        assert_eq!(read_frame(&mut from).await.unwrap(), Some(frame));
    }
    assert_eq!(read_frame(&mut from).await.unwrap(), None);
    assert!(read_frame(&mut [0xff; 64].as_slice()).await.is_err(), "too long");
    assert!(read_frame(&mut [0, 0].as_slice()).await.is_err(), "cut off");
}
