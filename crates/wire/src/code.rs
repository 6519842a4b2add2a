//! One alphabetical table of error codes: name, HTTP status, JSON-RPC number, and what a caller may
//! do.
//!
//! Every transport answers refusals from this table, so that the same error has the same name
//! everywhere (threads spec section 8, design section 4 "Errors"). The JSON-RPC numbers are in
//! -32000..=-32099, which JSON-RPC 2.0 reserves for servers. Numbers are never reused.

pub use chorus_core::model::error::Code;

/// What a transport needs to know about a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    pub code: Code,
    /// The name on the wire: `STALE_TURN`.
    pub name: &'static str,
    /// The HTTP status.
    pub status: u16,
    /// The JSON-RPC error number.
    pub number: i32,
    /// Whether the same request may succeed later, unchanged.
    pub retryable: bool,
    /// Whether it is certain that nothing changed. Only then is a retry without an idempotency key
    /// safe.
    pub has_no_side_effects: bool,
}

const fn row(
    code: Code,
    name: &'static str,
    status: u16,
    number: i32,
    retryable: bool,
    has_no_side_effects: bool,
) -> Row {
    Row { code, name, status, number, retryable, has_no_side_effects }
}

/// The table, by name.
#[rustfmt::skip]
pub const TABLE: [Row; 29] = [
    row(Code::AddressRefused,        "ADDRESS_REFUSED",        422, -32001, false, true),
    row(Code::AgentOffline,          "AGENT_OFFLINE",          503, -32024, true,  true),
    row(Code::ApprovalRequired,      "APPROVAL_REQUIRED",      403, -32002, false, true),
    row(Code::BudgetInsufficient,    "BUDGET_INSUFFICIENT",    402, -32025, false, true),
    row(Code::ClaimedByOther,        "CLAIMED_BY_OTHER",       409, -32003, false, true),
    row(Code::ClaimMismatch,         "CLAIM_MISMATCH",         403, -32004, false, true),
    row(Code::Conflict,              "CONFLICT",               409, -32005, false, true),
    row(Code::ExecutionError,        "EXECUTION_ERROR",        502, -32026, false, true),
    row(Code::Forbidden,             "FORBIDDEN",              403, -32006, false, true),
    row(Code::HumanInputCollision,   "HUMAN_INPUT_COLLISION",  409, -32021, true,  true),
    row(Code::IdempotencyConflict,   "IDEMPOTENCY_CONFLICT",   409, -32007, false, true),
    row(Code::InsufficientAuthority, "INSUFFICIENT_AUTHORITY", 403, -32008, false, true),
    row(Code::Internal,              "INTERNAL",               500, -32009, true,  false),
    row(Code::NotFound,              "NOT_FOUND",              404, -32010, false, true),
    row(Code::OutcomeUnknown,        "OUTCOME_UNKNOWN",        502, -32029, true,  false),
    row(Code::OutOfScopeWorkspace,   "OUT_OF_SCOPE_WORKSPACE", 403, -32011, false, true),
    row(Code::PayloadTooLarge,       "PAYLOAD_TOO_LARGE",      413, -32012, false, true),
    row(Code::PolicyForbidsReply,    "POLICY_FORBIDS_REPLY",   403, -32013, false, true),
    row(Code::RateLimited,           "RATE_LIMITED",           429, -32014, true,  true),
    row(Code::ReplyBudgetSpent,      "REPLY_BUDGET_SPENT",     429, -32015, false, true),
    row(Code::SkillMismatch,         "SKILL_MISMATCH",         422, -32027, false, true),
    row(Code::StaleTurn,             "STALE_TURN",             409, -32016, false, true),
    row(Code::TransferFailed,        "TRANSFER_FAILED",        402, -32028, false, true),
    row(Code::TurnHeldByOther,       "TURN_HELD_BY_OTHER",     409, -32017, true,  true),
    row(Code::Unauthorized,          "UNAUTHORIZED",           401, -32018, false, true),
    row(Code::Unavailable,           "UNAVAILABLE",            503, -32019, true,  true),
    row(Code::UnmanagedRuntime,      "UNMANAGED_RUNTIME",      409, -32022, false, true),
    row(Code::ValidationError,       "VALIDATION_ERROR",       400, -32020, false, true),
    row(Code::WakeFailed,            "WAKE_FAILED",            409, -32023, true,  true),
];

/// The row of a code.
pub const fn of(code: Code) -> &'static Row {
    // An exhaustive match: a new code does not compile until it has a row.
    let index = match code {
        Code::AddressRefused => 0,
        Code::AgentOffline => 1,
        Code::ApprovalRequired => 2,
        Code::BudgetInsufficient => 3,
        Code::ClaimedByOther => 4,
        Code::ClaimMismatch => 5,
        Code::Conflict => 6,
        Code::ExecutionError => 7,
        Code::Forbidden => 8,
        Code::HumanInputCollision => 9,
        Code::IdempotencyConflict => 10,
        Code::InsufficientAuthority => 11,
        Code::Internal => 12,
        Code::NotFound => 13,
        Code::OutcomeUnknown => 14,
        Code::OutOfScopeWorkspace => 15,
        Code::PayloadTooLarge => 16,
        Code::PolicyForbidsReply => 17,
        Code::RateLimited => 18,
        Code::ReplyBudgetSpent => 19,
        Code::SkillMismatch => 20,
        Code::StaleTurn => 21,
        Code::TransferFailed => 22,
        Code::TurnHeldByOther => 23,
        Code::Unauthorized => 24,
        Code::Unavailable => 25,
        Code::UnmanagedRuntime => 26,
        Code::ValidationError => 27,
        Code::WakeFailed => 28,
    };
    &TABLE[index]
}

/// The name on the wire.
pub const fn name(code: Code) -> &'static str {
    of(code).name
}

/// The HTTP status.
pub const fn status(code: Code) -> u16 {
    of(code).status
}

/// The JSON-RPC error number.
pub const fn number(code: Code) -> i32 {
    of(code).number
}

/// Whether the same request may succeed later, unchanged.
pub const fn is_retryable(code: Code) -> bool {
    of(code).retryable
}

/// Whether it is certain that nothing changed.
pub const fn has_no_side_effects(code: Code) -> bool {
    of(code).has_no_side_effects
}

/// The code with this name on the wire.
pub fn from_name(name: &str) -> Option<Code> {
    TABLE.iter().find(|row| row.name == name).map(|row| row.code)
}

/// The code with this JSON-RPC number.
pub fn from_number(number: i32) -> Option<Code> {
    TABLE.iter().find(|row| row.number == number).map(|row| row.code)
}
