//! A terminal for a real program: as much of one as it needs to believe in it.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use chorus_harness::lanes::flags::CommandLine;
use chorus_harness::lanes::terminal::{Ended, Started, Starter, Typed, Typist};
use chorus_testing::eventually_blocking;
use nix::pty::{Winsize, openpty};
use tokio::sync::oneshot;

/// What a program asks its terminal when it starts, and an answer.
const QUESTIONS: [(&[u8], &[u8]); 4] = [
    (b"\x1b[6n", b"\x1b[1;1R"),
    (b"\x1b[c", b"\x1b[?62;c"),
    (b"\x1b]10;?", b"\x1b]10;rgb:ffff/ffff/ffff\x1b\\"),
    (b"\x1b]11;?", b"\x1b]11;rgb:0000/0000/0000\x1b\\"),
];

/// Starts programs, each in a terminal of its own, one at a time.
pub(super) struct Terminal {
    /// Where the program is looked for, and what it finds in its environment.
    pub programs: std::path::PathBuf,
    pub folder: std::path::PathBuf,
    pub environment: Vec<(String, String)>,
    now: Mutex<Option<Running>>,
}

struct Running {
    process: u32,
    keyboard: File,
    printed: Arc<Mutex<Vec<u8>>>,
    /// The server beside the program.
    beside: Option<Child>,
}

impl Terminal {
    pub(super) fn new(
        programs: std::path::PathBuf,
        folder: std::path::PathBuf,
        environment: Vec<(String, String)>,
    ) -> Self {
        Self { programs, folder, environment, now: Mutex::new(None) }
    }

    /// Keys of a person.
    pub(super) fn types(&self, keys: &str) {
        let mut now = self.now.lock().unwrap();
        now.as_mut().unwrap().keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// The process of the program that runs.
    pub(super) fn process(&self) -> Option<u32> {
        self.now.lock().unwrap().as_ref().map(|now| now.process)
    }

    /// The terminal goes away, and its program with it.
    pub(super) fn closes(&self) {
        let now = self.now.lock().unwrap().take();
        if let Some(mut now) = now {
            // All of its terminal are told; Gemini runs itself again as a child.
            signal(format_args!("-{}", now.process), "HUP");
            if let Some(mut beside) = now.beside.take() {
                // The first one lets turns end that run.
                signal(beside.id(), "TERM");
                signal(beside.id(), "TERM");
                beside.wait().unwrap();
            }
            drop(now.keyboard);
            eventually_blocking("the program ends", || !runs(now.process));
        }
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let path = std::env::var("PATH").unwrap();
        command.env("PATH", format!("{}:{path}", self.programs.display()));
        for variable in chorus_clients::kit::STRANGE {
            command.env_remove(variable);
        }
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.env("TERM", "xterm-256color").current_dir(&self.folder);
        command
    }

    fn run(&self, line: &CommandLine) -> std::io::Result<Started> {
        line.write_files()?;
        let beside = line.beside.as_ref().map(|beside| {
            let mut server = self.command(&line.program);
            server.args(&beside.arguments).stdin(Stdio::null());
            let server = server.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            eventually_blocking("the server beside it listens", || beside.serves());
            server
        });
        let size = Winsize { ws_row: 40, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 };
        let ends = openpty(Some(&size), None)?;
        // Gives it the terminal as its controlling one, without a line of unsafe code here.
        let mut command = self.command("setsid");
        command.arg("--ctty").arg(&line.program).args(&line.arguments);
        command.envs(line.environment.iter().map(|(name, value)| (name, value)));
        let slave = |end: &OwnedFd| end.try_clone().map(Stdio::from);
        command.stdin(slave(&ends.slave)?).stdout(slave(&ends.slave)?).stderr(slave(&ends.slave)?);
        let mut child = command.spawn()?;
        drop((command, ends.slave));
        let (process, printed) = (child.id(), Arc::new(Mutex::new(Vec::new())));
        let keyboard = File::from(ends.master);
        let (screen, answers) = (keyboard.try_clone()?, keyboard.try_clone()?);
        let shared = printed.clone();
        let reading = std::thread::spawn(move || read(screen, answers, &shared));
        let (tell, ended) = oneshot::channel();
        let shared = printed.clone();
        std::thread::spawn(move || {
            let status = child.wait().unwrap();
            reading.join().unwrap();
            let screen = plain(&shared.lock().unwrap());
            let _ = tell.send(Ended { code: status.code(), screen });
        });
        *self.now.lock().unwrap() = Some(Running { process, keyboard, printed, beside });
        Ok(Started { process: Some(process), ended })
    }
}

fn read(mut screen: File, mut answers: File, printed: &Mutex<Vec<u8>>) {
    let mut buffer = [0; 65536];
    while let Ok(count @ 1..) = screen.read(&mut buffer) {
        for (question, answer) in QUESTIONS {
            if buffer[..count].windows(question.len()).any(|bytes| bytes == question) {
                let _ = answers.write_all(answer);
            }
        }
        printed.lock().unwrap().extend_from_slice(&buffer[..count]);
    }
}

/// What was printed, without escape sequences and spaces: a program draws words in any order of cells.
fn plain(printed: &[u8]) -> String {
    let text = String::from_utf8_lossy(printed);
    let mut plain = String::new();
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '\x1b' {
            plain.extend(Some(c).filter(|c| !c.is_whitespace() && !c.is_control()));
            continue;
        }
        match rest.next() {
            Some('[') => while rest.next().is_some_and(|c| !('@'..='~').contains(&c)) {},
            Some(']') => while rest.next().is_some_and(|c| c != '\x07' && c != '\\') {},
            _ => {}
        }
    }
    plain
}

impl Starter for Terminal {
    async fn start(&self, line: CommandLine) -> Result<Started, String> {
        self.closes();
        self.run(&line).map_err(|e| e.to_string())
    }

    fn screen(&self) -> String {
        let now = self.now.lock().unwrap();
        now.as_ref().map(|now| plain(&now.printed.lock().unwrap())).unwrap_or_default()
    }

    fn stop(&self) {
        self.closes();
    }
}

impl Typist for Terminal {
    async fn type_prompt(&self, _: &str) -> Typed {
        Typed::Refused("this terminal has no keyboard of ours".to_owned())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.closes();
    }
}

/// To one process, or as `-GROUP` to a group.
fn signal(process: impl std::fmt::Display, name: &str) {
    let mut kill = Command::new("kill");
    let _ =
        kill.args([&format!("-{name}"), "--", &process.to_string()]).stderr(Stdio::null()).status();
}

fn runs(process: u32) -> bool {
    // A process that has ended and was waited for has no folder there.
    std::path::Path::new(&format!("/proc/{process}")).exists()
}
