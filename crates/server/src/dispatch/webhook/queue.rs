//! What waits for one endpoint in one channel: there one post waits for the other, so that the agent hears things in
//! their order. No I/O in here; times are given.

use std::collections::VecDeque;

use chorus_core::attention::compose::{Compose, Fragment, Settings};
use chorus_core::model::attention::{Mode, Rule};
use chorus_core::model::delivery::Retry;
use chorus_core::model::event::Change;
use chorus_core::model::ids::{EventRef, MemberKey, Timestamp, Uid};
use chorus_core::model::limits;
use chorus_core::model::offer::Offer;

use super::runs::Left;
use super::thought::{Piece, Thought};

pub(super) struct Queue {
    /// Fragments of authors who may still be writing; none where each is posted at once.
    compose: Option<Compose<MemberKey, Offer>>,
    ready: VecDeque<Thought>,
    /// The first of them is being posted.
    posting: bool,
    /// What was posted lately, one of each author, which more of theirs may join.
    runs: Vec<Run>,
}

/// A thought that the agent has taken.
struct Run {
    thought: Thought,
    since: Timestamp,
    /// The delivery that is answered.
    at: EventRef,
    /// It is to be delivered again with what its author says now.
    joined: bool,
}

impl Queue {
    pub(super) fn new(compose: Option<Settings>) -> Self {
        let compose = compose.map(Compose::new);
        Self { compose, ready: VecDeque::new(), posting: false, runs: Vec::new() }
    }

    /// Takes an offer. One that is here already is offered with another attempt, and goes with that.
    pub(super) fn push(&mut self, mut offer: Offer, now: Timestamp) {
        let id = offer.entry.event.uid;
        let mut waiting = self.ready.iter_mut().flat_map(|thought| &mut thought.fragments);
        if let Some(known) = waiting.find(|f| f.id == id) {
            // That a post of it failed may be known here alone so far.
            let retry = [known.item.retry.take(), offer.retry.take()]
                .into_iter()
                .flatten()
                .max_by_key(|r| r.failed);
            // One that was made before the last post is known already.
            if offer.attempt > known.item.attempt {
                known.item = offer;
            }
            known.item.retry = retry;
            return;
        }
        let reminds = offer.reminds;
        let fragment = piece(offer);
        match &mut self.compose {
            // A signal is no part of a thought.
            _ if reminds => self.ready.push_back(Thought::of(vec![fragment])),
            Some(compose) => match compose.delete(id) {
                Some(known) => compose.push(Fragment { item: fragment.item, ..known }, now),
                None => compose.push(fragment, now),
            },
            None => self.ready.push_back(Thought::of(vec![fragment])),
        }
    }

    /// An author types, or has stopped.
    pub(super) fn typing(&mut self, author: MemberKey, on: bool, now: Timestamp) {
        if let Some(compose) = &mut self.compose {
            compose.typing(&author, on, now);
        }
    }

    /// It is not to be posted any more, unless it is just being. Says what becomes of runs by that.
    pub(super) fn withdraw(&mut self, event: Uid) -> Left {
        if let Some(compose) = &mut self.compose {
            compose.delete(event);
        }
        let under_way = usize::from(self.posting).min(self.ready.len());
        let mut later = self.ready.split_off(under_way);
        later.iter_mut().for_each(|thought| thought.fragments.retain(|f| f.id != event));
        later.retain(|thought| !thought.fragments.is_empty());
        self.ready.append(&mut later);
        let mut left = Left::default();
        self.runs.retain(|run| {
            let gone = run.thought.newest().is_none_or(|f| f.id == event);
            left.over.extend(gone.then_some(run.at));
            !gone
        });
        for run in &mut self.runs {
            run.thought.joins.retain(|f| f.id != event);
            run.thought.fragments.retain(|f| f.id != event);
            if run.joined && !is_awaited(&self.compose, &self.ready, run.thought.newest()) {
                run.joined = false;
                left.goes_on = Some(run.at);
            }
        }
        left
    }

    /// The run that an offer joins, if its author has one here that may be delivered again: its delivery and event.
    pub(super) fn joins(&self, offer: &Offer) -> Option<(EventRef, Uid)> {
        let apart = offer.reminds || offer.decision.mode != Mode::Buffered || names_other(offer);
        if self.compose.is_none() || apart {
            return None;
        }
        let event = &offer.entry.event;
        let thread = |offer: &Offer| offer.entry.thread.as_ref().map(|thread| thread.uid);
        let goes_on = |f: &Piece| f.author == event.actor && thread(&f.item) == thread(offer);
        let run = self.runs.iter().find(|run| run.thought.newest().is_some_and(goes_on))?;
        // What is offered once more does not join itself.
        let known = run.thought.pieces().any(|f| f.id == event.uid);
        run.thought.newest().filter(|_| !known).map(|newest| (run.at, newest.id))
    }

    /// The same of the thought that is posted next.
    pub(super) fn next_joins(&self) -> Option<(EventRef, Uid)> {
        let first = self.ready.front().filter(|first| first.replaces.is_empty())?;
        self.joins(&first.fragments.first()?.item)
    }

    /// The author of an event adds to its run.
    pub(super) fn joined(&mut self, at: EventRef) {
        self.runs.iter_mut().filter(|run| run.at == at).for_each(|run| run.joined = true);
    }

    /// The run is over: nothing joins it.
    pub(super) fn over(&mut self, at: EventRef) {
        self.runs.retain(|run| run.at != at);
    }

    /// The thought that is posted next takes the place of the run.
    pub(super) fn replace(&mut self, at: EventRef) {
        let Some(place) = self.runs.iter().position(|run| run.at == at) else { return };
        let Some(first) = self.ready.front_mut() else { return };
        let before = self.runs.remove(place).thought;
        first.replaces = before.replaces;
        first.replaces.extend(before.fragments.last().map(|f| f.id));
        first.joins = before.joins;
        first.joins.extend(before.fragments);
    }

    /// The agent has taken it: what its author adds may join it. True when something does already.
    pub(super) fn ran(&mut self, thought: Thought, now: Timestamp) -> (bool, Left) {
        let mut left = Left::default();
        let Some(newest) = thought.newest() else { return (false, left) };
        let (at, author) = (at(&newest.item), newest.author);
        self.runs.retain(|run| {
            let gone = run.thought.newest().is_none_or(|f| f.author == author);
            left.over.extend((gone && run.at != at).then_some(run.at));
            !gone
        });
        let goes_on = newest.item.decision.mode == Mode::Buffered && !by_role(&newest.item);
        if self.compose.is_none() || !goes_on || thought.is_last() {
            left.over.push(at);
            return (false, left);
        }
        let joined = is_awaited(&self.compose, &self.ready, Some(newest));
        self.runs.push(Run { thought, since: now, at, joined });
        (joined, left)
    }

    /// A run that goes on from before this worker: what its author adds may join it.
    pub(super) fn resume(&mut self, offer: Offer, now: Timestamp) -> Left {
        self.ran(Thought::of(vec![piece(offer)]), now).1
    }

    /// Runs that have had all the time that one has are joined by nothing.
    pub(super) fn forget(&mut self, now: Timestamp) -> Left {
        let mut left = Left::default();
        self.runs.retain(|run| {
            let gone = now.since(run.since) >= limits::TURN_CAP_MS;
            left.over.extend(gone.then_some(run.at));
            !gone
        });
        left
    }

    /// The runs that may be joined.
    pub(super) fn runs(&self) -> impl Iterator<Item = EventRef> + '_ {
        self.runs.iter().map(|run| run.at)
    }

    /// The agent has answered in a run of the line.
    pub(super) fn answered(&mut self) {
        if let Some(compose) = &mut self.compose {
            compose.answered();
        }
    }

    /// Whose authors have finished is ready.
    pub(super) fn ripen(&mut self, now: Timestamp) {
        if let Some(compose) = &mut self.compose {
            while let Some(fragments) = compose.poll(now) {
                self.ready.push_back(Thought::of(fragments));
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
            .fragments
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
        self.ready.front().and_then(Thought::newest).map(|f| f.item.entry.event.at)
    }

    /// What is to be posted now; it is under way until [`Queue::done`] or [`Queue::failed`].
    pub(super) fn start(&mut self) -> Option<&Thought> {
        let first = self.ready.front_mut()?;
        self.posting = true;
        if first.posted == 0 {
            first.posted = first.newest().map_or(0, |newest| newest.item.attempt);
        }
        Some(first)
    }

    /// The newest of what is posted next, if a post of it has failed.
    pub(super) fn posted_before(&self) -> Option<&Offer> {
        let first = self.ready.front().filter(|first| first.posted > 0)?;
        first.newest().map(|newest| &newest.item)
    }

    /// What is posted next is an attempt of its own.
    pub(super) fn renew(&mut self, attempt: u16) {
        let newest = self.ready.front_mut().and_then(|first| first.fragments.last_mut());
        if let Some(newest) = newest {
            newest.item.attempt = attempt.max(newest.item.attempt);
        }
    }

    /// Whether what is under way is a reminder.
    pub(super) fn reminds(&self) -> bool {
        self.ready.front().is_some_and(Thought::reminds)
    }

    /// What was under way is over, and is given back with the attempts it was offered with meanwhile.
    pub(super) fn done(&mut self) -> Thought {
        self.posting = false;
        self.ready.pop_front().unwrap_or_default()
    }

    /// What was under way is tried again; gives the newest of it.
    pub(super) fn failed(&mut self, retry: Retry) -> Option<&Offer> {
        self.posting = false;
        let newest = self.ready.front_mut()?.fragments.last_mut()?;
        newest.item.retry = Some(Box::new(retry));
        Some(&newest.item)
    }

    /// Offers that wait or are under way.
    pub(super) fn len(&self) -> usize {
        let composed = self.compose.as_ref().map_or(0, Compose::len);
        composed + self.ready.iter().map(|thought| thought.fragments.len()).sum::<usize>()
    }

    pub(super) fn is_empty(&self) -> bool {
        let waits = !self.ready.is_empty() || self.compose.as_ref().is_some_and(|c| !c.is_empty());
        !waits && self.runs.is_empty()
    }
}

fn piece(offer: Offer) -> Piece {
    let event = &offer.entry.event;
    Fragment {
        id: event.uid,
        author: event.actor,
        posted: matches!(event.change, Change::Posted(_)).then_some(event.at),
        immediate: offer.decision.mode != Mode::Buffered,
        names_other: names_other(&offer),
        text: text_of(&offer),
        item: offer,
    }
}

/// Whether more of its author waits to be posted.
fn is_awaited(
    compose: &Option<Compose<MemberKey, Offer>>,
    ready: &VecDeque<Thought>,
    piece: Option<&Piece>,
) -> bool {
    let Some(piece) = piece else { return false };
    let more = |f: &Piece| {
        let apart = f.item.reminds || f.item.decision.mode != Mode::Buffered || f.names_other;
        f.author == piece.author && !apart
    };
    compose.as_ref().is_some_and(|c| c.waiting().any(more))
        || ready.iter().filter_map(|thought| thought.fragments.first()).any(more)
}

/// Whether the agent holds it for a role: as superseded it would be offered to the next of that.
fn by_role(offer: &Offer) -> bool {
    matches!(offer.decision.rule, Rule::RoleMention | Rule::Claimed)
}

fn at(offer: &Offer) -> EventRef {
    EventRef { conversation: offer.entry.conversation.key, seq: offer.entry.event.seq }
}

/// When something becomes due in one of the lines after `now`. What is due already waits for a post to end, and not for time.
pub(super) fn next<'a>(
    lines: impl Iterator<Item = &'a Queue>,
    now: Timestamp,
) -> Option<Timestamp> {
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
        && told.iter().any(|t| t.member != offer.member && t.decision.rule == Rule::Mention)
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
