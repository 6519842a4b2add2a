//! Lines of talk where agents pause for a person, and letting them go on (design section 5, "Turns", end).

use std::sync::Arc;

use arc_swap::ArcSwap;
use chorus_core::commands::turns;
use chorus_core::model::budget::Budgets;
use chorus_core::model::error::Refusal;
use chorus_core::model::ids::{Prefix, Uid};
use chorus_core::state::directory::Directory;
use chorus_wire::rest::pauses::{Continued, Pause, Pauses};

use super::commands::Commands;
use super::ids;
use super::reads::Reads;
use crate::auth::Caller;

/// Conversations and threads that were paused.
pub(crate) struct PauseService {
    pub(super) commands: Arc<Commands>,
    pub(super) reads: Arc<Reads>,
    pub(super) budgets: Budgets,
    pub(super) directory: Arc<ArcSwap<Directory>>,
}

impl PauseService {
    /// `POST /v1/channels/{id}/continue`.
    pub(crate) async fn go_on(&self, caller: &Caller, id: &str) -> Result<Continued, Refusal> {
        caller.must_not_be_a_turn()?;
        self.let_go_on(caller, ids::conversation(id)?, None).await
    }

    /// `POST /v1/threads/{id}/continue`.
    pub(crate) async fn thread_goes_on(
        &self,
        caller: &Caller,
        id: &str,
    ) -> Result<Continued, Refusal> {
        caller.must_not_be_a_turn()?;
        let thread = ids::thread(id)?;
        let found =
            self.reads.read(move |readers| super::threads::thread_at_home(readers, thread)).await?;
        let unknown = || Refusal::not_found("thread");
        let (home, _) = found.ok_or_else(unknown)?;
        // Core says whether the caller may: one that may not learns no more than of an unknown one.
        let done = self.let_go_on(caller, home.uid, Some(thread)).await;
        done.map_err(|refusal| match refusal.code {
            chorus_core::model::error::Code::NotFound => unknown(),
            _ => refusal,
        })
    }

    async fn let_go_on(
        &self,
        caller: &Caller,
        conversation: Uid,
        thread: Option<Uid>,
    ) -> Result<Continued, Refusal> {
        let turns::Continued { conversation, thread, was_paused } =
            self.commands.submit(caller.by, turns::Continue { conversation, thread }).await?;
        Ok(Continued {
            conversation: conversation.uid.show(Prefix::Conversation),
            thread_id: thread.map(|t| t.uid.show(Prefix::Thread)),
            was_paused,
        })
    }

    /// `GET /v1/pauses`: where the caller may see it; who runs the room, and the lead, learn of every line
    /// that waits for a person, and nothing of what was said on those they have no seat in.
    pub(crate) async fn pauses(&self, caller: &Caller) -> Result<Pauses, Refusal> {
        caller.must_not_be_a_turn()?;
        let member = caller.by.member;
        let lead = self.directory.load().lead == Some(member);
        let everywhere = lead || caller.must_govern().is_ok();
        let sees_all = caller.viewer().is_none();
        let budgets = self.budgets;
        self.reads
            .read(move |readers| {
                let mut pauses = Vec::new();
                for conversation in readers.conversations(None)? {
                    let key = conversation.key;
                    let mut lines = Vec::new();
                    let head = readers.head(key)?.unwrap_or_default();
                    lines.push((None, head.unattended, budgets.of(&conversation, None)));
                    for thread in readers.threads(key)? {
                        let most = budgets.of(&conversation, Some(&thread));
                        lines.push((
                            Some((thread.uid, thread.title.clone())),
                            thread.unattended,
                            most,
                        ));
                    }
                    lines.retain(|(_, said, most)| most.is_some_and(|most| *said >= most));
                    if lines.is_empty() {
                        continue;
                    }
                    let seen = sees_all || readers.may_read(key, member)?;
                    if !seen && !everywhere {
                        continue;
                    }
                    let own = conversation.settings.title.clone();
                    pauses.extend(lines.into_iter().map(|(thread, unattended, most)| {
                        let title = thread.as_ref().map_or(&own, |(_, title)| title);
                        Pause {
                            conversation: conversation.uid.show(Prefix::Conversation),
                            title: seen.then(|| title.to_string()),
                            thread_id: thread.as_ref().map(|(uid, _)| uid.show(Prefix::Thread)),
                            unattended,
                            budget: most.unwrap_or_default(),
                        }
                    }));
                }
                Ok(Pauses { pauses })
            })
            .await
    }
}
