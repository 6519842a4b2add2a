//! What every scene has: people, agents and rooms of its own, waits with limits, and somewhere to note its verdicts.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::crash::chance::Chance;
use crate::crash::harness::Harness;
use crate::referee::agent::{Agent, Offer};
use crate::referee::house::{House, Member, Said, text};
use crate::referee::ledger::{Ledger, Wrong};
use crate::referee::pulse::Pulse;
use crate::referee::rules::Rule;

/// How long something that should happen at once may take on a busy machine before a scene gives up on it.
pub(super) const SOON: Duration = Duration::from_secs(20);
/// Between two looks.
const LOOK: Duration = Duration::from_millis(60);

/// Names of people and agents; a number makes each its own.
const PEOPLE: [&str; 6] = ["ada", "bo", "cleo", "dan", "eve", "finn"];
const AGENTS: [&str; 6] = ["scout", "critic", "smith", "mason", "weaver", "pilot"];

/// What somebody may ask. None says whom it is for.
const QUESTIONS: [&str; 5] = [
    "can you look at the deploy?",
    "could you check why the build is red?",
    "what do you make of the new parser?",
    "can you tell me who changed the cache?",
    "could you review the last commit, please?",
];

pub(in crate::referee) struct Scene {
    pub(super) house: House,
    pub(super) chance: Chance,
    pub(super) ledger: Arc<Ledger>,
    pub(super) pulse: Pulse,
    pub(super) name: &'static str,
}

impl Scene {
    pub(in crate::referee) fn new(
        house: House,
        chance: Chance,
        ledger: Arc<Ledger>,
        pulse: Pulse,
        name: &'static str,
    ) -> Self {
        Self { house, chance, ledger, pulse, name }
    }

    pub(super) async fn person(&mut self) -> Result<Member, String> {
        let name = PEOPLE[self.chance.index(PEOPLE.len())];
        self.house.member(name, "human").await
    }

    pub(super) async fn agent(&mut self) -> Result<Member, String> {
        let name = AGENTS[self.chance.index(AGENTS.len())];
        self.house.member(name, "agent").await
    }

    /// An agent, connected.
    pub(super) async fn online(&mut self) -> Result<(Member, Agent), String> {
        let member = self.agent().await?;
        let agent = Agent::connect(&self.house, &member, None).await?;
        Ok((member, agent))
    }

    /// A room whose answers go into threads, with no rest after a turn.
    pub(super) async fn turn_room(&self, members: &[&Member]) -> Result<String, String> {
        let patch = json!({ "replies": "thread", "turns": { "cooldown_ms": 0 } });
        self.house.room(members, patch).await
    }

    pub(super) fn question(&mut self) -> &'static str {
        QUESTIONS[self.chance.index(QUESTIONS.len())]
    }

    /// Says something on the main line; what it became.
    pub(super) async fn say(&self, by: &Member, room: &str, words: &str) -> Result<Value, String> {
        self.post(by, json!({ "conversation": room, "text": words })).await
    }

    pub(super) async fn post(&self, by: &Member, mut message: Value) -> Result<Value, String> {
        message["idempotency_key"] = json!(format!("{}-{}", by.id, self.house.number()));
        let said = self.house.ask_until(&by.token, "POST", "/v1/messages", &message).await;
        said.given().map_err(|e| format!("{} says {}: {e}", by.id, message["text"]))
    }

    /// Asks these agents something; the event.
    pub(super) async fn ask(
        &mut self,
        by: &Member,
        room: &str,
        of: &[&Member],
    ) -> Result<String, String> {
        let names: Vec<_> = of.iter().map(|member| format!("@{}", member.id)).collect();
        let words = format!("{} {}", names.join(" "), self.question());
        text(&self.say(by, room, &words).await?, "event_id")
    }

    /// Asks one agent, which takes it up.
    pub(super) async fn asked(
        &mut self,
        by: &Member,
        room: &str,
        member: &Member,
        agent: &Agent,
    ) -> Result<Offer, String> {
        let event = self.ask(by, room, &[member]).await?;
        agent.take(&event, SOON).await
    }

    /// Something harmless that somebody else does between two steps, or nothing.
    pub(super) async fn stir(&mut self, room: &str) {
        let op = self.house.operator.clone();
        for _ in 0..self.chance.within(0..3) {
            let path = match self.chance.within(0..6) {
                0 => format!("/v1/channels/{room}/feed"),
                1 => format!("/v1/messages?conversation={room}&limit=3"),
                2 => format!("/v1/channels/{room}/turns"),
                3 => "/v1/deliveries?state=overdue".to_owned(),
                4 => "/v1/index".to_owned(),
                _ => format!("/v1/threads?conversation={room}"),
            };
            // It is the asking that matters here.
            let _ = self.house.ask(&op, "GET", &path, &Value::Null).await;
            tokio::time::sleep(self.chance.millis(0..60)).await;
        }
    }

    /// Looks again and again until there is something, or the limit and what the machine was late are over.
    pub(super) async fn until<T>(
        &self,
        limit: Duration,
        mut look: impl AsyncFnMut() -> Result<Option<T>, String>,
    ) -> Result<Option<T>, String> {
        let began = Instant::now();
        loop {
            if let Some(found) = look().await? {
                return Ok(Some(found));
            }
            if began.elapsed() > limit + self.pulse.late_since(began) {
                return Ok(None);
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Waits for real time to go by, where that is what a rule is about.
    pub(super) async fn pass(&self, time: Duration) {
        tokio::time::sleep(time).await;
    }

    /// What a member's delivery of an event has come to.
    pub(super) async fn receipt(&self, event: &str, member: &Member) -> Result<Value, String> {
        Ok(self.house.told(event, &member.id).await?["receipt"].clone())
    }

    /// A member's delivery of an event as the list of open ones shows it; none where it is not there.
    pub(super) async fn open(&self, event: &str, member: &Member) -> Result<Option<Value>, String> {
        let path = format!("/v1/deliveries?state=open&member={}", member.id);
        let all = self.house.get(&self.house.operator, &path).await?;
        let mut open = all["deliveries"].as_array().into_iter().flatten();
        Ok(open.find(|delivery| delivery["event_id"] == event).cloned())
    }

    /// Everybody else who was told of an event because it moved to them.
    pub(super) async fn moved_to(&self, event: &str) -> Result<Vec<String>, String> {
        let why = self.house.attention(event).await?;
        let told = why["told"].as_array().into_iter().flatten();
        let moved = told.filter(|told| told["reason"] == "escalated");
        Ok(moved.filter_map(|told| told["member"].as_str().map(str::to_owned)).collect())
    }

    /// The newest seq of a room's log.
    pub(super) async fn length(&self, room: &str) -> Result<u64, String> {
        let shown = self.house.get(&self.house.operator, &format!("/v1/channels/{room}")).await?;
        shown["last_seq"].as_u64().ok_or_else(|| format!("no last_seq in {shown}"))
    }

    /// What this member has said in a room, oldest first.
    pub(super) async fn words(&self, room: &str, by: &Member) -> Result<Vec<String>, String> {
        let log = self.house.log(room).await?;
        let posts =
            log.iter().filter(|e| e["type"] == "message_posted" && e["actor"]["id"] == by.id);
        Ok(posts.filter_map(|e| e["message"]["text"].as_str().map(str::to_owned)).collect())
    }

    /// Judges a rule: what is expected, whether it holds, and what was seen.
    pub(super) fn expect(
        &self,
        rule: Rule,
        holds: bool,
        expected: &str,
        seen: impl FnOnce() -> String,
        events: &[&str],
    ) {
        let verdict = if holds { Ok(()) } else { Err(Wrong::new(expected, seen(), events)) };
        self.ledger.judge(rule, self.name, verdict);
    }

    /// A call that must be refused, with this code, and leave the room's log as it is.
    pub(super) fn refused(&self, rule: Rule, what: &str, code: &str, said: Said, events: &[&str]) {
        let holds = said.code() == Some(code);
        self.expect(rule, holds, &format!("{what} is {code}"), || brief(&said), events);
    }

    /// `chorus join` with a script as its runtime, connected.
    pub(super) async fn join(
        &self,
        member: &Member,
        script: &str,
    ) -> Result<(Harness, PathBuf), String> {
        let house = &self.house;
        let folder = house.folder.clone();
        let (id, token) = (&member.id, member.token.clone());
        let options = Vec::new();
        let mut harness =
            Harness::with(&folder, &house.chorus, house.url.clone(), id, token, script, options)?;
        harness.start()?;
        let connected = self
            .until(SOON, async || {
                let all = house.get(&house.operator, "/v1/sessions").await?;
                let mut all = all["sessions"].as_array().into_iter().flatten();
                Ok(all.any(|s| s["member"] == *id && s["connected"] == true).then_some(()))
            })
            .await?;
        connected.ok_or_else(|| format!("chorus join of {id} does not connect"))?;
        Ok((harness, folder.join(id)))
    }
}

/// What came of a call, short enough for a line.
pub(super) fn brief(said: &Said) -> String {
    match said {
        Said::Given(value) => {
            let shown = value.to_string();
            format!("given {}", shown.chars().take(160).collect::<String>())
        }
        Said::Refused(status, code, _) => format!("HTTP {status} {code}"),
        Said::Lost => "no answer".to_owned(),
    }
}
