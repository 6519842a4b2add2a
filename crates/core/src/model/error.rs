//! Refusals: why a command is refused. A refused command has changed nothing, unless its code says
//! that the outcome is unknown.

use std::fmt;

use crate::model::ids::Uid;

/// An alphabetical list of codes. `chorus_wire::code` maps each to its HTTP status and JSON-RPC
/// number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Code {
    AddressRefused,
    AgentOffline,
    ApprovalRequired,
    BudgetInsufficient,
    ClaimMismatch,
    ClaimedByOther,
    Conflict,
    ExecutionError,
    Forbidden,
    HumanInputCollision,
    IdempotencyConflict,
    InsufficientAuthority,
    Internal,
    NotFound,
    OutOfScopeWorkspace,
    OutcomeUnknown,
    PayloadTooLarge,
    PolicyForbidsReply,
    RateLimited,
    ReplyBudgetSpent,
    SkillMismatch,
    StaleTurn,
    TransferFailed,
    TurnHeldByOther,
    Unauthorized,
    Unavailable,
    UnmanagedRuntime,
    ValidationError,
    WakeFailed,
}

/// A refusal: a code, and a sentence that says what to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub code: Code,
    pub message: String,
    /// The event that does not exist or may not be seen.
    pub unknown_event: Option<Uid>,
}

impl Refusal {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), unknown_event: None }
    }

    pub fn not_found(what: &str) -> Self {
        Self::new(Code::NotFound, format!("no such {what}, or you may not see it"))
    }

    /// As [`Refusal::not_found`], for an event.
    pub fn unknown_event(what: &str, uid: Uid) -> Self {
        Self { unknown_event: Some(uid), ..Self::not_found(what) }
    }

    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(Code::ValidationError, message)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.code, self.message)
    }
}

impl std::error::Error for Refusal {}
