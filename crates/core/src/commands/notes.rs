//! Entries of the audit log for what no command of the room does.

use crate::commands::command::{Command, Done, no_text};
use crate::commands::context::{Context, Result};
use crate::model::audit::{self, Audit};

/// Something for the audit log that no other command does.
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
