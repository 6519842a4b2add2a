//! `summarize_thread`: what a thread's events say, counted and quoted; or what the operator's command makes of it.

use chorus_core::error::Refusal;
use chorus_core::event::EventRef;
use chorus_core::ids::{Prefix, Seq};
use chorus_core::work::Work;
use chorus_wire::threads::descriptors::MAX_SUMMARIZED;
use chorus_wire::threads::{Author, OpenItem, SummarizeThread, Summary};

use crate::app::App;
use crate::app::read::{Page, Range};
use crate::auth::Caller;
use crate::view::messages::message_id;

/// Messages looked at, unless the caller says.
const MESSAGES: u32 = 200;
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
        let newest = Range::Before(Seq(i64::MAX as u64));
        let Page { shown, .. } = self
            .page(caller.viewer(), &conversation, Some(thread.key), newest, most as usize)
            .await?;
        let mut work = Work::default();
        let said = |shown: &&crate::view::messages::Shown| shown.content().is_some();
        shown.iter().filter(said).for_each(|shown| work.take(&shown.event));
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
        let mut summary = Summary {
            thread_id: thread.uid.show(Prefix::Thread),
            summary: work.summary(thread.status),
            open_items,
            last_status: thread.status,
            messages_read: work.messages as u64,
            messages_total: thread.last_seq,
            written_by: Author::Host,
        };
        if let Some(text) = self.summaries.write("thread summary", &summary).await {
            summary.summary = text;
            summary.written_by = Author::Command;
        }
        Ok(summary)
    }
}
