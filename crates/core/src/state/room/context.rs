//! The context in which a message is read: the message it replies to, otherwise an unanswered
//! question to its author in the same timeline, otherwise the message immediately before. "Yes" has
//! a meaning only in such a context.

use super::{Line, Room};
use crate::language::intent::{Before, Link, intent, waits};
use crate::model::conversation::ConversationKind;
use crate::model::event::Event;
use crate::model::ids::{MemberKey, Seq, ThreadKey};
use crate::model::member::Member;
use crate::state::talk::Utterance;

/// A message that another is read against.
#[derive(Clone, Copy, Debug)]
pub struct MessageContext {
    pub author: MemberKey,
    pub before: Before,
}

/// Where a message stands: its timeline, and its place in the log.
#[derive(Clone, Copy, Debug)]
pub struct Position {
    pub thread: Option<ThreadKey>,
    pub seq: Seq,
}

impl Room {
    /// The context of a message by `author` at `from`. `replied` is the message that it replies to.
    pub fn against(
        &self,
        author: &Member,
        from: Position,
        replied: Option<&Event>,
    ) -> Option<MessageContext> {
        let against = |of: MemberKey, intent, link| MessageContext {
            author: of,
            before: Before {
                intent,
                link,
                same_author: of == author.key,
                by_person: !author.is_agent(),
            },
        };
        if let Some(event) = replied
            && let Some(message) = event.change.message()
        {
            let read = event.attention.as_ref().map(|attention| attention.intent);
            let read = read.unwrap_or_else(|| intent(&message.text, None));
            return Some(against(event.actor, read, Link::Reply));
        }
        if let Some((asked, alone)) = self.waiting_for(author.key, from) {
            return Some(against(asked.author, asked.intent, Link::Asked { alone }));
        }
        let line = self.lines.get(&from.thread).filter(|line| line.seq < from.seq)?;
        let link = match self.asks(line, author.key) {
            true => Link::Asked { alone: true },
            false => Link::Previous,
        };
        Some(against(line.author, line.intent, link))
    }

    /// Whether this is an agent's question to the member.
    fn asks(&self, line: &Line, member: MemberKey) -> bool {
        let said = || self.talk.iter().rev().find(|said| said.seq == line.seq);
        line.hop > 0 && waits(line.intent) && said().is_some_and(|said| said.to == Some(member))
    }

    /// The newest question by an agent that still waits for this member's answer in a thread or
    /// direct conversation, and whether nobody else has spoken since. A question to the member
    /// comes before a question to anybody.
    fn waiting_for(&self, member: MemberKey, from: Position) -> Option<(&Utterance, bool)> {
        if from.thread.is_none() && self.conversation.kind != ConversationKind::Dm {
            return None;
        }
        let root = from.thread.and_then(|thread| self.threads.get(&thread)?.root);
        let on_line = |said: &&Utterance| {
            said.seq < from.seq && (said.thread == from.thread || Some(said.seq) == root)
        };
        let line = || self.talk.iter().rev().filter(on_line);
        let mut mine: Option<Seq> = None;
        let mut of_others = None;
        for asked in line() {
            if asked.author == member {
                mine = Some(asked.seq);
                continue;
            }
            // Somebody has answered it, or its author has continued after the member spoke.
            let since = || line().take_while(|said| said.seq > asked.seq);
            let is_over = || {
                let newest = line().find(|said| said.author == asked.author);
                mine.zip(newest).is_some_and(|(mine, newest)| newest.seq > mine)
                    || since().any(|said| said.answers && said.to == Some(asked.author))
            };
            if !(asked.by_agent && waits(asked.intent)) || self.is_deleted(asked.seq) || is_over() {
                continue;
            }
            let other = |said: &Utterance| said.author != member && said.author != asked.author;
            let alone = !since().any(other);
            if asked.to.is_none_or(|to| to == member) {
                return Some((asked, alone));
            }
            of_others = of_others.or(Some((asked, false)));
        }
        of_others
    }

    fn is_deleted(&self, message: Seq) -> bool {
        self.messages.get(&message).is_some_and(|state| state.deleted_at.is_some())
    }
}
