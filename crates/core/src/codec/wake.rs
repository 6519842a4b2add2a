//! A wake for its row.

use crate::model::wake::{Attempt, Failure, Wake, WakeThread};

row!(wake, read_wake: Wake);

record!(Wake {
    uid,
    session,
    member,
    reason,
    asked_by,
    prompt,
    state,
    fence,
    force,
    threads,
    attempts,
    failures,
    skip,
    no_progress,
    lease_until,
    deferred_until,
    deferred_since,
    silent_since,
    woken,
    sent_at,
    opened_at,
    changed_at,
    outcome,
    lines,
} if |it| it.is_open() == it.outcome.is_none());

record!(WakeThread { conversation, thread, through_seq, sent_seq });

record!(Attempt { lane, result, why, evidence, fence, at });

record!(Failure { lane, at });
