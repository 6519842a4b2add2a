//! `chorus join --runtime claude`, `codex` and `gemini`: the real programs, driven by a scripted model.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use chorus_clients::kit::{self, Kit};
use chorus_clients::model::{CLOSING, Model, SILENT};
use serde_json::{Value, json};

use crate::house::House;

/// A real program on a busy machine, with the window before its turn.
const PATIENCE: Duration = Duration::from_secs(90);
/// What stands once in each prompt.
const PROMPT: &str = "C2A OUTPUT";

/// Settings of the programs' user.
const OWN: [&str; 2] = [".codex/config.toml", ".gemini/settings.json"];

/// A host with the agent builder in #ops, and a home in which all programs speak to one model.
struct Desk {
    house: House,
    model: Model,
    path: PathBuf,
    home: PathBuf,
    /// The working folder.
    folder: PathBuf,
}

impl Desk {
    async fn open() -> Self {
        let kit = Kit::installed().expect("cargo xtask test installs the clients");
        let (house, model) = (House::open(), Model::start().await.unwrap());
        house.chorus(&["member", "create", "builder", "--kind", "agent"]);
        house.chorus(&["channel", "create", "ops", "builder"]);
        let (home, folder) = (house.folder("home"), house.folder("work"));
        Self { house, model, path: kit.programs(), home, folder }
    }

    /// Joins with this program, and waits until it says how it works.
    fn join(&self, program: &str, options: &[&str]) -> Harness {
        let mut command = self.house.command(&["join", "--agent", "builder", "--quiet-ms", "50"]);
        command.args(["--runtime", program, "--folder"]).arg(&self.folder).args(options);
        for variable in kit::STRANGE {
            command.env_remove(variable);
        }
        // Programs of Node's find theirs there too.
        let path = std::env::var("PATH").unwrap();
        command.env("PATH", format!("{}:{path}", self.path.display()));
        command.envs(kit::speaks_to(&self.home, &self.model.url).unwrap());
        let log = self.house.folder("log").join(program);
        command.stdout(File::create(&log).unwrap());
        command.stderr(File::options().create(true).append(true).open(self.log()).unwrap());
        let mut child = command.env("CHORUS_LOG", "info").spawn().unwrap();
        let works = format!("\n{program} works in {} and may ", self.folder.display());
        wait(self, "the harness says how it works", || {
            assert!(child.try_wait().unwrap().is_none(), "the harness has ended");
            std::fs::read_to_string(&log).unwrap().contains(&works).then_some(())
        });
        Harness(child)
    }

    fn log(&self) -> PathBuf {
        self.house.folder("log").join("harness")
    }

    fn ask(&self, text: &str) -> String {
        let asked = self.house.json(&["post", "ops", text]);
        asked["event_id"].as_str().unwrap().to_owned()
    }

    /// What builder has answered to this.
    fn answer(&self, event: &str) -> Value {
        wait(self, "the answer", || {
            let said =
                self.house.chorus(&["tail", "ops", "--since", "0", "--follow", "false", "--json"]);
            let said = said.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
            let mut answers = said.filter(|event| {
                event["type"] == "message_posted" && event["actor"]["id"] == "builder"
            });
            let answer = answers.find(|answer| answer["message"]["in_reply_to"] == event);
            answer.map(|answer| answer["message"].clone())
        })
    }

    /// Asks, is answered, and gives how many prompts the model was shown in that.
    fn prompts_of_the_turn(&self, text: &str) -> usize {
        let begun = Instant::now();
        let answer = self.answer(&self.ask(text));
        assert_eq!(answer["text"], CLOSING);
        let asked = self.model.asked();
        let last = asked.iter().rev().find(|asked| asked.contains(PROMPT)).unwrap();
        let prompts = last.matches(PROMPT).count();
        println!(
            "answered after {:.1} s, prompt {prompts} of its session",
            begun.elapsed().as_secs_f32()
        );
        prompts
    }
}

struct Harness(Child);

impl Drop for Harness {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn wait<T>(desk: &Desk, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        if begun.elapsed() > PATIENCE {
            let log = std::fs::read_to_string(desk.log()).unwrap_or_default();
            panic!("did not come: {what}\n{log}\nasked: {:?}", desk.model.asked().last());
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Runs that are under way, by their process.
fn runs(state: &Path) -> Vec<String> {
    let files = std::fs::read_dir(state).into_iter().flatten().flatten();
    let names = files.filter_map(|file| file.file_name().into_string().ok());
    names.filter_map(|name| name.strip_prefix("run-").map(str::to_owned)).collect()
}

async fn goes_on_in_one_session(program: &str, sessions: &str) {
    let desk = Desk::open().await;
    let harness = desk.join(program, &[]);
    // What is named in a message is not read by that: neither a file elsewhere, nor one that has the agent's name.
    let elsewhere = desk.house.folder("elsewhere").join("secret");
    std::fs::write(&elsewhere, "KEPT ELSEWHERE").unwrap();
    std::fs::write(desk.folder.join("builder"), "KEPT HERE").unwrap();
    let question = format!("@builder what is in @{} and in @builder?", elsewhere.display());
    assert_eq!(desk.prompts_of_the_turn(&question), 1);
    let seen = desk.model.asked().concat();
    assert!(!seen.contains("KEPT ELSEWHERE") && !seen.contains("KEPT HERE"), "{seen}");

    assert_eq!(desk.prompts_of_the_turn("@builder and now?"), 2);
    drop(harness);
    let harness = desk.join(program, &[]);
    assert_eq!(desk.prompts_of_the_turn("@builder are you back?"), 3);

    // The program has forgotten it: a new one, and the next turn goes on in that.
    std::fs::remove_dir_all(desk.home.join(sessions)).unwrap();
    assert_eq!(desk.prompts_of_the_turn("@builder do you remember?"), 1);
    let log = std::fs::read_to_string(desk.log()).unwrap();
    assert!(log.contains(&format!("{program} does not know its session")), "{log}");
    assert_eq!(desk.prompts_of_the_turn("@builder and since then?"), 2);

    // Killed each time that it is run, it has failed, and says so.
    let event = desk.ask(&format!("@builder {SILENT}"));
    let state = desk.house.folder("data").join("agents/builder");
    let (killer, done) = (state.clone(), std::sync::mpsc::channel::<()>());
    let killing = std::thread::spawn(move || {
        while done.1.try_recv().is_err() {
            for process in runs(&killer) {
                let _ = Command::new("kill").args(["-9", &process]).stderr(Stdio::null()).status();
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    let report = desk.answer(&event);
    let _ = done.0.send(());
    killing.join().unwrap();
    assert_eq!(report["kind"], "system", "{report}");
    let text = report["text"].as_str().unwrap();
    assert!(text.contains(program) && text.contains("signal: 9"), "{text}");
    assert_eq!(runs(&state), [""; 0], "no run is left");
    drop(harness);
}

// covers: OPS-520, OPS-521, OPS-522, OPS-525, OPS-527
#[tokio::test(flavor = "multi_thread")]
async fn claude_goes_on_in_one_session_and_fails_when_it_is_killed() {
    goes_on_in_one_session("claude", ".claude/projects").await;
}

// covers: OPS-520, OPS-521, OPS-522, OPS-525
#[tokio::test(flavor = "multi_thread")]
async fn codex_goes_on_in_one_session_and_fails_when_it_is_killed() {
    goes_on_in_one_session("codex", ".codex/sessions").await;
}

// covers: OPS-520, OPS-521, OPS-522, OPS-525, OPS-527
#[tokio::test(flavor = "multi_thread")]
async fn gemini_goes_on_in_one_session_and_fails_when_it_is_killed() {
    goes_on_in_one_session("gemini", ".gemini/tmp").await;
}

// covers: OPS-523
#[tokio::test(flavor = "multi_thread")]
async fn files_are_changed_only_where_that_is_allowed() {
    for program in ["claude", "codex", "gemini"] {
        for (allow, changes) in [("read", false), ("edit", true)] {
            let desk = Desk::open().await;
            let made = desk.folder.join("made");
            let call = match program {
                "claude" => json!(["Write", {"file_path": made, "content": "x"}]),
                "codex" => json!(["exec_command", {"cmd": format!("touch {}", made.display())}]),
                _ => json!(["write_file", {"file_path": made, "content": "x"}]),
            };
            let options = if changes { &["--allow", allow][..] } else { &[] };
            let _harness = desk.join(program, options);
            let event = desk.ask(&format!("@builder SCRIPT {}", json!([call])));
            assert_eq!(desk.answer(&event)["text"], CLOSING);
            assert_eq!(made.exists(), changes, "{program} --allow {allow}");
            assert!(!desk.home.join(".claude/settings.json").exists());
            let settings = OWN.map(|file| std::fs::read(desk.home.join(file)).unwrap());
            kit::speaks_to(&desk.home, &desk.model.url).unwrap();
            let as_written = OWN.map(|file| std::fs::read(desk.home.join(file)).unwrap());
            assert!(settings == as_written, "{program} has changed its user's settings");
        }
    }
}
