//! Jobs in a line for each member, taken one from each in turn: whoever has thousands waiting waits for
//! them, and nobody else does. Each member's own jobs keep their order.

use std::collections::{HashMap, VecDeque};

use chorus_core::model::ids::MemberKey;

use super::job::Job;

/// Empty lines that are kept for the next member, so that a command by itself allocates none.
const SPARE: usize = 256;

#[derive(Default)]
pub(super) struct Lines {
    lines: HashMap<MemberKey, VecDeque<Job>>,
    /// Whose turn it is next; everybody with a line stands here once.
    turns: VecDeque<MemberKey>,
    spare: Vec<VecDeque<Job>>,
    waiting: usize,
}

impl Lines {
    pub(super) fn len(&self) -> usize {
        self.waiting
    }

    /// How many jobs of a member wait.
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

    /// Everything that waits.
    pub(super) fn drain(&mut self) -> Vec<Job> {
        std::iter::from_fn(|| self.pop()).collect()
    }
}
