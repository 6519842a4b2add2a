//! What is typed for the runner, and when it may be. Pure.

use std::time::{Duration, Instant};

use super::typing::Typing;

/// Why nothing was typed. The name is shown to people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A person pressed a key within the quiet window.
    Typing,
    /// A person has text in the prompt that was not sent.
    Draft,
    /// The program has ended.
    Exited,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Injected {
    /// All of it. That is no proof of a turn.
    Typed,
    /// A person's key interrupted it. What was typed by then counts as a draft.
    Stopped,
    Refused(Refusal),
}

/// When text may be typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gate {
    /// How long no person may have pressed a key.
    pub quiet: Duration,
    /// How long to wait after a refusal.
    pub again: Duration,
    /// How long to go on trying.
    pub at_most: Duration,
    /// Skips the quiet window. A draft is never typed over.
    pub force: bool,
}

impl Default for Gate {
    fn default() -> Self {
        Self {
            quiet: Duration::from_secs(20),
            again: Duration::from_secs(5),
            at_most: Duration::from_secs(60),
            force: false,
        }
    }
}

impl Gate {
    #[must_use]
    pub fn forced() -> Self {
        Self { force: true, ..Self::default() }
    }

    #[must_use]
    pub fn refusal(&self, typing: &Typing, now: Instant) -> Option<Refusal> {
        if typing.has_draft() {
            return Some(Refusal::Draft);
        }
        let quiet = typing.last_key().is_none_or(|at| now.duration_since(at) >= self.quiet);
        (!quiet && !self.force).then_some(Refusal::Typing)
    }

    /// How long to wait for the next try, or nothing if the time is over.
    #[must_use]
    pub fn next_try(&self, begun: Instant, now: Instant) -> Option<Duration> {
        let left = self.at_most.checked_sub(now.duration_since(begun))?;
        (!left.is_zero()).then(|| self.again.min(left))
    }
}

/// How a program takes a prompt from its terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    Codex,
    Claude,
    Gemini,
    Generic,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub bytes: Vec<u8>,
    /// Waited after the bytes.
    pub pause: Duration,
}

/// Steps of typing one text and submitting it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    steps: Vec<Step>,
    pastes: bool,
    gate: Gate,
}

/// Codex and Gemini take an Enter that comes with the text for a part of it.
const BEFORE_ENTER: Duration = Duration::from_millis(300);

impl Plan {
    pub(super) const PASTE_END: &[u8] = b"\x1b[201~";
    const PASTE: &[u8] = b"\x1b[200~";

    #[must_use]
    pub fn new(profile: Profile, text: &str, gate: Gate) -> Self {
        let text = sanitised(text);
        let pastes = profile != Profile::Generic;
        let mut bytes = Vec::with_capacity(text.len() + 16);
        if pastes {
            bytes.extend(Self::PASTE);
            bytes.extend(text.bytes());
            bytes.extend(Self::PASTE_END);
        } else {
            bytes.extend(text.replace('\n', " ").bytes());
        }
        let enter = Step { bytes: vec![b'\r'], pause: Duration::ZERO };
        let steps = match profile {
            Profile::Codex | Profile::Gemini => {
                vec![Step { bytes, pause: BEFORE_ENTER }, enter]
            }
            Profile::Claude | Profile::Generic => {
                bytes.push(b'\r');
                vec![Step { bytes, pause: Duration::ZERO }]
            }
        };
        Self { steps, pastes, gate }
    }

    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    #[must_use]
    pub fn gate(&self) -> &Gate {
        &self.gate
    }

    pub(super) fn pastes(&self) -> bool {
        self.pastes
    }
}

/// The text without control characters but newlines, so that it can neither end a paste nor press a key.
#[must_use]
pub fn sanitised(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n").replace('\t', "    ");
    text.chars().filter(|c| *c == '\n' || !c.is_control()).collect()
}
