//! Claude Code.
pub mod hooks;
