//! Printing: JSON for programs, lines and tables for people. Everything goes through [`escaped`] or
//! [`harmless`].

use std::io::{ErrorKind, IsTerminal, Write};

use serde::Serialize;

use crate::failure::{Failure, Result};
use crate::print::{escaped, harmless};

/// How this command prints.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Printer {
    pub(crate) json: bool,
    pub(crate) colour: bool,
    /// Nobody said that there are to be none.
    may_colour: bool,
}

/// The few shades that are used, so that a terminal stays readable.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shade {
    Bold,
    Dim,
    Green,
    Red,
    Cyan,
    Yellow,
}

/// Lines that fit most terminals; longer texts are paged.
const SCREEN: usize = 40;

impl Printer {
    pub(crate) fn new(json: bool) -> Self {
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let may_colour = !json && !plain;
        Self { json, colour: may_colour && std::io::stdout().is_terminal(), may_colour }
    }

    /// Whether what is shown appears on a terminal.
    pub(crate) fn is_read_by_people(&self) -> bool {
        !self.json && std::io::stdout().is_terminal()
    }

    /// Shows a value: itself as JSON, or what `human` makes of it.
    pub(crate) fn show<T: Serialize>(&self, value: &T, human: impl FnOnce(&T) -> String) -> Result {
        if self.json { self.json(value) } else { self.text(&human(value)) }
    }

    /// One line of JSON.
    pub(crate) fn json<T: Serialize>(&self, value: &T) -> Result {
        let json = serde_json::to_string(value).map_err(|e| Failure::here("cannot print", e))?;
        write(&escaped(&json))
    }

    /// A text of lines; an empty one prints nothing. Whatever came into it, nothing but lines, tabs and our own shades
    /// reaches the terminal raw.
    pub(crate) fn text(&self, text: &str) -> Result {
        if text.is_empty() {
            return Ok(());
        }
        write(&harmless(text.trim_end_matches('\n'), self.colour))
    }

    /// A long text: through the pager of a terminal, where there is one.
    pub(crate) fn paged(&self, text: &str) -> Result {
        let pager = std::env::var("PAGER").ok().filter(|pager| !pager.is_empty());
        if !std::io::stdout().is_terminal() || text.lines().count() < SCREEN {
            return self.text(text);
        }
        let mut command = std::process::Command::new("sh");
        let pager = pager.unwrap_or_else(|| "less -FRX".to_owned());
        let started = command.arg("-c").arg(pager).stdin(std::process::Stdio::piped()).spawn();
        let Ok(mut pager) = started else { return self.text(text) };
        if let Some(mut input) = pager.stdin.take() {
            // A reader that has seen enough closes it.
            let _ = input.write_all(harmless(text, self.colour).as_bytes());
        }
        pager.wait().map(drop).map_err(|e| Failure::here("cannot wait for the pager", e))
    }

    /// A remark beside the answer, on standard error.
    pub(crate) fn note(&self, text: &str) {
        if self.json {
            return;
        }
        let is_terminal = std::io::stderr().is_terminal();
        let on = Self { colour: self.may_colour && is_terminal, ..*self };
        for line in text.lines() {
            // Where nobody reads, there is nobody to tell.
            let _ = writeln!(std::io::stderr(), "{}", on.shade(Shade::Dim, &harmless(line, false)));
        }
    }

    pub(crate) fn shade(&self, shade: Shade, text: &str) -> String {
        if !self.colour {
            return text.to_owned();
        }
        let code = match shade {
            Shade::Bold => "1",
            Shade::Dim => "2",
            Shade::Green => "32",
            Shade::Red => "31",
            Shade::Cyan => "36",
            Shade::Yellow => "33",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }
}

fn write(text: &str) -> Result {
    let mut out = std::io::stdout().lock();
    let written = writeln!(out, "{text}").and_then(|()| out.flush());
    written.map_err(|e| match e.kind() {
        ErrorKind::BrokenPipe => Failure::no_reader(),
        _ => Failure::here("cannot write to standard output", e),
    })
}
