//! The free drive: people and agents do what they like in a few rooms while the host is killed and started again.
//!
//! Nobody here follows a script. What must be true is looked at from outside: turns while they go on, the rest when everybody is
//! still, by [`model`](super::model).

mod agents;
mod people;
mod verdict;
mod watch;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::house::{House, Member, text};
use super::ledger::{Ledger, Wrong};
use super::pulse::Pulse;
use super::rules::SOUND;
use crate::crash::chance::Chance;

/// The name of this part in findings.
const DRIVE: &str = "free drive";
const PEOPLE: [&str; 4] = ["ada", "bo", "cleo", "dan"];
const AGENTS: [&str; 5] = ["scout", "critic", "smith", "mason", "weaver"];
/// Messages that agents may say on the line of the workflow thread without a person.
const BUDGET: usize = 6;
/// How many have a turn of a subject at once, in the room with turns.
const PLACES: usize = 2;
/// How long everybody has to come to rest after the last kill.
const REST: Duration = Duration::from_secs(6);

/// A message whose post was acknowledged.
#[derive(Clone, Debug)]
struct Posted {
    event: String,
    seq: u64,
    room: String,
    by: String,
    body: Value,
}

/// What the cast has done, as far as it was told.
#[derive(Default)]
struct Done {
    posted: Vec<Posted>,
    /// Texts that were refused with a code: nobody may find them anywhere.
    refused: BTreeSet<String>,
    /// Events of messages that a person edited, deleted or called done.
    touched: BTreeSet<String>,
    /// Posts sent again under their key that gave something else.
    doubled: Vec<Wrong>,
}

struct Stage {
    house: Arc<House>,
    ledger: Arc<Ledger>,
    pulse: Pulse,
    people: Vec<Member>,
    agents: Vec<Member>,
    /// The room whose answers go into threads.
    turns: String,
    /// The room whose answers stand beside their questions.
    line: String,
    /// A workflow thread of that room.
    workflow: String,
    role: String,
    until: Instant,
    done: Mutex<Done>,
}

impl Stage {
    fn done(&self) -> MutexGuard<'_, Done> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_over(&self) -> bool {
        Instant::now() >= self.until
    }

    fn rooms(&self) -> [&String; 2] {
        [&self.turns, &self.line]
    }
}

/// Drives until then, and judges.
///
/// # Errors
/// What kept it from a verdict.
pub(super) async fn drive(
    house: Arc<House>,
    ledger: Arc<Ledger>,
    pulse: Pulse,
    mut chance: Chance,
    until: Instant,
) -> Result<(), String> {
    let stage = Arc::new(furnish(house, ledger, pulse, until).await?);
    let mut cast = tokio::task::JoinSet::new();
    for person in stage.people.clone() {
        cast.spawn(people::live(stage.clone(), person, chance.split()));
    }
    for agent in stage.agents.clone() {
        cast.spawn(agents::live(stage.clone(), agent, chance.split()));
    }
    for room in stage.rooms().map(String::clone) {
        cast.spawn(watch::follow(stage.clone(), room));
    }
    cast.spawn(watch::turns(stage.clone()));
    let killed = kills(&stage, &mut chance).await;
    if let Err(why) = &killed {
        stage.ledger.judge(
            SOUND,
            DRIVE,
            Err(Wrong::new("the host lives until it is killed", why, &[])),
        );
    }
    while let Some(ended) = cast.join_next().await {
        ended.map_err(|e| format!("somebody of the cast: {e}"))?;
    }
    killed?;
    verdict::judge(&stage).await
}

async fn furnish(
    house: Arc<House>,
    ledger: Arc<Ledger>,
    pulse: Pulse,
    until: Instant,
) -> Result<Stage, String> {
    let (mut people, mut agents) = (Vec::new(), Vec::new());
    for name in PEOPLE {
        people.push(house.member(name, "human").await?);
    }
    for name in AGENTS {
        agents.push(house.member(name, "agent").await?);
    }
    let role = format!("helpers{}", house.number());
    house.op("POST", "/v1/roles", json!({ "name": role })).await?;
    for agent in &agents[..3] {
        house.op("PUT", &format!("/v1/roles/{role}/members/{}", agent.id), Value::Null).await?;
    }
    let everybody: Vec<_> = people.iter().chain(&agents).collect();
    let places =
        json!({ "cooldown_ms": 0, "max_parallel_public_speakers": PLACES, "acceptance_ms": 5_000 });
    let turns = house.room(&everybody, json!({ "replies": "thread", "turns": places })).await?;
    let line = house.room(&everybody, json!({ "replies": "line", "agent_budget": BUDGET })).await?;
    let workflow = json!({ "conversation": line, "title": "the release", "type": "workflow" });
    let workflow = text(&house.op("POST", "/v1/threads", workflow).await?, "id")?;
    let done = Mutex::default();
    Ok(Stage { house, ledger, pulse, people, agents, turns, line, workflow, role, until, done })
}

/// Kills the host again and again, and has it started each time.
async fn kills(stage: &Arc<Stage>, chance: &mut Chance) -> Result<(), String> {
    while !stage.is_over() {
        tokio::time::sleep(chance.millis(4_000..11_000)).await;
        if stage.is_over() {
            break;
        }
        let (house, away) = (stage.house.clone(), chance.millis(0..250));
        let killed = tokio::task::spawn_blocking(move || {
            house.kill()?;
            std::thread::sleep(away);
            house.start()
        });
        killed.await.map_err(|e| e.to_string())??;
        stage.ledger.count("kills in the free drive", 1);
    }
    tokio::time::sleep(REST).await;
    Ok(())
}

/// How often each of these occurs.
fn counted<'a>(all: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, usize> {
    let mut counts = BTreeMap::new();
    for one in all {
        *counts.entry(one).or_default() += 1;
    }
    counts
}
