//! Threads and their work.

pub(crate) mod thread;
pub(crate) mod work;

use std::sync::Arc;

use crate::commands::command::{Command, Done, Makes};
use crate::commands::context::{Context, Result};
use crate::commands::gate::shown::{Readers, Shown, event_id, filled, plain};
use crate::commands::redact::Redact;
use crate::model::activity::status_metadata;
use crate::model::audit::{Action, Audit};
use crate::model::conversation::{Conversation, ConversationKind};
use crate::model::event::Message;
use crate::model::ids::{MemberKey, Uid};
use crate::model::requests::Home;
pub use crate::model::requests::OpenThread;
use crate::model::thread::work::WorkChange;
use crate::model::thread::{Thread, ThreadStatus};
use crate::state::directory::Directory;

/// The current state of a thread.
#[derive(Clone, Debug)]
pub struct ThreadState {
    pub conversation: Arc<Conversation>,
    pub thread: Arc<Thread>,
    /// Whether the command opened it.
    pub opened: bool,
}

impl OpenThread {
    /// A thread about a message needs no title: the message says what it is about, as in a canonical
    /// thread.
    fn is_titled(&self) -> bool {
        !self.title.is_empty() || self.root.is_none()
    }

    /// The members besides the caller.
    fn members(&self) -> Vec<MemberKey> {
        self.participants.iter().copied().chain(self.owner).collect()
    }
}

impl Command for OpenThread {
    type Output = ThreadState;

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        let conversation = match self.home {
            Home::In(conversation) => Some(conversation),
            Home::Own => None,
        };
        Audit::logged(Action::OpenThread).subject(conversation)
    }

    fn redact(&mut self, redact: &dyn Redact) -> u32 {
        redact.string(&mut self.title)
    }

    fn shown(&self, run: &mut Context<'_>) -> Result<Option<Shown>> {
        let mut fields = vec![("title", self.title.clone())];
        match self.home {
            Home::In(conversation) => {
                // A title equal to its place's name discloses nothing more, nor does none, and neither
                // does a thread that exists already.
                let key = run.room_by_uid(conversation)?;
                if !self.is_titled() || *run.room(key).conversation().settings.title == *self.title
                {
                    return Ok(None);
                }
                run.said_in(conversation, "create_thread", fields).map(Some)
            }
            Home::Own => {
                let members = self.members();
                fields.insert(0, ("members", run.called(&members)));
                let members = members.into_iter().chain([run.by.member]).collect();
                let readers = Readers { members, ..Readers::default() };
                // Unnamed ones are titled by their kind.
                let silent = self.title == ConversationKind::Thread.name();
                Ok((!silent).then(|| plain("create_thread", readers, fields)))
            }
        }
    }

    fn makes(&self, by: MemberKey, _: &Directory) -> Makes {
        match self.home {
            Home::In(_) => Makes::default(),
            Home::Own => Makes::conversation_with(by, &self.members()),
        }
    }

    fn has_made(output: &ThreadState) -> bool {
        output.opened
    }

    fn execute(self, run: &mut Context<'_>) -> Result<ThreadState> {
        run.open_thread(self)
    }
}

#[derive(Clone)]
pub struct ChangeThread {
    pub thread: Uid,
    pub status: Option<ThreadStatus>,
    pub owner: Option<Option<MemberKey>>,
    pub reason: Arc<str>,
    /// Its result, for the feed.
    pub summary: Option<Arc<str>>,
    /// The message of kind `system` about the new status.
    pub note: Option<Message>,
}

impl Command for ChangeThread {
    type Output = ThreadState;

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::logged(Action::ChangeThread).subject(self.thread)
    }

    fn redact(&mut self, redact: &dyn Redact) -> u32 {
        // The note repeats the reason.
        let said = self.note.as_mut().map_or(0, |note| redact.message(note));
        redact.text(&mut self.reason).max(said) + redact.maybe(&mut self.summary)
    }

    fn shown(&self, run: &mut Context<'_>) -> Result<Option<Shown>> {
        let mut fields = filled("reason", &self.reason);
        fields.extend(self.summary.iter().map(|text| ("summary", text.to_string())));
        // Metadata that only the host wrote contains nobody's words.
        let hosts = self.status.map(status_metadata).unwrap_or_default();
        let metadata = self.note.as_ref().and_then(|note| note.metadata.as_deref());
        let metadata = metadata.filter(|metadata| **metadata != *hosts);
        fields.extend(metadata.map(|text| ("metadata", text.to_owned())));
        let shown = run.said_of(self.thread, "update_thread_status", fields)?;
        Ok(shown.map(|shown| Shown { says: true, ..shown }))
    }

    fn execute(self, run: &mut Context<'_>) -> Result<ThreadState> {
        let Self { thread, status, owner, reason, summary, note } = self;
        run.change_thread(thread, status, owner, &reason, summary, note)
    }
}

/// Changes the state of a thread's work.
#[derive(Clone)]
pub struct ChangeWork {
    pub thread: Uid,
    pub change: Box<WorkChange>,
}

impl Command for ChangeWork {
    type Output = ThreadState;

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::logged(Action::ChangeThread).subject(self.thread)
    }

    fn redact(&mut self, redact: &dyn Redact) -> u32 {
        self.change.progress.as_mut().map_or(0, |report| redact.text(&mut report.text))
    }

    fn shown(&self, run: &mut Context<'_>) -> Result<Option<Shown>> {
        let change = &self.change;
        let texts = [&change.initiative_key, &change.topic_kind].into_iter().flatten();
        let mut fields: Vec<_> = texts.flatten().map(|text| ("about", text.to_string())).collect();
        fields.extend(change.progress.iter().map(|p| ("progress", p.text.to_string())));
        fields.extend(change.bind.iter().map(|bound| ("bind", bound.id.to_string())));
        run.said_of(self.thread, "change_thread_work", fields)
    }

    fn execute(self, run: &mut Context<'_>) -> Result<ThreadState> {
        run.change_work(self.thread, *self.change)
    }
}

/// Promotes a message of a thread to the channel's feed.
#[derive(Clone)]
pub struct Promote {
    pub message: Uid,
    pub note: Option<Arc<str>>,
}

impl Command for Promote {
    type Output = ThreadState;

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::none()
    }

    fn redact(&mut self, redact: &dyn Redact) -> u32 {
        redact.maybe(&mut self.note)
    }

    fn shown(&self, run: &mut Context<'_>) -> Result<Option<Shown>> {
        let Some(note) = &self.note else { return Ok(None) };
        let at = run.event_by_uid(self.message, "message")?;
        let fields = vec![("message", event_id(self.message)), ("note", note.to_string())];
        let shown = run.beside(at, "promote", fields)?;
        Ok(Some(Shown { about: None, ..shown }))
    }

    fn execute(self, run: &mut Context<'_>) -> Result<ThreadState> {
        run.promote(self.message, self.note)
    }
}
