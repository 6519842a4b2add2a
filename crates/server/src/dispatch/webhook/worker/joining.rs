//! What an author adds to a run that has said nothing yet (`runs` says which those are).

use chorus_core::commands::deliveries;
use chorus_core::model::caller::By;
use chorus_core::model::disposition::Disposition;
use chorus_core::model::ids::Timestamp;
use chorus_core::model::offer::Offer;
use chorus_core::queries;

use super::{Held, Worker, at};
use crate::dispatch::connections::{Note, Typing};
use crate::dispatch::webhook::queue::Queue;
use crate::dispatch::webhook::thought::Thought;

impl Worker {
    /// Runs that have said nothing go on, also after a restart: what their authors add joins them.
    pub(super) async fn resume_runs(&self, held: &mut Held) {
        if self.host.webhooks.compose.is_none() {
            return;
        }
        let command = queries::SilentRuns { session: held.session };
        let offers = match self.host.commands.submit(held.by, command).await {
            Ok(offers) => offers,
            Err(refusal) => {
                tracing::debug!(code = ?refusal.code, "which runs go on could not be asked for");
                return;
            }
        };
        let (runs, member) = (&self.host.webhooks.runs, self.endpoint.member);
        let (compose, now) = (self.host.webhooks.compose, self.host.clock.now());
        for offer in offers {
            let conversation = &offer.entry.conversation;
            held.connection.listen(conversation.uid, now);
            runs.begin(member, at(&offer));
            let line = held.lines.entry(conversation.key).or_insert_with(|| Queue::new(compose));
            runs.left(member, line.resume(offer, now));
        }
    }

    /// An offer comes: where its author has a run that has said nothing, that run is stopped for it.
    pub(super) fn add_to_run(&self, line: &mut Queue, offer: &Offer) {
        let (runs, member) = (&self.host.webhooks.runs, self.endpoint.member);
        let seen: Vec<_> = line.runs().filter(|at| runs.is_seen(member, *at)).collect();
        for at in seen {
            line.answered();
            line.over(at);
            runs.end(member, at);
        }
        if let Some((at, _)) = line.joins(offer)
            && runs.join(member, at)
        {
            line.joined(at);
        }
    }

    /// The agent has taken a thought. What its author has said since joins it at once.
    pub(super) fn ran(&self, line: &mut Queue, thought: Thought, now: Timestamp) {
        let (runs, member) = (&self.host.webhooks.runs, self.endpoint.member);
        let newest = thought.newest().map(|f| at(&f.item));
        let (joined, left) = line.ran(thought, now);
        runs.left(member, left);
        if let Some(at) = newest.filter(|at| joined && !runs.join(member, *at)) {
            line.over(at);
            runs.end(member, at);
        }
    }

    /// What the host tells its connections beside offers.
    pub(super) fn heard(&self, held: &mut Held, note: &Note) {
        if let Some(event) = note.withdraws {
            for line in held.lines.values_mut() {
                self.host.webhooks.runs.left(self.endpoint.member, line.withdraw(event));
            }
        }
        if let Some(Typing { conversation, author, on }) = note.typing
            && let Some(line) = held.lines.get_mut(&conversation)
        {
            line.typing(author, on, self.host.clock.now());
        }
    }

    /// The thought that is posted next joins the run of its author, if that has said nothing. The run's delivery ends
    /// here and now, so that whatever the agent says of it later is too late.
    pub(super) async fn join(&self, by: By, line: &mut Queue) {
        let Some((at, event)) = line.next_joins() else { return };
        let (runs, member) = (&self.host.webhooks.runs, self.endpoint.member);
        if runs.join(member, at) {
            // That it was accepted may be on its way still.
            self.host.webhooks.acceptances.flush();
            let disposition = Disposition::Superseded;
            let note = Some("delivered again with what its author said after it".into());
            let ended = self
                .host
                .commands
                .submit(by, deliveries::Dispose { event, disposition, note })
                .await;
            if matches!(
                ended,
                Ok(deliveries::Disposed { disposition: Disposition::Superseded, .. })
            ) {
                line.replace(at);
            }
        }
        line.over(at);
        runs.end(member, at);
    }
}
