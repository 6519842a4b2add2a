//! A runner listens: it is told of its open wake.

use crate::commands::command::{Command, Done, no_text};
use crate::commands::context::{Context, Result};
use crate::model::audit::Audit;
use crate::model::ids::SessionKey;

/// The connection of a runner's session takes notifications from now on. What was sent before may not have arrived.
#[derive(Clone)]
pub struct RunnerListens {
    pub session: SessionKey,
}

impl Command for RunnerListens {
    type Output = ();

    const WHILE_PAUSED: bool = true;

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::none()
    }

    fn execute(self, run: &mut Context<'_>) -> Result<()> {
        let session = run.directory().sessions.get(&self.session).cloned();
        match session.filter(|session| session.runner && session.connected) {
            Some(session) => run.runner_is_here(session.key),
            None => Ok(()),
        }
    }
}
