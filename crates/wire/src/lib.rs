//! The protocols Chorus speaks, as types: only shapes and names, no behaviour and no I/O.
//!
//! Core types are not serializable; this crate gives each its word on the wire ([`words`]) and each
//! refusal its number ([`code`]). The attention transport (C2A) is camelCase, as its spec has it; REST is
//! snake_case. What a transport reads is strict about types; requests of REST and tools also refuse unknown
//! fields, so that a misspelt option is an error and not silence.

pub mod code;
pub mod error;
pub mod jsonrpc;

pub mod time;
pub mod words;

pub mod canonical;
pub mod part;

pub mod attention;
pub mod channels;
pub mod rest;
pub mod threads;
pub mod webhook;
