//! Which events have something on its way to the host, and which wait until the host offers them again.
//!
//! A line of talk that is paused takes no reply, for as long as no person lets it go on; replies elsewhere do
//! not wait for it. What the host offers again it takes an answer to, so that is when such a reply goes out
//! once more (attention, sections 13 and 14). Pure: nothing in here sends.

use std::collections::{HashMap, HashSet};

/// Things on their way to the host at once.
const MOST: usize = 16;

#[derive(Debug, Default)]
pub(crate) struct Sending {
    /// Whether the host has spoken of the event since this was sent.
    under_way: HashMap<String, bool>,
    withheld: HashSet<String>,
}

impl Sending {
    /// Whether what the event has in the outbox is to be sent now; it is under way then.
    pub(crate) fn begin(&mut self, event: &str) -> bool {
        let may = !self.is_full() && !self.withheld.contains(event);
        if !may || self.under_way.contains_key(event) {
            return false;
        }
        self.under_way.insert(event.to_owned(), false);
        true
    }

    /// What was under way has its answer. True when that was overtaken: the host has spoken of the event since
    /// it was sent, so that a refusal may be of a state that is over.
    pub(crate) fn ended(&mut self, event: &str) -> bool {
        self.under_way.remove(event).unwrap_or(false)
    }

    /// The host takes it later.
    pub(crate) fn withhold(&mut self, event: &str) {
        self.withheld.insert(event.to_owned());
    }

    /// The host has offered or withdrawn the event: an answer may be taken now, or never any more.
    pub(crate) fn stirred(&mut self, event: &str) {
        self.withheld.remove(event);
        if let Some(overtaken) = self.under_way.get_mut(event) {
            *overtaken = true;
        }
    }

    /// A new connection: everything may have changed.
    pub(crate) fn connected(&mut self) {
        self.withheld.clear();
        self.under_way.values_mut().for_each(|overtaken| *overtaken = true);
    }

    pub(crate) fn is_full(&self) -> bool {
        self.under_way.len() >= MOST
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.under_way.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_withheld_waits_for_the_host_and_holds_up_nothing_else() {
        let mut sending = Sending::default();
        assert!(sending.begin("a") && sending.begin("b"));
        assert!(!sending.begin("a"), "it is under way");
        assert!(!sending.ended("a") && !sending.ended("b"));
        sending.withhold("a");
        assert!(!sending.begin("a"), "the host does not take it now");
        assert!(sending.begin("b") && sending.begin("c"));
        sending.stirred("a");
        assert!(sending.begin("a"));
    }

    /// The host refused, then changed its mind, and we hear of that first.
    #[test]
    fn an_offer_that_overtakes_the_answer_is_not_forgotten() {
        type Overtake = fn(&mut Sending);
        let rows: [Overtake; 2] = [|s| s.stirred("a"), Sending::connected];
        for overtake in rows {
            let mut sending = Sending::default();
            assert!(sending.begin("a"));
            overtake(&mut sending);
            assert!(!sending.begin("a"), "still under way");
            assert!(sending.ended("a"));
            // Since it was sent again nothing has come yet.
            assert!(sending.begin("a"));
            assert!(!sending.ended("a"));
        }
    }

    #[test]
    fn a_new_connection_tries_everything_again() {
        let mut sending = Sending::default();
        sending.withhold("a");
        sending.connected();
        assert!(sending.begin("a"));
    }

    #[test]
    fn only_so_many_are_under_way_and_the_withheld_do_not_count() {
        let mut sending = Sending::default();
        for n in 0..2 * MOST {
            let event = n.to_string();
            assert!(sending.begin(&event));
            sending.ended(&event);
            sending.withhold(&event);
        }
        assert!(sending.is_idle());
        for n in 0..MOST {
            assert!(sending.begin(&format!("other {n}")));
        }
        assert!(sending.is_full() && !sending.begin("one more"));
    }
}
