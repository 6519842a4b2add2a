//! The gate against disclosure: what an agent was told in private and may show to others (attention
//! spec, ATT-190 and ATT-420 on).
//!
//! Invariant: an agent's words reach nobody who cannot read their private cause, unless a person
//! has agreed. A message is then held whole ([`crate::commands::approvals`]). Any other command
//! with words passes through here first, from every transport. Private reads are remembered for as
//! long as the session that made them runs ([`told`]). An action that names a turn is judged by
//! that turn's cause only; any other, by everything that its agent was told.

use std::sync::Arc;

use super::shown::{Readers, Shown};
use crate::commands::command::Command;
use crate::commands::context::{Context, Result};
use crate::model::asset::PINNED;
use crate::model::conversation::Visibility;
use crate::model::delivery::State;
use crate::model::disposition::Disposition;
use crate::model::error::{Code, Refusal};
use crate::model::event::Message;
use crate::model::ids::{ConversationKey, EventRef, MemberKey, Prefix, Uid};
use crate::model::limits;
use crate::state::workspace::Failure;

/// The source of private words.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    pub(crate) at: EventRef,
    /// The members of its room who can read it, if not all.
    pub(crate) only: Option<Arc<[MemberKey]>>,
}

impl Context<'_> {
    /// Holds what the command would show until a person agrees, if it would disclose private words.
    pub(crate) fn may_show(&mut self, command: &impl Command) -> Result<()> {
        let me = self.by.member;
        if !self.directory().is_agent(me) || self.directory().is_stand_in(me) {
            return Ok(());
        }
        if self.adds_members() {
            let seats = command.seats(self);
            self.may_seat(seats)?;
        }
        let shown = command.shown(self);
        self.may_be_shown(shown)
    }

    /// The same for every type of command, so that it is compiled once.
    fn may_be_shown(&mut self, shown: Result<Option<Shown>>) -> Result<()> {
        let shown = match shown {
            Ok(Some(shown)) => shown,
            // Its target is unknown: the command reports that itself.
            Ok(None) | Err(Failure::Refused(_)) => return Ok(()),
            Err(unavailable) => return Err(unavailable),
        };
        let sources = match shown.judged_by {
            Some(at) => self.origin(at)?.into_iter().collect(),
            None => self.private_causes(shown.about)?,
        };
        let first = sources.first().cloned();
        let carried = match self.carried(sources, &shown.readers)? {
            None => self.carried_files(&shown.files, &shown.readers)?,
            carried => carried,
        };
        let source = match carried {
            Some(source) => Some(source),
            None if shown.says && self.ws.approvals.all_sends => {
                // The request names them, in the same way each time.
                for room in &shown.readers.rooms {
                    self.load(*room)?;
                }
                match first {
                    Some(first) => self.recall_kept(first.at)?.map(|_| first),
                    None => None,
                }
            }
            None => return Ok(()),
        };
        let arguments = self.arguments(&shown);
        self.ask_once(shown.tool.into(), arguments, source)
    }

    /// The private words that the caller's action may disclose: those of its turn, if it names one
    /// by token or as `about`; otherwise everything that its sessions were told.
    fn private_causes(&mut self, about: Option<EventRef>) -> Result<Vec<Origin>> {
        let turn = self.by.turn.map(|t| EventRef { conversation: t.conversation, seq: t.seq });
        match turn.or_else(|| about.filter(|at| self.is_run_of_mine(*at))) {
            Some(at) => Ok(self.origin(at)?.into_iter().collect()),
            None => self.told_in_private(),
        }
    }

    /// Who can read an event; none when the event was dropped from its log.
    pub(crate) fn origin(&mut self, at: EventRef) -> Result<Option<Origin>> {
        let kept = self.recall_kept(at)?;
        Ok(kept.map(|recalled| Origin { at, only: recalled.event.only().cloned() }))
    }

    /// The private words that a message to this place would disclose: those of its cause, and, when
    /// it names no turn of the sender's own, everything that the sender was told.
    pub(crate) fn carried_by_send(
        &mut self,
        cause: Option<EventRef>,
        answers: Option<EventRef>,
        message: &Message,
        to: ConversationKey,
        only: Option<&Arc<[MemberKey]>>,
    ) -> Result<Option<Origin>> {
        let named = self.by.turn.is_some() || answers.is_some_and(|at| self.is_run_of_mine(at));
        let mut sources = Vec::new();
        if let Some(cause) = cause {
            sources.extend(self.origin(cause)?);
        }
        if !named {
            sources.extend(self.told_in_private()?);
        }
        let readers = Readers::of_room(to, only.cloned());
        match self.carried(sources, &readers)? {
            None => self.carried_files(&message.assets(), &readers),
            carried => Ok(carried),
        }
    }

    /// The first of these sources that would be disclosed to somebody who cannot read it. An agent
    /// that was told in more places than are tracked is always held.
    fn carried(&mut self, sources: Vec<Origin>, readers: &Readers) -> Result<Option<Origin>> {
        for (n, mut source) in sources.into_iter().enumerate() {
            if n < limits::TOLD_IN_PRIVATE && !self.carries(&source, readers)? {
                continue;
            }
            // An event that was offered in a failed batch is not in the log.
            if self.load(source.at.conversation).is_ok() {
                source.at.seq = source.at.seq.min(self.room(source.at.conversation).head().seq);
            }
            match self.recall_kept(source.at) {
                Ok(Some(_)) => return Ok(Some(source)),
                Ok(None) => {}
                Err(Failure::Unavailable(_)) => {
                    let why = "what you were told in private cannot be read just now, so that nobody can be asked; \
                               name the turn that you speak in, or try again later";
                    return Err(Refusal::new(Code::Unavailable, why).into());
                }
                Err(refused) => return Err(refused),
            }
        }
        Ok(None)
    }

    /// Whether something that the caller shows to a whole room, outside of a turn, may disclose
    /// what it was told in private.
    pub(crate) fn carries_into(&mut self, room: ConversationKey) -> Result<bool> {
        let told = self.told_in_private()?;
        Ok(self.carried(told, &Readers::of_room(room, None))?.is_some())
    }

    /// The private source of one of the files, if somebody would read the file who can see it
    /// nowhere else.
    fn carried_files(&mut self, files: &[Uid], readers: &Readers) -> Result<Option<Origin>> {
        for file in files {
            let mut carried = None;
            for place in self.facts.asset_places(*file, self.by.member)? {
                self.load(place.conversation)?;
                let newest = self.room(place.conversation).head().seq;
                let place = match place.seq {
                    // A pinned file is visible to all readers of the conversation.
                    PINNED => Some(Origin { at: EventRef { seq: newest, ..place }, only: None }),
                    _ => self.origin(place)?,
                };
                carried = match place {
                    Some(place) if self.carries(&place, readers)? => Some(place),
                    _ => None,
                };
                if carried.is_none() {
                    break;
                }
            }
            if carried.is_some() {
                return Ok(carried);
            }
        }
        Ok(None)
    }

    /// Whether the caller was notified of the event and has not finished with it, or has answered
    /// it very recently.
    fn is_run_of_mine(&self, at: EventRef) -> bool {
        let Some(room) = self.ws.rooms.get(&at.conversation) else { return false };
        let closed = || room.closed().iter().rev().find(|open| open.seq == at.seq);
        let open = room.open().get(&at.seq).or_else(closed);
        let since = self.now.plus(-limits::TURN_QUIET_MS);
        open.and_then(|open| open.delivery(self.by.member)).is_some_and(|mine| match mine.state {
            State::Settled { disposition: Disposition::Responded, at } => at > since,
            _ => mine.is_open(),
        })
    }

    /// Whether somebody would read the source who cannot read it in its own place. Its readers are
    /// known without loading its room, which may be damaged or not in memory.
    fn carries(&mut self, source: &Origin, readers: &Readers) -> Result<bool> {
        for room in &readers.rooms {
            self.load(*room)?;
        }
        let (key, me) = (source.at.conversation, self.by.member);
        let stored = match self.ws.rooms.contains_key(&key) {
            true => None,
            false => self.facts.seats(key)?,
        };
        let from = self.ws.rooms.get(&key);
        let visibility = from
            .map(|room| room.conversation().settings.visibility)
            .or(stored.as_ref().map(|seats| seats.visibility));
        let Some(visibility) = visibility else { return Ok(false) };
        let alone = readers.members.is_empty() && !readers.everybody;
        let at_home = alone && readers.rooms == [key];
        if source.only.is_none() && (visibility == Visibility::Public || at_home) {
            return Ok(false);
        }
        let sits = |member: &MemberKey| match from {
            Some(room) => room.roster().contains_key(member),
            None => stored.as_ref().is_some_and(|s| s.members.binary_search(member).is_ok()),
        };
        // The agent itself knows it, even if it has lost its membership since.
        let reads_there = |member: &MemberKey| {
            *member == me
                || source.only.as_ref().map_or_else(|| sits(member), |o| o.contains(member))
        };
        if let Some(only) = &readers.only {
            return Ok(!only.iter().all(reads_there));
        }
        let is_public = |key: &ConversationKey| {
            self.room(*key).conversation().settings.visibility == Visibility::Public
        };
        if readers.everybody || readers.rooms.iter().any(is_public) {
            let mut members = self.directory().members.iter().filter(|m| !m.removed);
            return Ok(!members.all(|m| reads_there(&m.key)));
        }
        let mut seats = readers.rooms.iter().flat_map(|key| self.room(*key).roster().keys());
        Ok(!seats.all(reads_there) || !readers.members.iter().all(reads_there))
    }
}

impl Context<'_> {
    /// The texts and their readers as canonical JSON, with the fields in alphabetical order. A
    /// person agrees to both, so the same words for other readers are another request.
    fn arguments(&self, shown: &Shown) -> Arc<str> {
        let mut fields = shown.fields.clone();
        fields.push(("readers", self.named_readers(&shown.readers)));
        fields.sort_unstable();
        let mut json = String::from("{");
        for (n, (name, text)) in fields.iter().enumerate() {
            if n > 0 {
                json.push(',');
            }
            quote(name, &mut json);
            json.push(':');
            quote(text, &mut json);
        }
        json.push('}');
        json.into()
    }

    pub(super) fn named_readers(&self, readers: &Readers) -> String {
        let mut all = Vec::new();
        if readers.everybody {
            all.push("everybody".to_owned());
        }
        let rooms = readers.rooms.iter().filter_map(|key| self.ws.rooms.get(key));
        all.extend(rooms.map(|room| room.conversation().uid.show(Prefix::Conversation)));
        let only = readers.only.iter().flat_map(|only| only.iter());
        let members =
            readers.members.iter().chain(only).filter_map(|m| self.directory().member(*m));
        all.extend(members.map(|member| member.id.to_string()));
        all.sort_unstable();
        all.dedup();
        all.join(", ")
    }
}

/// A text as a JSON string.
pub(super) fn quote(text: &str, into: &mut String) {
    into.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => into.extend(['\\', c]),
            '\n' => into.push_str("\\n"),
            '\r' => into.push_str("\\r"),
            '\t' => into.push_str("\\t"),
            _ if c < ' ' => into.push_str(&format!("\\u{:04x}", u32::from(c))),
            _ => into.push(c),
        }
    }
    into.push('"');
}
