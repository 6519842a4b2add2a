//! A message as attention sees it: its own content, and the context it is read in.

use std::sync::Arc;

use crate::attention::flow::Flowed;
use crate::language::analysis::Analysis;
use crate::language::intent::{Answers, Read, Wording};
use crate::model::attention::{Directedness, Intent};
use crate::model::event::Event;
use crate::model::ids::{MemberKey, Seq, StreamKey, ThreadKey, Timestamp};
use crate::model::member::Member;
use crate::model::thread::Thread;
use crate::state::room::context::Position;
use crate::state::room::{Line, Room};

/// An answer to a member's question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The member who asked.
    pub to: MemberKey,
    /// It says yes or no.
    pub plainly: bool,
}

/// What a message means in its room, and whose question it answers.
pub fn meaning(
    room: &Room,
    author: &Member,
    from: Position,
    wording: &Wording,
    replied: Option<&Event>,
) -> (Read, Option<Answer>) {
    let against = room.against(author, from, replied);
    let read = wording.against(against.map(|against| against.before));
    let answer = match (read.answers, against) {
        (Answers::No, _) | (_, None) => None,
        (answers, Some(against)) => {
            Some(Answer { to: against.author, plainly: answers == Answers::Plainly })
        }
    };
    (read, answer)
}

/// A message as attention sees it.
pub struct IncomingMessage<'a> {
    pub author: &'a Member,
    /// An agent wrote it, or asked for it to be posted in somebody's name.
    pub by_agent: bool,
    pub text: &'a str,
    /// What is found in the text.
    pub analysis: &'a Analysis,
    pub intent: Intent,
    /// The member's question that it answers.
    pub answers: Option<Answer>,
    /// Its position in the log.
    pub seq: Seq,
    pub urgent: bool,
    pub at: Timestamp,
    pub hop: u8,
    pub thread: Option<&'a Thread>,
    pub stream: Option<StreamKey>,
    /// The newest message before it in the same timeline.
    pub before: Option<&'a Line>,
    pub replied_to: Option<MemberKey>,
    pub recipient: Option<MemberKey>,
    pub mentions: &'a [MemberKey],
    /// The members whom the sender leaves out, whatever else would tell them.
    pub left_out: &'a [MemberKey],
    /// What the sender stated. It can lower an obligation but never raise one.
    pub stated: Option<Directedness>,
    /// It answers an `ack_only` event.
    pub answers_ack: bool,
    /// The members an ephemeral message is shown to.
    pub only: Option<&'a Arc<[MemberKey]>>,
    /// A person asks the named members to leave.
    pub leave: bool,
    /// The author of the message that caused the agent to post this one, if that is in this
    /// conversation.
    pub caused_by: Option<MemberKey>,
    /// For an edit: the flow estimate of the original message. It is not computed again.
    pub flowed: Option<Flowed>,
}

impl<'a> IncomingMessage<'a> {
    /// A person's message with nothing stated beside its text, read in the context of its timeline.
    /// Time never goes back: `at` is the room's own time if the clock was set back.
    pub fn read(
        room: &'a Room,
        author: &'a Member,
        thread: Option<ThreadKey>,
        text: &'a str,
        analysis: &'a Analysis,
        at: Timestamp,
    ) -> Self {
        Self::replying(room, author, thread, text, analysis, at, None)
    }

    /// The same, for a message that may be a reply. It is then read against the message it replies
    /// to.
    pub fn replying(
        room: &'a Room,
        author: &'a Member,
        thread: Option<ThreadKey>,
        text: &'a str,
        analysis: &'a Analysis,
        at: Timestamp,
        replied: Option<&Event>,
    ) -> Self {
        let seq = room.head().seq.next();
        let (wording, from) = (&analysis.wording, Position { thread, seq });
        let (read, answers) = meaning(room, author, from, wording, replied);
        Self {
            author,
            by_agent: author.is_agent(),
            text,
            analysis,
            intent: read.intent,
            answers,
            seq,
            urgent: wording.urgent,
            at: at.max(room.head().last_at),
            hop: 0,
            thread: thread.and_then(|t| room.thread(t)).map(|t| &**t),
            stream: room.conversation().settings.stream,
            before: room.lines().get(&thread),
            replied_to: replied.map(|event| event.actor),
            recipient: None,
            mentions: &[],
            left_out: &[],
            stated: None,
            answers_ack: false,
            only: None,
            leave: !author.is_agent() && wording.leave,
            caused_by: None,
            flowed: None,
        }
    }
}
