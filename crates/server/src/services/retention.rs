//! Retention: what is older than its conversation keeps is archived, when there is an archive, and dropped.
//!
//! A conversation's beginning goes in stretches: the writer says which events may, they are written to the archive
//! and synced, and a command drops just those, after looking again. The log's base is the cursor of that chain, so that a host
//! which ends anywhere in it goes on where it was.

use std::path::PathBuf;
use std::sync::Arc;

use arc_swap::ArcSwap;
use chorus_core::commands::retention::{Droppable, HoldReason, Trim};
use chorus_core::model::caller::By;
use chorus_core::model::conversation::{Conversation, Keep};
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::{ConversationKey, Uid};
use chorus_core::queries;
use chorus_core::state::directory::Directory;
use chorus_store::db::Error;

use super::clock::HostClock;
use super::commands::Commands;
use super::drain::Drain;
use super::reads::Reads;
use super::search::Searching;
use crate::history::{self, Stretch, Unwritten};
use crate::telemetry::Metrics;

/// What is kept where nothing else is said, and where the rest goes.
pub(crate) struct Rules {
    pub(crate) keep: Keep,
    pub(crate) archive: Option<PathBuf>,
}

/// Old events go, and those that are kept longer.
pub(crate) struct RetentionService {
    pub(super) commands: Arc<Commands>,
    pub(super) reads: Arc<Reads>,
    pub(super) clock: Arc<HostClock>,
    pub(super) directory: Arc<ArcSwap<Directory>>,
    pub(super) drain: Arc<Drain>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) rules: Arc<Rules>,
    pub(super) searching: Arc<Searching>,
}

impl RetentionService {
    /// Drops all that is old in every conversation. What cannot be archived is kept, and so is all after it.
    pub(crate) async fn drop_old(&self) {
        let failed = match self.try_drop_old().await {
            Ok(failed) => failed,
            Err(why) => vec![(None, why)],
        };
        if self.drain.is_draining() {
            return;
        }
        self.metrics.retention_failing.set((!failed.is_empty()).into());
        for (conversation, why) in failed {
            let conversation = conversation.map(|key| key.0);
            tracing::error!(%why, conversation, "what is old was not dropped; it is tried again");
        }
    }

    /// Says of which conversations it could not be done: one that is damaged keeps no other from its turn.
    async fn try_drop_old(&self) -> Result<Vec<(Option<ConversationKey>, Refusal)>, Refusal> {
        let (now, usual) = (self.clock.now(), self.rules.keep);
        let (old, damaged) = self
            .reads
            .read(move |readers| {
                let is_old = |conversation: &Conversation| -> Result<bool, Error> {
                    let keep = conversation.settings.keep.unwrap_or(usual);
                    let Some(until) = keep.until(now) else { return Ok(false) };
                    Ok(readers.oldest(conversation.key)?.is_some_and(|oldest| oldest < until))
                };
                let (mut old, mut damaged) = (Vec::new(), Vec::new());
                for (key, read) in readers.each_conversation()? {
                    match read.and_then(|found| is_old(&found).map(|is_old| (found, is_old))) {
                        Ok((conversation, true)) => old.push(conversation),
                        Ok(_) => {}
                        Err(why @ Error::Corrupt(_)) => damaged.push((Some(key), why.into())),
                        Err(why) => return Err(why),
                    }
                }
                Ok((old, damaged))
            })
            .await?;
        let mut failed: Vec<(_, Refusal)> = damaged;
        for conversation in old {
            if let Err(why) = self.drop_old_of(&conversation).await {
                failed.push((Some(conversation.key), why));
            }
        }
        Ok(failed)
    }

    async fn drop_old_of(&self, conversation: &Arc<Conversation>) -> Result<(), Refusal> {
        while !self.drain.is_draining() {
            let Droppable { base, through, held } = self.droppable(conversation.uid).await?;
            if held.is_some_and(|held| held.by == HoldReason::Damage) {
                let why =
                    "it is damaged, and nothing of it is dropped; `chorus doctor` says what it has";
                return Err(Refusal::new(Code::Unavailable, why));
            }
            if through <= base {
                break;
            }
            let count = through.0 - base.0;
            let erased = self.archive(conversation, count as usize).await?;
            let trim = Trim { conversation: conversation.uid, through, erased };
            match self.commands.submit(By::host(), trim).await {
                Ok(_) => {
                    self.metrics.dropped.inc_by(count);
                    self.searching.hints.look([conversation.key]);
                }
                // Something is owed there since, or was erased: it is looked anew.
                Err(refusal) if refusal.code == Code::Conflict => {}
                Err(refusal) => return Err(refusal),
            };
        }
        Ok(())
    }

    /// What may be dropped of a conversation now, and what holds more of it back.
    pub(crate) async fn droppable(&self, conversation: Uid) -> Result<Droppable, Refusal> {
        self.commands.submit(By::host(), queries::Droppable { conversation }).await
    }

    /// Whether anything of a conversation is ever dropped.
    pub(crate) fn drops(&self, conversation: &Conversation) -> bool {
        conversation.settings.keep.unwrap_or(self.rules.keep) != Keep::All
    }

    /// Writes the oldest events into the archive, if there is one. They are on the disk when this returns, which
    /// says how many of them were erased.
    async fn archive(
        &self,
        conversation: &Arc<Conversation>,
        count: usize,
    ) -> Result<Option<usize>, Refusal> {
        let Some(folder) = self.rules.archive.clone() else { return Ok(None) };
        let key = conversation.key;
        let (base, events) = self
            .reads
            .read(move |readers| {
                let base = readers.base(key)?;
                let after = base.as_ref().map_or_else(Default::default, |base| base.seq);
                Ok((base, readers.log(key, after, count)?))
            })
            .await?;
        let erased = events.iter().filter(|event| event.is_erased()).count();
        let (directory, conversation) = (self.directory.load().clone(), conversation.clone());
        let stretch = Stretch { directory, conversation, base, events };
        let written = tokio::task::spawn_blocking(move || history::archive(&folder, &stretch));
        let written = written.await.map_err(|_| {
            Refusal::new(Code::Internal, "the host made a mistake while it wrote the archive")
        })?;
        written.map_err(|Unwritten(path, why)| {
            let what = format!("{} cannot be written: {why}", path.display());
            Refusal::new(Code::Unavailable, format!("the archive: {what}"))
        })?;
        Ok(Some(erased))
    }
}
