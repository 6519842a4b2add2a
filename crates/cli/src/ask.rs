//! Asking a person who sits there before something that cannot be undone.

use std::io::{IsTerminal, Read, Write};

use chorus_core::model::error::Code;
use nix::sys::termios::{LocalFlags, SetArg, SpecialCharacterIndices, tcgetattr, tcsetattr};

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
    Err(Failure::new(Code::ValidationError, "nothing was changed"))
}

/// Asks for a secret on the terminal, which does not show it. Without a terminal it is read as any line.
pub(crate) fn secret(prompt: &str) -> Result<String> {
    let stdin = std::io::stdin();
    let Ok(before) = tcgetattr(&stdin) else { return line(prompt) };
    let mut hidden = before.clone();
    hidden.local_flags.remove(LocalFlags::ECHO | LocalFlags::ISIG);
    // Ctrl-C ends the line instead of the process, which would leave the terminal without an echo.
    hidden.control_chars[SpecialCharacterIndices::VEOL as usize] = INTERRUPT;
    let cannot = |e: nix::errno::Errno| Failure::here("cannot use the terminal", e);
    tcsetattr(&stdin, SetArg::TCSAFLUSH, &hidden).map_err(cannot)?;
    let typed = unseen(prompt);
    tcsetattr(&stdin, SetArg::TCSADRAIN, &before).map_err(cannot)?;
    // The end of the line was not shown either.
    let _ = writeln!(std::io::stderr());
    let typed = typed.map_err(|e| Failure::here("cannot read the answer", e))?;
    if typed.ends_with(&[INTERRUPT]) {
        return Err(Failure::new(Code::ValidationError, "nothing was changed"));
    }
    Ok(String::from_utf8_lossy(&typed).trim().to_owned())
}

/// What Ctrl-C types.
const INTERRUPT: u8 = 3;

fn unseen(prompt: &str) -> std::io::Result<Vec<u8>> {
    let mut terminal = std::io::stderr().lock();
    write!(terminal, "{prompt}").and_then(|()| terminal.flush())?;
    let (mut typed, mut byte) = (Vec::new(), [0]);
    let mut input = std::io::stdin().lock();
    while input.read(&mut byte)? == 1 && byte[0] != b'\n' {
        typed.push(byte[0]);
        if byte[0] == INTERRUPT {
            break;
        }
    }
    Ok(typed)
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
