//! A message as attention sees it: what it says itself, and what it is read against.

use std::sync::Arc;

use crate::attention::flow::Flowed;
use crate::attention::intent::{asks_to_leave, is_urgent};
use crate::attention::{Directedness, Intent};
use crate::ids::{MemberKey, StreamKey, ThreadKey, Timestamp};
use crate::member::Member;
use crate::room::{Line, Room};
use crate::thread::Thread;

/// A message as attention sees it.
pub struct Said<'a> {
    pub author: &'a Member,
    pub text: &'a str,
    pub intent: Intent,
    pub urgent: bool,
    pub at: Timestamp,
    pub hop: u8,
    pub thread: Option<&'a Thread>,
    pub stream: Option<StreamKey>,
    /// The newest message before it on the same line.
    pub before: Option<&'a Line>,
    pub replied_to: Option<MemberKey>,
    pub recipient: Option<MemberKey>,
    pub mentions: &'a [MemberKey],
    /// What the sender stated; lowers an obligation, never raises it.
    pub stated: Option<Directedness>,
    /// It answers an `ack_only` event.
    pub answers_ack: bool,
    /// Whom an ephemeral message is shown to.
    pub only: Option<&'a Arc<[MemberKey]>>,
    /// A person asks whoever it names to leave.
    pub leave: bool,
    /// The author of what an agent says it for, when that is in this conversation.
    pub caused_by: Option<MemberKey>,
    /// Of an edit: what the flow of talk said of the message when it was new. It is not asked again.
    pub flowed: Option<Flowed>,
}

impl<'a> Said<'a> {
    /// A person's message with nothing stated beside its text, read against what was said before on its line.
    /// No time goes back: `at` is the room's own when the clock has been set back.
    pub fn read(
        room: &'a Room,
        author: &'a Member,
        thread: Option<ThreadKey>,
        text: &'a str,
        at: Timestamp,
    ) -> Self {
        Self {
            author,
            text,
            intent: room.intent_of(thread, author.key, text),
            urgent: is_urgent(text),
            at: at.max(room.head.last_at),
            hop: 0,
            thread: thread.and_then(|t| room.threads.get(&t)).map(|t| &**t),
            stream: room.conversation.settings.stream,
            before: room.lines.get(&thread),
            replied_to: None,
            recipient: None,
            mentions: &[],
            stated: None,
            answers_ack: false,
            only: None,
            leave: !author.is_agent() && asks_to_leave(text),
            caused_by: None,
            flowed: None,
        }
    }
}
