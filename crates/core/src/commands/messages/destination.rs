//! Where a post goes: its conversation, its timeline, and its subject.

use crate::commands::context::{Context, Result};
use crate::model::error::Refusal;
use crate::model::event::Change;
use crate::model::ids::{ConversationKey, EventRef, Seq, ThreadKey};
use crate::model::requests::Post;

/// The resolved destination of a post.
pub(crate) struct Place {
    pub(crate) key: ConversationKey,
    pub(crate) thread: Option<ThreadKey>,
    /// The event it answers, in this conversation or another.
    pub(crate) answers: Option<EventRef>,
    /// The message of the main timeline whose canonical thread it opens.
    pub(crate) opens: Option<Seq>,
}

impl Place {
    /// Whether it goes to the main timeline.
    pub(super) fn is_on_main_line(&self) -> bool {
        self.thread.is_none() && self.opens.is_none()
    }

    /// The message that it replies to in its own timeline.
    pub(super) fn reply_to(&self) -> Option<Seq> {
        self.answers.filter(|a| a.conversation == self.key).map(|a| a.seq)
    }
}

impl Context<'_> {
    pub(super) fn place(&mut self, post: &Post) -> Result<Place> {
        let key = self.room_by_uid(post.conversation)?;
        self.must_sit(key)?;
        let answers = match post.in_reply_to {
            Some(uid) => {
                let named = self.event_by_uid(uid, "event to reply to")?;
                Some(self.version_answered(named)?)
            }
            None => None,
        };
        let thread = match post.thread {
            Some(uid) => {
                let (of, thread) = self.thread_by_uid(uid)?;
                if of != key {
                    return Err(Refusal::invalid("the thread is in another conversation").into());
                }
                Some(thread)
            }
            None => None,
        };
        // A reply stays in the timeline of the message it answers, unless it is deliberately sent
        // elsewhere. An agent's message in a turn stays where the turn was given.
        let turn = self.by.turn.map(|t| EventRef { conversation: t.conversation, seq: t.seq });
        let about = answers.or(turn).filter(|a| a.conversation == key && thread.is_none());
        let (inherited, opens) = match about {
            Some(at) => self.line_of_answer(at)?,
            None => (None, None),
        };
        Ok(Place { key, thread: thread.or(inherited), answers, opens })
    }

    /// The thread in which an event is answered, or the message whose canonical thread an answer
    /// opens. An answer to any version of a message counts for the message.
    pub(crate) fn line_of_answer(
        &mut self,
        at: EventRef,
    ) -> Result<(Option<ThreadKey>, Option<Seq>)> {
        let event = self.recall(at)?.event;
        let room = self.room(at.conversation);
        let message = match event.change {
            Change::Posted(_) => Some(at.seq),
            _ => event.edit_of(),
        };
        let message = message.filter(|_| event.thread.is_none() && event.only().is_none());
        let Some(root) = message.filter(|seq| room.subject_of(*seq, None).is_some()) else {
            return Ok((event.thread, None));
        };
        match room.thread_of_root(root) {
            Some(thread) => Ok((Some(thread), None)),
            None => Ok((None, Some(root))),
        }
    }

    /// The subject of a post to this place; none for one that begins a subject.
    pub(crate) fn subject(&self, place: &Place) -> Option<Seq> {
        let of = |thread| self.room(place.key).subject_of(Seq::default(), Some(thread));
        place.opens.or_else(|| place.thread.and_then(of))
    }
}
