//! What a lane is asked, and how it ends.
//!
//! Invariant: `Confirmed` is said only when the program itself has shown that the prompt arrived. That
//! bytes were written is never enough.

use std::fmt;
use std::time::{Duration, SystemTime};

pub use chorus_core::model::wake::Lane;

/// Which program it is, as far as lanes differ by that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Codex,
    Claude,
    Gemini,
    /// Some agent that speaks ACP and has no terminal interface that we know.
    Acp,
    Other,
}

impl Kind {
    /// By the name of the program: `codex`, `claude`, `gemini`.
    pub fn of_program(name: &str) -> Self {
        match name {
            "codex" => Self::Codex,
            "claude" => Self::Claude,
            "gemini" => Self::Gemini,
            _ => Self::Other,
        }
    }
}

/// Why a lane was passed over, or did not serve. The names are shown to people (`chorus why`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// A session that is alive is never resumed beside itself.
    Alive,
    /// The program asks its user something, or shows no empty prompt box.
    DialogOpen,
    /// The program ended at once.
    Exited,
    /// There was no answer in time.
    NoAnswer,
    NoCommand,
    /// Sent, and there is no sign that it arrived.
    NoProof,
    NoResumeId,
    NoSocket,
    NoTerminal,
    /// The program runs, and has no session open that is ours.
    NoThread,
    /// The socket belongs to somebody else.
    NotOurs,
    NotRunning,
    NotStarted,
    NotThisProgram,
    /// A person is typing, and has been for longer than a wake waits.
    PersonTyping,
    /// The program said no.
    Refused,
    /// The program speaks another protocol than the one that we know.
    SchemaChanged,
    /// The program says that another process has the session.
    SessionAlive,
    /// The program does not know the session any more.
    SessionLost,
    /// The host has told us to leave this lane out.
    Skipped,
    /// A key of a person stopped the typing.
    StoppedByPerson,
    /// Tried under this fence already.
    Tried,
    TurnRunning,
    /// Keys are sent once per fence.
    TypedOnce,
}

impl Reason {
    /// Whether a person at the terminal is to do something first.
    pub fn is_a_persons(self) -> bool {
        matches!(self, Self::PersonTyping | Self::DialogOpen)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Alive => "alive",
            Self::DialogOpen => "dialog_open",
            Self::Exited => "exited",
            Self::NoAnswer => "no_answer",
            Self::NoCommand => "no_command",
            Self::NoProof => "no_proof",
            Self::NoResumeId => "no_resume_id",
            Self::NoSocket => "no_socket",
            Self::NoTerminal => "no_terminal",
            Self::NoThread => "no_thread",
            Self::NotOurs => "not_ours",
            Self::NotRunning => "not_running",
            Self::NotStarted => "not_started",
            Self::NotThisProgram => "not_this_program",
            Self::PersonTyping => "person_typing",
            Self::Refused => "refused",
            Self::SchemaChanged => "schema_changed",
            Self::SessionAlive => "session_alive",
            Self::SessionLost => "session_lost",
            Self::Skipped => "skipped",
            Self::StoppedByPerson => "stopped_by_person",
            Self::Tried => "tried",
            Self::TurnRunning => "turn_running",
            Self::TypedOnce => "typed_once",
        }
    }
}

/// A reason and what is known beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Why {
    pub reason: Reason,
    /// For a person to read; may be empty.
    pub detail: String,
}

impl Why {
    pub fn new(reason: Reason, detail: impl fmt::Display) -> Self {
        Self { reason, detail: bounded(&detail.to_string(), 300) }
    }
}

impl From<Reason> for Why {
    fn from(reason: Reason) -> Self {
        Self { reason, detail: String::new() }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.reason.name())?;
        if !self.detail.is_empty() {
            write!(f, ": {}", self.detail)?;
        }
        Ok(())
    }
}

/// What is to be brought into the program.
#[derive(Clone, Copy, Debug)]
pub struct WakeInput<'a> {
    pub wake: &'a str,
    pub fence: u32,
    /// Framed and bounded by the host.
    pub prompt: &'a str,
    /// What a new session is told beside the prompt.
    pub summary: Option<&'a str>,
}

impl WakeInput<'_> {
    /// The id under which this prompt is sent. It is the same whenever the same prompt is sent for the same wake and
    /// fence, so that a runner which has lost its memory finds what it sent.
    pub fn message(&self) -> MessageId {
        let (wake, fence) = (self.wake, self.fence);
        MessageId(format!("chorus-{wake}-{fence}-{:016x}", fnv(self.prompt.as_bytes())))
    }

    /// What a new session begins with.
    pub fn opening(&self) -> String {
        match self.summary {
            Some(summary) if !summary.trim().is_empty() => format!("{}\n\n{summary}", self.prompt),
            _ => self.prompt.to_owned(),
        }
    }
}

/// The client's own id of one message to a program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MessageId(pub(super) String);

impl MessageId {
    /// What all of them begin with.
    pub(super) const PREFIX: &str = "chorus-";

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The turn that a wake started, or that it was steered into.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Turn {
    /// The program's own id of the turn, where it has one.
    pub id: Option<String>,
    /// The program's own id of the session: what `resume` needs.
    pub session: Option<String>,
    /// When the prompt was sent.
    pub since: Option<SystemTime>,
}

/// How a lane ended. Only `Confirmed` ends the search for a lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The program has shown that the turn runs.
    Confirmed { evidence: String, turn: Turn },
    /// It did not arrive; the next lane may be tried at once.
    Failed { why: Why },
    /// It may have arrived. It is looked up before anything is sent again.
    Unknown { why: Why },
}

impl Outcome {
    pub(super) fn failed(reason: Reason, detail: impl fmt::Display) -> Self {
        Self::Failed { why: Why::new(reason, detail) }
    }

    pub(super) fn unknown(reason: Reason, detail: impl fmt::Display) -> Self {
        Self::Unknown { why: Why::new(reason, detail) }
    }
}

/// What a look for an earlier message found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// It is there. Its turn may have ended since; `watch_end` tells.
    There { evidence: String, turn: Turn },
    /// The program surely does not have it.
    Absent,
    /// There is nobody to ask, or nothing that keeps it.
    CannotTell(Why),
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnEnd {
    /// Whether the program reports it as completed; not so when it was interrupted or the program has gone.
    pub completed: bool,
    /// How it is known.
    pub evidence: String,
    /// The last that the agent said, at most 4 KiB.
    pub last: String,
}

impl TurnEnd {
    pub(super) fn completed(evidence: &str, last: &str) -> Self {
        Self { completed: true, evidence: evidence.to_owned(), last: bounded(last, LAST_BYTES) }
    }

    pub(super) fn broken(evidence: impl fmt::Display) -> Self {
        let evidence = bounded(&evidence.to_string(), 300);
        Self { completed: false, evidence, last: String::new() }
    }
}

/// What the clocks of a file, of the system and of a program may be apart.
pub(super) const CLOCKS: Duration = Duration::from_millis(100);

/// Whether two texts are the same but for their spaces: a terminal and a program may change line ends and trim.
pub(super) fn same_text(one: &str, other: &str) -> bool {
    let plain = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    let one = plain(one);
    !one.is_empty() && one == plain(other)
}

/// As many bytes of the agent's last words go into a report.
const LAST_BYTES: usize = 4096;

/// The end of a text that is too long.
pub(super) fn bounded(text: &str, bytes: usize) -> String {
    let text = text.trim();
    let mut from = text.len().saturating_sub(bytes);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    text[from..].to_owned()
}

/// FNV-1a, which is the same in every build; nobody gains by a collision, for the id names the wake too.
pub(super) fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_message_keeps_its_id_until_the_wake_the_fence_or_the_mail_is_another() {
        let input = WakeInput { wake: "wake_1", fence: 2, prompt: "read th_1", summary: None };
        assert_eq!(input.message().as_str(), "chorus-wake_1-2-c1e15020afabff27");
        assert_ne!(input.message(), WakeInput { fence: 3, ..input }.message());
        assert_ne!(input.message(), WakeInput { wake: "wake_2", ..input }.message());
        assert_ne!(input.message(), WakeInput { prompt: "read th_2", ..input }.message());
    }

    #[test]
    fn the_end_of_a_long_text_is_cut_between_characters() {
        assert_eq!(bounded(" aé ", 2), "é");
        assert_eq!(bounded("aé", 1), "");
        assert_eq!(bounded("short", 10), "short");
    }
}
