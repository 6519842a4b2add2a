//! `summarize_thread`: what a thread's events say, counted, quoted and put into words; or what the operator's command
//! makes of it.

use chorus_core::model::activity::{Activity, Finding};
use chorus_core::model::conversation::Conversation;
use chorus_core::model::error::Refusal;
use chorus_core::model::ids::{Prefix, Seq};
use chorus_core::model::thread;
use chorus_wire::limits::MAX_SUMMARIZED;
use chorus_wire::threads::{Author, OpenItem, SummarizeThread, Summary};

use crate::auth::Caller;
use crate::services::methods::ThreadMethods;
use crate::services::pages::{Page, Range};
use crate::view::id_of;
use crate::view::messages::message_id;

/// Messages looked at, unless the caller says.
const MESSAGES: u32 = 200;
/// Messages of a thread read at once: a text may be long.
const PAGE: usize = 100;

impl ThreadMethods {
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
        let open_items = work.open().map(open_item).collect();
        let directory = self.directory.load().clone();
        let name = |member| format!("@{}", id_of(&directory, member));
        let mut summary = Summary {
            thread_id: thread.uid.show(Prefix::Thread),
            summary: work.summary(thread.last_seq, thread.status, &name),
            open_items,
            last_status: thread.status.into(),
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

    /// What was done in the whole thread, and of the newest messages who waits for whom. Every message is read as it is now:
    /// edited, or not at all.
    async fn work(
        &self,
        caller: &Caller,
        conversation: &Conversation,
        thread: &thread::Thread,
        newest: u64,
    ) -> Result<Activity, Refusal> {
        let (viewer, key, of) = (caller.viewer(), conversation.key, thread.key);
        let (mut work, mut next) = (Activity::default(), Some(Seq(of.0)));
        while let Some(after) = next {
            let (acts, more) = self.reads.acts(viewer, conversation, of, after, PAGE).await?;
            for act in &acts {
                if let Some(message) = act.content() {
                    work.take(&act.event, message);
                }
            }
            next = more;
        }
        let before = thread.last_seq.saturating_sub(newest);
        let mut after =
            self.reads.read(move |readers| readers.seq_in_thread(key, of, before)).await?;
        loop {
            let range = Range::After(after);
            let Page { shown, more } =
                self.reads.page(viewer, conversation, Some(of), range, PAGE).await?;
            for shown in &shown {
                after = shown.event.seq;
                if shown.content().is_some() {
                    work.pass(&shown.event);
                }
            }
            if !more || shown.is_empty() {
                return Ok(work);
            }
        }
    }
}

fn open_item(finding: &Finding) -> OpenItem {
    OpenItem {
        message_id: message_id(finding.uid),
        seq: finding.thread_seq,
        finding_id: finding.id.as_deref().map(str::to_owned),
        body: finding.text.to_string(),
    }
}
