//! The compose window: fragments of one author become one turn (C2A "Injection mode `buffered`" and
//! "Edits, deletes, fragments"; design section 5, "Compose window").
//!
//! Sans-I/O: the caller reports what happens and when to [`Compose`]. [`Compose::poll`] returns the
//! turns that are due, and [`Compose::next_wake`] says when to poll again. One [`Compose`] serves
//! one recipient in one timeline. Every author there has a separate window, because a message from
//! one author does not mean that another is done.
//!
//! Invariants: a fragment comes out exactly once, in the order of its author's fragments, and no
//! later than the cap after its window opened. The cap is reached only while the author keeps
//! typing or posting. A message that was edited before it comes out appears in its edited form; one
//! that was deleted does not appear.

mod completeness;
mod wait;

use std::collections::VecDeque;
use std::fmt;

use crate::model::ids::{Timestamp, Uid};
pub use wait::{Habit, Piece, Settings, Typing, closes};

/// Authors whose habit and typing are remembered. The one that has been silent longest is evicted.
const AUTHORS: usize = 64;

/// One message on its way into a turn. `A` identifies authors; `T` is the caller's payload.
#[derive(Clone, PartialEq, Eq)]
pub struct Fragment<A, T> {
    pub id: Uid,
    pub author: A,
    pub text: String,
    /// When its author posted it. None for an edit, which says nothing about the author's writing
    /// habit.
    pub posted: Option<Timestamp>,
    /// It must be shown at once, together with what its author said before it.
    pub immediate: bool,
    /// It names somebody besides the recipient, so it does not continue an earlier thought.
    pub names_other: bool,
    pub item: T,
}

/// Omits the text, because debug output may end up in a log.
impl<A: fmt::Debug, T> fmt::Debug for Fragment<A, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, author, .. } = self;
        let mut shown = f.debug_struct("Fragment");
        shown.field("id", id).field("author", author).finish_non_exhaustive()
    }
}

/// The windows of one recipient in one timeline.
#[derive(Clone, Debug)]
pub struct Compose<A, T> {
    settings: Settings,
    windows: Vec<Window<A, T>>,
    authors: VecDeque<Author<A>>,
    ready: VecDeque<Vec<Fragment<A, T>>>,
}

#[derive(Clone, Debug)]
struct Window<A, T> {
    opened: Timestamp,
    /// When the last fragment arrived or changed.
    changed: Timestamp,
    fragments: Vec<Fragment<A, T>>,
}

#[derive(Clone, Debug)]
struct Author<A> {
    id: A,
    habit: Habit,
    spoke: Option<Timestamp>,
    typing: Typing,
}

impl<A: Clone + PartialEq, T> Compose<A, T> {
    pub fn new(settings: Settings) -> Self {
        Self { settings, windows: Vec::new(), authors: VecDeque::new(), ready: VecDeque::new() }
    }

    /// Takes a fragment. One that names somebody else closes its author's window and opens a new
    /// one; an immediate one closes it with itself inside.
    pub fn push(&mut self, fragment: Fragment<A, T>, now: Timestamp) {
        let author = self.author(&fragment.author);
        // An author who has posted has stopped typing.
        author.typing = Typing::Unknown;
        if let Some(posted) = fragment.posted
            && let Some(before) = author.spoke.replace(posted)
            // The same message is being offered again.
            && posted > before
        {
            author.habit.note(posted.since(before));
        }
        if fragment.names_other {
            self.close(&fragment.author);
        }
        let immediate = fragment.immediate.then(|| fragment.author.clone());
        match self.windows.iter_mut().find(|w| w.is_of(&fragment.author)) {
            Some(window) => {
                window.changed = now;
                window.fragments.push(fragment);
            }
            None => {
                self.windows.push(Window { opened: now, changed: now, fragments: vec![fragment] })
            }
        }
        if let Some(author) = immediate {
            self.close(&author);
        }
    }

    /// The author is typing, or has stopped.
    pub fn typing(&mut self, author: &A, on: bool, now: Timestamp) {
        // Only an author with an open window can hold it open.
        if self.windows.iter().any(|w| w.is_of(author)) {
            self.author(author).typing = if on { Typing::Now } else { Typing::Stopped(now) };
        }
    }

    /// Replaces the text of a fragment that has not come out. Returns whether the fragment was
    /// here.
    pub fn edit(&mut self, id: Uid, text: String, item: T, now: Timestamp) -> bool {
        for window in &mut self.windows {
            if let Some(fragment) = window.fragments.iter_mut().find(|f| f.id == id) {
                fragment.text = text;
                fragment.item = item;
                window.changed = window.changed.max(now);
                return true;
            }
        }
        let mut waiting = self.ready.iter_mut().flatten();
        let Some(fragment) = waiting.find(|f| f.id == id) else { return false };
        fragment.text = text;
        fragment.item = item;
        true
    }

    /// Removes and returns a fragment that has not come out.
    pub fn delete(&mut self, id: Uid) -> Option<Fragment<A, T>> {
        let windows = self.windows.iter_mut().map(|w| &mut w.fragments);
        let found = windows.chain(&mut self.ready).find_map(|fragments| {
            let at = fragments.iter().position(|f| f.id == id)?;
            Some(fragments.remove(at))
        });
        self.windows.retain(|w| !w.fragments.is_empty());
        self.ready.retain(|turn| !turn.is_empty());
        found
    }

    /// Closes the author's window now, because the author has turned to somebody else or the
    /// recipient has spoken.
    pub fn close(&mut self, author: &A) {
        if let Some(at) = self.windows.iter().position(|w| w.is_of(author)) {
            self.ready.push_back(self.windows.remove(at).fragments);
        }
    }

    /// The recipient has answered. What the authors do next shows how they write to a recipient who
    /// answers.
    pub fn answered(&mut self) {
        self.authors.iter_mut().for_each(Author::is_answered);
    }

    /// The same, for one author only.
    pub fn answered_to(&mut self, author: &A) {
        self.authors.iter_mut().filter(|a| a.id == *author).for_each(Author::is_answered);
    }

    /// Returns the next turn that is due, oldest first. Call until it returns none.
    pub fn poll(&mut self, now: Timestamp) -> Option<Vec<Fragment<A, T>>> {
        if let Some(turn) = self.ready.pop_front() {
            return Some(turn);
        }
        let due = self.windows.iter().enumerate().map(|(at, w)| (self.due(w), at)).min()?;
        (due.0 <= now).then(|| self.windows.remove(due.1).fragments)
    }

    /// When [`Compose::poll`] will next have a turn, if nothing happens before then. In the past if
    /// it has one now.
    pub fn next_wake(&self) -> Option<Timestamp> {
        let ready = self.ready.iter().map(|_| Timestamp(i64::MIN));
        ready.chain(self.windows.iter().map(|w| self.due(w))).min()
    }

    pub fn is_empty(&self) -> bool {
        self.windows.is_empty() && self.ready.is_empty()
    }

    /// Fragments that have not come out.
    pub fn waiting(&self) -> impl Iterator<Item = &Fragment<A, T>> {
        let windows = self.windows.iter().flat_map(|w| &w.fragments);
        windows.chain(self.ready.iter().flatten())
    }

    /// How many fragments have not come out.
    pub fn len(&self) -> usize {
        let windows = self.windows.iter().map(|w| w.fragments.len());
        windows.chain(self.ready.iter().map(Vec::len)).sum()
    }

    fn due(&self, window: &Window<A, T>) -> Timestamp {
        let author =
            window.fragments.first().and_then(|f| self.authors.iter().find(|a| a.id == f.author));
        let typing = author.map_or(Typing::Unknown, |a| a.typing);
        let habit = author.map_or(Habit::default(), |a| a.habit);
        let text = window.fragments.last().map_or("", |f| f.text.as_str());
        let piece = Piece { text, opened: window.opened, changed: window.changed };
        closes(&self.settings, piece, typing, habit)
    }

    /// The record of an author, who now becomes the most recently heard.
    fn author(&mut self, id: &A) -> &mut Author<A> {
        let known =
            self.authors.iter().position(|a| a.id == *id).and_then(|at| self.authors.remove(at));
        let author = known.unwrap_or_else(|| Author {
            id: id.clone(),
            habit: Habit::default(),
            spoke: None,
            typing: Typing::Unknown,
        });
        if self.authors.len() >= AUTHORS {
            self.authors.pop_back();
        }
        self.authors.push_front(author);
        &mut self.authors[0]
    }
}

impl<A> Author<A> {
    fn is_answered(&mut self) {
        (self.habit, self.spoke) = (Habit::default(), None);
    }
}

impl<A: PartialEq, T> Window<A, T> {
    fn is_of(&self, author: &A) -> bool {
        self.fragments.first().is_some_and(|f| f.author == *author)
    }
}

#[cfg(test)]
mod tests;
