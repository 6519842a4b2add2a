//! One run: the room is made, everybody is at work, and the host dies again and again.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::chance::Chance;
use super::check::check;
use super::door::Door;
use super::evidence::{Asked, Evidence, Said};
use super::harness::Harness;
use super::house::House;
use super::people::{Counts, Person, Place, Spoken};
use super::plan::Plan;
use super::report::{Kills, Report, Seen};
use super::room::{self, AGENTS, PEOPLE, ROLE};

/// How long agents have to finish once nobody asks anything more. A harness whose host died again and again
/// waits up to half a minute before it tries again, a claim that was lost with it lives 90 s, and in a thread one speaks
/// after the other.
const PATIENCE: Duration = Duration::from_secs(300);

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
    let settled = room::settle(&mut crash.door(), &AGENTS, PATIENCE)?;
    let (seen, wrong) = crash.verdict(&spoken)?;
    let people = spoken.iter().map(|s| s.counts).fold(Counts::default(), Counts::and);
    let (seed, kills, took) = (plan.seed, crash.kills, began.elapsed());
    Ok(Report { wrong, seed, kills, people, seen, settled, took })
}

fn panicked() -> Spoken {
    Spoken { wrong: vec!["a person panicked".to_owned()], ..Spoken::default() }
}

struct Crash {
    chance: Chance,
    host: House,
    operator: String,
    harnesses: Vec<Harness>,
    places: Vec<Place>,
    kills: Kills,
}

impl Crash {
    fn prepare(plan: &Plan) -> Result<Self, String> {
        let mut chance = Chance::new(plan.seed);
        let mut host = House::build(plan, &[], &mut chance)?;
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
            kills: Kills { slowest_start, ..Kills::default() },
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
                self.kills.at_start += 1;
                std::thread::sleep(self.chance.millis(0..80));
            } else {
                self.ready()?;
                std::thread::sleep(self.chance.millis(100..1_800));
            }
            let harness = self.chance.index(self.harnesses.len());
            let of_harness = kill % 2 == 1;
            if of_harness {
                self.kills.harness += 1;
                self.kills.in_turn += usize::from(self.harnesses[harness].kill_in_turn()?);
            }
            let blow = self.host.strike(&mut self.chance)?;
            self.kills.host += blow.hosts;
            self.kills.frozen += blow.frozen;
            self.kills.database += usize::from(blow.database);
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
        self.ready()?;
        // The last host is at work for a while, too.
        std::thread::sleep(self.chance.millis(500..1_000));
        Ok(())
    }

    fn ready(&mut self) -> Result<(), String> {
        let slowest = &mut self.kills.slowest_start;
        *slowest = self.host.ready()?.max(*slowest);
        Ok(())
    }

    /// Looks at everything, kills the host, looks into the folder as it was left, and looks at everything
    /// once more: what was only in the host's memory is gone then. Gives what was seen, and what does not
    /// hold.
    fn verdict(&mut self, spoken: &[Spoken]) -> Result<(Seen, Vec<String>), String> {
        let mut evidence = self.evidence(spoken.iter().flat_map(|s| s.said.clone()).collect())?;
        evidence.wrong.extend(spoken.iter().flat_map(|s| s.wrong.clone()));
        evidence.wrong.extend(self.host.doctor().err());
        for harness in &mut self.harnesses {
            harness.kill()?;
        }
        self.host.kill_all()?;
        evidence.wrong.extend(self.host.doctor().err());
        self.host.start()?;
        self.ready()?;
        let again = self.evidence(evidence.said.clone())?;
        for (log, again) in evidence.logs.iter().zip(&again.logs) {
            if log.lines != again.lines {
                let conversation = &log.conversation;
                evidence.wrong.push(format!("{conversation} is another after a restart"));
            }
        }
        self.host.stop()?;
        let mut wrong = check(&evidence);
        wrong.extend(check(&again).into_iter().map(|line| format!("after a restart: {line}")));
        Ok((Seen::of(&evidence), wrong))
    }

    fn evidence(&self, said: Vec<Said>) -> Result<Evidence, String> {
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
            let of_it = |event| (harness.agent.clone(), event);
            evidence.runs.extend(harness.runs().into_iter().map(of_it));
            evidence.given_up.extend(harness.given_up().into_iter().map(of_it));
        }
        let dead = room::dead_letters(&mut door)?;
        evidence.wrong.extend(
            dead.first()
                .map(|letter| format!("{} deliveries are dead letters: {letter} …", dead.len())),
        );
        Ok(evidence)
    }
}

fn harness(plan: &Plan, host: &House, agent: &str, token: String) -> Result<Harness, String> {
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
