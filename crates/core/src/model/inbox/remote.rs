//! The state of an external channel, stored beside the conversation that mirrors it.

use std::collections::BTreeMap;

use crate::model::endpoint::Secret;
use crate::model::event::Hash;
use crate::model::ids::{Seq, Timestamp, Uid};
use crate::model::limits;

/// The link between a conversation here and the channel of another service that it mirrors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remote {
    /// The inbox that it delivers to.
    pub inbox: Uid,
    /// The hash of the channel's id there.
    pub channel: Hash,
    /// The newest message for the service.
    pub said: Seq,
    /// The position up to which such messages were sent or given up.
    pub sent: Seq,
    /// Where output is sent, by the event that it answers; the newest ones.
    pub callbacks: BTreeMap<Seq, Callback>,
}

/// Where the output of one delivery is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Callback {
    pub at: Timestamp,
    pub sealed: Secret,
}

impl Remote {
    pub fn new(inbox: Uid, channel: Hash) -> Self {
        let (said, sent) = Default::default();
        Self { inbox, channel, said, sent, callbacks: BTreeMap::new() }
    }

    /// Whether something is still to be sent.
    pub fn owes(&self) -> bool {
        self.said > self.sent
    }

    /// Where the answer to an event is sent: its own callback, otherwise the newest.
    pub fn callback(&self, of: Option<Seq>, now: Timestamp) -> Option<&Callback> {
        let fresh = |c: &&Callback| !c.is_over(now);
        let own = of.and_then(|seq| self.callbacks.get(&seq)).filter(fresh);
        own.or_else(|| self.callbacks.values().filter(fresh).max_by_key(|c| c.at))
    }

    /// Adds a callback and returns the ones removed for it: expired ones, and the oldest beyond the
    /// limit.
    pub fn keep(&mut self, of: Seq, callback: Callback) -> Vec<Seq> {
        let now = callback.at;
        self.callbacks.insert(of, callback);
        let over = self.callbacks.iter().filter(|(_, c)| c.is_over(now)).map(|(seq, _)| *seq);
        let mut gone: Vec<Seq> = over.collect();
        gone.iter().for_each(|seq| drop(self.callbacks.remove(seq)));
        while self.callbacks.len() > limits::CALLBACKS {
            gone.extend(self.callbacks.pop_first().map(|(seq, _)| seq));
        }
        gone
    }
}

impl Callback {
    /// Whether it is too old to be used.
    pub fn is_over(&self, now: Timestamp) -> bool {
        now.since(self.at) >= limits::CALLBACK_MS
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn callback(at: i64) -> Callback {
        Callback { at: Timestamp(at), sealed: Secret(at.to_string().into()) }
    }

    // covers: WHK-78
    #[test]
    fn output_goes_to_its_own_callback_and_else_to_the_newest() {
        let mut remote = Remote::new(Uid(1), [0; 32]);
        for seq in 1..=3 {
            assert!(remote.keep(Seq(seq), callback(seq as i64)).is_empty());
        }
        let now = Timestamp(10);
        assert_eq!(remote.callback(Some(Seq(2)), now), Some(&callback(2)));
        assert_eq!(remote.callback(Some(Seq(9)), now), Some(&callback(3)));
        // The same message came again with another callback.
        remote.keep(Seq(1), callback(7));
        assert_eq!(remote.callback(None, now), Some(&callback(7)));
        assert_eq!(remote.callback(None, Timestamp(limits::CALLBACK_MS + 7)), None);
    }

    #[test]
    fn callbacks_are_few_and_end() {
        let mut remote = Remote::new(Uid(1), [0; 32]);
        let most = limits::CALLBACKS as u64;
        for seq in 1..=most {
            assert!(remote.keep(Seq(seq), callback(1)).is_empty());
        }
        assert_eq!(remote.keep(Seq(most + 1), callback(1)), [Seq(1)]);
        let gone = remote.keep(Seq(most + 2), callback(1 + limits::CALLBACK_MS));
        assert_eq!((gone.len(), remote.callbacks.len()), (limits::CALLBACKS, 1));
    }
}
