//! The program of a runner: how it is started, with Chorus's tools and with its memory.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep, timeout};

use super::home::Saved;
use crate::lanes::claude_inbox::hooks::Hooks;
use crate::lanes::flags::{self, Begin, Beside, CommandLine, Private};
use crate::lanes::{Kind, Seats};
use crate::terminal;

/// The variables by which the program, and whatever it runs, speaks as the agent.
const TOKEN: &str = "CHORUS_TOKEN";
const URL: &str = "CHORUS_URL";
/// Hooks that the program's user has for sessions of their own leave one with this variable alone.
pub const RUNNER_VARIABLE: &str = "CHORUS_RUNNER";
/// How long a server that a program needs has until it serves.
const SERVES: Duration = Duration::from_secs(20);
const LOOK: Duration = Duration::from_millis(20);
/// How long that server has to end.
const LAST: Duration = Duration::from_secs(3);

/// A program, ready to be started again and again.
#[derive(Clone, Debug)]
pub(super) struct Program {
    pub(super) kind: Kind,
    name: String,
    arguments: Vec<String>,
    folder: PathBuf,
    private: PathBuf,
    mcp_url: String,
    url: String,
    token: String,
    /// The session to go on with.
    resume_id: Arc<Mutex<Option<String>>>,
    /// The server that the program needs, as long as it runs.
    beside: Arc<Mutex<Option<Child>>>,
    pub(super) seats: Arc<Seats>,
    /// What was sent before went to a program that ended with its runner.
    pub(super) began: SystemTime,
}

/// A program that may be started now.
pub(super) struct Prepared {
    pub(super) launch: terminal::Launch,
    /// The id of its session, where that is known.
    pub(super) session: Option<String>,
    /// What its user should be told.
    pub(super) notice: Option<String>,
}

impl Program {
    pub(super) fn new(saved: &Saved, private: &Path) -> Self {
        let name = saved.program.clone();
        let file = Path::new(&name).file_name().and_then(OsStr::to_str).unwrap_or_default();
        let url = saved.url.trim_end_matches('/').to_owned();
        Self {
            kind: Kind::of_program(file),
            arguments: saved.arguments.clone(),
            folder: saved.folder.clone(),
            private: private.to_owned(),
            mcp_url: format!("{url}/v1/mcp?names=underscore"),
            url,
            token: saved.token.clone(),
            resume_id: Arc::new(Mutex::new(saved.resume_id.clone())),
            beside: Arc::default(),
            seats: Arc::default(),
            began: SystemTime::now(),
            name,
        }
    }

    /// What it is called in the list of sessions.
    pub(super) fn runtime(&self) -> String {
        match self.kind {
            Kind::Codex => "codex_cli".to_owned(),
            Kind::Claude => "claude_code".to_owned(),
            Kind::Gemini => "gemini_cli".to_owned(),
            Kind::Acp | Kind::Other => {
                let name = Path::new(&self.name).file_name().and_then(OsStr::to_str);
                name.unwrap_or("program").chars().take(64).collect()
            }
        }
    }

    pub(super) fn is_resumable(&self) -> bool {
        matches!(self.kind, Kind::Codex | Kind::Claude | Kind::Gemini)
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn token(&self) -> &str {
        &self.token
    }

    pub(super) fn private(&self) -> Private<'_> {
        Private(&self.private)
    }

    pub(super) fn resume_id(&self) -> Option<String> {
        self.resume_id.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set_resume_id(&self, id: Option<String>) {
        *self.resume_id.lock().unwrap_or_else(PoisonError::into_inner) = id;
    }

    /// How it is started, for whoever chooses with what it begins.
    pub(super) fn flags(&self) -> flags::Launch<'_> {
        flags::Launch {
            kind: self.kind,
            program: &self.name,
            arguments: &self.arguments,
            url: &self.mcp_url,
            token_variable: TOKEN,
            private: &self.private,
            root: nix::unistd::Uid::effective().is_root(),
            beside: true,
            begin: Begin::AsUser { id: "" },
        }
    }

    /// As its user has written it; or with its memory, where it has one.
    pub(super) async fn prepare(&self) -> io::Result<Prepared> {
        let (id, memory) = (uuid::Uuid::now_v7().to_string(), self.resume_id());
        let begin = match memory.as_deref().filter(|_| self.is_resumable()) {
            Some(session) => Begin::Resume { session, prompt: "" },
            None => Begin::AsUser { id: &id },
        };
        self.ready(flags::command_line(&flags::Launch { begin, ..self.flags() })).await
    }

    /// What is to be run, once all that it needs is there.
    pub(super) async fn ready(&self, line: CommandLine) -> io::Result<Prepared> {
        line.write_files()?;
        if self.kind == Kind::Claude {
            Hooks::new(self.private().hooks()).clear();
        }
        if let Some(beside) = &line.beside {
            self.serve_beside(beside).await?;
        }
        let (session, notice) = (line.session.clone(), line.notice.clone());
        Ok(Prepared { launch: self.launch(line), session, notice })
    }

    fn launch(&self, line: CommandLine) -> terminal::Launch {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let own = line.environment.into_iter().map(|(name, value)| (name.into(), value.into()));
        terminal::Launch {
            program: find(&line.program, &path).unwrap_or_else(|| line.program.into()),
            arguments: line.arguments.into_iter().map(OsString::from).collect(),
            environment: own.chain(self.variables()).collect(),
            folder: self.folder.clone(),
        }
    }

    fn variables(&self) -> [(OsString, OsString); 3] {
        [
            (TOKEN.into(), self.token.clone().into()),
            (URL.into(), self.url.clone().into()),
            (RUNNER_VARIABLE.into(), "1".into()),
        ]
    }

    /// Starts the server that the program needs, unless it runs.
    async fn serve_beside(&self, beside: &Beside) -> io::Result<()> {
        if self.beside_runs() && beside.serves() {
            return Ok(());
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        let program = find(&self.name, &path).unwrap_or_else(|| PathBuf::from(&self.name));
        let pid_file = beside.socket.with_extension("pid");
        end_left_behind(&pid_file, &beside.socket);
        let mut command = Command::new(program);
        command.args(&beside.arguments).envs(self.variables()).current_dir(&self.folder);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // Not told when the person presses Ctrl-C; and gone when the runner is.
        command.process_group(0).kill_on_drop(true);
        let mut child = command.spawn()?;
        std::fs::write(&pid_file, child.id().unwrap_or_default().to_string())?;
        let until = Instant::now() + SERVES;
        while !beside.serves() {
            if let Some(status) = child.try_wait()? {
                return Err(io::Error::other(format!("its server ended at once: {status}")));
            }
            if Instant::now() >= until {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "its server does not serve"));
            }
            sleep(LOOK).await;
        }
        *self.beside.lock().unwrap_or_else(PoisonError::into_inner) = Some(child);
        Ok(())
    }

    fn beside_runs(&self) -> bool {
        let mut beside = self.beside.lock().unwrap_or_else(PoisonError::into_inner);
        beside.as_mut().is_some_and(|child| matches!(child.try_wait(), Ok(None)))
    }

    /// Ends what runs beside the program.
    pub(super) async fn close(&self) {
        let beside = self.beside.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut child) = beside else { return };
        let pid = child.id().and_then(|pid| i32::try_from(pid).ok()).map(Pid::from_raw);
        // Told once, it waits for the turns that run.
        for _ in 0..2 {
            if let Some(pid) = pid {
                // One that has just ended is not told.
                let _ = kill(pid, Signal::SIGTERM);
            }
            sleep(LOOK * 5).await;
        }
        if timeout(LAST, child.wait()).await.is_err() {
            let _ = child.kill().await;
        }
    }
}

/// Ends the server of a runner that was killed: its turn would go on beside the next.
fn end_left_behind(pid_file: &Path, socket: &Path) {
    let Ok(text) = std::fs::read_to_string(pid_file) else { return };
    let Some(pid) = text.trim().parse::<i32>().ok().filter(|pid| *pid > 1) else { return };
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let names = |part: &[u8]| part.ends_with(socket.as_os_str().as_encoded_bytes());
    if line.split(|byte| *byte == 0).any(names) {
        // One that has just ended needs no telling.
        let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
    }
}

/// The file of a program: as it is named where that is a path, else the first of this name in the folders of `path`.
pub fn find(name: &str, path: &OsStr) -> Option<PathBuf> {
    if name.contains('/') {
        let file = std::path::absolute(name).ok()?;
        return is_executable(&file).then_some(file);
    }
    let mut files = std::env::split_paths(path).map(|folder| folder.join(name));
    let found = files.find(|file| is_executable(file))?;
    Some(std::path::absolute(&found).unwrap_or(found))
}

fn is_executable(file: &Path) -> bool {
    let found = std::fs::metadata(file);
    found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// Where the runner of a folder shows its program.
pub fn socket(folder: &Path) -> PathBuf {
    folder.join("attach.sock")
}
