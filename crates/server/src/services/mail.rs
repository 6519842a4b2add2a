//! What an agent reads: `chat.list_events` and `chat.read_thread`. Reading obliges to nothing; pulling the
//! content behind a knock is noted in its receipt.

use std::sync::Arc;

use arc_swap::ArcSwap;
use chorus_core::commands::deliveries;
use chorus_core::model::attention::{Decision, Directedness, Policy};
use chorus_core::model::conversation::Conversation;
use chorus_core::model::error::Refusal;
use chorus_core::model::event::{Event, Message};
use chorus_core::model::ids::{MemberKey, Prefix, ThreadKey};
use chorus_core::state::directory::Directory;
use chorus_core::state::room::Head;
use chorus_wire::attention::entry::Entry;
use chorus_wire::attention::initialize::Glyphs;
use chorus_wire::attention::tools::{Events, ListEvents, ReadThread, ThreadWindow};

use super::answered::unseen;
use super::commands::Commands;
use super::deliveries::DeliveryService;
use super::messages::MessageService;
use super::pages::{Page, Range, fit, limit};
use super::reads::Reads;
use super::threads::thread_at_home;
use super::{ids, streams};
use crate::auth::Caller;
use crate::view::conversations::base_seq;
use crate::view::messages::{self, Shown};

/// Conversations looked through for one inbox, those with the newest events first.
const CONVERSATIONS: usize = 64;
/// Pages looked through for events that fit a filter.
const PAGES: usize = 10;

/// What a member was sent and what it still owes.
pub(crate) struct MailService {
    pub(super) commands: Arc<Commands>,
    pub(super) reads: Arc<Reads>,
    pub(super) messages: Arc<MessageService>,
    pub(super) deliveries: Arc<DeliveryService>,
    pub(super) directory: Arc<ArcSwap<Directory>>,
}

impl MailService {
    /// `chat.list_events`.
    pub(crate) async fn list_events(
        &self,
        caller: &Caller,
        args: ListEvents,
        glyphs: Option<&Glyphs>,
    ) -> Result<Events, Refusal> {
        let limit = limit(args.limit)?;
        if args.after_sequence.is_some() && args.conversation.is_none() {
            return Err(Refusal::invalid("afterSequence counts within one conversation; name it"));
        }
        let from_memory = args.unsettled == Some(true) || args.overdue == Some(true);
        let (mut found, mut has_more) = if from_memory {
            (self.unsettled(caller, &args).await?, false)
        } else {
            self.recent(caller, &args, limit).await?
        };
        // What still waits is shown from its oldest on, the rest up to its newest.
        let oldest_first = from_memory || args.after_sequence.is_some();
        if found.len() > limit {
            has_more = true;
            if oldest_first {
                found.truncate(limit);
            } else {
                found.drain(..found.len() - limit);
            }
        }
        let bytes = |found: &Found| found.shown.content().map_or(0, Message::bytes);
        has_more |= fit(&mut found, oldest_first, bytes);
        let directory = self.directory.load();
        let me = caller.by.member;
        let entry = |found: &Found| {
            let mut entry = messages::entry(&directory, &found.shown, me, glyphs);
            entry.attention = found.decision.as_ref().map(messages::attention);
            entry
        };
        let events: Vec<Entry> = found.iter().map(entry).collect();
        let shown: Vec<Shown> = found.into_iter().map(|found| found.shown).collect();
        self.note_pulled(caller, &shown).await;
        Ok(Events { events, has_more })
    }

    /// `chat.read_thread`: a thread, a conversation's newest, or the window up to and around an event.
    pub(crate) async fn read_thread(
        &self,
        caller: &Caller,
        args: ReadThread,
        glyphs: Option<&Glyphs>,
    ) -> Result<ThreadWindow, Refusal> {
        let limit = limit(args.limit)?;
        let range = Range::of(args.after_sequence, args.before_sequence)?;
        let window = self.window(caller, &args, range).await?;
        let Page { shown, more } = self
            .reads
            .page(caller.viewer(), &window.conversation, window.thread, window.range, limit)
            .await?;
        self.note_pulled(caller, &shown).await;
        let directory = self.directory.load();
        let me = caller.by.member;
        let entry = |shown: &Shown| messages::entry(&directory, shown, me, glyphs);
        Ok(ThreadWindow {
            conversation: window.conversation.uid.show(Prefix::Conversation),
            thread_id: window.thread_id,
            messages: shown.iter().map(entry).collect(),
            has_more: more,
            base_sequence: base_seq(window.head),
        })
    }

    async fn window(
        &self,
        caller: &Caller,
        args: &ReadThread,
        range: Range,
    ) -> Result<Window, Refusal> {
        let given = [&args.conversation, &args.thread_id, &args.event_id];
        match given.map(|id| id.as_deref()) {
            [Some(conversation), None, None] => {
                let place = self.reads.place(caller, ids::conversation(conversation)?).await?;
                Ok(Window {
                    head: place.head,
                    conversation: place.conversation,
                    thread: None,
                    thread_id: None,
                    range,
                })
            }
            [conversation, Some(id), None] => {
                let uid = ids::thread(id)?;
                let unknown = || Refusal::not_found("thread");
                let found = self.reads.read(move |readers| thread_at_home(readers, uid)).await?;
                let (home, thread) = found.ok_or_else(unknown)?;
                let place = self
                    .reads
                    .place(caller, home.uid)
                    .await
                    .map_err(|why| unseen(why, unknown()))?;
                if conversation.is_some_and(|c| ids::conversation(c).ok() != Some(home.uid)) {
                    return Err(unknown());
                }
                Ok(Window {
                    head: place.head,
                    conversation: place.conversation,
                    thread: Some(thread.key),
                    thread_id: Some(id.to_owned()),
                    range,
                })
            }
            [_, None, Some(id)] => {
                let shown = self.messages.shown(caller, id).await?;
                let place = self.reads.place(caller, shown.conversation.uid).await?;
                // Up to it unless the caller wants another part of the same line of talk.
                let range = match range {
                    Range::Newest => Range::Before(shown.event.seq.next()),
                    other => other,
                };
                Ok(Window {
                    head: place.head,
                    conversation: place.conversation,
                    thread: shown.event.thread,
                    thread_id: shown.thread.map(|t| t.show(Prefix::Thread)),
                    range,
                })
            }
            _ => Err(Refusal::invalid("give one of conversation, threadId and eventId")),
        }
    }

    /// What still waits for the caller, or concerns it and is overdue, from memory, so that it is never
    /// falsely empty.
    async fn unsettled(&self, caller: &Caller, args: &ListEvents) -> Result<Vec<Found>, Refusal> {
        let overdue = args.overdue == Some(true);
        let open = match overdue {
            true => self.deliveries.overdue_events(caller, Some(caller.by.member)).await?,
            false => self.deliveries.waiting(caller, None).await?,
        };
        let wanted = args.conversation.as_deref().map(ids::conversation).transpose()?;
        let stream = match args.stream.as_deref() {
            Some(id) => Some(streams::key(&self.directory.load(), id)?),
            None => None,
        };
        let mut found = Vec::new();
        for (conversation, open) in open {
            let here = wanted.is_none_or(|uid| uid == conversation.uid)
                && stream.is_none_or(|key| conversation.settings.stream == Some(key))
                && caller.turn.is_none_or(|turn| turn.conversation == conversation.uid);
            let mine = open.delivery(caller.by.member);
            let waits = mine.is_some_and(chorus_core::model::delivery::Delivery::is_open);
            let wanted = if args.unsettled == Some(true) { waits } else { overdue };
            if !here || !wanted {
                continue;
            }
            // Under the id of what is owed: after an edit that is the edit's.
            if let Some(shown) = self.reads.owed_message(caller.viewer(), open.uid).await? {
                let decision = mine.map(|delivery| delivery.decision);
                let decision = decision.or_else(|| told(&shown.event, caller.by.member));
                found.push(Found { shown, decision });
            }
        }
        found.retain(|found| fits(found, args));
        found.sort_by_key(|found| (found.shown.event.at, found.shown.event.seq));
        Ok(found)
    }

    async fn recent(
        &self,
        caller: &Caller,
        args: &ListEvents,
        limit: usize,
    ) -> Result<(Vec<Found>, bool), Refusal> {
        let me = caller.by.member;
        let mut found = Vec::new();
        let (conversations, mut more) = self.looked_through(caller, args).await?;
        for conversation in conversations {
            let after = args.after_sequence.filter(|_| args.conversation.is_some());
            let mut range = Range::of(after, None)?;
            let mut rest = false;
            for _ in 0..PAGES {
                let page =
                    self.reads.page(caller.viewer(), &conversation, None, range, limit).await?;
                let next = match range {
                    Range::After(_) => page.shown.last().map(|s| Range::After(s.event.seq)),
                    _ => page.shown.first().map(|s| Range::Before(s.event.seq)),
                };
                let past = |s: &Shown| args.since.is_some_and(|since| s.event.at < since.0);
                // Going back, what comes next is older still.
                let back = !matches!(range, Range::After(_));
                let over = back && page.shown.first().is_some_and(past);
                rest = page.more && !over;
                let shown = page.shown.into_iter();
                let shown = shown.map(|shown| Found { decision: told(&shown.event, me), shown });
                found.extend(shown.filter(|found| fits(found, args)));
                // One more than is shown tells that there is more.
                match next {
                    Some(next) if rest && found.len() <= limit => range = next,
                    _ => break,
                }
            }
            more |= rest;
        }
        found.sort_by_key(|Found { shown, .. }| {
            (shown.event.at, shown.event.conversation, shown.event.seq)
        });
        Ok((found, more))
    }

    /// The conversation asked for, or those the caller has a seat in; whether there are more of them.
    async fn looked_through(
        &self,
        caller: &Caller,
        args: &ListEvents,
    ) -> Result<(Vec<Arc<Conversation>>, bool), Refusal> {
        let stream = match args.stream.as_deref() {
            Some(id) => Some(streams::key(&self.directory.load(), id)?),
            None => None,
        };
        let named = match (args.conversation.as_deref(), &caller.turn) {
            (Some(id), _) => Some(ids::conversation(id)?),
            (None, turn) => turn.as_ref().map(|turn| turn.conversation),
        };
        if let Some(uid) = named {
            let conversation = self.reads.place(caller, uid).await?.conversation;
            let of_stream = stream.is_none_or(|key| conversation.settings.stream == Some(key));
            return Ok((of_stream.then_some(conversation).into_iter().collect(), false));
        }
        let me = caller.by.member;
        self.reads
            .read(move |readers| {
                let mut seated = Vec::new();
                for conversation in readers.conversations(Some(me))? {
                    let of_stream =
                        stream.is_none_or(|key| conversation.settings.stream == Some(key));
                    if of_stream && readers.has_seat(conversation.key, me)? {
                        let last = readers.head(conversation.key)?.unwrap_or_default().last_at;
                        seated.push((last, conversation));
                    }
                }
                seated.sort_by_key(|(last, _)| std::cmp::Reverse(*last));
                let more = seated.len() > CONVERSATIONS;
                seated.truncate(CONVERSATIONS);
                Ok((seated.into_iter().map(|(_, conversation)| conversation).collect(), more))
            })
            .await
    }

    /// Knocks whose content was shown with these messages.
    async fn note_pulled(&self, caller: &Caller, shown: &[Shown]) {
        for shown in shown {
            let mine = told(&shown.event, caller.by.member);
            if mine.is_some_and(|d| d.mode.tells() && !d.mode.shows_content()) {
                // Before the answer: the writer takes members in turn, and whoever asks next is to see it.
                let noted = self
                    .commands
                    .submit(caller.by, deliveries::Retrieve { event: shown.event.uid });
                if let Err(refusal) = noted.await {
                    tracing::debug!(code = ?refusal.code, "that a knock was pulled was not noted");
                }
            }
        }
    }
}

/// An event for an inbox, and what was decided for its reader, if it was told.
struct Found {
    shown: Shown,
    decision: Option<Decision>,
}

struct Window {
    conversation: Arc<Conversation>,
    thread: Option<ThreadKey>,
    thread_id: Option<String>,
    range: Range,
    head: Head,
}

fn told(event: &Event, member: MemberKey) -> Option<Decision> {
    let told = &event.attention.as_ref()?.told;
    told.iter().find(|t| t.member == member).map(|t| t.decision)
}

/// Whether a message is what the caller asked for; whoever was not told shares the answer for the rest.
fn fits(found: &Found, args: &ListEvents) -> bool {
    let event = &found.shown.event;
    let (policy, directedness) = match (found.decision, &event.attention) {
        (Some(decision), _) => (decision.policy, decision.directedness),
        (None, Some(attention)) => (Policy::MustNotRespond, attention.rest),
        (None, None) => (Policy::MustNotRespond, Directedness::Ambient),
    };
    args.policy.is_none_or(|p| p == policy)
        && args.directedness.is_none_or(|d| d == directedness)
        && args.since.is_none_or(|since| event.at >= since.0)
        && args.after_sequence.is_none_or(|after| event.seq.0 > after)
}
