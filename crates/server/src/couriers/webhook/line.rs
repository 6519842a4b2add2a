//! What waits for one endpoint in one channel: there one post waits for the other, so that the agent hears things in
//! their order. No I/O in here; times are given.

use std::collections::VecDeque;

use chorus_core::attention::Mode;
use chorus_core::attention::compose::{Compose, Fragment, Settings};
use chorus_core::command::Offer;
use chorus_core::delivery::Retry;
use chorus_core::event::Change;
use chorus_core::ids::{MemberKey, Timestamp, Uid};

use super::payload::Thought;

pub(super) struct Line {
    /// Fragments of authors who may still be writing; none where each is posted at once.
    compose: Option<Compose<MemberKey, Offer>>,
    ready: VecDeque<Thought>,
    /// The first of them is being posted.
    posting: bool,
}

impl Line {
    pub(super) fn new(compose: Option<Settings>) -> Self {
        Self { compose: compose.map(Compose::new), ready: VecDeque::new(), posting: false }
    }

    /// Takes an offer. One that is here already is offered with another attempt, and goes with that.
    pub(super) fn push(&mut self, offer: Offer, now: Timestamp) {
        let id = offer.entry.event.uid;
        if let Some(known) = self.ready.iter_mut().flatten().find(|f| f.id == id) {
            // That a post of it failed may be known here alone so far.
            let retry = [known.item.retry.take(), offer.retry]
                .into_iter()
                .flatten()
                .max_by_key(|r| r.failed);
            known.item = Offer { retry, ..offer };
            return;
        }
        let text = text_of(&offer);
        let fragment = Fragment {
            id,
            author: offer.entry.event.actor,
            immediate: offer.decision.mode != Mode::Buffered,
            names_other: names_other(&offer),
            text,
            item: offer,
        };
        match &mut self.compose {
            Some(compose) => match compose.delete(id) {
                Some(known) => compose.push(Fragment { item: fragment.item, ..known }, now),
                None => compose.push(fragment, now),
            },
            None => self.ready.push_back(vec![fragment]),
        }
    }

    /// It is not to be posted any more, unless it is just being.
    pub(super) fn withdraw(&mut self, event: Uid) {
        if let Some(compose) = &mut self.compose {
            compose.delete(event);
        }
        let under_way = usize::from(self.posting).min(self.ready.len());
        let mut later = self.ready.split_off(under_way);
        later.iter_mut().for_each(|thought| thought.retain(|f| f.id != event));
        later.retain(|thought| !thought.is_empty());
        self.ready.append(&mut later);
    }

    /// Whose authors have finished is ready.
    pub(super) fn ripen(&mut self, now: Timestamp) {
        if let Some(compose) = &mut self.compose {
            while let Some(thought) = compose.poll(now) {
                self.ready.push_back(thought);
            }
        }
    }

    /// When an author will have finished, if nothing happens before.
    fn ripe(&self) -> Option<Timestamp> {
        self.compose.as_ref().and_then(Compose::next_wake)
    }

    /// What is known of posts of the first that failed.
    pub(super) fn retry(&self) -> Option<Retry> {
        let first = self.ready.front()?;
        first
            .iter()
            .filter_map(|f| f.item.retry.as_deref().copied())
            .max_by_key(|retry| retry.failed)
    }

    /// When the next post is tried again, if it waits for that.
    fn again(&self) -> Option<Timestamp> {
        self.retry().map(|retry| retry.until).filter(|_| !self.posting)
    }

    /// Since when something is to be posted now, if it is.
    pub(super) fn due(&self, now: Timestamp) -> Option<Timestamp> {
        if self.posting || self.again().is_some_and(|again| again > now) {
            return None;
        }
        self.ready.front().and_then(|thought| thought.last()).map(|f| f.item.entry.event.at)
    }

    /// What is to be posted now; it is under way until [`Line::done`] or [`Line::failed`].
    pub(super) fn start(&mut self) -> Option<&Thought> {
        let first = self.ready.front()?;
        self.posting = true;
        Some(first)
    }

    /// What was under way is over, and is given back with the attempts it was offered with meanwhile.
    pub(super) fn done(&mut self) -> Thought {
        self.posting = false;
        self.ready.pop_front().unwrap_or_default()
    }

    /// What was under way is tried again; gives the newest of it.
    pub(super) fn failed(&mut self, retry: Retry) -> Option<&Offer> {
        self.posting = false;
        let newest = self.ready.front_mut()?.last_mut()?;
        newest.item.retry = Some(Box::new(retry));
        Some(&newest.item)
    }

    /// Offers that wait or are under way.
    pub(super) fn len(&self) -> usize {
        let composed = self.compose.as_ref().map_or(0, Compose::len);
        composed + self.ready.iter().map(Vec::len).sum::<usize>()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ready.is_empty() && self.compose.as_ref().is_none_or(Compose::is_empty)
    }
}

/// When something becomes due in one of the lines after `now`. What is due already waits for a post to end, and not for time.
pub(super) fn next<'a>(lines: impl Iterator<Item = &'a Line>, now: Timestamp) -> Option<Timestamp> {
    first(lines.flat_map(|line| [line.ripe(), line.again()]).flatten(), now)
}

fn first(times: impl Iterator<Item = Timestamp>, now: Timestamp) -> Option<Timestamp> {
    times.filter(|at| *at > now).min()
}

fn text_of(offer: &Offer) -> String {
    offer.entry.event.change.message().map(|m| m.text.to_string()).unwrap_or_default()
}

/// Whether it names somebody besides the agent, so that it belongs to no earlier thought.
fn names_other(offer: &Offer) -> bool {
    let attention = offer.entry.event.attention.as_deref();
    let told = attention.map_or(&[][..], |a| &a.told);
    matches!(offer.entry.event.change, Change::Posted(_))
        && told.iter().any(|t| {
            t.member != offer.member && t.decision.rule == chorus_core::attention::Rule::Mention
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_due_already_is_no_reason_to_wake() {
        let times = || [5, 20, 30].map(Timestamp).into_iter();
        assert_eq!(first(times(), Timestamp(4)), Some(Timestamp(5)));
        assert_eq!(first(times(), Timestamp(5)), Some(Timestamp(20)));
        assert_eq!(first(times(), Timestamp(30)), None);
    }
}
