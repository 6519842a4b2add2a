//! The caller of a command, and the caller's rights.

use crate::model::ids::{ConversationKey, MemberKey, Seq, SessionKey};

/// What a token lets its bearer do (design section 4, "Tokens").
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Authority {
    /// Reads everything, writes nothing.
    Auditor,
    Worker,
    Orchestrator,
    /// A person who administers the workspace.
    Operator,
}

impl Authority {
    pub const ALL: [Self; 4] = [Self::Auditor, Self::Worker, Self::Orchestrator, Self::Operator];

    pub fn name(self) -> &'static str {
        match self {
            Self::Auditor => "auditor",
            Self::Worker => "worker",
            Self::Orchestrator => "orchestrator",
            Self::Operator => "operator",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|a| a.name() == name)
    }
}

/// The caller, as verified from its token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct By {
    pub member: MemberKey,
    pub session: Option<SessionKey>,
    pub authority: Authority,
    /// The turn that the call is made in, if it came with a turn's token.
    pub turn: Option<TurnRef>,
}

impl By {
    /// The host itself, acting for a timer or a transport.
    pub fn host() -> Self {
        Self { member: MemberKey::HOST, session: None, authority: Authority::Operator, turn: None }
    }
}

/// A turn as its token states it: the delivery it was made for, and the fence it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TurnRef {
    pub conversation: ConversationKey,
    pub seq: Seq,
    pub fence: u32,
    /// The delivery attempt that the caller answers, if its token is for one attempt (a callback).
    /// 0 means any.
    pub attempt: u16,
}
