//! The programs that people run their agents in, headless: one run per turn, in one session per conversation.
//!
//! A program is one file: its arguments, and how its output is read. Both are pure. What it prints is a line
//! of JSON for each thing that happens.
//!
//! Invariant: only an answer that the program itself reports as complete is said. A run that ends in any
//! other way has failed, and its note has the program's own last words.

mod claude;
mod codex;
mod gemini;
mod heard;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use heard::Heard;
use serde_json::Value;
use tokio::process::Command;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::pipes::{self, Text};
use super::process::{self, Ended, note};
use super::{Bounds, End, Told, Work};

/// What its prompt says about how the answer is given.
pub(super) const OUTPUT: &str = "\
C2A OUTPUT
- Your final answer is posted as your reply to the event, as it stands. Nobody sees what you write before it.
- To stay silent, let your final answer be NO_REPLY and nothing else.

";
/// The final answer that is silence.
const NO_REPLY: &str = "NO_REPLY";
/// A longer line of output is not read: the answer, or what a tool gave.
const LINE_BYTES: usize = 8 * 1024 * 1024;

/// What a program may do in its working folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allow {
    Read,
    /// And change files.
    Edit,
    /// And run commands: whatever the user may who has started it.
    Full,
}

/// How a program is called, and what its output means.
trait Cli: std::fmt::Debug + Sync {
    /// The name of the program, and of its runtime.
    fn name(&self) -> &'static str;

    /// The command that installs it.
    fn install(&self) -> &'static str;

    /// What it may do in its folder, as the rest of a sentence.
    fn may(&self, allow: Allow) -> &'static str {
        match allow {
            Allow::Read => "may read files there; --allow edit lets it change them",
            Allow::Edit => "may read and change files there; --allow full lets it run commands",
            Allow::Full => "may do everything that you may, without asking",
        }
    }

    /// The arguments of one run, which goes on with `session`.
    fn arguments(&self, allow: Allow, session: Option<&str>) -> Vec<String>;

    /// Variables that every run has.
    fn environment(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// The prompt, written so that the program does not take names and paths in it for commands of its user.
    fn plain(&self, prompt: &str) -> String {
        prompt.to_owned()
    }

    /// The answer, with what [`Cli::plain`] did to the prompt undone.
    fn answer(&self, answer: &str) -> String {
        answer.to_owned()
    }

    /// Takes one line of the output.
    fn hear(&self, line: &Value, heard: &mut Heard);

    /// Whether these words of a failed run say that there is no such session.
    fn session_is_lost(&self, words: &str) -> bool;
}

const ALL: [&dyn Cli; 3] = [&claude::Claude, &codex::Codex, &gemini::Gemini];

/// A program as it is run on this machine.
#[derive(Clone, Debug)]
pub struct Program {
    cli: &'static dyn Cli,
    path: PathBuf,
    allow: Allow,
}

/// Why there is no program to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    pub name: &'static str,
    /// The command that installs it.
    pub install: &'static str,
}

impl Program {
    /// The names that [`Program::find`] knows.
    pub fn names() -> impl Iterator<Item = &'static str> {
        ALL.iter().map(|cli| cli.name())
    }

    /// The same, which may do more or less than read.
    pub fn that_may(self, allow: Allow) -> Self {
        Self { allow, ..self }
    }

    /// Looks for the program in the folders of `path`, to read; none where no program has this name.
    pub fn find(name: &str, path: &std::ffi::OsStr) -> Option<Result<Self, Missing>> {
        let cli = *ALL.iter().find(|cli| cli.name() == name)?;
        let mut files = std::env::split_paths(path).map(|folder| folder.join(cli.name()));
        let missing = Missing { name: cli.name(), install: cli.install() };
        let found = files.find(|file| is_executable(file)).ok_or(missing);
        // A folder of PATH may be given from here, and the program is run from another.
        let whole = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
        Some(found.map(|path| Self { cli, path: whole(path), allow: Allow::Read }))
    }

    pub fn name(&self) -> &'static str {
        self.cli.name()
    }

    pub fn allow(&self) -> Allow {
        self.allow
    }

    /// What it may do, as the rest of a sentence: "claude works in /x and …".
    pub fn may(&self) -> &'static str {
        self.cli.may(self.allow)
    }

    /// Runs one turn. A session that the program does not know is left for a new one, once.
    pub(super) async fn run(
        &self,
        mut work: Work,
        bounds: Bounds,
        mut cancel: oneshot::Receiver<()>,
        tell: mpsc::UnboundedSender<Told>,
    ) -> End {
        let begun = Instant::now();
        work.prompt = self.cli.plain(&work.prompt);
        let ran = self.once(&work, bounds, &mut cancel, &tell).await;
        let name = self.name();
        let words = match ran {
            Ran::Ended(end) => return end,
            Ran::SessionLost(words) => words,
        };
        let session = work.session.take().unwrap_or_default();
        tracing::warn!("{name} does not know its session {session} any more; it begins a new one");
        tracing::debug!("{name} says: {words}");
        let timeout = bounds.timeout.saturating_sub(begun.elapsed());
        let bounds = Bounds { timeout, ..bounds };
        match self.once(&work, bounds, &mut cancel, &tell).await {
            Ran::Ended(end) => end,
            Ran::SessionLost(note) => End::Failed { note },
        }
    }

    async fn once(
        &self,
        work: &Work,
        bounds: Bounds,
        cancel: &mut oneshot::Receiver<()>,
        tell: &mpsc::UnboundedSender<Told>,
    ) -> Ran {
        let session = work.session.as_deref();
        let mut command = Command::new(&self.path);
        command.args(self.cli.arguments(self.allow, session));
        process::prepare(&mut command, work);
        command.envs(self.cli.environment().iter().copied());

        let output = Output::default();
        let (cli, heard, telling) = (self.cli, output.clone(), tell.clone());
        let read =
            |pipe| pipes::read_lines(pipe, LINE_BYTES, move |line| heard.take(cli, line, &telling));
        let (ended, errors) = process::run(command, work, bounds, cancel, read, tell.clone()).await;
        let heard = output.heard();
        let name = self.name();
        let words = if errors.is_empty() { output.noise.get() } else { errors };
        match ended {
            Ended::Exited(status) => {
                let failure = match &heard.end {
                    Some(Err(why)) => note(&format!("{name} failed"), why),
                    _ if !status.success() => note(&format!("{name} ended with {status}"), &words),
                    None => note(&format!("{name} ended without an answer"), &words),
                    Some(Ok(())) => {
                        let answer = self.cli.answer(heard.answer());
                        let said = process::said(&answer, bounds.output);
                        let said = said.filter(|said| said != NO_REPLY);
                        return Ran::Ended(said.map_or(End::Silent, End::Said));
                    }
                };
                let lost = |words: &str| session.is_some() && self.cli.session_is_lost(words);
                if lost(&failure) || lost(&words) {
                    return Ran::SessionLost(failure);
                }
                Ran::Ended(End::Failed { note: failure })
            }
            Ended::TimedOut => {
                let seconds = bounds.timeout.as_secs_f32();
                let words = heard.trouble().unwrap_or(&words);
                let what = format!("{name} took longer than {seconds} s");
                Ran::Ended(End::TimedOut { note: note(&what, words) })
            }
            Ended::Cancelled => Ran::Ended(End::Cancelled),
            Ended::Broken(why) => Ran::Ended(End::Failed { note: format!("{name} {why}") }),
        }
    }
}

/// How one run came out.
enum Ran {
    Ended(End),
    /// The program has no such session; with its words.
    SessionLost(String),
}

/// What was read of a run; shared with the task that reads.
#[derive(Clone, Default)]
struct Output {
    heard: Arc<Mutex<Heard>>,
    /// The end of what was no JSON.
    noise: Text,
}

impl Output {
    fn heard(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, cli: &dyn Cli, line: &[u8], tell: &mpsc::UnboundedSender<Told>) {
        let Some(value) = serde_json::from_slice::<Value>(line).ok().filter(Value::is_object)
        else {
            let text = String::from_utf8_lossy(line);
            if !text.trim().is_empty() {
                self.noise.push_line(text.trim());
            }
            return;
        };
        let mut heard = self.heard();
        cli.hear(&value, &mut heard);
        for told in heard.news() {
            // Nobody listens any more when the turn is being stopped.
            let _ = tell.send(told);
        }
    }
}

fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests;
