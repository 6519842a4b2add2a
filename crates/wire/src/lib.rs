//! The protocols that Chorus speaks, as types: only shapes and names, no behaviour and no I/O.
//!
//! Core types are not serializable; this crate gives each its name on the wire ([`named`]) and each
//! error code its number ([`code`]). C2A is camelCase, as in its spec; REST is snake_case. Reading
//! is strict about types. Requests of REST and arguments of tools also refuse unknown fields, so
//! that a misspelt option is an error and not ignored.

pub mod code;
pub mod error;
pub mod json;
pub mod jsonrpc;

pub mod named;
pub mod time;

pub mod backoff;
pub mod canonical;
pub mod limits;
pub mod part;

pub mod attention;
pub mod channels;
pub mod registry;
pub mod rest;
pub mod threads;
pub mod webhook;

mod schema;
pub mod tool;
pub mod tool_list;

/// For `skip_serializing_if`: a field whose value is the default is left out.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
