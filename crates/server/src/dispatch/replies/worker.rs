//! One conversation's way back, while there is something to send.

use std::sync::Arc;

use chorus_core::commands::inboxes;
use chorus_core::model::caller::By;
use chorus_core::model::delivery::Unanswered;
use chorus_core::model::event::{Change, Event, MessageKind};
use chorus_core::model::ids::{ConversationKey, Seq, Timestamp};
use chorus_core::model::inbox::Inbox;
use chorus_wire::webhook::{CallbackEvent, Lifecycle};
use tokio::sync::{Notify, Semaphore, watch};

use super::Places;
use super::pending::News;
use crate::dispatch::replies::handles::Handles;

/// A run that has answered is over when nothing has come of it for so long: one and a half times as long as harnesses wait
/// before they show again that theirs live.
const QUIET_MS: i64 = 30_000;

pub(super) struct Worker {
    pub(super) host: Arc<Handles>,
    pub(super) key: ConversationKey,
    /// Says that there is news.
    wake: Arc<Notify>,
    places: Places,
    pub(super) place: Option<Arc<Semaphore>>,
    /// Runs that have answered, and may say more: when each is over if nothing comes.
    quiet: Vec<(Seq, Timestamp)>,
}

/// What is left to be sent.
enum Left {
    Nothing,
    More,
}

impl Worker {
    pub(super) fn of(
        host: Arc<Handles>,
        key: ConversationKey,
        wake: Arc<Notify>,
        places: Places,
    ) -> Self {
        Self { host, key, wake, places, place: None, quiet: Vec::new() }
    }

    pub(super) async fn run(mut self, mut stopped: watch::Receiver<bool>) {
        tokio::select! {
            () = self.send_all() => {}
            _ = stopped.wait_for(|stop| *stop) => {}
        }
    }

    async fn send_all(&mut self) {
        loop {
            while let Some(news) = self.host.replies.next(self.key) {
                self.send_news(news).await;
            }
            let next = self.quiet.iter().min_by_key(|(_, over)| *over);
            let Some((event, over)) = next.copied() else {
                if self.host.replies.finish(self.key) {
                    return;
                }
                continue;
            };
            tokio::select! {
                () = self.wake.notified() => {}
                () = self.host.clock.until(Some(over)) => {
                    self.quiet.retain(|(quiet, _)| *quiet != event);
                    self.send_soft(event, lifecycle(Lifecycle::Idle)).await;
                }
            }
        }
    }

    async fn send_news(&mut self, news: News) {
        match news {
            News::Said => {
                self.send_messages().await;
                let later = self.later();
                self.quiet.iter_mut().for_each(|(_, over)| *over = later);
            }
            News::Alive(event) => drop(self.lives(event)),
            News::Began(event) => self.send_soft(event, lifecycle(Lifecycle::Processing)).await,
            News::Does(run, does) => {
                // After `idle` nothing may come.
                if self.lives(run.event) || run.is_open {
                    self.send_soft(run.event, *does).await;
                }
            }
            News::Ended { event, answered, failed } => {
                // What it said before comes before.
                self.send_messages().await;
                if answered {
                    // With its first words a run has answered, and what comes after `idle` is refused.
                    self.quiet.push((event, self.later()));
                } else {
                    if failed {
                        let message = "the agent could not take the message up".to_owned();
                        let code = Some("run_failed".to_owned());
                        self.send_soft(event, CallbackEvent::Error { message, code }).await;
                    }
                    self.send_soft(event, lifecycle(Lifecycle::Idle)).await;
                }
            }
        }
    }

    /// A run that has answered is not over yet; false where none has.
    fn lives(&mut self, event: Seq) -> bool {
        let later = self.later();
        let run = self.quiet.iter_mut().find(|(quiet, _)| *quiet == event);
        run.map(|(_, over)| *over = later).is_some()
    }

    fn later(&self) -> Timestamp {
        self.host.clock.now().plus(QUIET_MS)
    }

    /// Sends what the agent has said since the cursor, in order. Where the store is away it is looked again when there is
    /// news, or when the host comes back.
    async fn send_messages(&mut self) {
        while let Some(Left::More) = self.send_page().await {}
    }

    /// What is left to be sent; none when nothing could be read or recorded.
    async fn send_page(&mut self) -> Option<Left> {
        let Some(remote) = self.host.inboxes.remote(self.key).await.ok()? else {
            return Some(Left::Nothing);
        };
        if !remote.owes() {
            return Some(Left::Nothing);
        }
        let entries = self.host.inboxes.messages_after(self.key, remote.sent).await.ok()?;
        let inbox = self.host.directory.load().inboxes.get(&remote.inbox).cloned();
        let Some(inbox) = inbox.filter(|_| !entries.is_empty()) else {
            // The inbox has gone, or the log begins after what was said.
            self.sent(remote.said).await?;
            return Some(Left::Nothing);
        };
        if self.place.is_none() {
            self.place = self.places.get(&inbox.uid).cloned();
        }
        for stored in &entries {
            let event = &stored.entry.event;
            if is_for_the_service(event, &inbox) {
                self.send(stored, &inbox).await?;
                self.sent(event.seq).await?;
            }
        }
        // What others said stands between.
        let last = entries.last().map(|stored| stored.entry.event.seq)?;
        self.sent(last.min(remote.said)).await?;
        Some(Left::More)
    }

    async fn sent(&self, through: Seq) -> Option<()> {
        let command = inboxes::SentBack { conversation: self.key, through };
        self.host.commands.submit(By::host(), command).await.ok().map(drop)
    }
}

fn lifecycle(state: Lifecycle) -> CallbackEvent {
    CallbackEvent::Lifecycle { state }
}

/// What the inbox's agent says to those who stand in for the service. What the host itself says is for them where it
/// says why no answer comes.
fn is_for_the_service(event: &Event, inbox: &Inbox) -> bool {
    let Change::Posted(said) = &event.change else { return false };
    event.actor == inbox.agent
        && (said.kind != MessageKind::System || Unanswered::reported_by(said).is_some())
        && inbox.stand_ins().into_iter().any(|member| event.is_shown_to(member))
}
