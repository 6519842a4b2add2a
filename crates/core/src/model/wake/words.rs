//! The names of lanes, results, states and outcomes.

use super::{Lane, Outcome, ReportResult, WakeState};

impl Lane {
    pub const ALL: [Self; 7] = [
        Self::CodexSocket,
        Self::ClaudeInbox,
        Self::Acp,
        Self::Pty,
        Self::Resume,
        Self::NewSession,
        Self::Command,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::CodexSocket => "codex_socket",
            Self::ClaudeInbox => "claude_inbox",
            Self::Acp => "acp",
            Self::Pty => "pty",
            Self::Resume => "resume",
            Self::NewSession => "new_session",
            Self::Command => "command",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|lane| lane.name() == name)
    }
}

impl ReportResult {
    pub const ALL: [Self; 7] = [
        Self::Working,
        Self::Deferred,
        Self::Confirmed,
        Self::Failed,
        Self::Unknown,
        Self::Ended,
        Self::Exhausted,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::Deferred => "deferred",
            Self::Confirmed => "confirmed",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
            Self::Ended => "ended",
            Self::Exhausted => "exhausted",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|result| result.name() == name)
    }
}

impl WakeState {
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Handed => "handed",
            Self::Deferred => "deferred",
            Self::Running => "running",
            Self::Done => "done",
            Self::Dead => "dead",
        }
    }
}

impl Outcome {
    pub fn name(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Obsolete => "obsolete",
            Self::WakeFailed => "wake_failed",
            Self::NoProgress => "no_progress",
            Self::NoRunner => "no_runner",
        }
    }
}
