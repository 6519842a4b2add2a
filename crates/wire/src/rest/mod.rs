//! The REST resources under `/v1`, in snake_case: one file per resource.
//!
//! A request refuses unknown fields. A response may get more fields later, and its readers ignore
//! unknown ones. A list is returned as an object with one list in it, so that it can get more
//! fields too.

pub mod members;
pub mod roles;
pub mod streams;

pub mod channels;
pub mod feed;
pub mod index;
pub mod messages;
pub mod moderation;
pub mod pauses;
pub mod projects;
pub mod stimuli;
pub mod thread_work;
pub mod threads;

pub mod approvals;
pub mod assets;
pub mod attention;
pub mod endpoints;
pub mod events;
pub mod live;
pub mod schedules;
pub mod search;

pub mod audit;
pub mod claims;
pub mod cursors;
pub mod deliveries;
pub mod digests;
pub mod hosts;
pub mod ids;
pub mod inboxes;
pub mod workspaces;

pub mod sessions;
pub mod sign_in;
pub mod tokens;
pub mod turns;
pub mod wakes;

use chorus_core::model::error::Refusal;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

/// Reads the body of a request, which must be a JSON object of exactly this type.
pub fn body<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Refusal> {
    // serde would also read a struct from an array, in the order of its fields.
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    if first != Some(&b'{') {
        return Err(Refusal::invalid("the body must be a JSON object"));
    }
    serde_json::from_slice(bytes).map_err(|e| Refusal::invalid(format!("invalid body: {e}")))
}

/// For a field of a PATCH that can be set to null: `None` is absent, `Some(None)` is null.
fn nullable<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    input: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::<T>::deserialize(input).map(Some)
}
