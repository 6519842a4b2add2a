//! The threads that calls go to, and the calls, over MCP and over REST.
//!
//! Callers are people, so that no guard for agents is measured by accident. As in `bench host`, a post tells three
//! agents who are away.

use std::time::Duration;

use serde_json::{Value, json};

use crate::bench::host::rooms::{id_of, person, told_text};
use crate::bench::host::server::Host;
use crate::bench::load::{self, Outcome};
use crate::bench::talk::{CHORUS, Get, Post, Tool};

/// People whose calls the load is made of.
const CALLERS: usize = 8;
/// Threads that posts go over.
const THREADS: usize = 100;
/// Messages of the thread that is read, and how many a read gives.
const WRITTEN: u64 = 1_000;
const PAGE: u64 = 50;

/// Through which transport a load goes.
#[derive(Clone, Copy)]
pub(super) enum Door {
    Mcp,
    Rest,
}

/// A hundred threads to post to, and a long one to read.
pub(super) struct Threads {
    tokens: Vec<String>,
    posted: Vec<Thread>,
    read: Thread,
    /// Makes the idempotency keys of each run its own.
    runs: u64,
}

#[derive(Clone)]
pub(super) struct Thread {
    pub(super) id: String,
    pub(super) conversation: String,
}

/// Makes one with these members in it.
pub(super) fn begin(host: &Host, title: &str, members: &[String]) -> Result<Thread, String> {
    let body = json!({"title": title, "participants": members});
    let made = host.ask("POST", "/v1/threads", &body)?;
    let conversation = made["conversation"].as_str().ok_or("a thread in no conversation")?;
    Ok(Thread { id: id_of(&made)?, conversation: conversation.to_owned() })
}

impl Threads {
    pub(super) fn open(host: &Host) -> Result<Self, String> {
        let (mut members, mut tokens) = (Vec::new(), Vec::new());
        for number in 0..CALLERS {
            let (id, token) = person(host, &format!("caller{number}"))?;
            members.push(id);
            tokens.push(token);
        }
        for agent in ["ada", "bo", "cyd"] {
            host.ask("POST", "/v1/members", &json!({"id": agent, "kind": "agent"}))?;
            members.push(agent.to_owned());
        }
        let posted = (0..THREADS).map(|number| begin(host, &format!("work {number}"), &members));
        let posted = posted.collect::<Result<_, _>>()?;
        let read = begin(host, "a long one", &members)?;
        let text = told_text();
        for number in 0..WRITTEN {
            let key = format!("written{number}");
            let (conversation, thread) = (&read.conversation, &read.id);
            let body = json!({"conversation": conversation, "thread": thread, "text": text, "idempotency_key": key});
            host.ask("POST", "/v1/messages", &body)?;
        }
        let threads = Self { tokens, posted, read, runs: 0 };
        threads.gives_a_page(host)?;
        Ok(threads)
    }

    /// A read that gave less than it is said to give would measure something else.
    fn gives_a_page(&self, host: &Host) -> Result<(), String> {
        let page = host.ask("GET", &page_after(&self.read, WRITTEN - PAGE), &Value::Null)?;
        match page["messages"].as_array().map_or(0, Vec::len) as u64 {
            PAGE => Ok(()),
            other => Err(format!("a page of {PAGE} messages has {other}")),
        }
    }

    /// Posts from `clients` connections.
    pub(super) fn post(
        &mut self,
        host: &Host,
        window: Duration,
        clients: usize,
        door: Door,
    ) -> Result<Outcome, String> {
        self.runs += 1;
        let (run, text) = (self.runs, told_text());
        let each = (0..clients).map(|client| {
            let (token, threads) = (self.token(client), self.posted.clone());
            let to = move |n: u64| threads[(client + n as usize) % threads.len()].clone();
            (client, token, text.clone(), to)
        });
        match door {
            Door::Mcp => {
                let talks = each.map(|(client, token, text, to)| Tool {
                    to: CHORUS,
                    name: "post_message",
                    token,
                    asked: 0,
                    arguments: Box::new(move |n| {
                        let Thread { id, .. } = to(n);
                        format!(
                            r#"{{"thread_id":"{id}","schema_version":1,"kind":"chat","body":"{text}","idempotency_key":"r{run}c{client}n{n}"}}"#
                        )
                    }),
                });
                load::run(host.addr, window, talks.collect())
            }
            Door::Rest => {
                let talks = each.map(|(client, token, text, to)| Post {
                    path: "/v1/messages",
                    token,
                    asked: 0,
                    body: Box::new(move |n| {
                        let Thread { id, conversation } = to(n);
                        format!(
                            r#"{{"conversation":"{conversation}","thread":"{id}","text":"{text}","idempotency_key":"r{run}c{client}n{n}"}}"#
                        )
                    }),
                });
                load::run(host.addr, window, talks.collect())
            }
        }
    }

    /// Reads pages of the long thread with `clients` connections.
    pub(super) fn read(
        &self,
        host: &Host,
        window: Duration,
        clients: usize,
        door: Door,
    ) -> Result<Outcome, String> {
        let each = (0..clients).map(|client| {
            let after = move |n: u64| (client as u64 * 7 + n * PAGE) % (WRITTEN - PAGE);
            (self.token(client), self.read.clone(), after)
        });
        match door {
            Door::Mcp => {
                let talks = each.map(|(token, Thread { id, .. }, after)| Tool {
                    to: CHORUS,
                    name: "read_messages",
                    token,
                    asked: 0,
                    arguments: Box::new(move |n| {
                        let after = after(n);
                        format!(r#"{{"thread_id":"{id}","since_seq":{after},"limit":{PAGE}}}"#)
                    }),
                });
                load::run(host.addr, window, talks.collect())
            }
            Door::Rest => {
                let talks = each.map(|(token, thread, after)| {
                    let mut n = 0;
                    Get(Box::new(move |out: &mut Vec<u8>| {
                        let path = page_after(&thread, after(n));
                        n += 1;
                        let request = format!(
                            "GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {token}\r\n\r\n"
                        );
                        out.extend_from_slice(request.as_bytes());
                    }))
                });
                load::run(host.addr, window, talks.collect())
            }
        }
    }

    fn token(&self, client: usize) -> String {
        self.tokens[client % CALLERS].clone()
    }
}

/// The page of a thread after that place in its conversation, which has nothing else in it.
fn page_after(thread: &Thread, after: u64) -> String {
    let Thread { id, conversation } = thread;
    format!("/v1/messages?conversation={conversation}&thread={id}&after_seq={after}&limit={PAGE}")
}
