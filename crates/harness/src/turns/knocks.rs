//! Knocks that cost no turn of their own, kept to be mentioned in the next turn of their conversation.

use std::collections::{BTreeMap, VecDeque};

use chorus_wire::attention::deliver::Deliver;

/// Lines kept per conversation; the oldest gives way.
const KEPT: usize = 16;
/// Conversations remembered; the knocks of any other are settled and gone.
const CONVERSATIONS: usize = 256;

#[derive(Default)]
pub(super) struct HeldKnocks {
    by_conversation: BTreeMap<String, VecDeque<Held>>,
}

struct Held {
    knock: Deliver,
    /// It is still owed a disposition: a turn was ahead when it came.
    unsettled: bool,
}

impl HeldKnocks {
    /// Keeps a knock. Gives the events that gave way and are still owed a disposition.
    pub(super) fn push(&mut self, knock: Deliver, unsettled: bool) -> Vec<String> {
        let conversation = knock.conversation.id.clone().into_owned();
        let mut gone = Vec::new();
        if self.by_conversation.len() >= CONVERSATIONS
            && !self.by_conversation.contains_key(&conversation)
        {
            gone.extend(self.by_conversation.pop_first().into_iter().flat_map(|(_, lines)| lines));
        }
        let lines = self.by_conversation.entry(conversation).or_default();
        lines.push_back(Held { knock, unsettled });
        if lines.len() > KEPT {
            gone.extend(lines.pop_front());
        }
        gone.into_iter().filter(|held| held.unsettled).map(|held| held.knock.event_id).collect()
    }

    /// Takes the knocks of a conversation, to be shown; with each, whether it is still to be settled.
    pub(super) fn take(&mut self, conversation: &str) -> Vec<(Deliver, bool)> {
        let lines = self.by_conversation.remove(conversation).unwrap_or_default();
        lines.into_iter().map(|held| (held.knock, held.unsettled)).collect()
    }

    /// The knocks of a conversation that no turn is ahead for any more; they stay to be shown.
    pub(super) fn give_up(&mut self, conversation: &str) -> Vec<String> {
        let lines = self.by_conversation.get_mut(conversation).into_iter().flatten();
        lines
            .filter_map(|held| {
                std::mem::take(&mut held.unsettled).then(|| held.knock.event_id.clone())
            })
            .collect()
    }

    /// Forgets a knock; says whether it was still owed a disposition.
    pub(super) fn remove(&mut self, event: &str) -> Option<bool> {
        let mut found = None;
        for lines in self.by_conversation.values_mut() {
            lines.retain(|held| {
                let this = held.knock.event_id == event;
                if this {
                    found = Some(held.unsettled);
                }
                !this
            });
        }
        self.by_conversation.retain(|_, lines| !lines.is_empty());
        found
    }

    pub(super) fn has_unsettled(&self, event: &str) -> bool {
        self.all().any(|held| held.unsettled && held.knock.event_id == event)
    }

    pub(super) fn unsettled(&self) -> usize {
        self.all().filter(|held| held.unsettled).count()
    }

    fn all(&self) -> impl Iterator<Item = &Held> {
        self.by_conversation.values().flatten()
    }
}
