//! Conversations: creating and changing them, memberships, and read cursors.

pub(crate) mod conversation;
pub(crate) mod leave;
pub(crate) mod membership;

use std::sync::Arc;

use crate::commands::command::{Command, Done, Makes, Seats, no_text};
use crate::commands::context::{Context, Result};
use crate::commands::gate::shown::{Readers, Shown, filled, plain};
use crate::commands::redact::Redact;
use crate::model::audit::{Action, Audit};
use crate::model::conversation::{
    Conversation, ConversationKind, Participation, Settings, TermsPatch, Visibility,
};
use crate::model::ids::{EventRef, MemberKey, Prefix, Seq, Uid};
use crate::model::requests::SettingsPatch;
use crate::state::directory::Directory;

#[derive(Clone)]
pub struct CreateConversation {
    pub kind: ConversationKind,
    pub settings: Settings,
    pub members: Vec<MemberKey>,
}

impl Command for CreateConversation {
    type Output = Arc<Conversation>;

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::logged(Action::CreateConversation)
    }

    fn redact(&mut self, redact: &dyn Redact) -> u32 {
        let settings = &mut self.settings;
        redact.text(&mut settings.title)
            + redact.text(&mut settings.description)
            + redact.text(&mut settings.purpose)
    }

    fn shown(&self, run: &mut Context<'_>) -> Result<Option<Shown>> {
        let Self { kind, settings, members } = self;
        let mut readers = Readers { members: members.clone(), ..Readers::default() };
        readers.members.push(run.by.member);
        readers.everybody = settings.visibility == Visibility::Public;
        let mut fields = vec![
            ("kind", kind.name().to_owned()),
            ("members", run.called(members)),
            ("title", settings.title.to_string()),
        ];
        fields.extend(filled("description", &settings.description));
        fields.extend(filled("purpose", &settings.purpose));
        // Unnamed ones are titled by their kind.
        let silent = &*settings.title == kind.name() && fields.len() == 3;
        Ok((!silent).then(|| plain("create_channel", readers, fields)))
    }

    fn makes(&self, by: MemberKey, _: &Directory) -> Makes {
        Makes::conversation_with(by, &self.members)
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Arc<Conversation>> {
        run.create_conversation(self.kind, self.settings, &self.members)
    }
}

#[derive(Clone)]
pub struct ChangeConversation {
    pub conversation: Uid,
    pub settings: SettingsPatch,
}

impl Command for ChangeConversation {
    type Output = Arc<Conversation>;

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::logged(Action::ChangeConversation).subject(self.conversation)
    }

    fn redact(&mut self, redact: &dyn Redact) -> u32 {
        let settings = &mut self.settings;
        redact.maybe_string(&mut settings.title)
            + redact.maybe_string(&mut settings.description)
            + redact.maybe_string(&mut settings.purpose)
    }

    fn shown(&self, run: &mut Context<'_>) -> Result<Option<Shown>> {
        let Self { conversation, settings } = self;
        let key = run.room_by_uid(*conversation)?;
        let room = run.room(key);
        let opens = settings.visibility == Some(Visibility::Public)
            && room.conversation().settings.visibility != Visibility::Public;
        let newest = EventRef { conversation: key, seq: room.head().seq };
        let texts = [
            ("description", &settings.description),
            ("purpose", &settings.purpose),
            ("title", &settings.title),
        ];
        let mut fields: Vec<_> =
            texts.iter().filter_map(|(n, t)| Some((*n, (*t).clone()?))).collect();
        if opens {
            fields.push(("visibility", "public".to_owned()));
        }
        let pinned = &room.conversation().settings.pins;
        let pins = settings.pins.iter().flatten().copied();
        let files: Vec<Uid> = pins.filter(|pin| !pinned.contains(pin)).collect();
        if !files.is_empty() {
            let ids: Vec<_> = files.iter().map(|pin| pin.show(Prefix::Asset)).collect();
            fields.push(("pinned_assets", ids.join(", ")));
        }
        if fields.is_empty() {
            return Ok(None);
        }
        fields.push(("channel", conversation.show(Prefix::Conversation)));
        let readers = match opens {
            true => Readers::everybody(),
            false => Readers::of_room(key, None),
        };
        let judged_by = opens.then_some(newest);
        Ok(Some(Shown { judged_by, files, ..plain("change_channel", readers, fields) }))
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Arc<Conversation>> {
        run.change_conversation(self.conversation, self.settings)
    }
}

#[derive(Clone)]
pub struct SetSeat {
    pub conversation: Uid,
    pub member: MemberKey,
    pub participation: Participation,
    pub terms: TermsPatch,
}

impl Command for SetSeat {
    type Output = Arc<Conversation>;

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::logged(Action::SetSeat).subject(self.conversation).member(self.member)
    }

    fn redact(&mut self, redact: &dyn Redact) -> u32 {
        self.terms.name.as_mut().map_or(0, |name| redact.maybe(name))
    }

    fn shown(&self, run: &mut Context<'_>) -> Result<Option<Shown>> {
        let Some(Some(name)) = &self.terms.name else { return Ok(None) };
        let fields =
            vec![("display_name", name.to_string()), ("member", run.called(&[self.member]))];
        run.said_in(self.conversation, "set_seat", fields).map(Some)
    }

    fn seats(&self, run: &mut Context<'_>) -> Result<Seats> {
        Ok(vec![(run.room_by_uid(self.conversation)?, vec![self.member])])
    }

    fn makes(&self, by: MemberKey, _: &Directory) -> Makes {
        Makes { conversations: 0, ..Makes::conversation_with(by, &[self.member]) }
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Arc<Conversation>> {
        run.set_seat(self.conversation, self.member, self.participation, self.terms)
    }
}

#[derive(Clone)]
pub struct RemoveSeat {
    pub conversation: Uid,
    pub member: MemberKey,
}

impl Command for RemoveSeat {
    type Output = Arc<Conversation>;

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::logged(Action::RemoveSeat).subject(self.conversation).member(self.member)
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Arc<Conversation>> {
        run.remove_seat(self.conversation, self.member)
    }
}

/// Asks an agent to leave a conversation or one of its threads, or the agent leaves by itself. It
/// is not notified there until it is named again.
#[derive(Clone)]
pub struct Leave {
    pub conversation: Uid,
    pub thread: Option<Uid>,
    pub member: MemberKey,
}

impl Command for Leave {
    type Output = ();

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::none()
    }

    fn execute(self, run: &mut Context<'_>) -> Result<()> {
        run.leave(self.conversation, self.thread, self.member)
    }
}

/// The caller has read a conversation up to this event.
#[derive(Clone)]
pub struct SetCursor {
    pub conversation: Uid,
    pub read: Seq,
}

impl Command for SetCursor {
    type Output = ();

    const WHILE_PAUSED: bool = true;

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::none()
    }

    fn execute(self, run: &mut Context<'_>) -> Result<()> {
        run.set_cursor(self.conversation, self.read)
    }
}

/// The caller has read a thread up to this seq of the thread.
#[derive(Clone)]
pub struct AckThread {
    pub thread: Uid,
    pub read: Seq,
}

impl Command for AckThread {
    type Output = ();

    const WHILE_PAUSED: bool = true;

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::none()
    }

    fn execute(self, run: &mut Context<'_>) -> Result<()> {
        run.ack_thread(self.thread, self.read)
    }
}
