//! Asking a person who sits there before something that cannot be undone.

use std::io::{IsTerminal, Write};

use crate::failure::{Failure, Result};

/// Goes on when `yes` was given or a person agrees; without a terminal nobody can.
pub(crate) fn confirm(question: &str, yes: bool) -> Result {
    if yes {
        return Ok(());
    }
    if !std::io::stdin().is_terminal() {
        let usage = Failure::usage(format!("{question} Nobody is there to answer"));
        return Err(usage.next("give --yes to go on without being asked"));
    }
    let answer = line(&format!("{question} [y/N] "))?;
    if matches!(answer.to_lowercase().as_str(), "y" | "yes") {
        return Ok(());
    }
    Err(Failure::usage("nothing was changed"))
}

/// Asks on the terminal; gives what was typed, without the spaces around it.
pub(crate) fn line(prompt: &str) -> Result<String> {
    let mut terminal = std::io::stderr().lock();
    let asked = write!(terminal, "{prompt}").and_then(|()| terminal.flush());
    asked.map_err(|e| Failure::here("cannot ask", e))?;
    let mut answer = String::new();
    let read = std::io::stdin().read_line(&mut answer);
    read.map_err(|e| Failure::here("cannot read the answer", e))?;
    Ok(answer.trim().to_owned())
}
