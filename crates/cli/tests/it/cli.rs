//! Running `chorus` and reading what it prints.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde_json::Value;

/// Nothing here takes longer, unless it never comes.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// The binary, knowing nothing of the environment it is tested in.
pub(crate) fn chorus() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chorus"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("CHORUS_") {
            command.env_remove(name);
        }
    }
    // Who signs in while it is tested is signed in nowhere else.
    command.env("XDG_CONFIG_HOME", "/nonexistent").env_remove("DISPLAY");
    command.stdin(Stdio::null());
    command
}

pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// The one JSON value printed.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out)
            .unwrap_or_else(|e| panic!("{e} in {:?} (stderr {:?})", self.out, self.err))
    }

    pub(crate) fn ok(self) -> Self {
        assert_eq!(self.code, 0, "{}{}", self.out, self.err);
        self
    }
}

/// Runs a command to its end.
pub(crate) fn run(command: &mut Command) -> Ran {
    let ran = command.output().unwrap();
    Ran {
        code: ran.status.code().unwrap_or(-1),
        out: String::from_utf8(ran.stdout).unwrap(),
        err: String::from_utf8(ran.stderr).unwrap(),
    }
}

/// A command that goes on, with the lines it prints.
/// A command at a terminal of its own, and that terminal.
pub(crate) fn terminal(command: &mut Command) -> (Child, File) {
    let pty = nix::pty::openpty(None, None).unwrap();
    let end = || Stdio::from(pty.slave.try_clone().unwrap());
    let child = command.stdin(end()).stdout(end()).stderr(end()).spawn().unwrap();
    (child, File::from(pty.master))
}

pub(crate) struct Going {
    pub(crate) child: Child,
    lines: mpsc::Receiver<String>,
}

impl Going {
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let out = child.stdout.take().unwrap();
        Self::reading(child, out)
    }

    /// A command at a terminal of its own, and what types there.
    pub(crate) fn at_a_terminal(command: &mut Command) -> (Self, File) {
        let (child, master) = terminal(command);
        (Self::reading(child, master.try_clone().unwrap()), master)
    }

    fn reading(child: Child, out: impl Read + Send + 'static) -> Self {
        let out = BufReader::new(out);
        let (tell, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in out.lines() {
                if line.map(|line| tell.send(line)).is_err() {
                    return;
                }
            }
        });
        Self { child, lines }
    }

    /// The next line for which `wanted` gives something.
    pub(crate) fn wait<T>(&self, wanted: impl Fn(&str) -> Option<T>) -> T {
        let began = Instant::now();
        let mut seen = Vec::new();
        while let Some(left) = PATIENCE.checked_sub(began.elapsed()) {
            let Ok(line) = self.lines.recv_timeout(left) else { break };
            if let Some(found) = wanted(&line) {
                return found;
            }
            seen.push(line);
        }
        panic!("it did not come; there was:\n{}", seen.join("\n"));
    }

    /// All that it has printed since, once it has ended.
    pub(crate) fn rest(&self) -> Vec<String> {
        self.lines.iter().collect()
    }

    pub(crate) fn pid(&self) -> nix::unistd::Pid {
        nix::unistd::Pid::from_raw(self.child.id().try_into().unwrap())
    }

    /// SIGKILL, as a crash would be.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Going {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Processes whose command line contains the text.
pub(crate) fn processes_with(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        let is_number = entry.file_name().to_string_lossy().chars().all(|c| c.is_ascii_digit());
        if is_number && line.contains(text) {
            found.push(line);
        }
    }
    found
}

/// Arguments of any kind as one list.
pub(crate) fn words<'a>(arguments: &'a [&'a str]) -> impl Iterator<Item = &'a OsStr> {
    arguments.iter().map(OsStr::new)
}
