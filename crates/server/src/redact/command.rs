//! Every text of every command. The match names each command there is: a new one does not compile until
//! somebody has said which texts it brings.

use std::sync::Arc;

use chorus_core::command::Command;
use chorus_core::event::Message;
use chorus_core::inbox;
use chorus_core::schedule::Act;
use chorus_wire::canonical;

use super::Redactor;

impl Redactor {
    /// Blacks out the texts of a command; how many secrets there were.
    pub(crate) fn command(&self, command: &mut Command) -> u32 {
        match command {
            Command::Post(post)
            | Command::CloseRun(post)
            | Command::PostUnasked(post)
            | Command::Preview(post) => self.message(&mut post.message),
            Command::Edit { content, .. } => self.message(content),
            Command::AddMember { fields, .. } | Command::ChangeMember { fields, .. } => {
                self.option(&mut fields.display_name)
            }
            // What is in a file is not read.
            Command::KeepAsset { name, .. } => self.string(name),
            Command::AddStream { name, .. } => self.string(name),
            Command::OpenSession { runtime, .. } => self.string(runtime),
            Command::CreateConversation { settings, .. } => {
                self.shared(&mut settings.title)
                    + self.shared(&mut settings.description)
                    + self.shared(&mut settings.purpose)
            }
            Command::ChangeConversation { settings, .. } => {
                self.option(&mut settings.title)
                    + self.option(&mut settings.description)
                    + self.option(&mut settings.purpose)
            }
            Command::SetSeat { terms, .. } => {
                terms.name.as_mut().map_or(0, |name| self.maybe(name))
            }
            Command::EmitOutput { message } => self.message(message),
            Command::React { detail, .. } => self.maybe(detail),
            Command::OpenThread(thread) => self.string(&mut thread.title),
            Command::ChangeThread { reason, summary, note, .. } => {
                // The note says the reason once more.
                let said = note.as_mut().map_or(0, |note| self.message(note));
                self.shared(reason).max(said) + self.maybe(summary)
            }
            Command::ChangeWork { change, .. } => {
                change.progress.as_mut().map_or(0, |report| self.shared(&mut report.text))
            }
            Command::Stimulate(new) => {
                self.shared(&mut new.text) + new.title.as_mut().map_or(0, |t| self.shared(t))
            }
            Command::Project(asked) => {
                asked.texts().into_iter().map(|text| self.shared(text)).sum()
            }
            Command::ChangeSchedules { act, .. } => match &mut **act {
                Act::Add(new) => {
                    self.shared(&mut new.text) + new.title.as_mut().map_or(0, |t| self.shared(t))
                }
                Act::Change(_, patch) => self.maybe(&mut patch.text) + self.maybe(&mut patch.title),
                Act::Remove(_) => 0,
            },
            Command::Inbox(act) => match &mut **act {
                inbox::Act::Add { name, .. } => self.maybe(name),
                inbox::Act::Change { patch, .. } => self.maybe(&mut patch.name),
                inbox::Act::Trouble { what, .. } => self.shared(what),
                inbox::Act::Rotate { .. } | inbox::Act::Remove { .. } => 0,
            },
            Command::Receive(received) => {
                self.message(&mut received.message)
                    + self.shared(&mut received.channel.title)
                    + self.shared(&mut received.channel.context)
            }
            Command::Promote { note, .. } => self.maybe(note),
            Command::KeepDigest { written, .. } => self.shared(&mut written.text),
            Command::MayCall { arguments, .. } => self.shared(arguments),
            Command::DecideApproval { reason, .. } => self.maybe(reason),
            Command::Dispose { note, .. } | Command::Resolve { note, .. } => self.maybe(note),
            Command::Defer { reason, .. } => self.maybe(reason),
            // Names that are checked to be names, and what has no text.
            Command::Note(_)
            | Command::AddRole { .. }
            | Command::RemoveMember { .. }
            | Command::RemoveRole { .. }
            | Command::SetRoleMember { .. }
            | Command::SetLead { .. }
            | Command::RevokeToken { .. }
            | Command::RevokeTokens { .. }
            | Command::IssueToken(_)
            | Command::CloseSession { .. }
            | Command::KnowSession { .. }
            | Command::RemoveSeat { .. }
            | Command::SweepAssets
            | Command::SweepExpired
            | Command::OfferAgain
            | Command::KeepThumbnail { .. }
            | Command::SendBack { .. }
            | Command::SentBack { .. }
            | Command::SweepCallbacks
            | Command::Endpoint { .. }
            | Command::GiveUp { .. }
            | Command::PostFailed { .. }
            | Command::PostAgain { .. }
            | Command::Delete { .. }
            | Command::Erase { .. }
            | Command::Leave { .. }
            | Command::Continue { .. }
            | Command::SetCursor { .. }
            | Command::AckThread { .. }
            | Command::Claim { .. }
            | Command::Release { .. }
            | Command::Accept { .. }
            | Command::Reject { .. }
            | Command::Retrieve { .. }
            | Command::Life { .. }
            | Command::Progress { .. }
            | Command::MayActUnasked { .. }
            | Command::CancelDelivery { .. }
            | Command::Redeliver { .. }
            | Command::Overdue { .. }
            | Command::Owed { .. }
            | Command::Trim { .. }
            | Command::BreakTurn { .. }
            | Command::Turns { .. }
            | Command::SteerStimulus { .. }
            | Command::Droppable { .. }
            | Command::Standing { .. }
            | Command::Waiting { .. } => 0,
        }
    }

    /// Text, parts and what came along. The parts hold the text once more, and are not counted twice.
    pub(crate) fn message(&self, message: &mut Message) -> u32 {
        let text = self.shared(&mut message.text);
        let parts = self.canonical(&mut message.parts);
        text.max(parts)
            + self.canonical(&mut message.metadata)
            + self.canonical(&mut message.source)
    }

    fn canonical(&self, json: &mut Option<Arc<str>>) -> u32 {
        let Some((clean, count)) = json.as_deref().and_then(|json| self.json(json)) else {
            return 0;
        };
        // It was canonical, and marks do not make it too long for what reads it.
        let clean = canonical::canonical_json(&clean, usize::MAX).unwrap_or(clean);
        *json = Some(clean.into());
        count
    }

    fn shared(&self, text: &mut Arc<str>) -> u32 {
        let Some((clean, count)) = self.text(text) else { return 0 };
        *text = clean.into();
        count
    }

    fn maybe(&self, text: &mut Option<Arc<str>>) -> u32 {
        text.as_mut().map_or(0, |text| self.shared(text))
    }

    fn string(&self, text: &mut String) -> u32 {
        let Some((clean, count)) = self.text(text) else { return 0 };
        *text = clean;
        count
    }

    fn option(&self, text: &mut Option<String>) -> u32 {
        text.as_mut().map_or(0, |text| self.string(text))
    }
}
