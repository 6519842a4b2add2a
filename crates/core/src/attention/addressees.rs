//! The members and roles that a message names.

use super::incoming::IncomingMessage;
use crate::language::names::{Target, mentions};
use crate::model::ids::{MemberKey, RoleKey};
use crate::state::directory::Directory;
use crate::state::room::Room;

/// The members and roles that a message names, in its text or beside it. Only those on the roster
/// count.
pub(super) struct Addressees {
    pub(super) members: Vec<MemberKey>,
    pub(super) roles: Vec<RoleKey>,
    /// The recipient that was named beside the text, if any.
    pub(super) recipient: Option<MemberKey>,
    /// The text addresses somebody, even if that is the author or somebody who is not in the room.
    pub(super) addresses: bool,
}

impl Addressees {
    pub(super) fn read(room: &Room, directory: &Directory, said: &IncomingMessage<'_>) -> Self {
        let mut named =
            Self { members: Vec::new(), roles: Vec::new(), recipient: None, addresses: false };
        named.addresses = said.text.trim_start().starts_with(['@', '＠']);
        let present = |m: &MemberKey| room.roster().contains_key(m);
        named.recipient = said.recipient.filter(present);
        for mention in mentions(said.text, &directory.names) {
            named.addresses = true;
            match mention.target {
                Target::Member(m) if present(&m) && !named.members.contains(&m) => {
                    named.members.push(m);
                }
                Target::Role(r) if !named.roles.contains(&r) => named.roles.push(r),
                _ => {}
            }
        }
        let beside = said.mentions.iter().copied().filter(present);
        for member in beside {
            if !named.members.contains(&member) {
                named.members.push(member);
            }
        }
        // Naming oneself addresses nobody.
        named.members.retain(|m| *m != said.author.key);
        named
    }

    pub(super) fn anybody(&self) -> bool {
        self.recipient.is_some() || !self.members.is_empty() || !self.roles.is_empty()
    }
}
