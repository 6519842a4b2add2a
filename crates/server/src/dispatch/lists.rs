//! Which lists changed: a hint for whoever shows one of them to fetch it again.
//!
//! A hint says nothing of what changed, and may be given for nothing. None is left out: what the host does by itself, and
//! what came while a follower was behind, is hinted at too.

use std::ops::BitOrAssign;
use std::sync::Arc;

use chorus_core::model::event::{Change, MessageKind};
use chorus_core::model::ids::ConversationKey;
use chorus_core::state::directory::Directory;
use chorus_core::state::effect::Effect;

/// Kinds of lists, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lists(u16);

impl Lists {
    pub(crate) const AGENTS: Self = Self(1);
    pub(crate) const APPROVALS: Self = Self(1 << 1);
    pub(crate) const CHANNELS: Self = Self(1 << 2);
    pub(crate) const DELIVERIES: Self = Self(1 << 3);
    pub(crate) const JOBS: Self = Self(1 << 4);
    pub(crate) const MEMBERS: Self = Self(1 << 5);
    pub(crate) const PAUSES: Self = Self(1 << 6);
    pub(crate) const SESSIONS: Self = Self(1 << 7);
    pub(crate) const TURNS: Self = Self(1 << 8);
    pub(crate) const WAKES: Self = Self(1 << 9);
    pub(crate) const ALL: Self = Self((1 << 10) - 1);

    const NAMES: [(Self, &str); 10] = [
        (Self::AGENTS, "agents"),
        (Self::APPROVALS, "approvals"),
        (Self::CHANNELS, "channels"),
        (Self::DELIVERIES, "deliveries"),
        (Self::JOBS, "jobs"),
        (Self::MEMBERS, "members"),
        (Self::PAUSES, "pauses"),
        (Self::SESSIONS, "sessions"),
        (Self::TURNS, "turns"),
        (Self::WAKES, "wakes"),
    ];

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn names(self) -> impl Iterator<Item = &'static str> {
        Self::NAMES.into_iter().filter(move |(list, _)| self.0 & list.0 != 0).map(|(_, name)| name)
    }

    /// What an effect changes, and in which conversation, if in one.
    pub(crate) fn of(effect: &Effect) -> Option<(Option<ConversationKey>, Self)> {
        let in_conversation = |key, lists| Some((Some(key), lists));
        let mut owed = Self::DELIVERIES;
        owed |= Self::TURNS;
        match effect {
            Effect::Logged(entry) => {
                let lists = Self::logged(&entry.event.change);
                in_conversation(entry.conversation.key, lists).filter(|_| !lists.is_empty())
            }
            Effect::Offer(offer) => in_conversation(offer.entry.conversation.key, owed),
            Effect::Began { conversation } => in_conversation(*conversation, owed),
            Effect::Receipt { conversation, .. } => in_conversation(conversation.key, owed),
            // Whose turn is taken back has a receipt, which says where.
            Effect::Cancel { .. } => None,
            Effect::Job(_) => Some((None, Self::JOBS)),
            Effect::Wake(_) => Some((None, Self::WAKES)),
            Effect::Anything => Some((None, Self::ALL)),
            // A follower compares directories itself; the others change no list.
            Effect::Directory(_)
            | Effect::Digest { .. }
            | Effect::Remote { .. }
            | Effect::Ended(_) => None,
        }
    }

    fn logged(change: &Change) -> Self {
        match change {
            Change::Joined { .. } | Change::Left { .. } | Change::Withdrew { .. } => {
                Self(Self::CHANNELS.0 | Self::MEMBERS.0)
            }
            Change::Created { .. } | Change::SettingsChanged(_) => Self::CHANNELS,
            Change::Continued => Self::PAUSES,
            // The host says in a line of its own that agents pause.
            Change::Posted(message) if message.kind == MessageKind::System => Self::PAUSES,
            _ => Self::default(),
        }
    }

    /// What differs between two directories.
    pub(crate) fn between(old: &Directory, new: &Directory) -> Self {
        let mut lists = Self::default();
        if !Arc::ptr_eq(&old.members, &new.members)
            || !all_same(&old.roles, &new.roles)
            || !all_same(&old.streams, &new.streams)
            || old.lead != new.lead
        {
            lists |= Self(Self::MEMBERS.0 | Self::AGENTS.0);
        }
        if !all_same(old.sessions.values(), new.sessions.values()) {
            lists |= Self(Self::SESSIONS.0 | Self::AGENTS.0);
        }
        if !all_same(old.endpoints.values(), new.endpoints.values()) {
            lists |= Self::AGENTS;
        }
        if !all_same(old.wakes.values(), new.wakes.values()) {
            lists |= Self(Self::WAKES.0 | Self::AGENTS.0);
        }
        if !all_same(old.approvals.values(), new.approvals.values()) {
            lists |= Self::APPROVALS;
        }
        lists
    }
}

impl BitOrAssign for Lists {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

/// Whether both have the same entries, and not only equal ones: an entry is never changed in place.
fn all_same<'a, T: 'a>(
    old: impl IntoIterator<Item = &'a Arc<T>>,
    new: impl IntoIterator<Item = &'a Arc<T>>,
) -> bool {
    let (mut old, mut new) = (old.into_iter(), new.into_iter());
    loop {
        match (old.next(), new.next()) {
            (None, None) => return true,
            (Some(old), Some(new)) if Arc::ptr_eq(old, new) => {}
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_list_has_one_name_and_one_bit() {
        assert_eq!(Lists::ALL.names().count(), Lists::NAMES.len());
        let mut all = Lists::default();
        for (list, name) in Lists::NAMES {
            assert_eq!(list.names().collect::<Vec<_>>(), [name]);
            all |= list;
        }
        assert_eq!(all, Lists::ALL);
    }

    #[test]
    fn the_same_directory_changes_no_list() {
        let directory = Directory::default();
        assert!(Lists::between(&directory, &directory.clone()).is_empty());
        let mut led = directory.clone();
        led.lead = Some(chorus_core::model::ids::MemberKey(1));
        assert_eq!(
            Lists::between(&directory, &led).names().collect::<Vec<_>>(),
            ["agents", "members"]
        );
    }
}
