//! One run: the room is made, everybody is at work, and the host dies again and again.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::chance::Chance;
use super::check::check;
use super::door::Door;
use super::evidence::{Asked, Evidence, Fate, Line};
use super::harness::Harness;
use super::host::Host;
use super::people::{Counts, Person, Place, Spoken};
use super::room::{self, AGENTS, PEOPLE, ROLE};

/// What is to be done.
#[derive(Clone, Debug)]
pub struct Plan {
    pub chorus: PathBuf,
    /// How often the host is killed.
    pub kills: usize,
    pub seed: u64,
    /// An empty folder, for the host's data and the agents' journals.
    pub folder: PathBuf,
}

/// What was seen.
#[derive(Clone, Debug)]
pub struct Report {
    /// What does not hold; empty when all does.
    pub wrong: Vec<String>,
    counts: Counts,
    seed: u64,
    kills: usize,
    kills_at_start: usize,
    harness_kills: usize,
    harness_kills_in_turn: usize,
    acknowledged: usize,
    unknown: usize,
    unknown_there: usize,
    asked: usize,
    replies: usize,
    runs: usize,
    slowest_start: Duration,
    settled_in: Duration,
    took: Duration,
}

/// How long agents have to finish once nobody asks anything more. A harness whose host died again and again
/// waits up to half a minute before it tries again, and a claim that was lost with it lives 90 s.
const PATIENCE: Duration = Duration::from_secs(150);

/// Runs the plan.
///
/// # Errors
/// What kept the run from coming to a verdict: a process that could not be started or ended by itself, or
/// agents that never finished.
pub fn run(plan: &Plan) -> Result<Report, String> {
    let began = Instant::now();
    let mut crash = Crash::prepare(plan)?;
    let stop = Arc::new(AtomicBool::new(false));
    let people = crash.people()?;
    let (killed, spoken) = std::thread::scope(|scope| {
        let speaking: Vec<_> =
            people.into_iter().map(|person| scope.spawn(|| person.speak(&stop))).collect();
        let killed = crash.kill_again_and_again(plan.kills);
        stop.store(true, Ordering::Relaxed);
        let ended = speaking.into_iter().map(|thread| thread.join().unwrap_or_else(|_| panicked()));
        (killed, ended.collect::<Vec<_>>())
    });
    killed?;
    let settled_in = room::settle(&mut crash.door(), PATIENCE)?;
    crash.report(spoken, plan, settled_in, began)
}

fn panicked() -> Spoken {
    Spoken { wrong: vec!["a person panicked".to_owned()], ..Spoken::default() }
}

struct Crash {
    chance: Chance,
    host: Host,
    operator: String,
    harnesses: Vec<Harness>,
    places: Vec<Place>,
    at_start: usize,
    of_harness: usize,
    in_turn: usize,
    slowest_start: Duration,
}

impl Crash {
    fn prepare(plan: &Plan) -> Result<Self, String> {
        let mut chance = Chance::new(plan.seed);
        let mut host = Host::on(&plan.folder, &plan.chorus, &mut chance)?;
        host.start()?;
        let slowest_start = host.ready()?;
        let operator = room::operator(&host.data())?;
        let mut door = Door::new(host.addr, &*operator);
        let mut harnesses = Vec::new();
        for agent in AGENTS {
            let token = room::member(&mut door, agent, "agent")?;
            harnesses.push(harness(plan, &host, agent, token)?);
        }
        let mut crash = Self {
            chance,
            host,
            operator,
            harnesses,
            places: Vec::new(),
            at_start: 0,
            of_harness: 0,
            in_turn: 0,
            slowest_start,
        };
        for harness in &mut crash.harnesses {
            harness.start()?;
        }
        Ok(crash)
    }

    fn door(&self) -> Door {
        Door::new(self.host.addr, &*self.operator)
    }

    fn people(&mut self) -> Result<Vec<Person>, String> {
        let mut door = self.door();
        let mut tokens = Vec::new();
        for id in PEOPLE {
            tokens.push((id, room::member(&mut door, id, "human")?));
        }
        self.places = room::furnish(&mut door)?;
        let person = |(id, token): (&str, String)| {
            let door = Door::new(self.host.addr, token);
            let mut person = Person::new(id, door, &self.places, self.chance.split());
            person.agents = AGENTS.map(str::to_owned).to_vec();
            person.role = ROLE.to_owned();
            person
        };
        Ok(tokens.into_iter().map(person).collect())
    }

    fn kill_again_and_again(&mut self, kills: usize) -> Result<(), String> {
        for kill in 0..kills {
            if self.chance.one_in(5) && kill > 0 {
                // While it starts, reads what the last kill left, and takes its first callers.
                self.at_start += 1;
                std::thread::sleep(self.chance.millis(0..80));
            } else {
                self.slowest_start = self.host.ready()?.max(self.slowest_start);
                std::thread::sleep(self.chance.millis(100..1_800));
            }
            let harness = self.chance.index(self.harnesses.len());
            let of_harness = kill % 2 == 1;
            if of_harness {
                self.of_harness += 1;
                self.in_turn += usize::from(self.harnesses[harness].kill_in_turn()?);
            }
            self.host.kill()?;
            std::thread::sleep(self.chance.millis(0..150));
            let harness_first = self.chance.one_in(2);
            if of_harness && harness_first {
                self.harnesses[harness].start()?;
            }
            self.host.start()?;
            if of_harness && !harness_first {
                self.harnesses[harness].start()?;
            }
            for harness in &mut self.harnesses {
                harness.still_runs()?;
            }
        }
        self.slowest_start = self.host.ready()?.max(self.slowest_start);
        // The last host is at work for a while, too.
        std::thread::sleep(self.chance.millis(500..1_000));
        Ok(())
    }

    /// Looks at everything, stops the host, looks into its folder, and looks at everything once more: what
    /// is only in a host's memory would be gone then.
    fn report(
        mut self,
        spoken: Vec<Spoken>,
        plan: &Plan,
        settled_in: Duration,
        began: Instant,
    ) -> Result<Report, String> {
        let mut evidence = self.evidence(spoken.iter().flat_map(|s| s.said.clone()).collect())?;
        evidence.wrong.extend(spoken.iter().flat_map(|s| s.wrong.clone()));
        evidence.wrong.extend(self.host.doctor().err());
        for harness in &mut self.harnesses {
            harness.kill()?;
        }
        self.host.stop()?;
        evidence.wrong.extend(self.host.doctor().err());
        self.host.start()?;
        self.host.ready()?;
        let again = self.evidence(evidence.said.clone())?;
        for (log, again) in evidence.logs.iter().zip(&again.logs) {
            if log.lines != again.lines {
                let conversation = &log.conversation;
                evidence.wrong.push(format!("{conversation} is another after a restart"));
            }
        }
        let mut wrong = check(&evidence);
        wrong.extend(check(&again).into_iter().map(|line| format!("after a restart: {line}")));
        let counts = spoken.iter().map(|s| s.counts).fold(Counts::default(), Counts::and);
        Ok(self.counted(&evidence, wrong, counts, plan, settled_in, began))
    }

    fn evidence(&self, said: Vec<super::Said>) -> Result<Evidence, String> {
        let mut door = self.door();
        let mut evidence = Evidence { said, ..Evidence::default() };
        evidence.agents = AGENTS.map(str::to_owned).to_vec();
        for place in &self.places {
            evidence.logs.push(room::log(&mut door, &place.conversation)?);
        }
        for event in asking(&evidence) {
            evidence.directed.push(room::told(&mut door, &event)?);
        }
        for harness in &self.harnesses {
            let runs = harness.runs().into_iter();
            evidence.runs.extend(runs.map(|event| (harness.agent.clone(), event)));
        }
        let dead = room::dead_letters(&mut door)?;
        evidence.wrong.extend(
            dead.first()
                .map(|letter| format!("{} deliveries are dead letters: {letter} …", dead.len())),
        );
        Ok(evidence)
    }

    fn counted(
        &self,
        evidence: &Evidence,
        wrong: Vec<String>,
        counts: Counts,
        plan: &Plan,
        settled_in: Duration,
        began: Instant,
    ) -> Report {
        let lines = || evidence.logs.iter().flat_map(|log| &log.lines);
        let is_there = |text: &str| lines().any(|line| line.text.as_deref() == Some(text));
        let by_agent = |line: &&Line| line.is_post() && AGENTS.contains(&line.author.as_str());
        let unknown: Vec<_> = evidence.said.iter().filter(|s| s.fate == Fate::Unknown).collect();
        Report {
            wrong,
            counts,
            seed: plan.seed,
            kills: plan.kills,
            kills_at_start: self.at_start,
            harness_kills: self.of_harness,
            harness_kills_in_turn: self.in_turn,
            acknowledged: evidence.said.len() - unknown.len(),
            unknown: unknown.len(),
            unknown_there: unknown.iter().filter(|said| is_there(&said.text)).count(),
            asked: evidence.directed.len(),
            replies: lines().filter(by_agent).count(),
            runs: evidence.runs.len(),
            slowest_start: self.slowest_start,
            settled_in,
            took: began.elapsed(),
        }
    }
}

fn harness(plan: &Plan, host: &Host, agent: &str, token: String) -> Result<Harness, String> {
    let folder: &Path = &plan.folder;
    Harness::new(folder, &plan.chorus, host.url(), agent, token)
}

/// The events of messages that ask somebody.
fn asking(evidence: &Evidence) -> Vec<String> {
    let said = evidence.said.iter().filter(|said| said.asked != Asked::Nobody);
    let asking: std::collections::HashSet<_> = said.map(|said| said.text.as_str()).collect();
    let lines = evidence.logs.iter().flat_map(|log| &log.lines).filter(|line| line.is_post());
    lines
        .filter(|line| line.text.as_deref().is_some_and(|text| asking.contains(text)))
        .map(|line| line.event.clone())
        .collect()
}

impl Counts {
    fn and(self, other: Self) -> Self {
        Self {
            lost: self.lost + other.lost,
            found_posted: self.found_posted + other.found_posted,
            repeated: self.repeated + other.repeated,
            conflicts: self.conflicts + other.conflicts,
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { counts, .. } = self;
        writeln!(f, "seed {}, {:.0} s", self.seed, self.took.as_secs_f64())?;
        writeln!(
            f,
            "host kills: {} ({} while it started; slowest start {} ms)",
            self.kills,
            self.kills_at_start,
            self.slowest_start.as_millis()
        )?;
        writeln!(
            f,
            "harness kills: {} ({} in a turn)",
            self.harness_kills, self.harness_kills_in_turn
        )?;
        writeln!(
            f,
            "posts: {} acknowledged, {} unknown of which {} are there",
            self.acknowledged, self.unknown, self.unknown_there
        )?;
        writeln!(
            f,
            "answers lost: {}, and the post was there already: {}; repeated: {}; keys refused: {}",
            counts.lost, counts.found_posted, counts.repeated, counts.conflicts
        )?;
        writeln!(
            f,
            "asked: {}, turns run: {}, replies: {}, settled after {:.1} s",
            self.asked,
            self.runs,
            self.replies,
            self.settled_in.as_secs_f64()
        )?;
        write!(f, "wrong: {}", self.wrong.len())?;
        self.wrong.iter().take(20).try_for_each(|line| write!(f, "\n  {line}"))
    }
}
