//! Hosts of one database come and go every second or two, are killed, stand still, and have their clocks set, while people
//! speak in several workspaces, each through whichever host is up.
//!
//! What must hold afterwards: everything that was acknowledged is there once, with its event and seq, in the order in which it was
//! said, in its own workspace and in no other.

use std::collections::HashMap;
use std::fmt;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use chorus_cluster::{Cluster, Durability, Mode, Pooler};
use serde_json::{Value, json};

use super::chance::Chance;
use super::door::{Answer, Door};
use super::host::Host;
use super::plan::Plan;
use super::room;

const HOSTS: usize = 4;
const WORKSPACES: [&str; 5] = ["acme", "globex", "initech", "umbrella", "hooli"];
/// Longer than a lease, so that another host takes over.
const FROZEN: std::ops::Range<u64> = 5_500..7_000;
/// Seconds by which a clock is set, either way.
const SET: u64 = 3_600;
/// The longest that nobody may be able to speak in a workspace.
const PATIENCE: Duration = Duration::from_secs(60);
/// Sets the clock of whatever is started with it, as Debian's faketime installs it.
const FAKETIME: &str = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1";

/// What came of a run.
#[derive(Debug, Default)]
pub struct Report {
    pub wrong: Vec<String>,
    seed: u64,
    started: usize,
    stopped: usize,
    killed: usize,
    frozen: usize,
    clocks_set: usize,
    acknowledged: usize,
    slowest: Duration,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "seed {}: {} starts, {} stops, {} kills, {} stood still, {} clocks set; {} acknowledged, the slowest after {:?}",
            self.seed,
            self.started,
            self.stopped,
            self.killed,
            self.frozen,
            self.clocks_set,
            self.acknowledged,
            self.slowest
        )?;
        self.wrong.iter().try_for_each(|wrong| writeln!(f, "  {wrong}"))
    }
}

/// Runs the plan, whose `kills` are the rounds.
///
/// # Errors
/// What kept the run from coming to a verdict.
pub fn run(plan: &Plan) -> Result<Report, String> {
    let mut chance = Chance::new(plan.seed);
    let cluster = Cluster::start(Durability::Durable, &[])?;
    let pooler = Pooler::start(&cluster, Mode::Transaction, 4 * HOSTS)?;
    let mut hosts = Hosts::build(plan, pooler.url(), &mut chance)?;
    let rooms = hosts.furnish()?;
    let stop = AtomicBool::new(false);
    let up = Mutex::new(hosts.up());
    let mut report = Report { seed: plan.seed, ..Report::default() };
    let (moved, spoken) = std::thread::scope(|scope| {
        let speaking: Vec<_> = rooms
            .iter()
            .map(|room| {
                let mut chance = chance.split();
                let (up, stop) = (&up, &stop);
                scope.spawn(move || speak(room, up, stop, &mut chance))
            })
            .collect();
        let moved = (0..plan.kills).try_for_each(|_| hosts.change(&up, &mut chance, &mut report));
        stop.store(true, Ordering::Relaxed);
        let ended = speaking.into_iter().map(|thread| {
            thread.join().unwrap_or_else(|_| Spoken {
                wrong: vec!["panicked".to_owned()],
                ..Spoken::default()
            })
        });
        (moved, ended.collect::<Vec<_>>())
    });
    moved?;
    hosts.all_up()?;
    for (room, spoken) in rooms.iter().zip(&spoken) {
        report.acknowledged += spoken.said.len();
        report.slowest = report.slowest.max(spoken.slowest);
        report
            .wrong
            .extend(spoken.wrong.iter().map(|wrong| format!("{}: {wrong}", room.workspace)));
        let at = hosts.hosts[chance.index(HOSTS)].addr;
        report.wrong.extend(judge(room, spoken, at)?);
    }
    hosts.hosts.iter_mut().try_for_each(Host::stop)?;
    Ok(report)
}

/// A conversation of a workspace, and who speaks there.
struct Room {
    workspace: &'static str,
    conversation: String,
    token: String,
}

impl Room {
    fn path(&self, path: &str) -> String {
        format!("/w/{}{path}", self.workspace)
    }
}

#[derive(Debug, Default)]
struct Spoken {
    /// What was acknowledged: the words, the event and the seq.
    said: Vec<(String, String, u64)>,
    wrong: Vec<String>,
    slowest: Duration,
}

/// Says one thing after the other, each until it is acknowledged.
fn speak(
    room: &Room,
    up: &Mutex<Vec<SocketAddr>>,
    stop: &AtomicBool,
    chance: &mut Chance,
) -> Spoken {
    let mut spoken = Spoken::default();
    let mut doors: HashMap<SocketAddr, Door> = HashMap::new();
    for number in 0_u64.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let words = format!("{} {number}", room.workspace);
        let body =
            json!({"conversation": room.conversation, "text": words, "idempotency_key": words});
        let began = Instant::now();
        loop {
            let all = up.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let addr = all[chance.index(all.len())];
            let door = doors.entry(addr).or_insert_with(|| Door::new(addr, &*room.token));
            match door.ask("POST", &room.path("/v1/messages"), &body) {
                Answer::Given(200..300, said) => {
                    let event = said["event_id"].as_str().unwrap_or_default().to_owned();
                    spoken.said.push((words, event, said["seq"].as_u64().unwrap_or_default()));
                    break;
                }
                // It is said again, with the same key.
                Answer::Given(429 | 503, _) | Answer::Lost | Answer::Down => {
                    std::thread::sleep(Duration::from_millis(20));
                }
                Answer::Given(status, body) => {
                    spoken.wrong.push(format!("{words} was refused: HTTP {status}: {body}"));
                    return spoken;
                }
            }
            if began.elapsed() > PATIENCE {
                spoken.wrong.push(format!("{words} was not heard in {PATIENCE:?}"));
                return spoken;
            }
        }
        spoken.slowest = spoken.slowest.max(began.elapsed());
    }
    spoken
}

/// What does not hold of what is in the log.
fn judge(room: &Room, spoken: &Spoken, at: SocketAddr) -> Result<Vec<String>, String> {
    let mut door = Door::new(at, &*room.token);
    let (mut lines, mut after) = (Vec::new(), 0);
    loop {
        let query =
            format!("/v1/events?conversation={}&after={after}&limit=200", room.conversation);
        let page = door.must("GET", &room.path(&query), &Value::Null)?;
        let events = page["events"].as_array().cloned().unwrap_or_default();
        let Some(last) = events.last() else { break };
        after = last["seq"].as_u64().unwrap_or_default();
        let posted = events.iter().filter(|event| event["type"] == "message_posted");
        lines.extend(posted.map(|event| {
            let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            (
                word(&event["message"]["text"]),
                word(&event["event_id"]),
                event["seq"].as_u64().unwrap_or(0),
            )
        }));
    }
    let mut wrong = Vec::new();
    let mut expected = spoken.said.iter();
    // Whoever stopped in the middle may have said one more thing.
    let last = format!("{} {}", room.workspace, spoken.said.len());
    for line in &lines {
        match expected.next() {
            Some(said) if said == line => {}
            None if line.0 == last => {}
            said => {
                wrong.push(format!("{}: {line:?} stands where {said:?} was said", room.workspace));
                break;
            }
        }
    }
    if lines.len() < spoken.said.len() {
        wrong.push(format!(
            "{}: {} of {} are there",
            room.workspace,
            lines.len(),
            spoken.said.len()
        ));
    }
    Ok(wrong)
}

struct Hosts {
    hosts: Vec<Host>,
    /// What each one's clock is set to; none where clocks cannot be set here.
    clocks: Option<Vec<PathBuf>>,
}

impl Hosts {
    fn build(plan: &Plan, url: &str, chance: &mut Chance) -> Result<Self, String> {
        let (mut hosts, mut clocks) = (Vec::new(), Vec::new());
        let can_set = Path::new(FAKETIME).exists();
        for number in 0..HOSTS {
            let folder = plan.folder.join(format!("host-{number}"));
            fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
            let mut host = Host::on(&folder, &plan.chorus, chance)?;
            host.database = Some((url.to_owned(), plan.folder.join("keys")));
            let clock = folder.join("clock");
            if can_set {
                set(&clock, 0)?;
                for (name, value) in [
                    ("LD_PRELOAD", FAKETIME),
                    ("FAKETIME_TIMESTAMP_FILE", &clock.display().to_string()),
                    ("FAKETIME_NO_CACHE", "1"),
                    // Only the time of day is set; nobody sets the time since the machine began.
                    ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
                ] {
                    host.settings.push((name, value.to_owned()));
                }
            }
            host.start()?;
            // The first one makes the workspace and the keys.
            host.ready()?;
            hosts.push(host);
            clocks.push(clock);
        }
        Ok(Self { hosts, clocks: can_set.then_some(clocks) })
    }

    /// Makes the workspaces, each with a conversation and somebody who speaks there.
    fn furnish(&self) -> Result<Vec<Room>, String> {
        let operator = room::operator(&self.hosts[0].data())?;
        let mut door = Door::new(self.hosts[0].addr, operator);
        let mut rooms = Vec::new();
        for workspace in WORKSPACES {
            door.must("POST", "/v1/workspaces", &json!({"name": workspace}))?;
            let operator = self.operator_of(workspace)?;
            let mut below = Door::new(self.hosts[0].addr, operator);
            let path = |path: &str| format!("/w/{workspace}{path}");
            let member = json!({"id": "ann", "kind": "human", "token_role": "worker"});
            let ann = below.must("POST", &path("/v1/members"), &member)?;
            let room = json!({"title": "room", "members": ["ann"]});
            let room = below.must("POST", &path("/v1/channels"), &room)?;
            let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let (conversation, token) = (word(&room["id"]), word(&ann["token"]));
            rooms.push(Room { workspace, conversation, token });
        }
        Ok(rooms)
    }

    /// The token that whichever host opened a workspace has kept.
    fn operator_of(&self, workspace: &str) -> Result<String, String> {
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            for host in &self.hosts {
                let folders = fs::read_dir(host.data().join("workspaces")).into_iter().flatten();
                for folder in folders.flatten() {
                    let is_its = folder.path().file_stem().is_some_and(|stem| stem == workspace);
                    if is_its && let Ok(token) = room::operator(&folder.path()) {
                        return Ok(token);
                    }
                }
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Err(format!("no host has a token for {workspace}"))
    }

    fn up(&self) -> Vec<SocketAddr> {
        self.hosts.iter().filter(|host| host.runs()).map(|host| host.addr).collect()
    }

    /// One change of the hosts that there are, and a moment after it.
    fn change(
        &mut self,
        up: &Mutex<Vec<SocketAddr>>,
        chance: &mut Chance,
        report: &mut Report,
    ) -> Result<(), String> {
        let tell = |all| *up.lock().unwrap_or_else(PoisonError::into_inner) = all;
        let first = chance.index(HOSTS);
        let (running, what) = (self.up().len(), chance.within(0..12));
        let host = &mut self.hosts[first];
        match (host.runs(), what) {
            (false, _) => {
                host.start()?;
                host.ready()?;
                report.started += 1;
            }
            (true, 0..4) if running > 1 => {
                // Nobody new comes to it, as a load balancer would see to.
                let addr = host.addr;
                tell(self.up().into_iter().filter(|other| *other != addr).collect());
                self.hosts[first].stop()?;
                report.stopped += 1;
            }
            (true, 4..7) if running > 1 => {
                host.kill()?;
                report.killed += 1;
            }
            (true, 7) => {
                host.freeze(chance.millis(FROZEN))?;
                report.frozen += 1;
            }
            (true, _) => {
                if let Some(clocks) = &self.clocks {
                    let seconds = chance.within(0..2 * SET).cast_signed() - SET.cast_signed();
                    set(&clocks[first], seconds)?;
                    report.clocks_set += 1;
                }
            }
        }
        tell(self.up());
        std::thread::sleep(chance.millis(200..2_000));
        Ok(())
    }

    fn all_up(&mut self) -> Result<(), String> {
        for host in &mut self.hosts {
            if !host.runs() {
                host.start()?;
            }
            host.ready()?;
        }
        Ok(())
    }
}

/// Sets a clock by seconds, all at once.
fn set(clock: &Path, seconds: i64) -> Result<(), String> {
    let new = clock.with_extension("new");
    let written = fs::write(&new, format!("{seconds:+}\n")).and_then(|()| fs::rename(&new, clock));
    written.map_err(|e| format!("{}: {e}", clock.display()))
}
