//! The protocols Chorus speaks, as types: only shapes and names, no behaviour and no I/O.
//!
//! Core types are not serializable; this crate gives each its name on the wire ([`named`]) and each
//! refusal its number ([`code`]). The attention door (C2A) is camelCase, as its spec has it; REST is
//! snake_case. What a door reads is strict about types; requests of REST and tools also refuse unknown
//! fields, so that a misspelt option is an error and not silence.

pub mod code;
pub mod error;
pub mod jsonrpc;

pub mod named;
pub mod time;

pub mod canonical;
pub mod limits;
pub mod part;

pub mod attention;
pub mod channels;
pub mod rest;
pub mod threads;
pub mod webhook;

mod schema;

/// For `skip_serializing_if`: a field whose value is the default is left out.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
