//! A job for its row.

use super::form::Both;
use super::stored::Stored;
use super::{Reader, Result, Writer};
use crate::model::job::{
    Dispute, DisputeDecision, Evaluation, Job, JobResult, Pipeline, Progress, Sending, Step,
};
use crate::model::ledger::Credits;

row!(job, read_job: Job);

record!(Job {
    uid,
    state,
    payment,
    hirer,
    hirer_owner,
    orchestrator,
    agent,
    agent_owner,
    skill,
    price,
    budget,
    input,
    output_schema,
    payment_identifier,
    callback,
    evaluation,
    thread,
    asked_in: Both,
    asked_by_event,
    made_at,
    deadline_at,
    sending,
    progress,
    result,
    submitted_at,
    decide_by,
    outcome,
    ended_at,
    held,
    paid,
    notice,
    dispute,
    pipeline,
    gained,
} if |it| it.state.has_ended() == it.outcome.is_some());

record!(Pipeline { uid, step, context, rest, next, next_job, stopped });

record!(Step { agent, skill, budget, input, timeout_ms });

record!(Sending { attempts, next_at, taken_at, failure, given_up });

record!(Progress { at, note });

record!(Evaluation { by, within_ms });

record!(JobResult { success, output, cost, time_ms, error, stated_at });

record!(Dispute { opened_at, reason, decided });

record!(DisputeDecision { at, by, refunded, note });

impl Stored for Credits {
    fn put(&self, out: &mut Writer) {
        self.0.put(out);
    }

    fn get(r: &mut Reader<'_>) -> Result<Self> {
        i64::get(r).map(Self)
    }
}
