//! How each program is started so that it has Chorus's MCP server and can be woken: by arguments, variables and files
//! of the runner's, never in the user's own configuration.
//!
//! Pure: it says what to run and which files to write first. Invariant: the token is in no argument and in no file, where
//! the program allows it; each program is told the name of the variable that has it.

mod claude;
mod codex;
mod gemini;

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::outcome::Kind;

/// What to start.
#[derive(Clone, Copy, Debug)]
pub struct Launch<'a> {
    pub kind: Kind,
    /// The program's file, or its name in `PATH`.
    pub program: &'a str,
    /// What the user has written after the program's name.
    pub arguments: &'a [String],
    /// Chorus's MCP server.
    pub url: &'a str,
    /// The variable that has the token; the runner sets it.
    pub token_variable: &'a str,
    /// The runner's own folder, of mode 0700.
    pub private: &'a Path,
    /// Whose settings the program reads: root may be given more by file than others.
    pub root: bool,
    /// Whether Codex may have a server beside it. Not where that did not come up: then Codex is woken by keys.
    pub beside: bool,
    pub begin: Begin<'a>,
}

/// Which session the program begins with.
#[derive(Clone, Copy, Debug)]
pub enum Begin<'a> {
    /// As the user has written it. `id` is a new UUID, for programs whose session can be named.
    AsUser { id: &'a str },
    /// A session of before goes on with this prompt; with an empty one it waits.
    Resume { session: &'a str, prompt: &'a str },
    /// A new session with this prompt.
    New { id: &'a str, prompt: &'a str },
}

/// A program to run in a terminal, with what has to be there before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandLine {
    pub program: String,
    pub arguments: Vec<String>,
    pub environment: Vec<(String, String)>,
    /// To be written first, readable for this user only.
    pub files: Vec<PrivateFile>,
    /// A server that must run before the program starts, and as long as it does.
    pub beside: Option<Beside>,
    /// The session's id, where it is known before the program starts.
    pub session: Option<String>,
    /// What the user should be told.
    pub notice: Option<String>,
}

/// Codex's app-server: with settings of its own, a plain `codex` has no socket.
///
/// On SIGTERM it waits for the turns that run, on a second one it ends at once. Killed, it leaves its socket behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beside {
    pub arguments: Vec<String>,
    /// It serves once this socket takes connections.
    pub socket: PathBuf,
}

impl Beside {
    /// Whether it takes connections by now.
    pub fn serves(&self) -> bool {
        // The socket's own path may be too long for an address; what it links to is not.
        let real = self.socket.canonicalize();
        real.is_ok_and(|real| std::os::unix::net::UnixStream::connect(real).is_ok())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrivateFile {
    pub path: PathBuf,
    pub text: String,
}

/// Where things are in the runner's private folder.
#[derive(Clone, Copy, Debug)]
pub struct Private<'a>(pub &'a Path);

impl Private<'_> {
    pub fn codex_socket(&self) -> PathBuf {
        self.0.join("codex.sock")
    }

    /// Events of Claude Code's hooks.
    pub fn hooks(&self) -> PathBuf {
        self.0.join("hooks")
    }

    pub fn wakes(&self) -> PathBuf {
        self.0.join("wakes")
    }
}

/// What to run.
pub fn command_line(launch: &Launch<'_>) -> CommandLine {
    let mut line = of_kind(launch);
    if let Begin::Resume { prompt: "", .. } = launch.begin {
        // Nothing is asked yet.
        line.arguments.pop_if(|last| last.is_empty() || last.starts_with("--prompt-interactive"));
    }
    line
}

fn of_kind(launch: &Launch<'_>) -> CommandLine {
    match launch.kind {
        Kind::Codex => codex::line(launch),
        Kind::Claude => claude::line(launch),
        Kind::Gemini => gemini::line(launch),
        Kind::Acp | Kind::Other => CommandLine {
            program: launch.program.to_owned(),
            arguments: launch.arguments.to_vec(),
            ..CommandLine::default()
        },
    }
}

impl CommandLine {
    /// Writes its files, with mode 0600, in folders of mode 0700.
    pub fn write_files(&self) -> io::Result<()> {
        for file in &self.files {
            if let Some(folder) = file.path.parent() {
                DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
            }
            // A file of before may have another mode.
            match std::fs::remove_file(&file.path) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
                _ => {}
            }
            let mut open =
                OpenOptions::new().write(true).create_new(true).mode(0o600).open(&file.path)?;
            open.write_all(file.text.as_bytes())?;
        }
        Ok(())
    }
}

/// Whether the user has given one of these options, as `--name` or `--name=value`.
fn has(arguments: &[String], names: &[&str]) -> bool {
    let mut given = arguments.iter().take_while(|argument| *argument != "--");
    given.any(|argument| {
        let name = argument.split('=').next().unwrap_or_default();
        names.contains(&name)
    })
}

/// The values of these options, each with its name, as the user gave them.
fn with_values(arguments: &[String], names: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = arguments.iter().take_while(|argument| *argument != "--");
    while let Some(argument) = rest.next() {
        let name = argument.split('=').next().unwrap_or_default();
        if names.contains(&name) {
            found.push(argument.clone());
            if !argument.contains('=') {
                found.extend(rest.next().cloned());
            }
        }
    }
    found
}

#[cfg(test)]
mod tests;
