//! Compares the tables with the replayed log.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use chorus_core::model::conversation::{Conversation, Participation};
use chorus_core::model::ids::{MemberKey, Seq};
use chorus_core::state::room::{Head, Room};

use super::Look;
use crate::db::Result;
use crate::{conversation, departed, message, thread};

impl Look<'_> {
    pub(super) fn compare(
        &mut self,
        stored: &Conversation,
        head: &Head,
        replayed: &Room,
    ) -> Result<()> {
        if *stored != *replayed.conversation {
            self.found(None, "its row differs from the log");
        }
        self.compare_head(head, &replayed.head);
        let roster: BTreeMap<MemberKey, Participation> =
            conversation::roster(self.db, self.workspace, self.key)?.into_iter().collect();
        let seats = replayed.roster.iter().map(|(m, p)| (*m, *p)).collect();
        self.differences("seat of member", &roster, &seats);
        let left: BTreeSet<_> =
            departed::all(self.db, self.workspace, self.key)?.into_iter().collect();
        if left != replayed.gone {
            self.found(None, "the list of members who have left differs from the log");
        }
        let threads = thread::all(self.db, self.workspace, self.key)?;
        let threads = threads.into_iter().map(|t| (t.key, t)).collect();
        let opened = replayed.threads.iter().map(|(k, t)| (*k, (**t).clone())).collect();
        self.differences("thread", &threads, &opened);
        let messages = message::all(self.db, self.workspace, self.key)?.into_iter().collect();
        let changed = replayed.messages.iter().filter(|(_, state)| !state.is_plain());
        let changed: BTreeMap<Seq, _> = changed.map(|(s, state)| (*s, state.clone())).collect();
        self.differences("message", &messages, &changed);
        Ok(())
    }

    fn compare_head(&mut self, head: &Head, replayed: &Head) {
        if head.seq != replayed.seq {
            let (says, ends) = (head.seq, replayed.seq);
            self.found(None, format!("the head says {says} and the log ends at {ends}"));
        } else if head.hash != replayed.hash {
            self.found(Some(head.seq), "the head's hash is not the newest event's");
        }
        if head.last_at != replayed.last_at {
            self.found(None, "the head's time is not the newest event's");
        }
        if head.unattended != replayed.unattended {
            let (says, are) = (head.unattended, replayed.unattended);
            self.found(None, format!("the head counts {says} unattended messages, the log {are}"));
        }
        if head.settled > head.seq {
            self.found(None, "the head counts more events as settled than there are");
        }
    }

    fn differences<K: Ord + Copy + std::fmt::Display, V: PartialEq + Debug>(
        &mut self,
        what: &str,
        stored: &BTreeMap<K, V>,
        replayed: &BTreeMap<K, V>,
    ) {
        for (key, value) in stored {
            match replayed.get(key) {
                None => self.found(None, format!("the {what} {key} is stored but not in the log")),
                Some(other) if other != value => {
                    self.found(None, format!("the {what} {key} differs from the log"));
                }
                Some(_) => {}
            }
        }
        for key in replayed.keys().filter(|key| !stored.contains_key(key)) {
            self.found(None, format!("the {what} {key} is in the log but not stored"));
        }
    }
}
