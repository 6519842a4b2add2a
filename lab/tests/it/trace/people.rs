//! The people: who there is, and what each does next. Everything is drawn from the seed, and what was
//! acknowledged is remembered with how it was last left.

use std::collections::HashSet;

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::house::House;

const PEOPLE: [&str; 8] = ["alice", "bernd", "chiara", "dmitri", "elif", "farid", "grace", "hugo"];
const AGENTS: [&str; 6] = ["scout", "smith", "tester", "writer", "ops", "planner"];
/// Agents, the first ones, that are told things in private: what they say outside a turn may wait for a person.
const CONFIDED: usize = 2;
const ROLES: [(&str, [&str; 3]); 2] =
    [("builders", ["smith", "tester", "ops"]), ("thinkers", ["scout", "planner", "writer"])];
const CHANNELS: usize = 20;
/// Who follows which channels, and is told of them in digests.
const FOLLOWED: [(usize, &str); 4] = [(0, "hugo"), (1, "hugo"), (2, "grace"), (0, "planner")];

/// Chance that a seed repeats.
#[derive(Clone, Debug)]
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end.max(1)
    }

    fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len() as u64) as usize]
    }
}

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    Standing,
    Deleted,
    Erased,
}

/// An acknowledged message of a person.
#[derive(Clone, Debug)]
pub(crate) struct Said {
    pub(crate) event: String,
    pub(crate) seq: u64,
    pub(crate) room: String,
    author: usize,
    /// The request, as JSON.
    sent: Box<str>,
    pub(crate) text: String,
    pub(crate) left: Left,
    /// Shown to a few.
    pub(crate) ephemeral: bool,
    /// Agents told that they must answer.
    pub(crate) owed: Vec<String>,
}

pub(crate) struct Plan {
    pub(crate) said: Vec<Said>,
}

pub(crate) struct People {
    tokens: Vec<String>,
    agents: Vec<(String, String)>,
    rooms: Vec<String>,
    /// A thread in each room.
    threads: Vec<String>,
    /// Direct conversations of a person and an agent.
    pairs: Vec<(usize, String)>,
    auditor: String,
    chance: Chance,
    posted: u64,
    plan: Plan,
}

/// What somebody does to a message that stands.
enum Act {
    Edit(String),
    Delete,
    Erase,
    React(&'static str),
    Repeat,
}

impl People {
    pub(crate) async fn gather(house: &House, seed: u64) -> Self {
        let op = house.operator().to_owned();
        let (mut tokens, mut agents) = (Vec::new(), Vec::new());
        for id in PEOPLE {
            let new = json!({"id": id, "kind": "human"});
            house.must(&op, "POST", "/v1/members", Some(&new)).await;
            tokens.push(house.token(id).await);
        }
        for id in AGENTS {
            let new = json!({"id": id, "kind": "agent"});
            house.must(&op, "POST", "/v1/members", Some(&new)).await;
            agents.push((id.to_owned(), house.token(id).await));
        }
        for (role, members) in ROLES {
            house.must(&op, "POST", "/v1/roles", Some(&json!({"name": role}))).await;
            for member in members {
                let path = format!("/v1/roles/{role}/members/{member}");
                house.must(&op, "PUT", &path, Some(&json!({}))).await;
            }
        }
        let (mut rooms, mut threads) = (Vec::new(), Vec::new());
        for number in 0..CHANNELS {
            let members: Vec<&str> = PEOPLE.into_iter().chain(AGENTS).collect();
            let title = format!("room {number}");
            let new = json!({"title": title, "members": members, "replies": "line"});
            let made = house.must(&op, "POST", "/v1/channels", Some(&new)).await;
            let room = made["id"].as_str().unwrap().to_owned();
            // Where agents are to work without a person; in a conversation they would take turns.
            let kind = if number % 2 == 0 { "workflow" } else { "conversation" };
            let new = json!({"conversation": room, "title": "a line of work", "type": kind});
            let made = house.must(&op, "POST", "/v1/threads", Some(&new)).await;
            threads.push(made["id"].as_str().or(made["thread_id"].as_str()).unwrap().to_owned());
            rooms.push(room);
        }
        let mut pairs = Vec::new();
        for (person, agent) in AGENTS.into_iter().enumerate() {
            let new = json!({"title": "a pair", "kind": "dm", "members": [agent]});
            let made = house.must(&tokens[person], "POST", "/v1/channels", Some(&new)).await;
            pairs.push((person, made["id"].as_str().unwrap().to_owned()));
        }
        for (room, member) in FOLLOWED {
            let path = format!("/v1/channels/{}/members/{member}", rooms[room]);
            let seat = json!({"participation": "always_listen"});
            house.must(&op, "PUT", &path, Some(&seat)).await;
        }
        let auditor = house.token_of("auditor", "auditor").await;
        let (chance, posted, plan) = (Chance::new(seed), 0, Plan { said: Vec::new() });
        Self { tokens, agents, rooms, threads, pairs, auditor, chance, posted, plan }
    }

    /// Reads everything.
    pub(crate) fn auditor(&self) -> &str {
        &self.auditor
    }

    /// The digests of each channel that a person follows: the channel and the person's token.
    pub(crate) fn followed(&self) -> Vec<(String, String)> {
        let person = |member| PEOPLE.iter().position(|person| *person == member);
        let of_people = FOLLOWED.into_iter().filter_map(|(room, m)| Some((room, person(m)?)));
        of_people.map(|(room, at)| (self.rooms[room].clone(), self.tokens[at].clone())).collect()
    }

    pub(crate) fn draw(&mut self, end: u64) -> u64 {
        self.chance.below(end)
    }

    /// A room whose thread is one where agents work without a person.
    pub(crate) fn draw_workflow(&mut self) -> usize {
        self.draw_room() / 2 * 2
    }

    pub(crate) fn draw_room(&mut self) -> usize {
        self.chance.below(CHANNELS as u64) as usize
    }

    pub(crate) fn room(&self, at: usize) -> &str {
        &self.rooms[at]
    }

    pub(crate) fn thread(&self, at: usize) -> &str {
        &self.threads[at]
    }

    pub(crate) fn somebody(&self) -> &str {
        &self.tokens[0]
    }

    /// These words of somebody in a room's thread.
    pub(crate) fn words_in(&self, room: usize, text: &str) -> (usize, Value) {
        let body = json!({
            "conversation": self.rooms[room], "thread": self.threads[room], "text": text,
            "idempotency_key": format!("{text}:{}", self.plan.said.len()),
        });
        (0, body)
    }

    /// Tells an agent in private what it is to carry to a channel.
    pub(crate) async fn confide(&mut self, house: &House) {
        let pair = self.chance.below(CONFIDED as u64) as usize;
        let room = self.draw_room();
        let (author, conversation) = self.pairs[pair].clone();
        let (number, to) = (self.plan.said.len(), &self.rooms[room]);
        let body = json!({
            "conversation": conversation, "text": format!("Can you pass on item {number} to {to}?"),
            "idempotency_key": format!("private:{number}"),
        });
        self.say(house, (author, body)).await;
    }

    /// Says it, by itself.
    pub(crate) async fn say(&mut self, house: &House, (author, body): (usize, Value)) {
        let posted = house.must(&self.tokens[author], "POST", "/v1/messages", Some(&body)).await;
        self.remember(author, &body, &posted);
    }

    pub(crate) fn agents(&self) -> &[(String, String)] {
        &self.agents
    }

    /// Agents that nobody confides in, by their place among all.
    pub(crate) fn open_agents(&self) -> std::ops::Range<usize> {
        CONFIDED..self.agents.len()
    }

    pub(crate) fn posted(&self) -> u64 {
        self.posted
    }

    /// Bytes that the plan takes in this process's memory, about.
    pub(crate) fn remembered(&self) -> usize {
        let of = |said: &Said| {
            let texts = said.event.len() + said.room.len() + said.text.len() + said.sent.len();
            let owed = said.owed.iter().map(|member| size_of::<String>() + member.len());
            // Each piece has a header of the allocator's, and is rounded up.
            size_of::<Said>() + texts + owed.sum::<usize>() + 4 * 16
        };
        self.plan.said.iter().map(of).sum()
    }

    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    pub(crate) fn rooms(&self) -> &[String] {
        &self.rooms
    }

    /// How much longer than usual nobody speaks: meetings, and the end of the day.
    pub(crate) fn pause(&mut self) -> u64 {
        if self.chance.below(40) == 0 { 6 } else { 1 }
    }

    /// So many messages at the same time, and what is done to some of the earlier ones.
    pub(crate) async fn talk(&mut self, house: &House, together: usize) {
        let before = self.plan.said.len();
        let posts: Vec<_> = (0..together).map(|_| self.words()).collect();
        let acts = self.acts(before, together / 4);
        let tokens = &self.tokens;
        let sent = join_all(posts.iter().map(|(author, body)| {
            house.must(&tokens[*author], "POST", "/v1/messages", Some(body))
        }));
        let plan = &self.plan;
        let done =
            join_all(acts.iter().map(|(at, act)| perform(house, tokens, &plan.said[*at], act)));
        let (sent, ()) = tokio::join!(sent, async {
            done.await;
        });
        for (at, act) in acts {
            let said = &mut self.plan.said[at];
            match act {
                Act::Edit(text) => said.text = text,
                Act::Delete => said.left = Left::Deleted,
                Act::Erase => said.left = Left::Erased,
                Act::React(_) | Act::Repeat => {}
            }
        }
        for ((author, body), posted) in posts.into_iter().zip(sent) {
            self.remember(author, &body, &posted);
        }
    }

    fn remember(&mut self, author: usize, body: &Value, posted: &Value) {
        assert_eq!(posted["duplicate"], json!(false), "{body}");
        let must = |told: &&Value| told["policy"] == "must_respond";
        let owed = posted["told"].as_array().into_iter().flatten().filter(must);
        let owed = owed.map(|told| told["member"].as_str().unwrap_or_default().to_owned());
        let owed = owed.filter(|member| AGENTS.contains(&&**member)).collect();
        self.plan.said.push(Said {
            event: posted["event_id"].as_str().unwrap().to_owned(),
            seq: posted["seq"].as_u64().unwrap(),
            room: body["conversation"].as_str().unwrap().to_owned(),
            author,
            text: body["text"].as_str().unwrap().to_owned(),
            sent: body.to_string().into(),
            left: Left::Standing,
            ephemeral: body["visibility"] == "ephemeral",
            owed,
        });
        self.posted += 1;
    }

    /// Who says what where.
    fn words(&mut self) -> (usize, Value) {
        let chance = &mut self.chance;
        let author = chance.below(PEOPLE.len() as u64) as usize;
        let place = chance.below(CHANNELS as u64) as usize;
        let number = self.plan.said.len() as u64 * 1_000 + chance.below(1_000);
        let (agent, role) = (*chance.of(&AGENTS), chance.of(&ROLES).0);
        let another = PEOPLE[(author + 1) % PEOPLE.len()];
        let ephemeral = chance.below(30) == 0;
        let text = match chance.below(40) {
            _ if chance.below(200) == 0 => format!("@{agent} please leave this channel."),
            0..=4 => format!("@{agent} can you check item {number}?"),
            5 => format!("@{role} who takes item {number}?"),
            6 => format!("@{agent} thanks for item {number}!"),
            7 => format!("Does anybody know what item {number} is about?"),
            8..=9 => format!("@{} item {number} is yours, as agreed.", chance.of(&PEOPLE)),
            10..=12 => format!("item {number}"),
            _ => format!("For the record, item {number} went through without a word from anybody."),
        };
        let mut body = json!({
            "conversation": self.rooms[place],
            "text": text,
            "idempotency_key": format!("{author}:{number}:{}", self.posted + chance.below(u64::MAX >> 12)),
        });
        if ephemeral {
            body["visibility"] = json!("ephemeral");
            body["only"] = json!([AGENTS[chance.below(CONFIDED as u64) as usize], another]);
        } else if chance.below(6) == 0 {
            body["thread"] = json!(self.threads[place]);
        }
        (author, body)
    }

    /// What is done to messages that were there before, each at most once at a time.
    fn acts(&mut self, before: usize, most: usize) -> Vec<(usize, Act)> {
        let (mut acts, mut taken) = (Vec::new(), HashSet::new());
        for _ in 0..most {
            // Most of what is changed was said just now.
            let back = if self.chance.below(4) == 0 { before } else { before.min(200) };
            if back == 0 {
                continue;
            }
            let at = before - 1 - self.chance.below(back as u64) as usize;
            let said = &self.plan.said[at];
            let private = !self.rooms.contains(&said.room) || said.text.starts_with("@chorus");
            if said.left != Left::Standing || private || !taken.insert(at) {
                continue;
            }
            let act = match self.chance.below(16) {
                0..=4 => Act::Edit(format!("{} (corrected)", said.text)),
                5..=6 => Act::Delete,
                7 => Act::Erase,
                // Keys are remembered for a day: half of that has so many messages.
                13..=15 if before - at < 7_200 => Act::Repeat,
                _ => Act::React(self.chance.of::<&str>(&["agree", "seen", "done"])),
            };
            acts.push((at, act));
        }
        acts
    }
}

async fn perform(house: &House, tokens: &[String], said: &Said, act: &Act) {
    let (token, event) = (&tokens[said.author], &said.event);
    let path = format!("/v1/messages/{event}");
    match act {
        Act::Edit(text) => {
            house.must(token, "PATCH", &path, Some(&json!({"text": text}))).await;
        }
        Act::Delete => {
            house.must(token, "DELETE", &path, None).await;
        }
        Act::Erase => {
            let reason = json!({"reason": "secret"});
            // The operator is shown what everybody is.
            let by = if said.ephemeral { token } else { house.operator() };
            house.must(by, "POST", &format!("{path}/erase"), Some(&reason)).await;
        }
        Act::React(signal) => {
            let path = format!("{path}/reactions/{signal}");
            house.must(token, "PUT", &path, Some(&json!({}))).await;
        }
        Act::Repeat => {
            let sent: Value = serde_json::from_str(&said.sent).unwrap();
            let again = house.must(token, "POST", "/v1/messages", Some(&sent)).await;
            assert_eq!(again["duplicate"], json!(true), "{}", said.sent);
            assert_eq!(again["event_id"], json!(said.event));
        }
    }
}
