//! What the demo prints: a heading for each step, the talk as it comes, who was told and why, and a tick or
//! a cross for each thing that was expected.

use chorus_wire::rest::attention::Why;
use chorus_wire::rest::events::Event;
use serde::Serialize;

use crate::failure::Result;
use crate::lines;
use crate::print::short;
use crate::printer::{Printer, Shade};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Show {
    pub(crate) print: Printer,
}

/// One thing that was expected of a step.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Check {
    pub(crate) what: String,
    pub(crate) ok: bool,
    /// What was there instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) but: Option<String>,
}

impl Check {
    pub(crate) fn new(what: impl Into<String>, ok: bool, but: impl FnOnce() -> String) -> Self {
        Self { what: what.into(), ok, but: (!ok).then(but) }
    }
}

/// What was said, and who was told of it, how, why, and what came of it.
#[derive(Debug, Serialize)]
pub(crate) struct Account {
    pub(crate) said: String,
    #[serde(flatten)]
    pub(crate) why: Why,
}

/// What the host's account says of a message.
pub(super) fn account(said: &str, why: Why) -> Account {
    Account { said: said.to_owned(), why }
}

/// What came of a scene: expectations, and the accounts of what was said in it.
#[derive(Default)]
pub(super) struct Scene {
    pub(super) checks: Vec<Check>,
    pub(super) attention: Vec<Account>,
}

/// A step with what came of it; a line of JSON with `--json`.
#[derive(Debug, Serialize)]
pub(crate) struct Step {
    pub(crate) number: usize,
    pub(crate) title: &'static str,
    pub(crate) checks: Vec<Check>,
    /// The accounts of what was said in it.
    pub(crate) attention: Vec<Account>,
    pub(crate) took_ms: u128,
}

impl Step {
    pub(crate) fn ok(&self) -> bool {
        !self.checks.is_empty() && self.checks.iter().all(|check| check.ok)
    }
}

impl Show {
    pub(crate) fn line(&self, text: &str) -> Result {
        if self.print.json { Ok(()) } else { self.print.text(text) }
    }

    pub(crate) fn heading(&self, number: usize, title: &str) -> Result {
        let title = self.print.shade(Shade::Bold, &format!("{number}. {title}"));
        self.line(&format!("\n{title}"))
    }

    /// An event of the talk. Setting up the rooms is no part of it.
    pub(crate) fn event(&self, title: &str, event: &Event) {
        let of_talk = ["message_posted", "message_edited", "message_deleted", "reaction_set"];
        if of_talk.contains(&event.kind.as_str()) {
            let place = self.print.shade(Shade::Cyan, &format!("#{title}"));
            // Whoever closed the terminal is told by the next line of the script.
            let _ = self.line(&format!("   {place} {}", lines::deed(&self.print, event)));
        }
    }

    /// A remark between the lines of the talk.
    pub(crate) fn remark(&self, text: &str) -> Result {
        self.line(&self.print.shade(Shade::Yellow, &format!("   ({text})")))
    }

    pub(crate) fn result(&self, step: &Step) -> Result {
        if self.print.json {
            return self.print.json(step);
        }
        for account in &step.attention {
            self.account(account)?;
        }
        for check in &step.checks {
            let mark = match check.ok {
                true => self.print.shade(Shade::Green, "✓"),
                false => self.print.shade(Shade::Red, "✗"),
            };
            let but = check.but.as_ref().map(|but| format!(" - but {but}")).unwrap_or_default();
            self.line(&format!("   {mark} {}{but}", check.what))?;
        }
        Ok(())
    }

    fn account(&self, Account { said, why }: &Account) -> Result {
        let dim = |text: String| self.print.shade(Shade::Dim, &text);
        self.line(&dim(format!("   told of {:?} ({}):", short(said, 60), why.intent.name())))?;
        for one in &why.told {
            let outcome = lines::outcome(one, why.created_at.0);
            self.line(&dim(format!("     {} → {outcome}", lines::told(&one.told))))?;
        }
        self.line(&dim(format!("     {}", lines::the_rest(why.rest.0, why.told.is_empty()))))
    }
}
