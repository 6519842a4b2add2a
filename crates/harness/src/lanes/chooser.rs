//! Which lane is next. Pure: what is known goes in, and out comes the next step, with a reason for every lane before it
//! (design section 5, "Wake").
//!
//! Invariants: `resume` and `new_session` are never chosen while the session is alive, and ACP not beside a terminal.
//! Keys go in once per fence. Nothing is sent while it is not known how an earlier attempt ended: that is looked up
//! first. A lane that the host has left out is not chosen.

use super::outcome::{Kind, Lane, Reason};

/// What the runner knows when it looks for a lane.
#[derive(Clone, Debug)]
pub struct Known {
    pub kind: Kind,
    /// The program runs in its terminal.
    pub alive: bool,
    /// One of its turns is running, as far as we know.
    pub busy: bool,
    /// The socket of the program's own live interface.
    pub socket: Socket,
    /// An ACP agent of ours runs. It has no terminal.
    pub agent: bool,
    /// Whether a person types; none without a terminal of ours.
    pub typing: Option<Typing>,
    /// The id of a session to go on with is known, and the program was not heard to have lost it.
    pub resume_id: bool,
    /// The user has given a command for wakes.
    pub command: bool,
}

/// Codex's control socket, or Claude Code's inbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Socket {
    Absent,
    There,
    /// It is there and of no use: `schema_changed`, `not_ours`.
    Useless(Reason),
}

/// What the keyboard and the screen say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Typing {
    /// No key for the quiet window, nothing half typed, and an empty prompt box.
    Quiet,
    /// A person is typing, or asked for an answer; the wake has not been deferred for as long as it may be.
    Now(Reason),
    /// The same, and the wake has been deferred for as long as it may be.
    StillAfterDeferring(Reason),
}

/// An earlier try of this wake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt {
    pub lane: Lane,
    pub fence: u32,
    pub end: End,
}

/// How a try ended, as far as is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It was begun, and nobody knows whether it arrived: the runner died, or the lane said `unknown`.
    Open,
    /// It was looked up, and is not there or cannot be found out.
    Absent,
    Failed,
    Confirmed,
}

/// The next step, and why not by a gentler lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    pub next: Next,
    /// The lanes before it, in order.
    pub passed: Vec<(Lane, Reason)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// An attempt by this lane is open: look whether it arrived, before anything is sent.
    LookUp(Lane),
    Try(Lane),
    /// This lane would serve later: `person_typing`, `turn_running`.
    Wait(Lane, Reason),
    /// No lane serves.
    Exhausted,
}

impl Choice {
    /// Whether only a person stood in the way, who types or is asked something (`HUMAN_INPUT_COLLISION`).
    pub fn human_input(&self) -> bool {
        let keeps_back = |passed: &(Lane, Reason)| passed.0 == Lane::Pty && passed.1.is_a_persons();
        self.next == Next::Exhausted && self.passed.iter().any(keeps_back)
    }
}

/// Looks at the lanes in their order.
pub fn choose(known: &Known, fence: u32, skip: &[Lane], attempts: &[Attempt]) -> Choice {
    if let Some(open) = attempts.iter().find(|attempt| attempt.end == End::Open) {
        return Choice { next: Next::LookUp(open.lane), passed: Vec::new() };
    }
    let mut passed = Vec::new();
    for lane in Lane::ALL {
        match obstacle(lane, known, fence, skip, attempts) {
            None => return Choice { next: Next::Try(lane), passed },
            Some(Obstacle::Later(reason)) => {
                return Choice { next: Next::Wait(lane, reason), passed };
            }
            Some(Obstacle::Pass(reason)) => passed.push((lane, reason)),
        }
    }
    Choice { next: Next::Exhausted, passed }
}

enum Obstacle {
    Pass(Reason),
    Later(Reason),
}

fn obstacle(
    lane: Lane,
    known: &Known,
    fence: u32,
    skip: &[Lane],
    attempts: &[Attempt],
) -> Option<Obstacle> {
    let tried = attempts.iter().any(|attempt| attempt.lane == lane && attempt.fence == fence);
    let reason = if !serves(lane, known.kind) {
        Reason::NotThisProgram
    } else if skip.contains(&lane) {
        Reason::Skipped
    } else if tried {
        if lane == Lane::Pty { Reason::TypedOnce } else { Reason::Tried }
    } else {
        match lane {
            Lane::CodexSocket | Lane::ClaudeInbox if !known.alive => Reason::NotRunning,
            Lane::CodexSocket | Lane::ClaudeInbox => match known.socket {
                Socket::There => return None,
                Socket::Absent => Reason::NoSocket,
                Socket::Useless(reason) => reason,
            },
            // An agent of ours is prompted; without one it is started, unless a terminal has the session.
            Lane::Acp if known.agent && known.busy => {
                return Some(Obstacle::Later(Reason::TurnRunning));
            }
            Lane::Acp if known.agent || !known.alive => return None,
            Lane::Acp => Reason::Alive,
            Lane::Pty if !known.alive => Reason::NotRunning,
            Lane::Pty => match known.typing {
                None => Reason::NoTerminal,
                Some(Typing::StillAfterDeferring(reason)) => reason,
                Some(Typing::Now(reason)) => return Some(Obstacle::Later(reason)),
                Some(Typing::Quiet) if known.busy => {
                    return Some(Obstacle::Later(Reason::TurnRunning));
                }
                Some(Typing::Quiet) => return None,
            },
            Lane::Resume | Lane::NewSession if known.alive || known.agent => Reason::Alive,
            Lane::Resume if !known.resume_id => Reason::NoResumeId,
            Lane::Command if !known.command => Reason::NoCommand,
            Lane::Resume | Lane::NewSession | Lane::Command => return None,
        }
    };
    Some(Obstacle::Pass(reason))
}

/// Whether programs of this kind have such a lane at all.
fn serves(lane: Lane, kind: Kind) -> bool {
    match lane {
        Lane::CodexSocket => kind == Kind::Codex,
        Lane::ClaudeInbox => kind == Kind::Claude,
        Lane::Acp => matches!(kind, Kind::Gemini | Kind::Acp),
        Lane::Resume | Lane::NewSession => {
            matches!(kind, Kind::Codex | Kind::Claude | Kind::Gemini)
        }
        Lane::Pty | Lane::Command => true,
    }
}

#[cfg(test)]
mod tests;
