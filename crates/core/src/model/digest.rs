//! Digests: what happened in a channel, for its followers (C2A "Injection mode digest").
//!
//! A followed channel is counted as it goes, in one tally for all its followers. So a digest costs
//! nothing where nobody follows or nothing is said. When it is due, the tally becomes a [`Digest`]:
//! a range of the log, counts, and the notable events. It contains no words; whoever shows it reads
//! them from the log in their present form.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::attention::{Attention, Directedness, Intent, Policy, Rule};
use crate::model::event::{Change, Event};
use crate::model::ids::{MemberKey, Seq, ThreadKey, Timestamp};

/// Authors, threads and events named in one digest, of each kind. More are only counted.
pub const NAMED: usize = 32;

/// What was said since the last digest of a followed channel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The position up to which earlier digests cover the log.
    pub after: Seq,
    /// When the first message after it was posted. The digest is due some time later.
    first_at: Option<Timestamp>,
    authors: BTreeMap<MemberKey, u32>,
    threads: BTreeMap<ThreadKey, u32>,
    /// The newest status of each author.
    statuses: BTreeMap<MemberKey, Seq>,
    /// The newest messages that ask something of anybody.
    asks: Vec<Seq>,
    /// Events that name a follower or assign it work, and what it owes for each.
    calls: BTreeMap<MemberKey, Vec<(Seq, Policy)>>,
}

/// A summary of a range of a channel's log for its followers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digest {
    /// The range: after this event, up to and including `through`.
    pub after: Seq,
    pub through: Seq,
    /// When its first message was posted, and when the digest was made.
    pub first_at: Timestamp,
    pub at: Timestamp,
    pub messages: u32,
    /// The most active first.
    pub authors: Vec<(MemberKey, u32)>,
    /// The busiest first.
    pub threads: Vec<(ThreadKey, u32)>,
    pub statuses: Vec<Seq>,
    pub asks: Vec<Seq>,
    /// Its recipients.
    pub members: Vec<Part>,
}

/// The part of a digest that is specific to one follower.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    pub member: MemberKey,
    /// `must_not_respond`, unless it contains a mention or an assignment; then the obligation for
    /// that.
    pub policy: Policy,
    /// The mentions and assignments.
    pub calls: Vec<Seq>,
}

/// The text that a command wrote for one member's digest. It is a copy of words and is removed when
/// any of its sources is.
#[derive(Clone, veil::Redact, PartialEq, Eq)]
pub struct Written {
    pub after: Seq,
    pub through: Seq,
    pub member: MemberKey,
    #[redact(fixed = 3)]
    pub text: std::sync::Arc<str>,
}

impl Tally {
    pub fn from(after: Seq) -> Self {
        Self { after, ..Self::default() }
    }

    /// When a digest is due at an interval of `every` milliseconds; none while nothing was said.
    pub fn due(&self, every: i64) -> Option<Timestamp> {
        self.first_at.map(|at| at.plus(every))
    }

    /// Whether there is anything to report.
    pub fn waits(&self) -> bool {
        self.first_at.is_some()
    }

    /// Counts an event of the channel.
    pub fn count(&mut self, event: &Event, followers: &BTreeSet<MemberKey>) {
        let open = matches!(event.change, Change::Posted(_)) && event.only().is_none();
        if event.seq <= self.after || !open {
            return;
        }
        self.first_at.get_or_insert(event.at);
        *self.authors.entry(event.actor).or_default() += 1;
        if let Some(thread) = event.thread {
            *self.threads.entry(thread).or_default() += 1;
        }
        let Some(attention) = &event.attention else { return };
        if attention.intent == Intent::Status {
            self.statuses.insert(event.actor, event.seq);
        } else if attention.intent.asks() {
            push(&mut self.asks, event.seq);
        }
        for told in attention.told.iter().filter(|t| followers.contains(&t.member)) {
            if calls(attention, told.decision.rule, told.decision.directedness) {
                let mine = self.calls.entry(told.member).or_default();
                push(mine, (event.seq, told.decision.policy));
            }
        }
    }

    /// The digest of what was counted, for those of `followers` who did not write all of it
    /// themselves.
    pub fn digest(
        &self,
        followers: impl Iterator<Item = MemberKey>,
        through: Seq,
        now: Timestamp,
    ) -> Option<Digest> {
        let first_at = self.first_at?;
        let messages: u32 = self.authors.values().sum();
        let heard = |member: &MemberKey| self.authors.get(member) != Some(&messages);
        let members: Vec<Part> = followers.filter(heard).map(|m| self.part(m)).collect();
        let mut statuses: Vec<Seq> = self.statuses.values().copied().collect();
        statuses.sort_unstable();
        let older = statuses.len().saturating_sub(NAMED);
        (!members.is_empty()).then(|| Digest {
            after: self.after,
            through,
            first_at,
            at: now,
            messages,
            authors: most(&self.authors),
            threads: most(&self.threads),
            statuses: statuses.split_off(older),
            asks: self.asks.clone(),
            members,
        })
    }

    fn part(&self, member: MemberKey) -> Part {
        let mine = self.calls.get(&member).map_or(&[][..], Vec::as_slice);
        let strongest = mine.iter().map(|(_, policy)| *policy).min();
        Part {
            member,
            policy: strongest.unwrap_or(Policy::MustNotRespond),
            calls: mine.iter().map(|(seq, _)| *seq).collect(),
        }
    }
}

impl Digest {
    pub fn part(&self, member: MemberKey) -> Option<&Part> {
        self.members.iter().find(|p| p.member == member)
    }
}

/// Whether it is an explicit mention or an assignment to the member.
fn calls(attention: &Attention, rule: Rule, directedness: Directedness) -> bool {
    let named =
        matches!(rule, Rule::Mention | Rule::Recipient | Rule::Delivered | Rule::RoleMention);
    named || (attention.intent == Intent::Assignment && directedness == Directedness::ToMe)
}

/// Appends an item and keeps the newest.
fn push<T>(list: &mut Vec<T>, item: T) {
    if list.len() == NAMED {
        list.remove(0);
    }
    list.push(item);
}

fn most<K: Copy + Ord>(counts: &BTreeMap<K, u32>) -> Vec<(K, u32)> {
    let mut counts: Vec<(K, u32)> = counts.iter().map(|(key, n)| (*key, *n)).collect();
    counts.sort_by_key(|(key, n)| (std::cmp::Reverse(*n), *key));
    counts.truncate(NAMED);
    counts
}
