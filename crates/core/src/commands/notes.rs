//! Audit entries for actions that are not commands on a room.

use crate::commands::command::{Command, Done, no_text};
use crate::commands::context::{Context, Result};
use crate::model::audit::{self, Audit};

/// An audit entry that no other command makes.
#[derive(Clone)]
pub struct Note(pub audit::Note);

impl Command for Note {
    type Output = ();

    const CHANGES: bool = false;

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::note(&self.0)
    }

    fn execute(self, _: &mut Context<'_>) -> Result<()> {
        Ok(())
    }
}
