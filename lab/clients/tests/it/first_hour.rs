//! The page `docs/first-hour.md`, typed on a bare machine, with the real Claude Code and a scripted model. What is
//! printed has to be what the page shows; `…` stands there for whatever differs each time.

use std::fs::File;
use std::process::Child;
use std::time::{Duration, Instant};

use chorus_clients::kit::{Kit, claude_asks};
use chorus_clients::model::{Cue, Model};
use chorus_testing::eventually_blocking;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;
use tempfile::TempDir;
use tokio::net::TcpListener;

use crate::bare_machine::BareMachine;
use crate::house::binary;

const PAGE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/first-hour.md"));
/// Commands that a person leaves running in a terminal of their own.
const LASTING: [&str; 3] = ["chorus serve", "chorus join", "chorus tail"];

/// What somebody types, and what is printed then.
struct Step<'a> {
    user: &'a str,
    line: &'a str,
    shown: Vec<&'a str>,
}

/// The blocks `console` of the page.
fn steps(page: &str) -> Vec<Step<'_>> {
    let mut steps: Vec<Step<'_>> = Vec::new();
    let mut inside = false;
    for line in page.lines() {
        if line.starts_with("```") {
            inside = line == "```console";
        } else if let Some(line) = line.strip_prefix("$ ").filter(|_| inside) {
            steps.push(Step { user: "ann", line, shown: Vec::new() });
        } else if let Some(line) = line.strip_prefix("alice$ ").filter(|_| inside) {
            steps.push(Step { user: "alice", line, shown: Vec::new() });
        } else if inside {
            steps.last_mut().expect("a block begins with a command").shown.push(line);
        }
    }
    steps
}

/// Whether a line is the one shown, in which `…` stands for anything.
fn fits(shown: &str, line: &str) -> bool {
    let mut parts = shown.split('…');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = line.strip_prefix(first) else { return false };
    let mut last = None;
    for part in parts {
        if let Some(part) = last.replace(part) {
            let Some(at) = rest.find(part) else { return false };
            rest = &rest[at + part.len()..];
        }
    }
    last.map_or(rest.is_empty(), |last: &str| rest.ends_with(last))
}

fn all_fit(shown: &[&str], printed: &str) -> bool {
    let mut lines = printed.lines();
    shown.iter().all(|shown| lines.next().is_some_and(|line| fits(shown, line)))
}

/// The desk at which the page is typed.
struct Desk {
    machine: BareMachine,
    /// Where ann is.
    folder: String,
    /// All that was printed.
    printed: String,
    logs: TempDir,
    lasting: Vec<Child>,
}

impl Desk {
    /// The line as it is typed: a word that ends in `…` is the first such that was printed.
    fn whole(&self, line: &str) -> String {
        let word = |word: &str| {
            let Some(stem) = word.strip_suffix('…') else { return word.to_owned() };
            let mut words = self.printed.split_whitespace();
            words.find(|printed| printed.starts_with(stem)).expect(word).to_owned()
        };
        line.split(' ').map(word).collect::<Vec<_>>().join(" ")
    }

    fn types(&mut self, step: &Step<'_>) -> Duration {
        if let Some(folder) = step.line.strip_prefix("cd ") {
            folder.clone_into(&mut self.folder);
            return Duration::ZERO;
        }
        let folder = if step.user == "ann" { self.folder.as_str() } else { "" };
        let mut command = self.machine.typed(step.user, folder, &self.whole(step.line));
        let path = self.logs.path().join(self.lasting.len().to_string());
        let log = File::create(&path).unwrap();
        command.stdout(log.try_clone().unwrap()).stderr(log);
        let begun = Instant::now();
        let mut child = command.spawn().unwrap();
        let read = || std::fs::read_to_string(&path).unwrap();
        if LASTING.iter().any(|lasting| step.line.starts_with(lasting)) {
            eventually_blocking("it prints what is shown", || {
                let printed = read();
                assert!(child.try_wait().unwrap().is_none(), "{}", self.differs(step, &printed));
                all_fit(&step.shown, &printed)
                    .then_some(())
                    .ok_or_else(|| self.differs(step, &printed))
            });
            self.lasting.push(child);
        } else {
            let status = child.wait().unwrap();
            let printed = read();
            let same =
                all_fit(&step.shown, &printed) && printed.lines().count() == step.shown.len();
            assert!(status.success() && same, "{}", self.differs(step, &printed));
        }
        let took = begun.elapsed();
        self.printed.push_str(&read());
        took
    }

    fn differs(&self, step: &Step<'_>, printed: &str) -> String {
        format!(
            "$ {}\nshown:\n{}\nprinted:\n{printed}\nbefore:\n{}",
            step.line,
            step.shown.join("\n"),
            self.printed
        )
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        for child in &mut self.lasting {
            let _ = kill(Pid::from_raw(child.id() as i32), Signal::SIGKILL);
            let _ = child.wait();
        }
    }
}

// covers: OPS-488
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_of_the_first_hour_is_what_happens_on_a_bare_machine() {
    let kit = Kit::installed().expect("cargo xtask test installs the clients");
    let mut machine = BareMachine::start(&kit, &binary());
    let listener = TcpListener::from_std(machine.listener()).unwrap();
    let cues = vec![
        Cue {
            words: "what is in notes.txt?".into(),
            calls: json!([["Read", {"file_path": "/home/ann/acme/notes.txt"}]]),
            says: "One line: the release is on Friday.",
        },
        Cue {
            words: "Tell #general that you are here.".into(),
            calls: json!([["chat.send_message", {
                "target": {"conversation": "#general"}, "visibility": "channel", "directedness": "ambient",
                "text": "Claude Code is here.", "idempotencyKey": "here",
            }]]),
            says: "I have told them.",
        },
    ];
    let model = Model::on(listener, cues).unwrap();
    machine.environment = claude_asks(&model.url);
    let logs = tempfile::tempdir().unwrap();
    let (folder, printed, lasting) = (String::new(), String::new(), Vec::new());
    let mut desk = Desk { machine, folder, printed, logs, lasting };
    let steps = steps(PAGE);
    assert!(steps.len() > 10, "the page shows the first hour");
    for step in &steps {
        let took = tokio::task::block_in_place(|| desk.types(step));
        println!("{:7.2} s  {}", took.as_secs_f32(), step.line);
    }
    let asked = model.asked();
    let read = asked.iter().any(|asked| asked.contains("The release is on Friday"));
    assert!(read, "Claude Code has read the file");
}
