//! A command with what is done for it before it reaches the workspace: its ids are drawn and its
//! text is read, by whoever submits it.

use crate::commands::command::Command;
use crate::language::analysis::ReadText;
use crate::model::seed::CommandSeed;

/// A command ready to be executed, more than once if need be, with the same result.
pub struct Prepared<C> {
    pub command: C,
    pub(crate) drawn: CommandSeed,
    pub(crate) read: Option<ReadText>,
}

impl<C: Command> Prepared<C> {
    pub fn new(command: C, drawn: CommandSeed) -> Self {
        let read = command.text().map(ReadText::of);
        Self { command, drawn, read }
    }
}
