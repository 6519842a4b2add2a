//! Keys and public ids.
//!
//! Inside the host everything has a small integer key, unique in its workspace. Outside it has an
//! opaque string: a prefix and a time-ordered (v7) UUID. Public ids never change and are never
//! derived from a key, so a restore cannot reuse one.

use std::fmt;
use std::str::FromStr;

use crate::model::uuid;

macro_rules! key {
    ($(#[$doc:meta])* $name:ident($int:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub $int);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

key!(/** A member of the workspace. */ MemberKey(u32));
key!(/** A role: a named group of members. */ RoleKey(u32));
key!(/** One live run of an agent, or one connection of a person. */ SessionKey(u32));
key!(/** A named line of work with an owner. */ StreamKey(u32));
key!(/** A conversation; keys rise in the order of creation. */ ConversationKey(u64));
key!(
    /** The position of an event in its conversation's log; the first is 1, and it rises by exactly one. */
    Seq(u64)
);
key!(
    /** A thread of a conversation, named by the seq of the event that opened it. */
    ThreadKey(u64)
);

impl MemberKey {
    /// The host itself, which is not a member: members' keys begin at 1.
    pub const HOST: Self = Self(0);
}

impl Seq {
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// Milliseconds since the Unix epoch, UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// This time, `ms` milliseconds later.
    pub fn plus(self, ms: i64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// Milliseconds from `earlier` to this time; 0 when `earlier` is later.
    pub fn since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0).max(0)
    }
}

/// The kind of thing that a public id names, as its prefix shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Prefix {
    Workspace,
    Conversation,
    Thread,
    Event,
    Session,
    Stream,
    Request,
    Approval,
    Stimulus,
    Schedule,
    Asset,
    Project,
    Task,
    Inbox,
    Wake,
    /// None: the registry's ids are UUIDs that others chose.
    Uuid,
}

impl Prefix {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Workspace => "wk_",
            Self::Conversation => "ch_",
            Self::Thread => "th_",
            Self::Event => "evt_",
            Self::Session => "sess_",
            Self::Stream => "str_",
            Self::Request => "req_",
            Self::Approval => "apr_",
            Self::Stimulus => "stm_",
            Self::Schedule => "sch_",
            Self::Asset => "ast_",
            Self::Project => "prj_",
            Self::Task => "task_",
            Self::Inbox => "inb_",
            Self::Wake => "wake_",
            Self::Uuid => "",
        }
    }
}

/// A public id without its prefix: the 128 bits of a v7 UUID, or 0 for none.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uid(pub u128);

impl Uid {
    /// The public text: the prefix and 32 hexadecimal digits, or a UUID in its usual form.
    pub fn show(self, prefix: Prefix) -> String {
        if prefix == Prefix::Uuid {
            return uuid::show(self.0);
        }
        let mut text = String::with_capacity(prefix.as_str().len() + 32);
        text.push_str(prefix.as_str());
        // Not by `{:032x}`: an answer has hundreds of ids.
        let digits = self.0.to_be_bytes().into_iter().flat_map(|byte| [byte >> 4, byte & 15]);
        text.extend(digits.map(|digit| char::from(b"0123456789abcdef"[usize::from(digit)])));
        text
    }

    /// When it was generated: the first 48 bits of a v7 UUID.
    pub fn drawn_at(self) -> Timestamp {
        Timestamp((self.0 >> 80) as i64)
    }

    /// Parses the output of [`Uid::show`]. Only that form is accepted: an id is opaque, not a UUID.
    pub fn read(prefix: Prefix, text: &str) -> Option<Self> {
        if prefix == Prefix::Uuid {
            return uuid::read(text).map(Self);
        }
        let hex = text.strip_prefix(prefix.as_str())?;
        hex.parse().ok()
    }
}

impl fmt::Debug for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// A text that is not 32 lower-case hexadecimal digits.
#[derive(Debug, PartialEq, Eq)]
pub struct NotAnId;

impl FromStr for Uid {
    type Err = NotAnId;

    fn from_str(hex: &str) -> Result<Self, NotAnId> {
        let plain = hex.len() == 32 && hex.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        if !plain {
            return Err(NotAnId);
        }
        u128::from_str_radix(hex, 16).map(Self).map_err(|_| NotAnId)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventRef {
    pub conversation: ConversationKey,
    pub seq: Seq,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_public_id_reads_back_and_nothing_else_does() {
        let id = Uid(0x0199_aabb_0000_7000_8000_0000_0000_0001);
        let text = id.show(Prefix::Event);
        assert_eq!(text, "evt_0199aabb000070008000000000000001");
        assert_eq!(Uid::read(Prefix::Event, &text), Some(id));
        assert_eq!(Uid::read(Prefix::Conversation, &text), None);
        for bad in [
            "",
            "evt_",
            "evt_0199AABB000070008000000000000001",
            "evt_+199aabb000070008000000000000001",
        ] {
            assert_eq!(Uid::read(Prefix::Event, bad), None, "{bad}");
        }
    }
}
