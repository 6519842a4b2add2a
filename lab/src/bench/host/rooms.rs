//! The rooms that posts go to, and the posts.
//!
//! Posters are people, so that no guard for agents is measured by accident. The three members that a
//! post tells are agents who are away: each post is decided for all members, its trace is stored, and its deliveries
//! wait for them.

use std::time::Duration;

use serde_json::{Value, json};

use super::server::Host;
use crate::bench::load::{self, Outcome};
use crate::bench::talk::{Calls, Once, Post};

/// People whose posts the load is made of.
const POSTERS: usize = 8;
/// Channels that the load goes over.
const CHANNELS: usize = 100;
/// Calls on their way on one connection of the attention transport.
const PIPELINED: usize = 8;
/// Length of a post's text in bytes.
pub(super) const TEXT_BYTES: usize = 300;

/// A hundred channels with eight people and three agents in each.
pub(crate) struct Rooms {
    tokens: Vec<String>,
    channels: Vec<String>,
    /// Makes the idempotency keys of each run its own.
    runs: u64,
}

impl Rooms {
    pub(super) fn open(host: &Host) -> Result<Self, String> {
        Self::open_with(host, "line")
    }

    /// Where answers go there: `line` or `thread`.
    pub(crate) fn open_with(host: &Host, replies: &str) -> Result<Self, String> {
        let mut members: Vec<String> = Vec::new();
        let mut tokens = Vec::new();
        for poster in 0..POSTERS {
            let (id, token) = person(host, &format!("poster{poster}"))?;
            members.push(id);
            tokens.push(token);
        }
        for agent in ["ada", "bo", "cyd"] {
            host.ask("POST", "/v1/members", &json!({"id": agent, "kind": "agent"}))?;
            members.push(agent.to_owned());
        }
        let mut channels = Vec::new();
        for number in 0..CHANNELS {
            let body =
                json!({"title": format!("room {number}"), "members": members, "replies": replies});
            channels.push(id_of(&host.ask("POST", "/v1/channels", &body)?)?);
        }
        Ok(Self { tokens, channels, runs: 0 })
    }

    /// Their public ids.
    pub(crate) fn channels(&self) -> &[String] {
        &self.channels
    }

    /// Posts over REST from `clients` connections, over the first `channels` of the channels.
    pub(crate) fn post(
        &mut self,
        host: &Host,
        window: Duration,
        clients: usize,
        channels: usize,
    ) -> Result<Outcome, String> {
        self.post_at(&[host], window, clients, channels)
    }

    /// The same over several hosts of one database, the clients in equal parts.
    pub(super) fn post_at(
        &mut self,
        hosts: &[&Host],
        window: Duration,
        clients: usize,
        channels: usize,
    ) -> Result<Outcome, String> {
        self.runs += 1;
        let run = self.runs;
        let text = told_text();
        let talks = (0..clients).map(|client| {
            let (text, rooms) = (text.clone(), self.channels[..channels].to_vec());
            let post = Post {
                path: "/v1/messages",
                token: self.tokens[client % POSTERS].clone(),
                asked: 0,
                body: Box::new(move |n| {
                    let room = &rooms[(client + n as usize) % rooms.len()];
                    format!(
                        r#"{{"conversation":"{room}","text":"{text}","idempotency_key":"r{run}c{client}n{n}"}}"#
                    )
                }),
            };
            (hosts[client % hosts.len()].addr, post)
        });
        load::run_at(window, talks.collect())
    }

    /// Posts over the attention transport, each client on one pipelined connection.
    pub(super) fn call(
        &mut self,
        host: &Host,
        window: Duration,
        clients: usize,
    ) -> Result<Outcome, String> {
        self.runs += 1;
        let run = self.runs;
        let text = told_text();
        let talks = (0..clients).map(|client| {
            let (text, rooms) = (text.clone(), self.channels.clone());
            Calls {
                token: self.tokens[client % POSTERS].clone(),
                asked: 0,
                depth: PIPELINED,
                upgraded: false,
                call: Box::new(move |n| {
                    let room = &rooms[(client + n as usize) % rooms.len()];
                    format!(
                        r#"{{"jsonrpc":"2.0","id":{n},"method":"tools/call","params":{{"name":"chat.send_message","arguments":{{"target":{{"conversation":"{room}"}},"text":"{text}","idempotencyKey":"r{run}c{client}n{n}","visibility":"channel","directedness":"to_me"}}}}}}"#
                    )
                }),
            }
        });
        load::run(host.addr, window, talks.collect())
    }
}

/// Two channels with the same talk in them and rosters of very different length.
pub(super) struct Crowds {
    token: String,
    small: String,
    large: String,
    runs: u64,
}

impl Crowds {
    /// Makes 10,000 members; a few thousand requests, so this takes a while.
    pub(super) fn gather(host: &Host) -> Result<Self, String> {
        let (speaker, token) = person(host, "speaker")?;
        let channel = |members: &[String]| {
            let body = json!({"title": "crowd", "members": members, "replies": "line"});
            host.ask("POST", "/v1/channels", &body).and_then(|answer| id_of(&answer))
        };
        let crowd: Vec<String> = (0..9_999).map(|number| format!("crowd{number}")).collect();
        let member = |id: &String| {
            let body = json!({"id": id, "kind": "agent"});
            ("POST", "/v1/members".to_owned(), body.to_string())
        };
        each(host, crowd.iter().map(member).collect())?;
        let mut ten = vec![speaker.clone()];
        ten.extend_from_slice(&crowd[..9]);
        let small = channel(&ten)?;
        let large = channel(std::slice::from_ref(&speaker))?;
        // One by one, as people join: a channel made with all of them would be one very large command.
        let join =
            |id: &String| ("PUT", format!("/v1/channels/{large}/members/{id}"), "{}".to_owned());
        each(host, crowd.iter().map(join).collect())?;
        Ok(Self { token, small, large, runs: 0 })
    }

    /// Microseconds of an unaddressed post in the channel with that many members, with 64 clients.
    pub(super) fn ambient(
        &mut self,
        host: &Host,
        window: Duration,
        roster: usize,
    ) -> Result<f64, String> {
        self.runs += 1;
        let (run, text) = (self.runs, filled("The build of this morning is on the shelf. "));
        let room = if roster == 10 { &self.small } else { &self.large };
        let talks = (0..64).map(|client| {
            let (text, room) = (text.clone(), room.clone());
            Post {
                path: "/v1/messages",
                token: self.token.clone(),
                asked: 0,
                body: Box::new(move |n| {
                    format!(
                        r#"{{"conversation":"{room}","text":"{text}","idempotency_key":"a{run}c{client}n{n}"}}"#
                    )
                }),
            }
        });
        let outcome = load::run(host.addr, window, talks.collect())?;
        Ok(1e6 / outcome.rate)
    }
}

/// Sends each request once, as the operator, over sixteen connections.
pub(crate) fn each(
    host: &Host,
    requests: Vec<(&'static str, String, String)>,
) -> Result<(), String> {
    let expected = requests.len() as u64;
    let share = requests.len().div_ceil(16).max(1);
    let talks = requests
        .chunks(share)
        .map(|part| Once { token: host.token.clone(), requests: Vec::from(part).into_iter() });
    let outcome = load::run(host.addr, Duration::from_secs(60), talks.collect())?;
    if outcome.answers < expected {
        return Err(format!("only {} of {expected} requests in a minute", outcome.answers));
    }
    Ok(())
}

/// Makes a person; the id and a token.
pub(crate) fn person(host: &Host, id: &str) -> Result<(String, String), String> {
    host.ask("POST", "/v1/members", &json!({"id": id, "kind": "human"}))?;
    Ok((id.to_owned(), token(host, id, "operator")?))
}

/// A token for a member.
pub(crate) fn token(host: &Host, id: &str, role: &str) -> Result<String, String> {
    let answer = host.ask("POST", "/v1/tokens", &json!({"agent": id, "role": role}))?;
    answer["token"].as_str().map(str::to_owned).ok_or_else(|| format!("no token in {answer}"))
}

/// The `id` of a resource that was made.
pub(crate) fn id_of(answer: &Value) -> Result<String, String> {
    answer["id"].as_str().map(str::to_owned).ok_or_else(|| format!("no id in {answer}"))
}

/// A post that names three agents, of exactly the length that is measured.
pub(crate) fn told_text() -> String {
    filled("@ada @bo @cyd please look at the failing build of the parser and say what you think: ")
}

/// A text of the usual length that begins so.
pub(crate) fn filled(start: &str) -> String {
    let filler = "the third step stops with a message about a missing file and then goes on ";
    start.chars().chain(filler.chars().cycle()).take(TEXT_BYTES).collect()
}
