//! One run: bursts of messages to all agents, and a host that dies in the middle of each.

use std::fmt;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::agents::Agents;
use super::check::{Evidence, Fate, Manner, Reply, check};
use crate::crash::chance::Chance;
use crate::crash::door::{Answer, Door};
use crate::crash::evidence::Log;
use crate::crash::house::House;
use crate::crash::plan::Plan;
use crate::crash::room;

const AGENTS: [&str; 8] = ["ash", "birch", "cedar", "elm", "fir", "larch", "oak", "pine"];
const CHANNELS: usize = 5;
/// Messages of one burst: a thousand deliveries.
const BURST: usize = 125;
/// Kills in one burst.
const KILLS: usize = 3;
/// Agents say their answers until they were taken; what was offered and not acknowledged is offered again within two minutes.
const PATIENCE: Duration = Duration::from_secs(150);
/// Longest that anybody says one thing again.
const REPLIES: Duration = Duration::from_secs(30);

/// What a run comes to.
#[derive(Clone, Debug)]
pub struct Report {
    /// What does not hold; empty when all does.
    pub wrong: Vec<String>,
    seed: u64,
    kills: usize,
    databases: usize,
    said: usize,
    arrived: usize,
    answered: usize,
    lost: usize,
    refused: usize,
    replies: usize,
    took: Duration,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            seed, kills, databases, said, arrived, answered, lost, refused, replies, ..
        } = self;
        writeln!(f, "seed {seed}, {:.0} s", self.took.as_secs_f64())?;
        writeln!(f, "killed: {kills} hosts, {databases} times their database")?;
        writeln!(f, "{said} messages to {} agents came {arrived} times", AGENTS.len())?;
        writeln!(
            f,
            "{answered} answers, {lost} without an answer, {refused} refused; {replies} heard"
        )?;
        for wrong in self.wrong.iter().take(20) {
            writeln!(f, "WRONG: {wrong}")?;
        }
        match self.wrong.len() {
            n @ 21.. => writeln!(f, "and {} more", n - 20),
            _ => Ok(()),
        }
    }
}

/// Runs the plan.
///
/// # Errors
/// What kept the run from coming to a verdict.
pub fn run(plan: &Plan, manner: Manner) -> Result<Report, String> {
    let began = Instant::now();
    let mut chance = Chance::new(plan.seed);
    let settings = [
        ("CHORUS_WEBHOOK_QUIET", "0s"),
        ("CHORUS_LIMITS_MEMBER_PER_SECOND", "0"),
        ("CHORUS_LIMITS_SESSION_PER_SECOND", "0"),
    ];
    let mut house = House::build(plan, &settings, &mut chance)?;
    house.ready()?;
    let operator = room::operator(&house.data())?;
    let agents = Agents::start(&AGENTS, manner, &mut chance)?;
    let mut crash = Crash {
        door: Door::new(house.addr, operator),
        house,
        chance,
        agents,
        channels: Vec::new(),
        said: Vec::new(),
        kills: 0,
        databases: 0,
    };
    crash.furnish()?;
    while crash.kills < plan.kills {
        crash.burst()?;
    }
    crash.come_to_rest()?;
    let mut evidence = crash.evidence(manner)?;
    evidence.wrong.extend(crash.house.doctor().err());
    crash.house.kill_all()?;
    evidence.wrong.extend(crash.house.doctor().err());
    crash.house.start()?;
    crash.house.ready()?;
    let again = crash.evidence(manner)?;
    let mut wrong = check(&evidence);
    wrong.extend(check(&again).into_iter().map(|line| format!("after a restart: {line}")));
    crash.house.stop()?;
    let count = |what: fn(&Fate) -> bool| {
        evidence.answered.iter().filter(|answer| what(&answer.fate)).count()
    };
    Ok(Report {
        wrong,
        seed: plan.seed,
        kills: crash.kills,
        databases: crash.databases,
        said: evidence.said.len(),
        arrived: evidence.arrived.len(),
        answered: evidence.answered.len(),
        lost: count(|fate| *fate == Fate::Lost),
        refused: count(|fate| matches!(fate, Fate::Refused(_))),
        replies: evidence.replies.len(),
        took: began.elapsed(),
    })
}

struct Crash {
    house: House,
    door: Door,
    chance: Chance,
    agents: Agents,
    channels: Vec<String>,
    /// Events, each to all agents.
    said: Vec<String>,
    kills: usize,
    databases: usize,
}

impl Crash {
    fn furnish(&mut self) -> Result<(), String> {
        for (agent, url) in AGENTS.iter().zip(&self.agents.strings) {
            self.door.must("POST", "/v1/endpoints", &json!({"member": agent, "url": url}))?;
        }
        for number in 0..CHANNELS {
            let title = format!("grove {number}");
            let new = json!({"title": title, "members": AGENTS, "replies": "line"});
            let made = self.door.must("POST", "/v1/channels", &new)?;
            let id = made["id"].as_str().ok_or("a channel without an id")?;
            // A thousand answers to one person's messages are what is wanted here.
            let budget = json!({"agent_budget": 10_000});
            self.door.must("PATCH", &format!("/v1/channels/{id}"), &budget)?;
            self.channels.push(id.to_owned());
        }
        Ok(())
    }

    /// Says a burst of things to everybody, and kills the host while they are on their way.
    fn burst(&mut self) -> Result<(), String> {
        let before = self.agents.arrived();
        for _ in 0..BURST {
            self.say()?;
        }
        for _ in 0..KILLS {
            // From nothing to most of a thousand has come; or the host has only just begun again.
            let some = before + self.chance.index(BURST * AGENTS.len() * 3 / 4);
            let began = Instant::now();
            let most = self.chance.millis(50..600);
            while self.agents.arrived() < some && began.elapsed() < most {
                std::thread::sleep(Duration::from_millis(1));
            }
            let blow = self.house.strike(&mut self.chance)?;
            self.kills += (blow.hosts + blow.frozen).max(usize::from(blow.database));
            self.databases += usize::from(blow.database);
            std::thread::sleep(self.chance.millis(0..100));
            self.house.start()?;
            if !self.chance.one_in(4) {
                self.house.ready()?;
            }
        }
        self.house.ready()?;
        Ok(())
    }

    /// Says something under a key, as often as it needs until it is known to be there.
    fn say(&mut self) -> Result<(), String> {
        let number = self.said.len();
        let channel = &self.channels[number % CHANNELS];
        let body = json!({"conversation": channel, "text": format!("What do you see at {number}?"), "mentions": AGENTS, "idempotency_key": number.to_string()});
        let began = Instant::now();
        loop {
            match self.door.ask("POST", "/v1/messages", &body) {
                Answer::Given(200..300, answer) => {
                    let event = answer["event_id"].as_str().ok_or("a post without an event")?;
                    self.said.push(event.to_owned());
                    return Ok(());
                }
                Answer::Given(503, _) | Answer::Lost | Answer::Down
                    if began.elapsed() < REPLIES =>
                {
                    std::thread::sleep(Duration::from_millis(10));
                }
                other => return Err(format!("message {number}: {other:?}")),
            }
        }
    }

    /// Until nobody owes an answer, and no agent is about to give one.
    fn come_to_rest(&mut self) -> Result<(), String> {
        room::settle(&mut self.door, &AGENTS, PATIENCE)?;
        let began = Instant::now();
        while self.agents.seen().busy > 0 {
            if began.elapsed() > REPLIES {
                return Err("agents are not done with answering".to_owned());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    fn evidence(&mut self, manner: Manner) -> Result<Evidence, String> {
        let mut replies = Vec::new();
        for channel in &self.channels {
            let Log { lines, .. } = room::log(&mut self.door, channel)?;
            for line in lines.into_iter().filter(|line| line.is_post()) {
                if AGENTS.contains(&&*line.author) {
                    replies.push(Reply {
                        agent: line.author,
                        to: line.in_reply_to.unwrap_or_default(),
                        text: line.text.unwrap_or_default(),
                    });
                }
            }
        }
        let seen = self.agents.seen();
        let mut wrong = seen.wrong;
        let dead = room::dead_letters(&mut self.door)?;
        let first = dead.first().map(Value::to_string);
        wrong.extend(first.map(|first| format!("{} dead letters: {first} …", dead.len())));
        Ok(Evidence {
            manner,
            agents: AGENTS.map(str::to_owned).to_vec(),
            said: self.said.clone(),
            arrived: seen.arrived,
            answered: seen.answered,
            replies,
            wrong,
        })
    }
}
