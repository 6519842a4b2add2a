//! Text is typed into a real program whole, or not at all once a person has the keyboard.

use std::sync::mpsc::channel;
use std::time::Duration;

use super::super::{Gate, Injected, Plan, Profile, Refusal};
use super::support::{shows, started};

/// Shows all its input as visible bytes, until Enter comes.
const READS: &str = "stty raw -echo; printf ready; \
    while c=$(dd bs=1 count=1 2>/dev/null | od -An -tx1); do printf '%s' \"$c\"; done";

#[tokio::test]
async fn a_plan_is_typed_whole() {
    let (_terminal, handle) = started(READS);
    shows(&handle, "ready").await;
    let plan = Plan::new(Profile::Codex, "ab", Gate::default());
    assert_eq!(handle.inject(plan).await, Injected::Typed);
    shows(&handle, "1b 5b 32 30 30 7e 61 62 1b 5b 32 30 31 7e 0d").await;
    assert!(!handle.has_draft(), "it was submitted");
    assert_eq!(handle.keys_quiet_for(), None, "no person typed");
}

#[tokio::test]
async fn a_draft_is_not_typed_over_even_by_force() {
    let (_terminal, handle) = started("stty raw -echo; printf ready; exec cat");
    shows(&handle, "ready").await;
    handle.person_input(b"half".to_vec()).await.unwrap();
    shows(&handle, "half").await;
    let plan = Plan::new(Profile::Generic, "text", Gate::forced());
    assert_eq!(handle.inject(plan).await, Injected::Refused(Refusal::Draft));
    handle.person_input(b"\r".to_vec()).await.unwrap();
    let plan = Plan::new(Profile::Generic, "text", Gate::default());
    assert_eq!(handle.inject(plan).await, Injected::Refused(Refusal::Typing));
    let plan = Plan::new(Profile::Generic, "forced", Gate::forced());
    assert_eq!(handle.inject(plan).await, Injected::Typed);
    shows(&handle, "forced").await;
    assert!(!handle.screen().contains("text"));
}

#[tokio::test]
async fn a_key_stops_an_injection_and_the_rest_is_never_sent() {
    let (_terminal, handle) = started("stty raw -echo; printf ready; exec cat -v");
    shows(&handle, "ready").await;
    let plan = Plan::new(Profile::Codex, "typed", Gate::default());
    let injected = tokio::spawn({
        let handle = handle.clone();
        async move { handle.inject(plan).await }
    });
    // The text is there; Enter is to come after the pause.
    shows(&handle, "typed").await;
    handle.person_input(b"k".to_vec()).await.unwrap();
    assert_eq!(injected.await.unwrap(), Injected::Stopped);
    shows(&handle, "k").await;
    handle.person_input(b"\x7f".to_vec()).await.unwrap();
    shows(&handle, "k^?").await;
    assert!(!handle.screen().contains("^M"), "{}", handle.screen());
    assert!(handle.has_draft(), "the text is still in the prompt");
    let plan = Plan::new(Profile::Codex, "again", Gate::forced());
    assert_eq!(handle.inject(plan).await, Injected::Refused(Refusal::Draft));
    handle.person_input(b"\r".to_vec()).await.unwrap();
    assert!(!handle.has_draft());
}

#[tokio::test]
async fn a_key_in_the_middle_of_a_long_paste_ends_the_paste() {
    let folder = tempfile::tempdir().unwrap();
    let go_on = folder.path().join("go-on");
    // Reads the beginning, and then nothing until it is told to: the terminal takes a few KiB and then no more.
    let script = format!(
        "stty raw -echo; printf ready; dd bs=1 count=9 2>/dev/null | cat -v; \
         while ! test -e {}; do sleep 0.01; done; exec cat -v",
        go_on.display()
    );
    let (_terminal, handle) = started(&script);
    shows(&handle, "ready").await;
    let text = "x".repeat(200_000);
    let plan = Plan::new(Profile::Claude, &text, Gate::default());
    let injected = tokio::spawn({
        let handle = handle.clone();
        async move { handle.inject(plan).await }
    });
    shows(&handle, "^[[200~xxx").await;
    handle.person_input(b"KEY".to_vec()).await.unwrap();
    std::fs::write(go_on, "").unwrap();
    assert_eq!(injected.await.unwrap(), Injected::Stopped);
    shows(&handle, "^[[201~KEY").await;
    assert!(handle.has_draft());
}

#[tokio::test]
async fn answers_of_the_terminal_stay_out_of_a_paste_and_stop_nothing() {
    let (_terminal, handle) = started("stty raw -echo; printf ready; exec cat -v");
    shows(&handle, "ready").await;
    let plan = Plan::new(Profile::Codex, "typed", Gate::default());
    let injected = tokio::spawn({
        let handle = handle.clone();
        async move { handle.inject(plan).await }
    });
    shows(&handle, "typed").await;
    handle.person_input(b"\x1b[I".to_vec()).await.unwrap();
    assert_eq!(injected.await.unwrap(), Injected::Typed);
    shows(&handle, "^M").await;
    assert!(!handle.has_draft());
}

#[tokio::test]
async fn a_person_who_goes_on_typing_is_waited_for_and_then_it_is_given_up() {
    let (_terminal, handle) = started("stty raw -echo; printf ready; exec cat");
    shows(&handle, "ready").await;
    handle.person_input(b"x".to_vec()).await.unwrap();
    let (told, refusals) = channel();
    let gate = Gate {
        again: Duration::from_millis(10),
        at_most: Duration::from_millis(50),
        ..Gate::default()
    };
    let plan = Plan::new(Profile::Generic, "text", gate);
    let injected = handle.inject_when_quiet(plan, |refusal| told.send(refusal).unwrap()).await;
    assert_eq!(injected, Injected::Refused(Refusal::Draft));
    assert!(refusals.try_iter().count() >= 2);
}

#[tokio::test]
async fn nothing_is_typed_into_a_program_that_has_ended() {
    let (_terminal, handle) = started("exit 0");
    handle.exited().await;
    let plan = Plan::new(Profile::Generic, "text", Gate::default());
    assert_eq!(handle.inject(plan).await, Injected::Refused(Refusal::Exited));
    assert!(handle.person_input(b"x".to_vec()).await.is_err());
}
