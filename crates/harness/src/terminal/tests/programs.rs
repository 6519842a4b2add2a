//! A program has a terminal, its exit is told, and it does not outlive its terminal.

use super::super::{Exit, Signal, Size};
use super::support::{shows, started};

#[tokio::test]
async fn a_program_has_a_terminal_of_that_size_and_its_code_is_told() {
    let (_terminal, handle) = started("test -t 0 && test -t 1 && stty size; exit 7");
    assert_eq!(handle.exited().await, Exit { code: 7 });
    assert_eq!(handle.screen().trim(), "24 80");
    assert!(!handle.is_alive());
}

#[tokio::test]
async fn a_signal_is_128_and_its_number() {
    let (_terminal, handle) = started("echo ready; exec cat");
    shows(&handle, "ready").await;
    handle.signal(Signal::SIGTERM).unwrap();
    assert_eq!(handle.exited().await, Exit { code: 143 });
}

#[tokio::test]
async fn a_new_size_is_signalled_and_no_size_is_80x24() {
    let (_terminal, handle) =
        started("trap 'stty size; exit' WINCH; echo ready; while :; do read line; done");
    shows(&handle, "ready").await;
    handle.resize(Size { rows: 11, columns: 44 });
    shows(&handle, "11 44").await;
    handle.exited().await;
    handle.resize(Size { rows: 0, columns: 0 });
    assert_eq!(handle.size(), Size::DEFAULT);
}

#[tokio::test]
async fn keys_reach_the_program_unchanged() {
    let script = "stty raw -echo; printf ready; dd bs=1 count=6 2>/dev/null | od -An -tx1";
    let (_terminal, handle) = started(script);
    shows(&handle, "ready").await;
    handle.person_input(vec![0x00, 0x03, 0x1b, 0xff, 0x0d, 0x7f]).await.unwrap();
    shows(&handle, "00 03 1b ff 0d 7f").await;
    assert_eq!(handle.exited().await, Exit { code: 0 });
}

#[tokio::test]
async fn a_program_without_viewers_is_answered_where_its_cursor_is() {
    let script = "stty raw -echo; printf 'abc\\033[6n'; dd bs=1 count=6 2>/dev/null | od -An -tx1";
    let (_terminal, handle) = started(script);
    handle.exited().await;
    // ESC [ 1 ; 4 R
    assert!(handle.screen().contains("1b 5b 31 3b 34 52"), "{}", handle.screen());
}

#[tokio::test]
async fn a_dropped_terminal_hangs_its_program_up() {
    let (terminal, handle) = started("trap 'exit 3' HUP; echo ready; while :; do read line; done");
    shows(&handle, "ready").await;
    let pid = nix::unistd::Pid::from_raw(handle.pid().try_into().unwrap());
    drop(terminal);
    // Reaped by tokio: the process is gone.
    while nix::sys::signal::kill(pid, None).is_ok() {
        tokio::task::yield_now().await;
    }
}
