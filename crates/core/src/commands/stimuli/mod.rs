//! Stimuli: prompts to a channel that no person sends.

pub(crate) mod ends;
pub(crate) mod followups;
pub(crate) mod idle_threads;
pub(crate) mod queue;
pub(crate) mod stimulus;
pub(crate) mod title;

use std::sync::Arc;

use crate::commands::command::{Command, Done, no_text};
use crate::commands::context::{Context, Result};
use crate::commands::gate::shown::Shown;
use crate::commands::redact::Redact;
use crate::model::audit::Audit;
use crate::model::conversation::Conversation;
use crate::model::ids::Uid;
pub use crate::model::requests::NewStimulus;
use crate::model::stimulus::Stimulus;

/// The current state of a stimulus.
#[derive(Clone, Debug)]
pub struct QueuedStimulus {
    pub conversation: Arc<Conversation>,
    pub stimulus: Arc<Stimulus>,
}

/// Queues a public prompt that no person sends.
#[derive(Clone)]
pub struct Stimulate(pub NewStimulus);

impl Command for Stimulate {
    type Output = QueuedStimulus;

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        // It is in the queue and then in the log.
        Audit::none()
    }

    fn redact(&mut self, redact: &dyn Redact) -> u32 {
        redact.text(&mut self.0.text) + redact.maybe(&mut self.0.title)
    }

    fn shown(&self, run: &mut Context<'_>) -> Result<Option<Shown>> {
        let new = &self.0;
        let mut fields = vec![("text", new.text.to_string())];
        fields.extend(new.title.iter().map(|title| ("title", title.to_string())));
        fields.push(("targets", run.called(&new.targets)));
        let mut shown = run.said_in(new.conversation, "create_channel_stimulus", fields)?;
        if new.private {
            let targets = new.targets.iter().copied().chain(new.source);
            shown.readers.only = Some(targets.chain([run.by.member]).collect());
        }
        Ok(Some(Shown { says: true, ..shown }))
    }

    fn execute(self, run: &mut Context<'_>) -> Result<QueuedStimulus> {
        run.stimulate(self.0)
    }
}

/// Cancels a stimulus, or requests a cancelled one `again`.
#[derive(Clone)]
pub struct SteerStimulus {
    pub conversation: Uid,
    pub stimulus: Uid,
    pub again: bool,
}

impl Command for SteerStimulus {
    type Output = QueuedStimulus;

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::none()
    }

    fn execute(self, run: &mut Context<'_>) -> Result<QueuedStimulus> {
        run.steer_stimulus(self.conversation, self.stimulus, self.again)
    }
}
