//! `summarize_thread`: what a thread's events say, counted, quoted and put into words; or what the operator's command
//! makes of it.

use chorus_core::conversation::Conversation;
use chorus_core::error::Refusal;
use chorus_core::event::{EventRef, MessageKind};
use chorus_core::ids::{Prefix, Seq};
use chorus_core::thread;
use chorus_core::work::Work;
use chorus_wire::threads::descriptors::MAX_SUMMARIZED;
use chorus_wire::threads::{Author, OpenItem, SummarizeThread, Summary};

use crate::app::App;
use crate::app::read::{Page, Range};
use crate::auth::Caller;
use crate::view::id_of;
use crate::view::messages::message_id;

/// Messages looked at, unless the caller says.
const MESSAGES: u32 = 200;
/// Messages of a thread read at once.
const PAGE: usize = 1_000;
/// Longest quotation of a finding, in characters.
const QUOTED: usize = 300;

impl App {
    pub(crate) async fn summarize_thread(
        &self,
        caller: &Caller,
        args: SummarizeThread,
    ) -> Result<Summary, Refusal> {
        let most = args.max_messages.unwrap_or(MESSAGES);
        if !(1..=MAX_SUMMARIZED).contains(&most) {
            return Err(Refusal::invalid(format!("max_messages is 1 to {MAX_SUMMARIZED}")));
        }
        let (conversation, thread) = self.thread_seen(caller, &args.thread_id).await?;
        let work = self.work(caller, &conversation, &thread, most.into()).await?;
        let key = conversation.key;
        let open: Vec<_> = work.open().cloned().collect();
        let open_items = self
            .read(move |readers| {
                let mut items = Vec::with_capacity(open.len());
                for finding in open {
                    let at = EventRef { conversation: key, seq: finding.at };
                    items.push(OpenItem {
                        message_id: readers.uid_of(at)?.map(message_id).unwrap_or_default(),
                        seq: finding.thread_seq,
                        finding_id: finding.id.as_deref().map(str::to_owned),
                        body: finding.text.chars().take(QUOTED).collect(),
                    });
                }
                Ok(items)
            })
            .await?;
        let directory = self.directory().clone();
        let name = |member| format!("@{}", id_of(&directory, member));
        let mut summary = Summary {
            thread_id: thread.uid.show(Prefix::Thread),
            summary: work.summary(thread.status, &name),
            open_items,
            last_status: thread.status,
            messages_read: thread.last_seq.min(most.into()),
            messages_total: thread.last_seq,
            written_by: Author::Host,
        };
        if let Some(text) = self.summaries.write("thread summary", &summary).await {
            summary.summary = text;
            summary.written_by = Author::Command;
        }
        Ok(summary)
    }

    /// What the whole thread's events say, and of the newest messages who waits for whom. Every message is read as it is
    /// now: edited, or not at all.
    async fn work(
        &self,
        caller: &Caller,
        conversation: &Conversation,
        thread: &thread::Thread,
        newest: u64,
    ) -> Result<Work, Refusal> {
        let (mut work, mut after) = (Work::default(), Seq(thread.key.0));
        loop {
            let range = Range::After(after);
            let Page { shown, more } =
                self.page(caller.viewer(), conversation, Some(thread.key), range, PAGE).await?;
            for shown in &shown {
                after = shown.event.seq;
                let Some(message) = shown.content() else { continue };
                let is_new = shown.event.thread_seq + newest > thread.last_seq;
                match is_new || message.kind != MessageKind::Chat {
                    true => work.take(&shown.event, message),
                    false => work.pass(&shown.event),
                }
            }
            if !more || shown.is_empty() {
                return Ok(work);
            }
        }
    }
}
