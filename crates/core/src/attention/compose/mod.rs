//! The compose window: fragments of one author become one turn (C2A "Injection mode `buffered`" and "Edits,
//! deletes, fragments"; design section 5, "Compose window").
//!
//! Sans-I/O: [`Compose`] is told what happens and when, [`Compose::poll`] gives the turns that are due, and
//! [`Compose::next_wake`] says when to ask again. It serves one recipient in one line of talk; every author
//! there has a window of their own, because what another says does not mean that the first is done.
//!
//! Invariants: a fragment comes out exactly once, in the order of its author's fragments, and never later
//! than the cap after its window opened, which is reached only while its author types or goes on. What was edited or deleted before comes out edited, or not at all.

mod completeness;
mod wait;

use std::collections::VecDeque;
use std::fmt;

use crate::model::ids::{Timestamp, Uid};
pub use wait::{Habit, Piece, Settings, Typing, closes};

/// Authors whose habit and typing are remembered; the one longest silent gives way.
const AUTHORS: usize = 64;

/// One message on its way into a turn. `A` tells authors apart; `T` is the caller's own.
#[derive(Clone, PartialEq, Eq)]
pub struct Fragment<A, T> {
    pub id: Uid,
    pub author: A,
    pub text: String,
    /// When its author posted it; none of an edit, which says nothing about how somebody writes.
    pub posted: Option<Timestamp>,
    /// It is to be shown at once, and what its author said before it with it.
    pub immediate: bool,
    /// It names somebody besides the recipient, so it belongs to no earlier thought.
    pub names_other: bool,
    pub item: T,
}

/// Without its text: what is printed may end in a log.
impl<A: fmt::Debug, T> fmt::Debug for Fragment<A, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, author, .. } = self;
        let mut shown = f.debug_struct("Fragment");
        shown.field("id", id).field("author", author).finish_non_exhaustive()
    }
}

/// The windows of one recipient in one line of talk.
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
    /// When the last fragment came or was changed.
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

    /// Takes a fragment. One that names somebody else closes its author's window and opens a new one; an
    /// immediate one closes it with itself inside.
    pub fn push(&mut self, fragment: Fragment<A, T>, now: Timestamp) {
        let author = self.author(&fragment.author);
        // Who has posted has stopped typing.
        author.typing = Typing::Unknown;
        if let Some(posted) = fragment.posted
            && let Some(before) = author.spoke.replace(posted)
            // The same message is offered again.
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

    /// The author types, or has stopped.
    pub fn typing(&mut self, author: &A, on: bool, now: Timestamp) {
        // Only somebody with a window can hold one.
        if self.windows.iter().any(|w| w.is_of(author)) {
            self.author(author).typing = if on { Typing::Now } else { Typing::Stopped(now) };
        }
    }

    /// Puts another wording in the place of a fragment that has not come out; says whether it was here.
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

    /// Takes out a fragment that has not come out, and gives it back.
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

    /// Closes the author's window now: the author has turned to somebody else, or the recipient has spoken.
    pub fn close(&mut self, author: &A) {
        if let Some(at) = self.windows.iter().position(|w| w.is_of(author)) {
            self.ready.push_back(self.windows.remove(at).fragments);
        }
    }

    /// The recipient has answered: what its authors do next says how they write to somebody who answers.
    pub fn answered(&mut self) {
        self.authors.iter_mut().for_each(Author::is_answered);
    }

    /// The same for one author alone.
    pub fn answered_to(&mut self, author: &A) {
        self.authors.iter_mut().filter(|a| a.id == *author).for_each(Author::is_answered);
    }

    /// The next turn that is due, oldest first. Ask until there is none.
    pub fn poll(&mut self, now: Timestamp) -> Option<Vec<Fragment<A, T>>> {
        if let Some(turn) = self.ready.pop_front() {
            return Some(turn);
        }
        let due = self.windows.iter().enumerate().map(|(at, w)| (self.due(w), at)).min()?;
        (due.0 <= now).then(|| self.windows.remove(due.1).fragments)
    }

    /// When [`Compose::poll`] has something next, if nothing happens before; in the past when it has now.
    pub fn next_wake(&self) -> Option<Timestamp> {
        let ready = self.ready.iter().map(|_| Timestamp(i64::MIN));
        ready.chain(self.windows.iter().map(|w| self.due(w))).min()
    }

    pub fn is_empty(&self) -> bool {
        self.windows.is_empty() && self.ready.is_empty()
    }

    /// What has not come out.
    pub fn waiting(&self) -> impl Iterator<Item = &Fragment<A, T>> {
        let windows = self.windows.iter().flat_map(|w| &w.fragments);
        windows.chain(self.ready.iter().flatten())
    }

    /// Fragments that have not come out.
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

    /// What is known of an author, who now becomes the one heard last.
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
