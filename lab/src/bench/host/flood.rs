//! Small talkers beside a flood: what a member who says little waits, while another posts as fast as the host
//! takes it over 64 connections.
//!
//! The flood comes from a thread of its own, so that it stands in the way at the host and not in the generator. Both
//! cost the machine's time all the same: the ratio has that in it.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::rooms::{id_of, person};
use super::server::Host;
use crate::bench::load;
use crate::bench::talk::{self, Post};

/// Members who say little.
const QUIET: usize = 20;
/// What each of them rests between an answer and the next post.
const REST: Duration = Duration::from_millis(20);
/// Connections of the one who floods.
const FLOOD: usize = 64;
/// How long the flood runs before it is measured beside it.
const RISING: Duration = Duration::from_millis(300);
const TEXT: &str = "the build of this morning is on the shelf";

/// A channel for each quiet member, and one for the flood.
pub(super) struct Beside {
    quiet: Vec<(String, String)>,
    loud: (String, String),
    /// Makes the idempotency keys of each run its own.
    runs: u64,
}

impl Beside {
    pub(super) fn gather(host: &Host) -> Result<Self, String> {
        let talker = |name: &str| {
            let (id, token) = person(host, name)?;
            let body = json!({"title": format!("room of {name}"), "members": [id]});
            Ok((token, id_of(&host.ask("POST", "/v1/channels", &body)?)?))
        };
        let quiet: Result<Vec<_>, String> =
            (0..QUIET).map(|number| talker(&format!("quiet{number}"))).collect();
        Ok(Self { quiet: quiet?, loud: talker("loud")?, runs: 0 })
    }

    /// The 99th percentile of the quiet members' posts, in microseconds, with the flood or without.
    pub(super) fn p99(
        &mut self,
        host: &Host,
        window: Duration,
        flooded: bool,
    ) -> Result<f64, String> {
        self.runs += 1;
        let flood = flooded.then(|| self.flood(host, RISING + window));
        if flooded {
            std::thread::sleep(RISING);
        }
        let times = self.talk(host, window);
        if let Some(flood) = flood {
            let outcome = flood.recv().map_err(|_| "the flood broke off".to_owned())??;
            if outcome.answers < FLOOD as u64 {
                return Err(format!("a flood of {} posts is none", outcome.answers));
            }
        }
        let mut times = times?;
        times.sort_by(f64::total_cmp);
        times.get(times.len() * 99 / 100).copied().ok_or_else(|| "nothing was posted".to_owned())
    }

    fn flood(
        &self,
        host: &Host,
        window: Duration,
    ) -> mpsc::Receiver<Result<load::Outcome, String>> {
        let (run, (token, room)) = (self.runs, self.loud.clone());
        let talks: Vec<Post> = (0..FLOOD)
            .map(|client| {
                let room = room.clone();
                Post {
                    path: "/v1/messages",
                    token: token.clone(),
                    asked: 0,
                    body: Box::new(move |n| body(&room, &format!("f{run}c{client}n{n}"))),
                }
            })
            .collect();
        let (addr, (done, outcome)) = (host.addr, mpsc::channel());
        std::thread::spawn(move || done.send(load::run(addr, window, talks)));
        outcome
    }

    /// Microseconds of each post of the quiet ones.
    fn talk(&self, host: &Host, window: Duration) -> Result<Vec<f64>, String> {
        let (addr, run) = (host.addr, self.runs);
        load::runtime()?.block_on(async {
            let end = Instant::now() + window;
            let mut talkers = JoinSet::new();
            for (number, (token, room)) in self.quiet.iter().cloned().enumerate() {
                let mut door = TcpStream::connect(addr).await.map_err(|e| e.to_string())?;
                door.set_nodelay(true).map_err(|e| e.to_string())?;
                talkers.spawn(async move {
                    // Not all at once.
                    tokio::time::sleep(REST * number as u32 / QUIET as u32).await;
                    let mut times = Vec::new();
                    while Instant::now() < end {
                        let body = body(&room, &format!("q{run}c{number}n{}", times.len()));
                        let mut out = Vec::new();
                        talk::request(&mut out, "POST", "/v1/messages", &token, &body);
                        let sent = Instant::now();
                        post(&mut door, &out).await?;
                        times.push(sent.elapsed().as_secs_f64() * 1e6);
                        tokio::time::sleep(REST).await;
                    }
                    Ok::<_, String>(times)
                });
            }
            let mut all = Vec::new();
            while let Some(times) = talkers.join_next().await {
                all.extend(times.map_err(|e| e.to_string())??);
            }
            Ok(all)
        })
    }
}

fn body(room: &str, key: &str) -> String {
    format!(r#"{{"conversation":"{room}","text":"{TEXT}","idempotency_key":"{key}"}}"#)
}

async fn post(door: &mut TcpStream, request: &[u8]) -> Result<(), String> {
    door.write_all(request).await.map_err(|e| format!("post: {e}"))?;
    let mut got = Vec::new();
    loop {
        if door.read_buf(&mut got).await.map_err(|e| format!("post: {e}"))? == 0 {
            return Err("post: the host closed the connection".to_owned());
        }
        match talk::head_and_body(&got) {
            None => {}
            Some((200..300, ..)) => return Ok(()),
            Some(_) => return Err(String::from_utf8_lossy(&got).into_owned()),
        }
    }
}
