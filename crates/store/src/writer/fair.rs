//! A fair queue: jobs are queued per member and taken round robin. A member with thousands of
//! waiting jobs delays only itself, and each member's own jobs keep their order.

use std::collections::{HashMap, VecDeque};

use chorus_core::model::ids::MemberKey;

use super::job::Job;

/// Empty queues kept for reuse, so that a single command allocates none.
const SPARE: usize = 256;

#[derive(Default)]
pub(super) struct Lines {
    lines: HashMap<MemberKey, VecDeque<Job>>,
    /// The round-robin order; every member with jobs occurs once.
    turns: VecDeque<MemberKey>,
    spare: Vec<VecDeque<Job>>,
    waiting: usize,
}

impl Lines {
    pub(super) fn len(&self) -> usize {
        self.waiting
    }

    /// The number of waiting jobs of a member.
    pub(super) fn of(&self, member: MemberKey) -> usize {
        self.lines.get(&member).map_or(0, VecDeque::len)
    }

    pub(super) fn push(&mut self, job: Job) {
        let member = job.by.member;
        let (spare, turns) = (&mut self.spare, &mut self.turns);
        let line = self.lines.entry(member).or_insert_with(|| {
            turns.push_back(member);
            spare.pop().unwrap_or_default()
        });
        line.push_back(job);
        self.waiting += 1;
    }

    pub(super) fn pop(&mut self) -> Option<Job> {
        let member = self.turns.pop_front()?;
        let line = self.lines.get_mut(&member)?;
        let job = line.pop_front();
        if !line.is_empty() {
            self.turns.push_back(member);
        } else if let Some(line) = self.lines.remove(&member)
            && self.spare.len() < SPARE
        {
            self.spare.push(line);
        }
        self.waiting -= usize::from(job.is_some());
        job
    }

    /// Removes and returns all jobs.
    pub(super) fn drain(&mut self) -> Vec<Job> {
        std::iter::from_fn(|| self.pop()).collect()
    }
}
