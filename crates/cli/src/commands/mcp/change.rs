//! What `chorus mcp setup` and `chorus connect` change, shown before it is written.

use chorus_core::model::error::Code;

use super::diff::diff;
use super::settings::{Settings, Unreadable};
use super::{Program, hooks};
use crate::commands::Context;
use crate::failure::{Failure, Result};

/// Values of ours besides addresses.
const OURS: [&str; 3] = ["http", "command", "chorus"];

/// A file as it is and as it will be.
pub(super) struct Change {
    path: String,
    pub(super) before: String,
    pub(super) after: String,
}

impl Change {
    pub(super) fn of(settings: &Settings, after: String) -> Self {
        let path = settings.path.display().to_string();
        Self { path, before: settings.text().to_owned(), after }
    }
}

/// The file with a program's hooks, and what they run.
pub(super) struct Hooked {
    program: Program,
    settings: Settings,
    command: String,
}

impl Hooked {
    pub(super) fn open(program: Program) -> Result<Self> {
        Ok(Self { program, settings: hooks::open(program)?, command: hooks::command(program)? })
    }

    pub(super) fn file(&self) -> String {
        self.settings.path.display().to_string()
    }

    /// A text with the hooks.
    pub(super) fn with(&self, text: &str) -> std::result::Result<String, Unreadable> {
        hooks::with(self.program, text, &self.command)
    }

    /// A text without them.
    pub(super) fn without(&self, text: &str) -> std::result::Result<String, Unreadable> {
        Ok(hooks::without(self.program, text)?.unwrap_or_else(|| text.to_owned()))
    }

    /// The changes of both files, which may be one.
    pub(super) fn beside(
        &self,
        entry: &Settings,
        text: String,
        change: impl Fn(&Self, &str) -> std::result::Result<String, Unreadable>,
    ) -> Result<Vec<Change>> {
        let wrong = |why| self.unreadable(why);
        if entry.path == self.settings.path {
            let both = change(self, &text).map_err(wrong)?;
            return Ok(vec![Change::of(entry, both)]);
        }
        let hooks = change(self, self.settings.text()).map_err(wrong)?;
        Ok(vec![Change::of(entry, text), Change::of(&self.settings, hooks)])
    }

    /// Changes the file as it is by now.
    pub(super) fn write(
        &self,
        change: impl Fn(&Self, &str) -> std::result::Result<String, Unreadable>,
    ) -> Result {
        let _held = self.settings.hold()?;
        let settings = hooks::open(self.program)?;
        let text = change(self, settings.text()).map_err(|why| self.unreadable(why))?;
        match text == settings.text() {
            true => Ok(()),
            false => settings.write_as_before(&text),
        }
    }

    fn unreadable(&self, Unreadable(why): Unreadable) -> Failure {
        let why = format!("{} is left as it is: {why}", self.file());
        let next = "mend it; or do without hooks: chorus mcp setup --for ";
        Failure::new(Code::Conflict, why).next(format!("{next}{}", self.program.agent()))
    }
}

/// The files with the lines that go and those that come.
pub(super) fn shown(
    changes: &[Change],
    url: &str,
    hooks: Option<&Hooked>,
    context: &Context,
) -> String {
    let command = hooks.map(|hooks| hooks.command.as_str()).unwrap_or_default();
    let [http, kind, name] = OURS;
    let ours = [url, http, kind, name, command];
    let each = changes.iter().map(|change| {
        let lines = diff(&change.before, &change.after, &ours, &context.print);
        format!("{}\n{lines}", change.path)
    });
    each.collect::<Vec<_>>().join("\n")
}
