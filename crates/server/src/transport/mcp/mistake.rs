//! A failure of the host's own.

use rmcp::ErrorData;

/// What a client is told of it; the rest is in the log.
pub(super) fn mistake(why: &dyn std::fmt::Display) -> ErrorData {
    tracing::error!(%why, "an MCP request failed");
    ErrorData::internal_error("the host made a mistake; it is in its log", None)
}
