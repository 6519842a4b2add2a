//! Decides when the next stimulus of a channel may speak.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Rules, Stimulus, StimulusState};
use crate::model::ids::{Timestamp, Uid};
use crate::model::limits;
use crate::model::thread::Thread;

/// A channel's queue: waiting and recently ended stimuli.
pub type Queue = BTreeMap<Uid, Arc<Stimulus>>;

const HOUR_MS: i64 = 3_600_000;

/// The number of queued stimuli.
pub fn waiting(queue: &Queue) -> usize {
    queue.values().filter(|s| s.state.is_queued()).count()
}

/// Stimuli that wait for room in the queue.
pub fn held(queue: &Queue) -> impl Iterator<Item = &Arc<Stimulus>> {
    queue.values().filter(|s| s.state == StimulusState::Held)
}

/// When to look at the queue next. A claimed stimulus is dispatched before anything else happens.
pub fn due(queue: &Queue) -> Option<Timestamp> {
    let claimed = queue.values().find(|s| s.state == StimulusState::Claimed);
    if let Some(claimed) = claimed {
        return Some(claimed.due_at);
    }
    let queued = queue.values().filter(|s| s.state.is_queued());
    queued.map(|s| s.expires_at.map_or(s.due_at, |expires| expires.min(s.due_at))).min()
}

/// When the next subject may be opened: after the quiet period following the last one, within the
/// hourly limit, and when few enough are live. A subject counts as live while its thread is and
/// something was said in it within the last hour, so that a forgotten one does not silence the
/// channel.
pub fn opens_at<'a>(
    queue: &Queue,
    rules: Rules,
    threads: impl Iterator<Item = &'a Arc<Thread>>,
    now: Timestamp,
) -> Timestamp {
    let opened = queue.values().filter(|s| s.state == StimulusState::Dispatched && s.opened);
    let mut opened: Vec<_> = opened.filter_map(|s| s.ended_at).collect();
    opened.sort_unstable();
    let quiet = opened.last().map(|at| at.plus(rules.quiet_ms));
    let nth_last = opened.iter().rev().nth(usize::from(rules.roots_per_hour).saturating_sub(1));
    let hourly = nth_last.map(|at| at.plus(HOUR_MS));
    let alive = threads.filter(|t| t.is_live() && t.work.spur.is_some_and(|spur| spur.opened));
    let mut alive: Vec<_> = alive.map(|t| t.updated_at.plus(HOUR_MS)).collect();
    alive.retain(|until| *until > now);
    alive.sort_unstable();
    let too_many = alive.len().checked_sub(usize::from(rules.active_roots));
    let active = too_many.and_then(|n| alive.get(n).copied());
    [quiet, hourly, active].into_iter().flatten().max().unwrap_or_default()
}

/// Ended stimuli that can be forgotten: the oldest beyond the limit, except those that count for
/// the hourly limit.
pub fn forgotten(queue: &Queue, now: Timestamp) -> Vec<Uid> {
    let mut ended: Vec<_> =
        queue.values().filter_map(|s| Some((s.ended_at?, s.opened, s.uid))).collect();
    ended.sort_unstable();
    let over = ended.len().saturating_sub(limits::STIMULI_ENDED);
    let old = ended.into_iter().filter(|(at, opened, _)| !opened || now.since(*at) > HOUR_MS);
    old.take(over).map(|(_, _, uid)| uid).collect()
}
