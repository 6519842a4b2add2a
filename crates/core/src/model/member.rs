//! Members, roles, sessions and streams of one workspace.

use std::sync::Arc;

use crate::model::ids::{MemberKey, RoleKey, SessionKey, StreamKey, Timestamp, Uid};
use crate::model::limits;

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
    /// Set while an agent is paused: it is told nothing and says nothing.
    pub pause: Option<Pause>,
}

/// Who paused an agent, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    pub by: MemberKey,
    pub since: Timestamp,
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
    /// A runner: it is offered nothing and is woken instead ([`crate::model::wake`]).
    pub runner: bool,
    /// The folder in which its program works.
    pub folder: Option<Arc<str>>,
    /// The program's own id of the session, by which it can be resumed.
    pub resume_id: Option<Arc<str>>,
    /// What it was last known to do; see [`Session::status_at`].
    pub status: SessionStatus,
    /// How its presence was last proved, at `seen_at`.
    pub proof: Proof,
    /// Soft state: whether a connection holds it now.
    pub connected: bool,
    /// Its last sign of life; soft state, written along with other changes.
    pub seen_at: Timestamp,
}

/// What a session is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SessionStatus {
    Active,
    Idle,
    #[default]
    Offline,
}

/// How a session's presence was proved. Presence is demonstrated, never declared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Proof {
    /// A connection held it.
    #[default]
    Connection,
    /// Its program reported itself.
    Heartbeat,
    /// Its token was used for a call.
    Call,
}

impl Session {
    /// A session that never connected and of which nothing else is known.
    pub fn unconnected(key: SessionKey, uid: Uid, member: MemberKey, seen_at: Timestamp) -> Self {
        Self {
            key,
            uid,
            member,
            runtime: "".into(),
            managed: false,
            resumable: false,
            runner: false,
            folder: None,
            resume_id: None,
            status: SessionStatus::Offline,
            proof: Proof::Connection,
            connected: false,
            seen_at,
        }
    }

    /// Whether anything that it states of itself differs, as opposed to whether it is connected.
    pub fn states_other_than(&self, other: &Self) -> bool {
        let stated = |s: &Self| (s.runtime.clone(), s.managed, s.resumable, s.runner);
        let runs = |s: &Self| (s.folder.clone(), s.resume_id.clone());
        stated(self) != stated(other) || runs(self) != runs(other)
    }

    /// What it is doing, as far as that is proved: without a connection the last report counts for
    /// [`limits::HEARTBEAT_STALE_MS`].
    pub fn status_at(&self, now: Timestamp) -> SessionStatus {
        let is_fresh = now.since(self.seen_at) < limits::HEARTBEAT_STALE_MS;
        match self.connected || (is_fresh && self.proof != Proof::Connection) {
            true => self.status,
            false => SessionStatus::Offline,
        }
    }
}

impl SessionStatus {
    pub const ALL: [Self; 3] = [Self::Active, Self::Idle, Self::Offline];

    pub fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Idle => "idle",
            Self::Offline => "offline",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }
}

impl Proof {
    pub fn name(self) -> &'static str {
        match self {
            Self::Connection => "connection",
            Self::Heartbeat => "heartbeat",
            Self::Call => "call",
        }
    }
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
