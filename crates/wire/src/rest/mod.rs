//! The REST resources under `/v1`, snake_case: one file per resource, in the order of use.
//!
//! A request refuses unknown fields; an answer may grow, and who reads it ignores what it does not know.
//! A list comes as an object with one list in it, so that it can grow too.

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
pub mod schedules;
pub mod search;

pub mod audit;
pub mod claims;
pub mod cursors;
pub mod deliveries;
pub mod digests;
pub mod inboxes;

pub mod sessions;
pub mod tokens;
pub mod turns;

use chorus_core::model::error::Refusal;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

/// Reads the body of a request: an object of exactly this type.
pub fn body<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Refusal> {
    // A struct would also be read out of a list, in the order of its fields.
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    if first != Some(&b'{') {
        return Err(Refusal::invalid("the body is a JSON object"));
    }
    serde_json::from_slice(bytes).map_err(|e| Refusal::invalid(format!("the body: {e}")))
}

/// For a field of a PATCH that can be set to null: `None` is absent, `Some(None)` is null. Also put
/// `default` and `skip_serializing_if` on it.
fn nullable<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    input: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::<T>::deserialize(input).map(Some)
}
