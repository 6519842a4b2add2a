//! Messages: posting, editing, erasing, reacting.

pub(crate) mod answer;
pub(crate) mod checks;
pub(crate) mod destination;
pub(crate) mod edit;
pub(crate) mod erase;
pub(crate) mod guard;
pub(crate) mod output;
pub(crate) mod post;
pub(crate) mod react;
pub(crate) mod wake_limits;

use std::sync::Arc;

use crate::commands::command::{Command, Done, no_text, not_shown};
use crate::commands::context::{Context, Result};
use crate::commands::gate::shown::{Shown, event_id};
use crate::commands::redact::Redact;
use crate::model::audit::{Action, Audit};
use crate::model::disposition::Disposition;
use crate::model::event::{Message, Reason};
use crate::model::ids::Uid;
use crate::model::offer::Entry;
use crate::model::reaction::Signal;
pub use crate::model::requests::Post;

/// An event was logged, or, if `duplicate`, had been logged before under the same key.
#[derive(Clone, Debug)]
pub struct Logged {
    pub entry: Entry,
    pub duplicate: bool,
}

/// A message was erased now or before.
#[derive(Clone, Debug)]
pub struct Erased {
    pub entry: Entry,
    /// More versions remain for the next command.
    pub more: bool,
}

/// A reaction may settle the delivery it answers.
#[derive(Clone, Debug)]
pub struct Reacted {
    pub entry: Option<Entry>,
    pub disposition: Option<Disposition>,
}

/// What the audit log counts about a post.
fn audit_post<C: Command<Output = Logged>>(post: &Post, done: Done<'_, C>) -> Audit {
    let duplicate = done.ok().map(|logged| logged.duplicate);
    Audit::of_post(Some(post.conversation), duplicate, done.err().map(|refusal| refusal.code))
}

fn logged_now(output: &Logged) -> Option<&Entry> {
    (!output.duplicate).then_some(&output.entry)
}

impl Post {
    /// The result of the same post before; none if it was not accepted.
    fn given_before(&self, run: &mut Context<'_>) -> Result<Option<Logged>> {
        let Ok(place) = run.place(self) else { return Ok(None) };
        match run.sent_before(place.key, self)? {
            Some(sent) => Ok(Some(sent)),
            None => run.asked_before(self).map(|()| None),
        }
    }
}

impl Command for Post {
    type Output = Logged;

    const SPEAKS: bool = true;

    fn audit(&self, done: Done<'_, Self>) -> Audit {
        audit_post::<Self>(self, done)
    }

    fn redact(&mut self, redact: &dyn Redact) -> u32 {
        redact.message(&mut self.message)
    }

    // It is held whole.
    not_shown!();

    fn given_before(&self, run: &mut Context<'_>) -> Result<Option<Logged>> {
        Self::given_before(self, run)
    }

    fn logged(output: &Logged) -> Option<&Entry> {
        logged_now(output)
    }

    fn bytes(&self) -> usize {
        self.message.bytes()
    }

    fn text(&self) -> Option<&Arc<str>> {
        Some(&self.message.text)
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Logged> {
        run.post(self)
    }
}

/// The closing text of a run. If the run has emitted output, that is posted instead.
#[derive(Clone)]
pub struct CloseRun(pub Post);

impl Command for CloseRun {
    type Output = Logged;

    const SPEAKS: bool = true;

    fn audit(&self, done: Done<'_, Self>) -> Audit {
        audit_post::<Self>(&self.0, done)
    }

    fn redact(&mut self, redact: &dyn Redact) -> u32 {
        redact.message(&mut self.0.message)
    }

    // It is held whole.
    not_shown!();

    fn given_before(&self, run: &mut Context<'_>) -> Result<Option<Logged>> {
        self.0.given_before(run)
    }

    fn logged(output: &Logged) -> Option<&Entry> {
        logged_now(output)
    }

    fn bytes(&self) -> usize {
        self.0.message.bytes()
    }

    fn text(&self) -> Option<&Arc<str>> {
        Some(&self.0.message.text)
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Logged> {
        run.close_run(self.0)
    }
}

/// A message that belongs to none of its author's runs, even if one is open: it opens a subject.
#[derive(Clone)]
pub struct PostUnasked(pub Post);

impl Command for PostUnasked {
    type Output = Logged;

    const SPEAKS: bool = true;

    fn audit(&self, done: Done<'_, Self>) -> Audit {
        audit_post::<Self>(&self.0, done)
    }

    fn redact(&mut self, redact: &dyn Redact) -> u32 {
        redact.message(&mut self.0.message)
    }

    // It is held whole.
    not_shown!();

    fn given_before(&self, run: &mut Context<'_>) -> Result<Option<Logged>> {
        self.0.given_before(run)
    }

    fn logged(output: &Logged) -> Option<&Entry> {
        logged_now(output)
    }

    fn bytes(&self) -> usize {
        self.0.message.bytes()
    }

    fn text(&self) -> Option<&Arc<str>> {
        Some(&self.0.message.text)
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Logged> {
        run.unasked = true;
        run.post(self.0)
    }
}

/// Output of a run in a public turn. The newest is posted when the run ends.
#[derive(Clone)]
pub struct EmitOutput {
    pub message: Message,
}

impl Command for EmitOutput {
    type Output = ();

    const SPEAKS: bool = true;

    fn audit(&self, done: Done<'_, Self>) -> Audit {
        Audit::of_post(None, None, done.err().map(|refusal| refusal.code))
    }

    fn redact(&mut self, redact: &dyn Redact) -> u32 {
        redact.message(&mut self.message)
    }

    // The message that is made of it is held whole.
    not_shown!();

    fn bytes(&self) -> usize {
        self.message.bytes()
    }

    fn text(&self) -> Option<&Arc<str>> {
        Some(&self.message.text)
    }

    fn execute(self, run: &mut Context<'_>) -> Result<()> {
        run.emit_output(self.message)
    }
}

#[derive(Clone)]
pub struct Edit {
    pub message: Uid,
    pub content: Message,
}

impl Command for Edit {
    type Output = Logged;

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::none()
    }

    fn redact(&mut self, redact: &dyn Redact) -> u32 {
        redact.message(&mut self.content)
    }

    fn shown(&self, run: &mut Context<'_>) -> Result<Option<Shown>> {
        let (message, content) = (self.message, &self.content);
        let at = run.event_by_uid(message, "message")?;
        let fields = vec![("message", event_id(message)), ("text", content.text.to_string())];
        let mut shown = run.beside(at, "edit_message", fields)?;
        let parts = content.parts.iter().map(|json| ("content", json.to_string()));
        shown.fields.extend(parts);
        shown.fields.extend(content.metadata.iter().map(|json| ("metadata", json.to_string())));
        Ok(Some(Shown { about: None, says: true, files: content.assets(), ..shown }))
    }

    fn logged(output: &Logged) -> Option<&Entry> {
        logged_now(output)
    }

    fn bytes(&self) -> usize {
        self.content.bytes()
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Logged> {
        run.edit(self.message, self.content)
    }
}

#[derive(Clone)]
pub struct Delete {
    pub message: Uid,
}

impl Command for Delete {
    type Output = Logged;

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::none()
    }

    fn logged(output: &Logged) -> Option<&Entry> {
        logged_now(output)
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Logged> {
        run.delete(self.message)
    }
}

/// Removes the content of the message in all its versions, permanently.
#[derive(Clone)]
pub struct Erase {
    pub message: Uid,
    pub reason: Reason,
}

impl Command for Erase {
    type Output = Erased;

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::logged(Action::Erase).subject(self.message)
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Erased> {
        run.erase(self.message, self.reason)
    }
}

#[derive(Clone)]
pub struct React {
    pub message: Uid,
    pub signal: Signal,
    pub detail: Option<Arc<str>>,
    pub on: bool,
}

impl Command for React {
    type Output = Reacted;

    const SPEAKS: bool = true;

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::none()
    }

    fn redact(&mut self, redact: &dyn Redact) -> u32 {
        redact.maybe(&mut self.detail)
    }

    fn shown(&self, run: &mut Context<'_>) -> Result<Option<Shown>> {
        let Some(detail) = self.detail.as_ref().filter(|_| self.on) else { return Ok(None) };
        let at = run.event_by_uid(self.message, "message")?;
        let fields = vec![
            ("detail", detail.to_string()),
            ("event", event_id(self.message)),
            ("signal", self.signal.name().to_owned()),
        ];
        run.beside(at, "chat.react", fields).map(Some)
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Reacted> {
        run.react(self.message, self.signal, self.detail, self.on)
    }
}
