//! The person's terminal in raw mode, put back whatever happens.

use std::io::{self, IsTerminal, stdin, stdout};
use std::os::fd::AsFd;
use std::sync::Mutex;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::termios::{SetArg, Termios, cfmakeraw, tcgetattr, tcsetattr};
use nix::unistd::write;

use super::{Size, locked};

/// What was set before raw mode; global, so that a way out of the process that drops nothing can put it back too.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

/// Undoes what a program may have left on: synchronised output, attributes, the alternate screen, scroll region, mouse,
/// focus reports, paste marks, keypad, kitty keys and `modifyOtherKeys`, a hidden cursor. The cursor is saved first,
/// because leaving a screen that one is not on goes to the saved place.
const UNDO: &[u8] =
    b"\x1b[?2026l\x1b[0m\x1b7\x1b[?1049l\x1b7\x1b[r\x1b8\x1b[?1000l\x1b[?1002l\x1b[?1003l\
\x1b[?1006l\x1b[?1004l\x1b[?2004l\x1b[?1l\x1b>\x1b[<99u\x1b[>4m\x1b[?25h";

/// Raw mode of the person's terminal, until this is dropped. Nothing happens where stdin is no terminal.
#[derive(Debug)]
pub struct RawMode(());

impl RawMode {
    pub fn enter() -> io::Result<Self> {
        if stdin().is_terminal() {
            let now = tcgetattr(stdin())?;
            locked(&BEFORE).get_or_insert(now);
            Self::again()?;
        }
        Ok(Self(()))
    }

    /// Raw mode once more, after the process was stopped and the shell took the terminal back.
    pub(super) fn again() -> io::Result<()> {
        if let Some(before) = &*locked(&BEFORE) {
            let mut raw = before.clone();
            cfmakeraw(&mut raw);
            tcsetattr(stdin(), SetArg::TCSADRAIN, &raw)?;
        }
        Ok(())
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        restore();
    }
}

/// Puts the person's terminal back, if it is in raw mode; for a way out that drops nothing (`process::exit`).
pub fn restore() {
    let Some(before) = locked(&BEFORE).take() else { return };
    // Around the lock of stdout, which a thread may hold, and only where there is room: a terminal whose output stands
    // still must not hold up what follows. Therefore `NOW`, too.
    let out = stdout();
    let mut ready = [PollFd::new(out.as_fd(), PollFlags::POLLOUT)];
    if out.is_terminal() && poll(&mut ready, PollTimeout::from(100u8)) == Ok(1) {
        let _ = write(&out, UNDO);
    }
    let _ = tcsetattr(stdin(), SetArg::TCSANOW, &before);
}

/// The size of the person's terminal, if there is one.
#[must_use]
pub fn person_size() -> Option<Size> {
    let size = |size: Option<(terminal_size::Width, terminal_size::Height)>| {
        size.map(|(width, height)| Size { rows: height.0, columns: width.0 }.or_default())
    };
    size(terminal_size::terminal_size_of(stdout()))
        .or_else(|| size(terminal_size::terminal_size_of(stdin())))
}
