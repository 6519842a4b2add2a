//! The web page in a real browser: the cases of `page.mjs`, each with a host and agents of its own.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use chorus_clients::kit::Kit;

use crate::house::House;

/// A case that is going on in the browser.
struct Case {
    script: Child,
    out: BufReader<std::process::ChildStdout>,
}

impl Case {
    fn begin(house: &House, name: &str, agent_token: &str) -> Self {
        let link = house.chorus(&["signin"]);
        let door = house.door("");
        let url = door.url.strip_suffix("/v1/mcp").unwrap();
        Self::begin_at(url, link.trim(), name, agent_token)
    }

    fn begin_at(url: &str, link: &str, name: &str, agent_token: &str) -> Self {
        let kit = Kit::installed().expect("cargo xtask test installs the clients");
        let mut command: Command = kit.script("page.mjs").into_std();
        command.env("LINK", link).env("CASE", name).env("AGENT_TOKEN", agent_token);
        command.env("CHORUS_URL", url);
        command.env("CHROMIUM", std::env::var_os("CHROMIUM").unwrap_or("/usr/bin/chromium".into()));
        let mut script =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("node starts");
        let out = BufReader::new(script.stdout.take().unwrap());
        Self { script, out }
    }

    /// Waits until the case says a word; if it ends before, its error is this test's.
    fn until(&mut self, word: &str) {
        let mut line = String::new();
        while self.out.read_line(&mut line).unwrap() > 0 {
            if line.trim() == word {
                return;
            }
            line.clear();
        }
        let output = std::io::read_to_string(self.script.stderr.take().unwrap()).unwrap();
        panic!("{output}");
    }
}

impl Drop for Case {
    fn drop(&mut self) {
        let _ = self.script.kill();
        let _ = self.script.wait();
    }
}

/// An agent whose runtime is a shell command, for as long as this is there.
struct Joined(Child);

impl Joined {
    fn new(house: &House, name: &str, channel: &str, answers: &str) -> Self {
        let runtime = format!("cmd:cat >/dev/null; {answers}");
        let join = ["join", "--agent", name, "--channel", channel, "--quiet-ms", "100"];
        let mut command = house.command(&[&join[..], &["--runtime", &runtime]].concat());
        Self(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Joined {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A host with the channel #ops and the agent `runaway` in it, with a token of its own.
fn room(settings: &str) -> (House, String) {
    let house = House::with_settings(settings);
    house.chorus(&["member", "create", "runaway", "--kind", "agent"]);
    house.chorus(&["channel", "create", "ops", "runaway"]);
    let token = house.token("runaway", "worker");
    (house, token)
}

// covers: OPS-650, OPS-651
#[test]
fn the_printed_link_is_all_that_a_stranger_needs() {
    let house = House::open();
    let mut case = Case::begin(&house, "first-visit", "");
    case.until("READY");
    house.chorus(&["channel", "create", "general"]);
    let _scout = Joined::new(&house, "scout", "general", "echo hello");
    case.until("DONE");
}

// covers: OPS-652, OPS-653
#[test]
fn who_will_be_woken_is_shown_before_and_why_afterwards() {
    let (house, token) = room("");
    let _scout = Joined::new(&house, "scout", "ops", "sleep 2; echo 'it is red'");
    let mut case = Case::begin(&house, "talk", &token);
    case.until("DONE");
}

// covers: OPS-659, ATT-486
#[test]
fn one_of_those_who_would_be_woken_is_left_out() {
    let (house, token) = room("");
    let _scout = Joined::new(&house, "scout", "ops", "echo 'it is red'");
    let mut case = Case::begin(&house, "leave-out", &token);
    case.until("DONE");
}

// covers: OPS-663
#[test]
fn an_agent_is_hired_contested_and_paid_back_from_the_page() {
    let (house, token) = room("");
    house.chorus(&["account", "mint", "operator", "10"]);
    let schema = house.folder("schemas").join("in.json");
    std::fs::write(&schema, r#"{"text": "string"}"#).unwrap();
    let schema = schema.display().to_string();
    let offer = ["skill", "offer", "translate_text", "--cost", "0.05", "--agent", "translator"];
    let runtime = r#"cmd:cat >/dev/null; echo '{"text": "hallo"}'"#;
    let more = ["--input-schema", &schema, "--runtime", runtime, "--json"];
    let mut command = house.command(&[&offer[..], &more].concat());
    let mut working = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(working.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let _working = Joined(working);
    Case::begin(&house, "hire", &token).until("DONE");
}

// covers: OPS-654
#[test]
fn what_waits_is_approved_and_declined_by_keyboard() {
    let (house, token) = room("[approvals]\nsensitive_tools = [\"chat.send_message\"]\n");
    Case::begin(&house, "approve", &token).until("DONE");
}

// covers: OPS-655
#[test]
fn an_agent_that_runs_away_is_stopped() {
    let (house, token) = room("");
    let _runaway = Joined::new(&house, "runaway", "ops", "touch began; sleep 600; echo late");
    Case::begin(&house, "stop", &token).until("DONE");
    // A harness with its user's login gets another token; that is no use to the agent.
    let again = house.token("runaway", "worker");
    let mut says = house.command(&["post", "ops", "more, and more", "--token", &again]);
    assert!(!says.stderr(Stdio::null()).stdout(Stdio::null()).status().unwrap().success());
}

// covers: OPS-651
#[test]
fn everything_can_be_done_by_keys() {
    let (house, token) = room("");
    Case::begin(&house, "keyboard", &token).until("DONE");
}

// covers: OPS-656
#[test]
fn files_keep_their_names() {
    let (house, token) = room("");
    Case::begin(&house, "files", &token).until("DONE");
}

// covers: OPS-666, OPS-667, ATT-490, ATT-495
#[test]
fn an_agent_is_paused_and_its_terminal_is_seen_live() {
    let (house, token) = room("");
    let folder = house.folder("work");
    let program = r"printf 'waits for a line [31min red[0m
'; while [ ! -e later ]; do sleep 0.1; done; echo printed later; sleep 600";
    let run = ["run", "--detach", "--agent", "runner", "--channel", "ops", "sh", "-c", program];
    // What follows the program is its own.
    let chorus = |args: &[&str]| {
        let mut command = house.command(&[]);
        command.args(args).env("XDG_STATE_HOME", &folder).current_dir(&folder);
        assert!(command.stderr(Stdio::null()).status().unwrap().success(), "{args:?}");
    };
    chorus(&run);
    let mut case = Case::begin(&house, "watch", &token);
    case.until("PRINT");
    std::fs::write(folder.join("later"), "").unwrap();
    case.until("DONE");
    chorus(&["stop", "runner"]);
}

// covers: OPS-656
#[test]
fn what_is_sent_while_the_host_is_away_is_there_once() {
    let (mut house, token) = room("");
    let mut case = Case::begin(&house, "offline", &token);
    case.until("KILL");
    house.kill();
    case.until("START");
    house.start_again();
    case.until("DONE");
}

// covers: OPS-657
#[test]
fn what_others_write_is_text_whatever_it_looks_like() {
    let (house, _) = room("");
    house.chorus(&["member", "create", "mallory"]);
    house.chorus(&["channel", "add", "ops", "mallory"]);
    let token = house.token("mallory", "worker");
    Case::begin(&house, "hostile", &token).until("DONE");
}

// covers: OPS-656
#[test]
fn edits_signals_and_deletions_are_seen_as_they_come() {
    let (house, token) = room("");
    Case::begin(&house, "together", &token).until("DONE");
}

// covers: OPS-656, OPS-664
#[test]
fn a_long_history_is_read_by_scrolling() {
    let (house, token) = room("");
    Case::begin(&house, "history", &token).until("DONE");
}

// covers: OPS-665
#[test]
fn the_demo_is_played_in_the_page_as_it_is_in_the_terminal() {
    let place = tempfile::tempdir().unwrap();
    let mut command = Command::new(crate::house::binary());
    command.args(["demo", "--json"]).env("TMPDIR", place.path()).stdout(Stdio::piped());
    let mut demo = Joined(command.stderr(Stdio::null()).spawn().unwrap());
    let mut lines = BufReader::new(demo.0.stdout.take().unwrap()).lines();
    let stays = lines.find_map(|line| {
        let said: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap();
        said["page"].is_string().then_some(said)
    });
    let said = stays.expect("the room stays open");
    let [url, page] = ["url", "page"].map(|name| said[name].as_str().unwrap());
    Case::begin_at(url, page, "demo", "").until("DONE");
}

// covers: OPS-658
#[test]
fn axe_finds_nothing_on_any_screen() {
    let (house, token) = room("");
    house.chorus(&["post", "ops", "hello @runaway, see `make` and https://example.com"]);
    Case::begin(&house, "accessible", &token).until("DONE");
}
