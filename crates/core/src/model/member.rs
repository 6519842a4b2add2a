//! Members, roles, sessions and streams of one workspace.

use std::sync::Arc;

use crate::model::ids::{MemberKey, RoleKey, SessionKey, StreamKey, Timestamp, Uid};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemberKind {
    Human,
    Agent,
}

/// Somebody who can speak or be addressed.
#[derive(Clone, veil::Redact, PartialEq, Eq)]
pub struct Member {
    pub key: MemberKey,
    /// Chosen by people, unique in the workspace, never changed: `reviewer_agent`.
    pub id: Arc<str>,
    pub kind: MemberKind,
    /// The name used with `@`; unique among members and roles, ignoring case.
    pub handle: Arc<str>,
    #[redact(fixed = 3)]
    pub display_name: Arc<str>,
    pub owner: Option<Arc<str>>,
    /// Identities on other platforms, as canonical JSON; opaque here.
    pub identities: Option<Arc<str>>,
    /// A removed member keeps its key and its messages, and can be neither notified nor named any
    /// more.
    pub removed: bool,
}

impl Member {
    pub fn is_agent(&self) -> bool {
        self.kind == MemberKind::Agent
    }
}

/// A named group of members (`@backend-agents`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    pub key: RoleKey,
    pub name: Arc<str>,
    pub members: Vec<MemberKey>,
    pub removed: bool,
}

/// A named line of work with an owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    pub key: StreamKey,
    pub uid: Uid,
    pub name: Arc<str>,
    pub owner: Option<MemberKey>,
}

/// One live run of an agent (threads spec section 2.4), or one connection of a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    pub key: SessionKey,
    pub uid: Uid,
    pub member: MemberKey,
    pub runtime: Arc<str>,
    pub managed: bool,
    pub resumable: bool,
    /// Soft state: whether a connection holds it now.
    pub connected: bool,
    /// The host, among those of one database, of its present or last connection.
    pub host: u32,
    /// Its last sign of life; soft state, written along with other changes.
    pub seen_at: Timestamp,
}

/// The fields of a new or changed member.
#[derive(Clone, veil::Redact, Default, PartialEq, Eq)]
pub struct MemberFields {
    pub handle: Option<String>,
    #[redact(fixed = 3)]
    pub display_name: Option<String>,
    pub owner: Option<String>,
    pub identities: Option<String>,
}
