//! Core's facts in the words of the wire: the one place where the host's answers are put together.
//!
//! Nothing in here decides or reads; what is shown has been read, and may be seen, already.

pub(crate) mod ard;
pub(crate) mod assets;
pub(crate) mod audit;
pub(crate) mod cards;
pub(crate) mod conversations;
pub(crate) mod deliveries;
pub(crate) mod digests;
pub(crate) mod events;
pub(crate) mod feed;
pub(crate) mod members;
pub(crate) mod messages;
pub(crate) mod registry;
pub(crate) mod search;
pub(crate) mod thread_work;
pub(crate) mod threads;
pub(crate) mod wakes;

use chorus_core::model::ids::MemberKey;
use chorus_core::state::directory::Directory;

/// A member's public id. Keys come from the same directory, so that there always is one.
pub(crate) fn id(directory: &Directory, key: MemberKey) -> String {
    directory.member(key).map_or_else(String::new, |m| m.id.to_string())
}

/// As [`id`], borrowed.
pub(crate) fn id_of(directory: &Directory, key: MemberKey) -> &str {
    directory.member(key).map_or("", |m| &m.id)
}
