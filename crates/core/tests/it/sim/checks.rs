//! The invariants of the design's section 5, checked over all that was said.

use std::collections::{BTreeMap, BTreeSet};

use chorus_core::model::attention::{Policy, Rule};
use chorus_core::model::error::Code;
use chorus_core::model::event::{Change, Event};
use chorus_core::model::ids::{ConversationKey, Timestamp};
use chorus_core::model::limits;

use super::world::World;

impl World {
    pub(crate) fn check_end(&self) {
        let mut heads: BTreeMap<ConversationKey, (u64, [u8; 32], Timestamp)> = BTreeMap::new();
        for (at, event) in &self.log.events {
            let (seq, hash, last) =
                heads.entry(at.conversation).or_insert((0, [0; 32], Timestamp(0)));
            assert_eq!(at.seq.0, *seq + 1, "seq rises by exactly one");
            assert!(event.at >= *last, "time never goes back");
            assert_eq!(event.hash, event.chain(hash), "the chain holds");
            (*seq, *hash, *last) = (at.seq.0, event.hash, event.at);
            self.check_event(event);
        }
        for ((event, member), said) in &self.replies {
            assert!(
                *said <= u32::from(limits::MESSAGES_PER_TURN),
                "{event:?} {member} said {said}"
            );
        }
        self.check_roles();
        self.check_obligations();
    }

    /// A room in which nobody gets in another's way shows little.
    pub(crate) fn check_contention(&self) {
        let refused = self.refusals.get(&Code::ClaimedByOther);
        assert!(refused.is_some(), "nobody wanted what another held: {}", self.summary());
    }

    fn check_event(&self, event: &Event) {
        let Some(attention) = &event.attention else { return };
        let agent = self.ws.directory().is_agent(event.actor);
        let mut seen = BTreeSet::new();
        for told in &attention.told {
            assert!(seen.insert(told.member), "told once");
            assert_ne!(told.member, event.actor, "an author is not told of its own words");
            let obliged = told.decision.policy == Policy::MustRespond;
            if agent && event.hop >= limits::HOP_NO_OBLIGATION {
                assert!(!obliged, "from hop 6 on nobody is obliged");
            }
            if agent && event.hop >= limits::HOP_END {
                assert!(!self.ws.directory().is_agent(told.member), "the chain ends at a person");
            }
        }
        assert!(!agent || event.hop >= 1, "an agent's message has a hop");
        assert!(agent || event.hop == 0, "a person's message is hop 0");
        assert!(event.hop <= limits::HOP_END, "no chain goes on beyond its end");
    }

    /// A role mention is answered by exactly one of the role.
    fn check_roles(&self) {
        for (at, event) in &self.log.events {
            // In a direct conversation everybody is asked, whatever role is named.
            let told = event.attention.iter().flat_map(|attention| &attention.told);
            let of_role = told.into_iter().any(|t| t.decision.rule == Rule::RoleMention);
            let Change::Posted(message) = &event.change else { continue };
            if !of_role || !message.text.starts_with("@helpers") {
                continue;
            }
            let answered: BTreeSet<_> = self
                .replies
                .keys()
                .filter(|(uid, member)| *uid == event.uid && self.ws.directory().is_agent(*member))
                .map(|(_, member)| *member)
                .collect();
            assert!(answered.len() <= 1, "{at:?} answered by {answered:?}");
        }
    }

    /// Every obligation ended, moved to a person, or is listed as dead.
    fn check_obligations(&self) {
        for room in self.ws.rooms() {
            for open in room.open().values() {
                // Where agents have said what they may, what is owed waits for a person.
                let paused = self.ws.is_paused(room, open.thread);
                for delivery in open.deliveries.iter().filter(|d| d.is_open() && d.is_obligation())
                {
                    let person = !self.ws.directory().is_agent(delivery.member);
                    let waits = paused && delivery.stands_still();
                    assert!(
                        person || waits,
                        "an agent still owes an answer after an hour: {delivery:?}"
                    );
                }
            }
        }
        for (at, open) in self.log.receipts.iter() {
            assert!(open.is_settled(), "{at:?} has a receipt and is open");
            assert!(!self.log.pending.contains_key(at), "{at:?} is pending and settled");
        }
    }
}
