//! The compose window of a lane: core says how long one author's fragments wait ([`compose::closes`]); here
//! is what waits besides (design section 5, "Compose window"; ATT-49 to ATT-52).

use std::collections::BTreeMap;

use chorus_core::attention::compose::{self, Habit, Piece, Settings, Typing};
use chorus_core::model::attention::Mode;
use chorus_core::model::ids::Timestamp;
use chorus_wire::attention::deliver::Deliver;

use super::lane::Waiting;
use super::{Place, is_knock, place_of};

/// Authors whose habits are remembered.
const AUTHORS: usize = 1_024;
/// Who has been silent for this long gives way to others.
const FORGOTTEN_MS: i64 = 3_600_000;

/// What is known of those who write, and how they do it.
#[derive(Default)]
pub(super) struct Authors {
    known: BTreeMap<(Place, String), Author>,
}

struct Author {
    habit: Habit,
    typing: Typing,
    heard: Timestamp,
    /// When they posted last, by the host's clock; none since the agent answered.
    posted: Option<Timestamp>,
}

impl Authors {
    /// The author has posted; so they do not type any more.
    pub(super) fn posted(&mut self, place: &Place, waiting: &Waiting, now: Timestamp) {
        if self.known.len() >= AUTHORS {
            self.known.retain(|_, author| now.since(author.heard) < FORGOTTEN_MS);
            if self.known.len() >= AUTHORS {
                self.known.clear();
            }
        }
        let delivery = &waiting.delivery;
        let key = (place.clone(), delivery.author.id.clone().into_owned());
        let (habit, typing) = (Habit::default(), Typing::Unknown);
        let author =
            self.known.entry(key).or_insert(Author { habit, typing, heard: now, posted: None });
        (author.typing, author.heard) = (typing, now);
        // An edit says nothing about how somebody writes, and neither does what is taken up again after a restart.
        if delivery.replaces.is_some() || waiting.ran || waiting.recovered {
            return;
        }
        let posted = *delivery.timing.created_at;
        if let Some(before) = author.posted.replace(posted).filter(|before| posted > *before) {
            author.habit.note(posted.since(before));
        }
    }

    /// The agent has answered there: what its authors do next says how they write to somebody who answers.
    pub(super) fn answered(&mut self, place: &Place) {
        for (_, author) in self.known.iter_mut().filter(|((at, _), _)| at == place) {
            (author.habit, author.posted) = (Habit::default(), None);
        }
    }

    /// The author types, or has stopped. Of who has posted nothing here there is nothing to hold.
    pub(super) fn typing(&mut self, conversation: &str, author: &str, on: bool, now: Timestamp) {
        let here =
            |(place, who): &(Place, String)| place.conversation == conversation && who == author;
        for (_, author) in self.known.iter_mut().filter(|(key, _)| here(key)) {
            author.typing = if on { Typing::Now } else { Typing::Stopped(now) };
        }
    }

    fn of(&self, delivery: &Deliver) -> (Typing, Habit) {
        let key = (place_of(delivery), delivery.author.id.clone().into_owned());
        self.known.get(&key).map_or((Typing::Unknown, Habit::default()), |a| (a.typing, a.habit))
    }
}

/// When each of these may go into a turn, as far as it is up to its author. Every author has a window of
/// their own: what another says does not mean that the first is done.
pub(super) fn dues(waiting: &[Waiting], authors: &Authors, settings: &Settings) -> Vec<Timestamp> {
    let mut windows: BTreeMap<&str, Timestamp> = BTreeMap::new();
    for w in waiting.iter().filter(|w| is_open(w)) {
        let author = &*w.delivery.author.id;
        if !windows.contains_key(author) {
            let fragments = waiting.iter().filter(|w| is_open(w) && w.delivery.author.id == author);
            windows.insert(author, closes(fragments, authors, settings).unwrap_or(w.arrived));
        }
    }
    waiting
        .iter()
        .map(|w| {
            let window = windows.get(&*w.delivery.author.id).filter(|_| is_open(w));
            window.copied().unwrap_or(w.arrived).max(w.not_before)
        })
        .collect()
}

/// Whether it waits for its author: neither closed by what came after it, nor a knock, which nobody writes.
fn is_open(waiting: &Waiting) -> bool {
    !waiting.closed && !is_knock(&waiting.delivery)
}

/// When the window over one author's fragments closes. What is to be shown at once takes along what its
/// author said before it.
fn closes<'a>(
    fragments: impl Iterator<Item = &'a Waiting> + Clone,
    authors: &Authors,
    settings: &Settings,
) -> Option<Timestamp> {
    // What joins a run opens a window of its own, however long ago that of the run was.
    let new = fragments.clone().filter(|w| !w.ran).map(|w| w.arrived).min();
    let opened = new.or_else(|| fragments.clone().map(|w| w.changed).max())?;
    if fragments.clone().any(|w| w.delivery.injection.mode == Mode::Immediate) {
        return Some(opened);
    }
    let last = fragments.max_by_key(|w| w.changed)?;
    let text = last.delivery.text().unwrap_or_default();
    let (typing, habit) = authors.of(&last.delivery);
    let piece = Piece { text: &text, opened, changed: last.changed };
    Some(compose::closes(settings, piece, typing, habit))
}
