#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use super::*;

/// Codex in its terminal, idle, with everything there.
fn known() -> Known {
    Known {
        kind: Kind::Codex,
        alive: true,
        busy: false,
        socket: Socket::There,
        agent: false,
        typing: Some(Typing::Quiet),
        resume_id: true,
        command: false,
    }
}

fn failed(lane: Lane) -> Attempt {
    Attempt { lane, fence: 1, end: End::Failed }
}

/// Passed lanes that say more than that the program has no such lane.
fn told(choice: &Choice) -> String {
    let told = choice.passed.iter().filter(|(_, reason)| *reason != Reason::NotThisProgram);
    let told: Vec<_> =
        told.map(|(lane, reason)| format!("{} {}", lane.name(), reason.name())).collect();
    told.join(", ")
}

#[test]
fn the_gentlest_lane_that_serves_is_next() {
    use Lane::*;
    let check = |known: Known, attempts: &[Attempt], next: Next, passed: &str| {
        let choice = choose(&known, 1, &[], attempts);
        assert_eq!((choice.next, told(&choice).as_str()), (next, passed), "{known:?}");
    };
    let asleep = Known { alive: false, typing: None, socket: Socket::Absent, ..known() };
    check(known(), &[], Next::Try(CodexSocket), "");
    check(Known { busy: true, ..known() }, &[], Next::Try(CodexSocket), "");
    check(Known { kind: Kind::Claude, ..known() }, &[], Next::Try(ClaudeInbox), "");
    check(
        Known { socket: Socket::Absent, ..known() },
        &[],
        Next::Try(Pty),
        "codex_socket no_socket",
    );
    check(
        Known { socket: Socket::Useless(Reason::SchemaChanged), busy: true, ..known() },
        &[],
        Next::Wait(Pty, Reason::TurnRunning),
        "codex_socket schema_changed",
    );
    check(known(), &[failed(CodexSocket)], Next::Try(Pty), "codex_socket tried");
    check(asleep.clone(), &[], Next::Try(Resume), "codex_socket not_running, pty not_running");
    check(
        Known { resume_id: false, ..asleep.clone() },
        &[],
        Next::Try(NewSession),
        "codex_socket not_running, pty not_running, resume no_resume_id",
    );
    check(
        Known { kind: Kind::Other, command: true, ..asleep.clone() },
        &[],
        Next::Try(Command),
        "pty not_running",
    );
    check(Known { kind: Kind::Gemini, ..asleep.clone() }, &[], Next::Try(Acp), "");
    check(Known { kind: Kind::Gemini, ..known() }, &[], Next::Try(Pty), "acp alive");
    check(
        Known { kind: Kind::Acp, agent: true, ..asleep },
        &[failed(Acp)],
        Next::Exhausted,
        "acp tried, pty not_running, command no_command",
    );
}

#[test]
fn a_person_who_types_defers_and_then_is_left_alone() {
    let typed = |typing, command| {
        let known = Known { socket: Socket::Absent, typing: Some(typing), command, ..known() };
        choose(&known, 1, &[], &[])
    };
    assert_eq!(
        typed(Typing::Now(Reason::PersonTyping), true).next,
        Next::Wait(Lane::Pty, Reason::PersonTyping)
    );
    assert_eq!(
        typed(Typing::StillAfterDeferring(Reason::PersonTyping), true).next,
        Next::Try(Lane::Command)
    );
    let none = typed(Typing::StillAfterDeferring(Reason::PersonTyping), false);
    assert!(none.human_input() && none.next == Next::Exhausted, "{none:?}");
    assert!(!typed(Typing::Quiet, false).human_input());
}

#[test]
fn what_is_open_is_looked_up_first_even_under_an_older_fence() {
    let open = Attempt { lane: Lane::Pty, fence: 1, end: End::Open };
    let choice = choose(&known(), 2, &[], &[failed(Lane::CodexSocket), open]);
    assert_eq!(choice.next, Next::LookUp(Lane::Pty));
    let absent = Attempt { end: End::Absent, ..open };
    assert_eq!(choose(&known(), 2, &[Lane::CodexSocket], &[absent]).next, Next::Try(Lane::Pty));
}

prop_compose! {
    fn any_known()(
        kind in select(vec![Kind::Codex, Kind::Claude, Kind::Gemini, Kind::Acp, Kind::Other]),
        socket in select(vec![Socket::Absent, Socket::There, Socket::Useless(Reason::NotOurs)]),
        typing in select(vec![
            None,
            Some(Typing::Quiet),
            Some(Typing::Now(Reason::PersonTyping)),
            Some(Typing::StillAfterDeferring(Reason::PersonTyping)),
        ]),
        (alive, busy, agent, resume_id, command) in any::<(bool, bool, bool, bool, bool)>(),
    ) -> Known {
        Known { kind, alive, busy, socket, agent, typing, resume_id, command }
    }
}

fn any_attempts() -> impl Strategy<Value = Vec<Attempt>> {
    let ends = vec![End::Open, End::Absent, End::Failed, End::Confirmed];
    let attempt = (select(Lane::ALL.to_vec()), 1_u32..3, select(ends));
    prop::collection::vec(attempt.prop_map(|(lane, fence, end)| Attempt { lane, fence, end }), 0..6)
}

fn any_skip() -> impl Strategy<Value = Vec<Lane>> {
    subsequence(Lane::ALL.to_vec(), 0..3)
}

proptest! {
    #[test]
    fn a_chosen_lane_is_allowed(known in any_known(), skip in any_skip(), attempts in any_attempts()) {
        let choice = choose(&known, 2, &skip, &attempts);
        let open = attempts.iter().any(|attempt| attempt.end == End::Open);
        prop_assert_eq!(open, matches!(choice.next, Next::LookUp(_)), "nothing is sent while one is open");
        let (Next::Try(lane) | Next::Wait(lane, _)) = choice.next else { return Ok(()) };
        prop_assert!(!skip.contains(&lane));
        prop_assert!(!attempts.iter().any(|attempt| attempt.lane == lane && attempt.fence == 2));
        if matches!(lane, Lane::Resume | Lane::NewSession) {
            prop_assert!(!known.alive && !known.agent, "never beside itself");
        }
        if choice.next == Next::Try(Lane::Pty) {
            prop_assert!(known.typing == Some(Typing::Quiet) && !known.busy);
        }
        // Every lane before it has a reason, in the order of the lanes.
        let before: Vec<Lane> = Lane::ALL.into_iter().take_while(|before| *before != lane).collect();
        let passed: Vec<Lane> = choice.passed.iter().map(|(lane, _)| *lane).collect();
        prop_assert_eq!(passed, before);
    }

    #[test]
    fn the_search_ends_and_types_once(known in any_known(), skip in any_skip()) {
        let mut attempts: Vec<Attempt> = Vec::new();
        let mut tried = Vec::new();
        loop {
            match choose(&known, 1, &skip, &attempts).next {
                Next::Try(lane) => {
                    tried.push(lane);
                    attempts.push(Attempt { lane, fence: 1, end: End::Open });
                }
                Next::LookUp(lane) => {
                    let open = attempts.iter_mut().find(|a| a.lane == lane && a.end == End::Open);
                    open.unwrap().end = End::Absent;
                }
                Next::Wait(..) | Next::Exhausted => break,
            }
            prop_assert!(attempts.len() <= Lane::ALL.len());
        }
        let mut once = tried.clone();
        once.sort();
        once.dedup();
        prop_assert_eq!(once.len(), tried.len());
    }
}
