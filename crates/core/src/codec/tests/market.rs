//! Values of what agents for hire, jobs and the ledger have in rows, as anything could have made them.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::rows::{coded, event, uid};
use super::{count, member, text, time};
use crate::model::job::{
    Dispute, DisputeDecision, Evaluation, Job, JobResult, JobState, Outcome as JobOutcome,
    Pipeline, Progress, Sending, Step,
};
use crate::model::ledger::{Account, Credits, Entry, Spending};
use crate::model::registry::{EndpointCheck, Listing, Reputation, ReputationChange, Skill};

fn credits() -> impl Strategy<Value = Credits> {
    any::<i64>().prop_map(Credits)
}

fn reputation() -> impl Strategy<Value = Reputation> {
    (0.0..=100.0).prop_map(|score| Reputation::of(score).unwrap())
}

prop_compose! {
    fn skill()(
        (name, description, cost) in (text(), text(), credits()),
        (input, output) in (text(), text()),
    ) -> Skill {
        Skill { name, description, cost, input, output }
    }
}

prop_compose! {
    fn endpoint_check()(
        (verified_at, asked_at) in (option::of(time()), option::of(time())),
        (next_at, missed) in (option::of(time()), any::<u32>()),
    ) -> EndpointCheck {
        EndpointCheck { verified_at, asked_at, next_at, missed }
    }
}

prop_compose! {
    pub(super) fn listings()(
        (agent, name, owner, by) in (uid(), text(), text(), member()),
        (member, endpoint) in (option::of(member()), option::of(text())),
        (pulls, by_operator) in (any::<bool>(), any::<bool>()),
        (skills, reputation, check) in (vec(skill(), 0..3), reputation(), endpoint_check()),
        (registered_at, changed_at, removed_at) in (time(), time(), option::of(time())),
        (changes, successes, failures) in (count(), count(), count()),
        last_success in option::of(time()),
    ) -> Listing {
        Listing {
            agent, name, owner, by, member, endpoint, pulls, by_operator, skills, registered_at,
            changed_at, removed_at, reputation, changes, successes, failures, last_success, check,
        }
    }
}

prop_compose! {
    pub(super) fn reputation_changes()(
        (agent, number, at, job) in (uid(), count(), time(), uid()),
        (why, before, after) in (coded(), reputation(), reputation()),
    ) -> ReputationChange {
        ReputationChange { agent, number, at, job, why, before, after }
    }
}

prop_compose! {
    fn sending()(
        (attempts, next_at, taken_at) in (any::<u16>(), option::of(time()), option::of(time())),
        (failure, given_up) in (option::of(text()), any::<bool>()),
    ) -> Sending {
        Sending { attempts, next_at, taken_at, failure, given_up }
    }
}

prop_compose! {
    fn job_result()(
        (success, output, cost) in (any::<bool>(), option::of(text()), credits()),
        (time_ms, error, stated_at) in (count(), option::of(text()), time()),
    ) -> JobResult {
        JobResult { success, output, cost, time_ms, error, stated_at }
    }
}

prop_compose! {
    fn decision()(
        (at, by, refunded, note) in (time(), member(), option::of(credits()), text()),
    ) -> DisputeDecision {
        DisputeDecision { at, by, refunded, note }
    }
}

prop_compose! {
    fn dispute()(
        (opened_at, reason, decided) in (time(), text(), option::of(decision())),
    ) -> Dispute {
        Dispute { opened_at, reason, decided }
    }
}

prop_compose! {
    fn step()(
        (agent, skill, budget) in (uid(), text(), credits()),
        (input, timeout_ms) in (option::of(text()), any::<i64>()),
    ) -> Step {
        Step { agent, skill, budget, input, timeout_ms }
    }
}

prop_compose! {
    fn pipeline()(
        (uid, step, context, rest) in (uid(), any::<u32>(), text(), vec(step(), 0..3)),
        (next, next_job, stopped) in (option::of(text()), option::of(uid()), option::of(text())),
    ) -> Pipeline {
        Pipeline { uid, step, context, rest, next, next_job, stopped }
    }
}

prop_compose! {
    pub(super) fn jobs()(
        (uid, state, payment, how) in (uid(), coded::<JobState>(), coded(), coded::<JobOutcome>()),
        (hirer, hirer_owner, orchestrator) in (member(), text(), option::of(uid())),
        (agent, agent_owner, skill) in (uid(), text(), text()),
        [price, budget, held, paid] in [credits(), credits(), credits(), credits()],
        (input, output_schema) in (text(), text()),
        (payment_identifier, callback) in (option::of(text()), option::of(text())),
        evaluation in option::of((member(), any::<i64>())),
        (thread, asked_in) in (option::of(uid()), option::of(event())),
        (asked_by_event, pipeline) in (option::of(uid()), option::of(pipeline())),
        (made_at, deadline_at, submitted_at) in (time(), time(), option::of(time())),
        (decide_by, ended_at) in (option::of(time()), option::of(time())),
        (sending, notice) in (sending(), sending()),
        progress in option::of((time(), text())),
        (result, dispute, gained) in (option::of(job_result()), option::of(dispute()), count()),
    ) -> Job {
        let evaluation = evaluation.map(|(by, within_ms)| Evaluation { by, within_ms });
        let progress = progress.map(|(at, note)| Progress { at, note });
        let outcome = Some(how).filter(|_| state.has_ended());
        Job {
            uid, state, payment, hirer, hirer_owner, orchestrator, agent, agent_owner, skill, price,
            budget, input, output_schema, payment_identifier, callback, evaluation, thread,
            asked_in, asked_by_event, pipeline,
            made_at, deadline_at, sending, progress, result, submitted_at, decide_by, outcome,
            ended_at, held, paid, notice, dispute, gained,
        }
    }
}

prop_compose! {
    pub(super) fn entries()(
        (number, at, kind, amount) in (count(), time(), coded(), credits()),
        (from, to, memo) in (text(), text(), option::of(text())),
        (job, transfer, by) in (option::of(uid()), option::of(uid()), member()),
        hash in any::<[u8; 32]>(),
    ) -> Entry {
        Entry { number, at, kind, from, to, amount, job, transfer, by, memo, hash }
    }
}

prop_compose! {
    pub(super) fn accounts()(
        (owner, balance, opened_at) in (text(), credits(), time()),
    ) -> Account {
        Account { owner, balance, opened_at }
    }
}

prop_compose! {
    pub(super) fn spendings()(
        (member, per_job, per_day) in (member(), option::of(credits()), option::of(credits())),
        (day, spent) in (any::<i64>(), credits()),
    ) -> Spending {
        Spending { member, per_job, per_day, day, spent }
    }
}
