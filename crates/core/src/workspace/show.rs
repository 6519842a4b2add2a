//! The gate for what an agent shows of what it was told in private (attention spec, ATT-190 and ATT-420 on).
//!
//! Invariant: words of an agent reach nobody whom their private cause does not reach, unless a person has agreed: as a
//! message, which is kept whole ([`super::approve`]), or as anything else that has words, which comes through here
//! before it is done, from whatever door. What was told in private is remembered for as long as the session runs that
//! was told it; an act that names a turn is judged by that turn's cause alone.

mod project;
mod words;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::{Failure, Result, Run};
use crate::command::{Command, Outcome};
use crate::conversation::Visibility;
use crate::delivery::{Disposition, State};
use crate::event::{EventRef, Message};
use crate::ids::{ConversationKey, MemberKey, Prefix, Seq, SessionKey, Uid};
use crate::limits;
use words::{Readers, Shown};

/// What agents were told in private, by the session that took it up.
#[derive(Debug, Default)]
pub(super) struct Told {
    by_member: HashMap<MemberKey, Vec<Private>>,
    /// Sessions that began here, so that nothing was told to them before.
    fresh: HashSet<SessionKey>,
    /// Members of whose older sessions the log was asked.
    recalled: HashSet<MemberKey>,
}

/// One private cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Private {
    /// None: of before this host knew of its sessions.
    session: Option<SessionKey>,
    at: EventRef,
    /// To some of its room alone.
    ephemeral: bool,
}

impl Told {
    pub(super) fn began(&mut self, session: SessionKey) {
        self.fresh.insert(session);
    }

    pub(super) fn ended(&mut self, member: MemberKey, session: SessionKey) {
        self.fresh.remove(&session);
        if let Some(told) = self.by_member.get_mut(&member) {
            told.retain(|private| private.session != Some(session));
        }
    }

    /// Of a room the newest is enough, since all of it has the same readers; ephemeral messages have their own.
    fn note(&mut self, member: MemberKey, new: Private) {
        let told = self.by_member.entry(member).or_default();
        let same = |p: &Private| {
            p.session == new.session
                && p.at.conversation == new.at.conversation
                && (p.at == new.at || !p.ephemeral && !new.ephemeral)
        };
        told.retain(|p| !same(p));
        if told.len() >= limits::TOLD_IN_PRIVATE {
            told.remove(0);
        }
        told.push(new);
    }

    /// Those of these sessions, the newest first.
    fn of(&self, member: MemberKey, sessions: &[SessionKey]) -> Vec<EventRef> {
        let older = sessions.iter().any(|session| !self.fresh.contains(session));
        let is_theirs = |p: &&Private| match p.session {
            Some(session) => sessions.contains(&session),
            None => older,
        };
        let told = self.by_member.get(&member).into_iter().flatten();
        told.rev().filter(is_theirs).map(|p| p.at).collect()
    }
}

impl Run<'_> {
    /// A session of an agent has taken the event up: if it is private, that is remembered.
    pub(super) fn note_told(&mut self, at: EventRef, session: SessionKey) {
        let me = self.by.member;
        let Some(room) = self.ws.rooms.get(&at.conversation) else { return };
        let ephemeral = room.open.get(&at.seq).is_some_and(|o| o.attention.only.is_some());
        let is_open = room.conversation.settings.visibility == Visibility::Public;
        if (is_open && !ephemeral) || !self.directory().is_agent(me) {
            return;
        }
        self.ws.told.note(me, Private { session: Some(session), at, ephemeral });
    }

    /// Holds what the command would show until a person agrees, if it carries private words further. None: it may go on.
    pub(super) fn may_show(&mut self, command: &Command) -> Result<Option<Outcome>> {
        let me = self.by.member;
        if !self.directory().is_agent(me) || self.directory().is_stand_in(me) {
            return Ok(None);
        }
        let shown = match self.words_of(command) {
            Ok(Some(shown)) => shown,
            // What it is about is unknown: the command says so itself.
            Ok(None) | Err(Failure::Refused(_)) => return Ok(None),
            Err(unavailable) => return Err(unavailable),
        };
        let sources = match shown.judged_by {
            Some(at) => vec![at],
            None => self.private_causes(shown.about)?,
        };
        // Words that the agent says to all who read there, like a message.
        let says = matches!(
            command,
            Command::Edit { .. } | Command::Stimulate(_) | Command::ChangeSchedules { .. }
        );
        if says && self.ws.approvals.all_sends {
            // They are named in what is asked, the same each time.
            for room in &shown.readers.rooms {
                self.load(*room)?;
            }
            let (arguments, source) = (self.arguments(&shown), sources.first().copied());
            return match self.ask_once(shown.tool.into(), arguments, source)? {
                Outcome::Done => Ok(None),
                held => Ok(Some(held)),
            };
        }
        let files = self.carried_files(&shown.files, &shown.readers)?;
        for source in sources.into_iter().chain(files) {
            if self.carries(source, &shown.readers)? {
                let arguments = self.arguments(&shown);
                return match self.ask_once(shown.tool.into(), arguments, Some(source))? {
                    Outcome::Done => Ok(None),
                    held => Ok(Some(held)),
                };
            }
        }
        Ok(None)
    }

    /// What private words the caller's act may carry: its turn's, if it names one, by the turn's token or as `about`;
    /// else all that its sessions were told.
    fn private_causes(&mut self, about: Option<EventRef>) -> Result<Vec<EventRef>> {
        if let Some(turn) = self.by.turn {
            return Ok(vec![EventRef { conversation: turn.conversation, seq: turn.seq }]);
        }
        match about {
            Some(at) if self.is_run_of_mine(at) => Ok(vec![at]),
            _ => self.told_in_private(),
        }
    }

    /// The private words that would be carried by a message to this place: those of its cause, and of all that the
    /// sender was told where it names no turn of its own.
    pub(super) fn carried_by_send(
        &mut self,
        cause: Option<EventRef>,
        answers: Option<EventRef>,
        message: &Message,
        to: ConversationKey,
        only: Option<&Arc<[MemberKey]>>,
    ) -> Result<Option<EventRef>> {
        let named = self.by.turn.is_some() || answers.is_some_and(|at| self.is_run_of_mine(at));
        let mut sources: Vec<EventRef> = cause.into_iter().collect();
        if !named {
            sources.extend(self.told_in_private()?);
        }
        let readers = Readers::of_room(to, only.cloned());
        for source in sources {
            if self.carries(source, &readers)? {
                return Ok(Some(source));
            }
        }
        self.carried_files(&message.assets(), &readers)
    }

    /// Where one of the files is shown to the caller in private, if it would be read by somebody who sees it nowhere.
    fn carried_files(&mut self, files: &[Uid], readers: &Readers) -> Result<Option<EventRef>> {
        for file in files {
            let mut carried = None;
            for place in self.facts.asset_places(*file, self.by.member)? {
                self.load(place.conversation)?;
                // One that is pinned is shown to all who read there, like what was said there last.
                let newest = self.room(place.conversation).head.seq;
                let seq = if place.seq == Seq(0) { newest } else { place.seq };
                let place = EventRef { seq, ..place };
                if !self.carries(place, readers)? {
                    carried = None;
                    break;
                }
                carried = Some(place);
            }
            if carried.is_some() {
                return Ok(carried);
            }
        }
        Ok(None)
    }

    /// Whether the caller was offered it and is not done with it, or has answered it a moment ago.
    fn is_run_of_mine(&self, at: EventRef) -> bool {
        let Some(room) = self.ws.rooms.get(&at.conversation) else { return false };
        let closed = || room.closed.iter().rev().find(|open| open.seq == at.seq);
        let open = room.open.get(&at.seq).or_else(closed);
        let since = self.now.plus(-limits::TURN_QUIET_MS);
        open.and_then(|open| open.delivery(self.by.member)).is_some_and(|mine| {
            let goes_on = match mine.state {
                State::Settled { disposition: Disposition::Responded, at } => at > since,
                _ => mine.is_open(),
            };
            goes_on && mine.attempt > 0
        })
    }

    /// All that the caller's session was told in private, or its connected sessions where it names none.
    fn told_in_private(&mut self) -> Result<Vec<EventRef>> {
        let me = self.by.member;
        let sessions: Vec<SessionKey> = match self.by.session {
            Some(session) => vec![session],
            None => self.directory().connected(me).to_vec(),
        };
        if sessions.is_empty() {
            return Ok(Vec::new());
        }
        let older = sessions.iter().any(|session| !self.ws.told.fresh.contains(session));
        if older && (self.ws.shared || !self.ws.told.recalled.contains(&me)) {
            self.recall_told(me)?;
        }
        Ok(self.ws.told.of(me, &sessions))
    }

    /// What a member was told before this host knew of its sessions: the newest of each private conversation.
    fn recall_told(&mut self, member: MemberKey) -> Result<()> {
        for key in self.facts.private_seats(member)? {
            self.load(key)?;
            let told = |e: &&Arc<crate::event::Event>| {
                e.attention.iter().flat_map(|a| &a.told).any(|t| t.member == member)
            };
            let newest = self.room(key).tail.iter().rev().find(told).map(|e| e.seq);
            if let Some(seq) = newest {
                let at = EventRef { conversation: key, seq };
                self.ws.told.note(member, Private { session: None, at, ephemeral: false });
            }
        }
        self.ws.told.recalled.insert(member);
        Ok(())
    }

    /// Whether what was said at `source` would be read by somebody who cannot read it there. Of what was dropped from its
    /// log nobody knows any more.
    pub(super) fn carries(&mut self, source: EventRef, readers: &Readers) -> Result<bool> {
        let Some(recalled) = self.recall_kept(source)? else { return Ok(false) };
        let shown_to = recalled.event.only().cloned();
        for room in &readers.rooms {
            self.load(*room)?;
        }
        let from = self.room(source.conversation);
        let open = from.conversation.settings.visibility == Visibility::Public;
        let alone = readers.members.is_empty() && !readers.everybody;
        let at_home = alone && readers.rooms == [from.key()];
        if shown_to.is_none() && (open || at_home) {
            return Ok(false);
        }
        let reads_there = |member: &MemberKey| match &shown_to {
            Some(only) => only.contains(member),
            None => from.roster.contains_key(member),
        };
        if let Some(only) = &readers.only {
            return Ok(!only.iter().all(reads_there));
        }
        let is_public = |key: &ConversationKey| {
            self.room(*key).conversation.settings.visibility == Visibility::Public
        };
        if readers.everybody || readers.rooms.iter().any(is_public) {
            let mut members = self.directory().members.iter().filter(|m| !m.removed);
            return Ok(!members.all(|m| reads_there(&m.key)));
        }
        let mut seats = readers.rooms.iter().flat_map(|key| self.room(*key).roster.keys());
        Ok(!seats.all(reads_there) || !readers.members.iter().all(reads_there))
    }
}

impl Run<'_> {
    /// What is to be shown, and who would read it, as canonical JSON: the fields are texts, in the order of their names. A
    /// person agrees to both, so that the same words for others are another request.
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

    fn named_readers(&self, readers: &Readers) -> String {
        let mut all = Vec::new();
        if readers.everybody {
            all.push("everybody".to_owned());
        }
        let rooms = readers.rooms.iter().filter_map(|key| self.ws.rooms.get(key));
        all.extend(rooms.map(|room| room.conversation.uid.show(Prefix::Conversation)));
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
fn quote(text: &str, into: &mut String) {
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
