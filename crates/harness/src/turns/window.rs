//! The compose window of a lane: core says how long one author's fragments wait ([`compose::closes`]); here
//! is what waits besides (design section 5, "Compose window"; ATT-49 to ATT-52).

use std::collections::BTreeMap;

use chorus_core::attention::Mode;
use chorus_core::attention::compose::{self, Habit, Piece, Settings, Typing};
use chorus_core::ids::Timestamp;
use chorus_wire::attention::deliver::Deliver;

use super::is_knock;
use super::lane::Waiting;

/// Authors whose habits are remembered.
const AUTHORS: usize = 1_024;
/// Who has been silent for this long gives way to others.
const FORGOTTEN_MS: i64 = 3_600_000;

/// What is known of those who write: conversation and author, and how they do it.
#[derive(Default)]
pub(super) struct Authors {
    known: BTreeMap<(String, String), Author>,
}

struct Author {
    habit: Habit,
    typing: Typing,
    heard: Timestamp,
}

impl Authors {
    /// The author has posted; so they do not type any more.
    pub(super) fn posted(&mut self, conversation: &str, author: &str, now: Timestamp) {
        if self.known.len() >= AUTHORS {
            self.known.retain(|_, author| now.since(author.heard) < FORGOTTEN_MS);
            if self.known.len() >= AUTHORS {
                self.known.clear();
            }
        }
        let key = (conversation.to_owned(), author.to_owned());
        self.known
            .entry(key)
            .and_modify(|author| {
                author.habit.note(now.since(author.heard));
                (author.typing, author.heard) = (Typing::Unknown, now);
            })
            .or_insert(Author { habit: Habit::default(), typing: Typing::Unknown, heard: now });
    }

    /// The author types, or has stopped. Of who has posted nothing here there is nothing to hold.
    pub(super) fn typing(
        &mut self,
        conversation: String,
        author: String,
        on: bool,
        now: Timestamp,
    ) {
        if let Some(author) = self.known.get_mut(&(conversation, author)) {
            author.typing = if on { Typing::Now } else { Typing::Stopped(now) };
        }
    }

    fn of(&self, delivery: &Deliver) -> (Typing, Habit) {
        let (conversation, author) = (&delivery.conversation.id, &delivery.author.id);
        let key = (conversation.clone().into_owned(), author.clone().into_owned());
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
    let opened = fragments.clone().map(|w| w.arrived).min()?;
    if fragments.clone().any(|w| w.delivery.injection.mode == Mode::Immediate) {
        return Some(opened);
    }
    let last = fragments.max_by_key(|w| w.changed)?;
    let text = last.delivery.text().unwrap_or_default();
    let (typing, habit) = authors.of(&last.delivery);
    let piece = Piece { text: &text, opened, changed: last.changed };
    Some(compose::closes(settings, piece, typing, habit))
}

/// Whether the fragment names somebody besides the recipient, so that it belongs to no earlier thought.
pub(super) fn names_other(delivery: &Deliver) -> bool {
    let key = &delivery.reliability.idempotency_key;
    let Some((_, me)) = key.split_once(':') else { return false };
    delivery.target.mentions.iter().any(|member| member != me)
}
