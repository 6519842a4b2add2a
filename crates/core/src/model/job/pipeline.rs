//! Pipelines: jobs one after the other that share a context. Each job carries what comes after it,
//! so that the next one is asked for in the transaction that ends the one before.

use std::sync::Arc;

use crate::model::ids::Uid;
use crate::model::ledger::Credits;

/// The place of a job in its pipeline.
#[derive(Clone, veil::Redact, PartialEq, Eq)]
pub struct Pipeline {
    pub uid: Uid,
    /// Counted from 1.
    pub step: u32,
    /// What the steps so far have made: a JSON object in canonical form, opaque here.
    #[redact(fixed = 3)]
    pub context: Arc<str>,
    /// The steps after this one.
    pub rest: Vec<Step>,
    /// The input of the next step, once the result of this one is in.
    #[redact(fixed = 3)]
    pub next: Option<Arc<str>>,
    /// The job of the next step, once it was asked for.
    pub next_job: Option<Uid>,
    /// Why there is no next step though there should be one.
    #[redact(fixed = 3)]
    pub stopped: Option<Arc<str>>,
}

/// A step that is still to come.
#[derive(Clone, veil::Redact, PartialEq, Eq)]
pub struct Step {
    pub agent: Uid,
    pub skill: Arc<str>,
    pub budget: Credits,
    /// How its input is made of the context; the whole context by default.
    #[redact(fixed = 3)]
    pub input: Option<Arc<str>>,
    pub timeout_ms: i64,
}

/// What a result makes of a pipeline.
#[derive(Clone, veil::Redact, PartialEq, Eq)]
pub struct Next {
    #[redact(fixed = 3)]
    pub context: Arc<str>,
    /// The input of the next step, or why there is none.
    #[redact(fixed = 3)]
    pub input: Result<Arc<str>, Arc<str>>,
}

impl Pipeline {
    /// The id of the job of a step.
    pub fn job(uid: Uid, step: u32) -> Uid {
        Uid(uid.0.wrapping_add(step.into()))
    }

    /// After the result of its job.
    pub fn take(&mut self, next: Next) {
        self.context = next.context;
        match next.input {
            Ok(input) => self.next = Some(input),
            Err(why) => self.stopped = Some(why),
        }
    }
}
