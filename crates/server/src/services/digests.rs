//! Digests as they are read and as they are sent: a stored range with counts and references, and the words of the
//! log as they stand now.
//!
//! Nothing here is a copy but what a command writes ([`Scribe`]), and that is kept by the store under its own
//! rule: it goes when a message it was made of is deleted or erased.

mod scribe;

use std::sync::Arc;

use arc_swap::ArcSwap;
use chorus_core::commands::digests::KeepDigest;
use chorus_core::model::caller::By;
use chorus_core::model::conversation::{Conversation, Visibility};
use chorus_core::model::digest::{Digest, Written};
use chorus_core::model::error::Refusal;
use chorus_core::model::ids::{EventRef, MemberKey, Seq};
use chorus_core::state::directory::Directory;
use chorus_wire::attention::{method, notifications};
use chorus_wire::jsonrpc::Notification;
use chorus_wire::rest::digests::{self, Digests, Item, ListDigests};
pub(crate) use scribe::Scribe;
use tokio::sync::mpsc;

use super::commands::Commands;
use super::ids;
use super::pages::{is_shown, limit, posted};
use super::reads::Reads;
use crate::auth::Caller;
use crate::dispatch::Made;
use crate::dispatch::connections::{Connections, Note};
use crate::view;
use crate::view::digests::Named;

/// Digests that may wait to be told; what is beyond is stored all the same.
pub(crate) const DIGESTS: usize = 256;
/// Conversations looked through when none is named.
const CONVERSATIONS: usize = 256;

/// Digests of talk that nobody was woken for.
pub(crate) struct DigestService {
    pub(super) commands: Arc<Commands>,
    pub(super) reads: Arc<Reads>,
    pub(super) connections: Arc<Connections>,
    pub(super) directory: Arc<ArcSwap<Directory>>,
}

impl DigestService {
    /// `GET /v1/digests`. Those of others are for who runs the room.
    pub(crate) async fn digests(
        &self,
        caller: &Caller,
        query: ListDigests,
    ) -> Result<Digests, Refusal> {
        caller.must_not_be_a_turn()?;
        let limit = limit(query.limit)?;
        let member = match query.member.as_deref() {
            Some(id) => ids::member_for(&self.directory.load(), caller, id)?.key,
            None => caller.by.member,
        };
        if member != caller.by.member && !caller.sees_all() {
            caller.must_govern()?;
        }
        if query.before.is_some() && query.conversation.is_none() {
            return Err(Refusal::invalid("before counts within one conversation; name it"));
        }
        let conversations = match query.conversation.as_deref() {
            Some(id) => vec![self.reads.place(caller, ids::conversation(id)?).await?.conversation],
            None => {
                let viewer = caller.viewer();
                let mut seen =
                    self.reads.read(move |readers| readers.conversations(viewer)).await?;
                seen.truncate(CONVERSATIONS);
                seen
            }
        };
        let before = Seq(query.before.unwrap_or(u64::MAX));
        let mut found = Vec::new();
        for conversation in conversations {
            let key = conversation.key;
            let stored =
                self.reads.read(move |readers| readers.digests(key, member, before, limit)).await?;
            found.extend(
                stored.into_iter().map(|(digest, text)| (conversation.clone(), digest, text)),
            );
        }
        found.sort_by_key(|(_, digest, _)| std::cmp::Reverse((digest.at, digest.through)));
        found.truncate(limit);
        let mut digests = Vec::with_capacity(found.len());
        for (conversation, digest, text) in found {
            digests.extend(self.show_digest(&conversation, &digest, member, text).await?);
        }
        Ok(Digests { digests })
    }

    /// A digest as one member is shown it.
    async fn show_digest(
        &self,
        conversation: &Conversation,
        digest: &Digest,
        member: MemberKey,
        written: Option<String>,
    ) -> Result<Option<digests::Digest>, Refusal> {
        let Some(part) = digest.part(member) else { return Ok(None) };
        let calls = part.calls.iter().map(|seq| (*seq, "call"));
        let asks = digest.asks.iter().map(|seq| (*seq, "ask"));
        let statuses = digest.statuses.iter().map(|seq| (*seq, "status"));
        let mut wanted: Vec<(Seq, &'static str)> = calls.chain(asks).chain(statuses).collect();
        // A message is named once, by the first of its kinds.
        wanted.sort_by_key(|(seq, _)| *seq);
        wanted.dedup_by_key(|(seq, _)| *seq);
        let key = conversation.key;
        let threads: Vec<_> = digest.threads.clone();
        let (named, threads) = self
            .reads
            .read(move |readers| {
                let mut named = Vec::new();
                for (seq, kind) in wanted {
                    let entry = readers.entry_at(EventRef { conversation: key, seq })?;
                    let entry = entry.filter(|stored| is_shown(Some(member), stored));
                    named.extend(entry.and_then(posted).map(|shown| Named { kind, shown }));
                }
                let mut shown = Vec::new();
                for (thread, count) in threads {
                    let found = readers.thread_by_key(key, thread)?;
                    shown.extend(found.map(|thread| (thread, count)));
                }
                Ok((named, shown))
            })
            .await?;
        let directory = self.directory.load();
        let shown = view::digests::digest(
            &directory,
            conversation,
            digest,
            part,
            &named,
            &threads,
            written,
        );
        Ok(Some(shown))
    }

    /// Tells those who are connected, each its own part, after a command has had its say, if there is one.
    pub(crate) async fn tell_digests(
        self: Arc<Self>,
        mut made: mpsc::Receiver<Made>,
        scribe: Scribe,
    ) {
        while let Some((conversation, digest)) = made.recv().await {
            for part in &digest.members {
                let told = self.tell_digest(&conversation, &digest, part.member, &scribe).await;
                if let Err(refusal) = told {
                    tracing::warn!(%refusal, "a digest could not be told");
                }
            }
        }
    }

    async fn tell_digest(
        &self,
        conversation: &Arc<Conversation>,
        digest: &Digest,
        member: MemberKey,
        scribe: &Scribe,
    ) -> Result<(), Refusal> {
        let directory = self.directory.load();
        if directory.is_paused(member) {
            return Ok(());
        }
        let sessions = directory.connected(member).to_vec();
        if sessions.is_empty() && !scribe.is_there() {
            return Ok(());
        }
        let Some(mut shown) = self.show_digest(conversation, digest, member, None).await? else {
            return Ok(());
        };
        if let Some(text) = scribe.write(&shown.id, &shown).await {
            let written = Written {
                after: digest.after,
                through: digest.through,
                member,
                // No engine keeps this character in a text.
                text: text.replace('\0', "").into(),
            };
            let keep = KeepDigest { conversation: conversation.uid, written };
            self.commands.submit(By::host(), keep).await?;
            // As the store has it: it kept nothing when something of the stretch has gone meanwhile.
            let (key, through) = (conversation.key, digest.through);
            let stored =
                self.reads.read(move |r| r.digests(key, member, Seq(through.0 + 1), 1)).await?;
            let kept = stored.into_iter().find(|(d, _)| d.through == through);
            shown.written = kept.and_then(|(_, text)| text);
        }
        let visibility = conversation.settings.visibility;
        let note = Notification::new(method::DIGEST, notification(&shown, visibility));
        let Ok(text) = serde_json::to_string(&note) else { return Ok(()) };
        for session in sessions {
            let connection = self.connections.get(session);
            if let Some(connection) = connection.filter(|c| c.can.injection.digest) {
                connection.note(Note { text: text.clone(), withdraws: None, typing: None });
            }
        }
        Ok(())
    }
}

fn notification(shown: &digests::Digest, visibility: Visibility) -> notifications::Digest {
    let calls = shown.items.iter().filter(|item: &&Item| item.kind == "call");
    notifications::Digest {
        digest_id: shown.id.clone(),
        conversation: shown.conversation.clone(),
        title: shown.title.clone(),
        visibility: Some(visibility.into()),
        after_sequence: shown.after_seq,
        through_sequence: shown.through_seq,
        created_at: shown.created_at,
        attention: notifications::DigestAttention {
            policy: shown.policy,
            reason: "digest".to_owned(),
        },
        messages: shown.messages,
        calls: calls.map(|item| item.event_id.clone()).collect(),
        text: shown.written.as_ref().unwrap_or(&shown.text).clone(),
    }
}
