//! A wake as its runner gets it: what is to be read, and what the program is told.

use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::attention::framing::{FramedWake, WakeMessage, WakePlace, frame_summary, frame_wake};
use crate::commands::context::{Context, Result};
use crate::model::event::{Event, MessageKind};
use crate::model::ids::{ConversationKey, EventRef, MemberKey, Prefix, Seq, ThreadKey, Uid};
use crate::model::wake::{OutgoingThread, OutgoingWake, Wake, WakeThread};
use crate::state::effect::Effect;
use crate::state::room::turns::is_owed;

/// Messages that a prompt quotes, the newest of each place.
const QUOTED: usize = 8;
/// Messages of one place that a summary quotes.
const SUMMARIZED: usize = 30;

/// What is quoted of a place.
struct Quotes {
    place: WakeThread,
    shown: OutgoingThread,
    events: Vec<Arc<Event>>,
}

impl Context<'_> {
    /// Sends a wake to its runner.
    pub(super) fn send_wake(&mut self, uid: Uid, again: bool) -> Result<()> {
        let Some(wake) = self.directory().wakes.get(&uid).cloned() else { return Ok(()) };
        let outgoing = self.outgoing(&wake, again)?;
        self.note_quoted(&wake)?;
        self.effect(Effect::Wake(Arc::new(outgoing)));
        Ok(())
    }

    fn outgoing(&mut self, wake: &Arc<Wake>, again: bool) -> Result<OutgoingWake> {
        let mut all = Vec::new();
        for place in &wake.threads {
            // One that was removed, or cannot be loaded, is not worth the wake.
            let Ok(shown) = self.outgoing_thread(place, wake.member) else { continue };
            let events = self.newest_messages(place, wake.member, SUMMARIZED);
            all.push(Quotes { place: *place, shown, events });
        }
        let nonce = self.wake_nonce(wake);
        let prompt = self.wake_prompt(wake, &all, &nonce);
        let summary = self.wake_summary(&all, &nonce);
        Ok(OutgoingWake {
            session: wake.session,
            again,
            threads: all.into_iter().map(|quotes| quotes.shown).collect(),
            prompt: prompt.into(),
            summary: summary.into(),
            wake: wake.clone(),
        })
    }

    /// What a new session would be told of one place.
    pub(super) fn summary_of(&mut self, place: &WakeThread, member: MemberKey) -> Result<Arc<str>> {
        let shown = self.outgoing_thread(place, member)?;
        let events = self.newest_messages(place, member, SUMMARIZED);
        let nonce = nonce_of(&[&self.room(place.conversation).head().hash]);
        Ok(self.wake_summary(&[Quotes { place: *place, shown, events }], &nonce).into())
    }

    fn outgoing_thread(&mut self, place: &WakeThread, member: MemberKey) -> Result<OutgoingThread> {
        self.load(place.conversation)?;
        let read = self.read_through(place.conversation, place.thread, member)?;
        let room = self.room(place.conversation);
        let conversation = room.conversation();
        let thread = self.thread(place.conversation, place.thread);
        let title = thread.map(|t| t.title.clone()).filter(|title| !title.is_empty());
        Ok(OutgoingThread {
            conversation: conversation.uid,
            thread: thread.map(|thread| thread.uid),
            title: title.unwrap_or_else(|| conversation.settings.title.clone()),
            through_seq: thread.map_or(place.through_seq.0, |thread| thread.last_seq),
            read_seq: read.0,
        })
    }

    /// Up to where a member has read: its cursor, or the newest of its own messages that is
    /// remembered. Counted in the thread, or in the conversation's log.
    pub(super) fn read_through(
        &mut self,
        key: ConversationKey,
        thread: Option<ThreadKey>,
        member: MemberKey,
    ) -> Result<Seq> {
        let known = self.room(key).cursors().get(&(member, thread)).copied();
        let cursor = match known {
            Some(cursor) => cursor,
            None => self.facts.cursor(key, member, thread)?,
        };
        let tail = self.room(key).tail().iter().rev();
        let mut own = tail.filter(|e| e.actor == member && e.thread == thread && is_said(e));
        Ok(own.next().map_or(cursor.read, |event| place_in(event).max(cursor.read)))
    }

    /// The newest messages of a place that the member may see, oldest first, at most `limit`.
    fn newest_messages(
        &self,
        place: &WakeThread,
        member: MemberKey,
        limit: usize,
    ) -> Vec<Arc<Event>> {
        let room = self.room(place.conversation);
        let deleted = |seq: &Seq| {
            room.messages().get(seq).is_some_and(|message| message.deleted_at.is_some())
        };
        let here = |event: &&Arc<Event>| {
            event.thread == place.thread
                && event.seq <= place.through_seq
                && is_said(event)
                && event.is_shown_to(member)
                && !deleted(&event.seq)
        };
        let mut found: Vec<_> =
            room.tail().iter().rev().filter(here).take(limit).cloned().collect();
        found.reverse();
        found
    }

    fn wake_prompt(&self, wake: &Wake, all: &[Quotes], nonce: &str) -> String {
        let wake_id = wake.uid.show(Prefix::Wake);
        let ids = ids_of(all);
        let owed: Vec<(&Quotes, &Arc<Event>)> = all
            .iter()
            .flat_map(|q| q.events.iter().map(move |event| (q, event)))
            .filter(|(q, event)| {
                event.actor != wake.member && place_in(event).0 > q.shown.read_seq
                    || self.is_owed_by(wake.member, event)
            })
            .collect();
        let skipped = owed.len().saturating_sub(QUOTED);
        let quoted: Vec<String> =
            owed[skipped..].iter().map(|(_, e)| e.uid.show(Prefix::Event)).collect();
        let messages = owed[skipped..].iter().zip(&quoted).map(|((q, event), id)| WakeMessage {
            event_id: id,
            place: ids_place(&ids, all, q),
            author_kind: self.author_kind_of(event.actor),
            author_id: self.author_id_of(event.actor),
            must_respond: self.is_owed_by(wake.member, event),
            text: self.quoted(wake.member, event),
        });
        let messages: Vec<_> = messages.collect();
        frame_wake(
            &FramedWake {
                wake_id: &wake_id,
                reason: &wake.reason,
                asked_by: wake.asked_by.map(|key| self.author_id_of(key)),
                asked: wake.prompt.as_deref(),
                places: &places(&ids, all),
                messages: &messages,
                messages_more: skipped,
            },
            nonce,
        )
    }

    fn wake_summary(&self, all: &[Quotes], nonce: &str) -> String {
        let ids = ids_of(all);
        let said: Vec<_> = all.iter().flat_map(|q| q.events.iter().map(move |e| (q, e))).collect();
        let quoted: Vec<String> = said.iter().map(|(_, e)| e.uid.show(Prefix::Event)).collect();
        let messages = said.iter().zip(&quoted).map(|((q, event), id)| WakeMessage {
            event_id: id,
            place: ids_place(&ids, all, q),
            author_kind: self.author_kind_of(event.actor),
            author_id: self.author_id_of(event.actor),
            must_respond: false,
            text: event.change.message().map_or("", |message| &message.text),
        });
        frame_summary(&places(&ids, all), &messages.collect::<Vec<_>>(), nonce)
    }

    fn is_owed_by(&self, member: MemberKey, event: &Event) -> bool {
        let at = EventRef { conversation: event.conversation, seq: event.seq };
        let room = self.ws.rooms.get(&at.conversation);
        let open = room.and_then(|room| room.open().get(&at.seq));
        open.and_then(|open| open.delivery(member)).is_some_and(|d| d.is_open() && is_owed(d))
    }

    /// What is quoted of a message: nothing of a knock, whose body its agent asks for.
    fn quoted<'a>(&self, member: MemberKey, event: &'a Event) -> &'a str {
        let room = self.ws.rooms.get(&event.conversation);
        let open = room.and_then(|room| room.open().get(&event.seq));
        let delivery = open.and_then(|open| open.delivery(member));
        if delivery.is_some_and(|delivery| !delivery.decision.mode.shows_content()) {
            return "(not shown here; read it if you take it up)";
        }
        event.change.message().map_or("", |message| &message.text)
    }

    fn author_id_of(&self, key: MemberKey) -> &str {
        self.directory().member(key).map_or("host", |member| &member.id)
    }

    fn author_kind_of(&self, key: MemberKey) -> &'static str {
        if self.directory().is_agent(key) { "agent" } else { "human" }
    }

    /// Unknown to everybody whose words the prompt quotes: it depends on the hashes of the logs that
    /// contain them.
    fn wake_nonce(&self, wake: &Wake) -> String {
        let heads = wake.threads.iter().filter_map(|place| self.ws.rooms.get(&place.conversation));
        let heads: Vec<_> = heads.map(|room| &room.head().hash[..]).collect();
        let (uid, fence) = (wake.uid.0.to_be_bytes(), wake.fence.to_be_bytes());
        let parts: Vec<&[u8]> = heads.into_iter().chain([&uid[..], &fence[..]]).collect();
        nonce_of(&parts)
    }
}

fn nonce_of(parts: &[impl AsRef<[u8]>]) -> String {
    let mut hash = Sha256::new().chain_update(b"chorus wake nonce\0");
    for part in parts {
        hash.update(part);
    }
    hash.finalize()[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The ids of places, as texts: of the conversation and of the thread.
type Ids = Vec<(String, Option<String>)>;

fn ids_of(all: &[Quotes]) -> Ids {
    let ids = |q: &Quotes| {
        let thread = q.shown.thread.map(|uid| uid.show(Prefix::Thread));
        (q.shown.conversation.show(Prefix::Conversation), thread)
    };
    all.iter().map(ids).collect()
}

/// What a message says of where it is: the thread, or the conversation.
fn ids_place<'a>(ids: &'a Ids, all: &[Quotes], of: &Quotes) -> &'a str {
    let of = (of.place.conversation, of.place.thread);
    let found = all.iter().position(|q| (q.place.conversation, q.place.thread) == of);
    let found = found.and_then(|n| ids.get(n));
    found.map_or("", |(conversation, thread)| thread.as_deref().unwrap_or(conversation))
}

fn places<'a>(ids: &'a Ids, all: &'a [Quotes]) -> Vec<WakePlace<'a>> {
    let place =
        |(q, (conversation, thread)): (&'a Quotes, &'a (String, Option<String>))| WakePlace {
            conversation_id: conversation,
            thread_id: thread.as_deref(),
            title: &q.shown.title,
            read_seq: q.shown.read_seq,
            through_seq: q.shown.through_seq,
        };
    all.iter().zip(ids).map(place).collect()
}

/// A message's place in its thread, or in the conversation's log where it is in none.
pub(super) fn place_in(event: &Event) -> Seq {
    match event.thread {
        Some(_) => Seq(event.thread_seq),
        None => event.seq,
    }
}

/// Whether somebody said it.
pub(super) fn is_said(event: &Event) -> bool {
    event.change.message().is_some_and(|message| message.kind != MessageKind::System)
}
