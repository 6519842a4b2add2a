//! Stimuli: durable requests to open or continue a public thread without a person asking (channels
//! spec, "Stimuli and wake-ups"; design section 5, "Stimuli").
//!
//! A stimulus waits in its channel's queue until it may speak: `pending -> claimed -> dispatched`,
//! or it ends as `coalesced`, `superseded` or `cancelled`. Stimuli that the host creates while the
//! queue is full are `held` first. The claim is recorded before the dispatch, so that a stimulus
//! whose dispatch keeps failing ends. Its message and its dispatched state are one transaction.

pub mod keys;
pub mod queue;
mod recover;
mod rules;

use std::sync::Arc;

pub use recover::{Found, Recovered, becomes};
pub use rules::{Rules, RulesPatch};

use crate::model::ids::{EventRef, MemberKey, ThreadKey, Timestamp, Uid};

/// The origin of a stimulus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StimulusKind {
    AgentIdea,
    ScheduleFire,
    ScheduleResult,
    TaskCompleted,
    ReviewCompleted,
    SidechainMilestone,
    ObservationMaterialized,
    ThreadIdleFollowup,
    ResultSummary,
    SupersessionNotice,
}

impl StimulusKind {
    pub const ALL: [Self; 10] = [
        Self::AgentIdea,
        Self::ScheduleFire,
        Self::ScheduleResult,
        Self::TaskCompleted,
        Self::ReviewCompleted,
        Self::SidechainMilestone,
        Self::ObservationMaterialized,
        Self::ThreadIdleFollowup,
        Self::ResultSummary,
        Self::SupersessionNotice,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::AgentIdea => "agent_idea",
            Self::ScheduleFire => "schedule_fire",
            Self::ScheduleResult => "schedule_result",
            Self::TaskCompleted => "task_completed",
            Self::ReviewCompleted => "review_completed",
            Self::SidechainMilestone => "sidechain_milestone",
            Self::ObservationMaterialized => "observation_materialized",
            Self::ThreadIdleFollowup => "thread_idle_followup",
            Self::ResultSummary => "result_summary",
            Self::SupersessionNotice => "supersession_notice",
        }
    }

    /// Whether it is only for readers and notifies nobody.
    pub fn wakes_nobody(self) -> bool {
        matches!(self, Self::ResultSummary | Self::SupersessionNotice)
    }

    /// Whether it reports that something was finished, so that no sleeping agent is woken for it.
    pub fn is_completion(self) -> bool {
        matches!(self, Self::TaskCompleted | Self::ReviewCompleted | Self::ScheduleResult)
    }

    /// Whether an agent creates it unprompted; other kinds report external events.
    pub fn is_of_an_agent(self) -> bool {
        matches!(self, Self::AgentIdea | Self::SidechainMilestone | Self::ObservationMaterialized)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StimulusState {
    #[default]
    Pending,
    Claimed,
    Dispatched,
    /// The queue is full. A stimulus that the host created for a completed action is queued when
    /// there is room.
    Held,
    /// The same was requested again and replaces it.
    Coalesced,
    /// A newer one about the same subject replaces it.
    Superseded,
    Cancelled,
}

impl StimulusState {
    pub const ALL: [Self; 7] = [
        Self::Pending,
        Self::Claimed,
        Self::Dispatched,
        Self::Held,
        Self::Coalesced,
        Self::Superseded,
        Self::Cancelled,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Claimed => "claimed",
            Self::Dispatched => "dispatched",
            Self::Held => "held",
            Self::Coalesced => "coalesced",
            Self::Superseded => "superseded",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether it is still to be posted.
    pub fn is_open(self) -> bool {
        self.is_queued() || self == Self::Held
    }

    /// Whether it has a place in the queue.
    pub fn is_queued(self) -> bool {
        matches!(self, Self::Pending | Self::Claimed)
    }
}

/// The position of an agent's request in the chain of causes, like that of its messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chain {
    /// The event in whose turn it was requested.
    pub cause: Option<EventRef>,
    /// Its distance from a person.
    pub hop: u8,
}

/// The message, its author and its addressees.
#[derive(Clone, veil::Redact, PartialEq, Eq)]
pub struct Stimulus {
    pub uid: Uid,
    pub kind: StimulusKind,
    /// The member in whose name it is posted.
    pub source: MemberKey,
    /// The thread that it continues; if unset, it opens a subject.
    pub thread: Option<(ThreadKey, Uid)>,
    #[redact(fixed = 3)]
    pub text: Arc<str>,
    #[redact(fixed = 3)]
    pub title: Arc<str>,
    /// Its addressees.
    pub targets: Vec<MemberKey>,
    /// Visible to its targets only.
    pub private: bool,
    /// None: it was requested by a person or the host, not by an agent.
    pub chain: Option<Chain>,
    #[redact(fixed = 3)]
    pub progress_key: Option<Arc<str>>,
    #[redact(fixed = 3)]
    pub dedupe_key: Option<Arc<str>>,
    #[redact(fixed = 3)]
    pub initiative_key: Option<Arc<str>>,
    pub created_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    /// The salt of its future event, generated when it was created.
    pub salt: [u8; 16],
    pub state: StimulusState,
    /// When it is checked next.
    pub due_at: Timestamp,
    pub attempts: u8,
    /// Whether it opened a subject.
    pub opened: bool,
    /// The event that it became.
    pub said: Option<Uid>,
    /// The stimulus that replaced it.
    pub by: Option<Uid>,
    /// Why it was cancelled.
    #[redact(fixed = 3)]
    pub reason: Option<Arc<str>>,
    pub ended_at: Option<Timestamp>,
}

impl Stimulus {
    /// A stimulus that waits from now on to open a subject, with no content yet. The caller sets
    /// the rest.
    pub fn new(
        uid: Uid,
        kind: StimulusKind,
        source: MemberKey,
        salt: [u8; 16],
        now: Timestamp,
    ) -> Self {
        Self {
            uid,
            kind,
            source,
            thread: None,
            text: "".into(),
            title: "".into(),
            targets: Vec::new(),
            private: false,
            chain: None,
            progress_key: None,
            dedupe_key: None,
            initiative_key: None,
            created_at: now,
            expires_at: None,
            salt,
            state: StimulusState::Pending,
            due_at: now,
            attempts: 0,
            opened: false,
            said: None,
            by: None,
            reason: None,
            ended_at: None,
        }
    }

    /// The ended stimulus, without its content unless that may still be posted.
    pub fn ended(&self, state: StimulusState, at: Timestamp) -> Self {
        let mut ended = Self { state, ended_at: Some(at), ..self.clone() };
        if state != StimulusState::Cancelled {
            ended.text = "".into();
            ended.title = "".into();
            ended.salt = [0; 16];
        }
        ended
    }

    /// How an earlier stimulus of the same source about the same subject ends: decided by progress
    /// key, otherwise by deduplication key, otherwise by content. A stimulus under one of the
    /// host's own keys belongs to the host, whatever its source. An ephemeral stimulus is never
    /// replaced by one with other readers.
    pub fn replaced_by(&self, newer: &Self) -> Option<StimulusState> {
        let made_by_host = self.dedupe_key == newer.dedupe_key
            && self.dedupe_key.as_deref().is_some_and(keys::is_of_the_host);
        let same_source = self.source == newer.source || made_by_host;
        let shown_alike =
            self.private == newer.private && (!self.private || self.targets == newer.targets);
        if !same_source || !shown_alike {
            return None;
        }
        let same_place = self.thread == newer.thread;
        let keys =
            [(&self.progress_key, &newer.progress_key), (&self.dedupe_key, &newer.dedupe_key)];
        for (mine, its) in keys {
            match (mine, its) {
                (Some(mine), Some(its)) if mine == its && same_place => {
                    return Some(StimulusState::Superseded);
                }
                (None, None) => {}
                _ => return None,
            }
        }
        let same = self.kind == newer.kind
            && self.text == newer.text
            && self.targets == newer.targets
            && same_place;
        same.then_some(StimulusState::Coalesced)
    }
}
