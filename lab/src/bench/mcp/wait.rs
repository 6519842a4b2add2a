//! A thousand agents that wait for news in `read_messages`: what each costs in memory, and how soon it knows.
//!
//! Ten wait in each of a hundred threads. A person posts to one thread after the other; the ten of that thread are
//! answered, and wait again for what comes next. At the end one post goes to a thread in which all of them wait.
//! Taken once a run on a host of its own, since a fresh process is part of it.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::threads::{Thread, begin};
use crate::bench::host::idle::{enough_files, members, settle};
use crate::bench::host::rooms::{filled, person};
use crate::bench::host::server::{Host, Hosts};
use crate::bench::load::p99_us;
use crate::bench::report::Samples;
use crate::bench::{Plan, load, talk};

const WAITING: usize = 1_000;
/// Agents in a thread.
const EACH: usize = 10;
/// Times that a post comes to each thread.
const TURNS: u64 = 5;
/// Files a process needs beside its connections.
const SPARE_FILES: u64 = 200;
/// Nothing here takes this long unless an answer was lost.
const PATIENCE: Duration = Duration::from_secs(60);

/// Takes every measurement of this file that was asked for.
pub(super) fn measure(plan: &Plan, hosts: Hosts<'_>, samples: &mut Samples) {
    if plan.wants_some("wait_1000.")
        && let Err(why) = taken(plan, hosts, samples)
    {
        samples.failed("wait_1000", &why);
    }
}

fn taken(plan: &Plan, hosts: Hosts<'_>, samples: &mut Samples) -> Result<(), String> {
    let waiting = if plan.is_quick() { WAITING / 20 } else { WAITING };
    enough_files(waiting as u64 + SPARE_FILES)?;
    let host = hosts.start(&[])?;
    let (speaker, token) = person(&host, "speaker")?;
    let agents = members(&host, waiting)?;
    let participants = |agents: &[(String, String)]| {
        let ids = agents.iter().map(|(id, _)| id.clone());
        ids.chain([speaker.clone()]).collect::<Vec<_>>()
    };
    let teams = agents.chunks(EACH).enumerate().map(|(number, team)| {
        let thread = begin(&host, &format!("team {number}"), &participants(team))?;
        Ok((thread, team.len()))
    });
    let teams: Vec<_> = teams.collect::<Result<_, String>>()?;
    let all = (begin(&host, "all of them", &participants(&agents))?, agents.len());
    let tokens: Vec<_> = agents.into_iter().map(|(_, token)| token).collect();
    settle(&host);
    let before = host.resident_mib();
    load::runtime()?.block_on(async {
        let mut room = Waiting::open(&host, token.clone(), &tokens, &teams).await?;
        settle(&host);
        let grown_kib = (host.resident_mib() - before) * 1024.0;
        samples.add("wait_1000.kib", grown_kib / waiting as f64);
        let mut times = Vec::new();
        for _ in 0..TURNS {
            for (thread, team) in &teams {
                times.extend(room.post(thread, *team).await?);
            }
        }
        samples.add("wait_1000.p99_ms", p99_us(times) / 1e3);
        // Those of before go with their connections.
        drop(room);
        let mut times = Vec::new();
        let mut room = Waiting::open(&host, token, &tokens, std::slice::from_ref(&all)).await?;
        settle(&host);
        for _ in 0..TURNS {
            times.extend(room.post(&all.0, all.1).await?);
        }
        samples.add("wait_1000.at_once.p99_ms", p99_us(times) / 1e3);
        Ok(())
    })
}

/// Agents whose calls are on their way, and a person who posts.
struct Waiting {
    door: TcpStream,
    token: String,
    posted: u64,
    answers: mpsc::UnboundedReceiver<Result<Instant, String>>,
    _agents: JoinSet<()>,
}

impl Waiting {
    /// Lets every agent of every thread begin to wait; the agents are told off in order.
    async fn open(
        host: &Host,
        token: String,
        agents: &[String],
        threads: &[(Thread, usize)],
    ) -> Result<Self, String> {
        let (heard, answers) = mpsc::unbounded_channel();
        let (mut tasks, mut agents) = (JoinSet::new(), agents.iter());
        for (thread, count) in threads {
            for agent in agents.by_ref().take(*count) {
                let mut agent = Agent {
                    door: connect(host.addr).await?,
                    token: agent.clone(),
                    thread: thread.id.clone(),
                    seen: 0,
                };
                agent.wait().await?;
                let heard = heard.clone();
                tasks.spawn(async move {
                    loop {
                        let answer = agent.next().await;
                        let over = answer.is_err();
                        if heard.send(answer).is_err() || over {
                            return;
                        }
                    }
                });
            }
        }
        let door = connect(host.addr).await?;
        Ok(Self { door, token, posted: 0, answers, _agents: tasks })
    }

    /// Posts to a thread in which so many wait: how long after its acknowledgement each was answered.
    async fn post(&mut self, thread: &Thread, waiting: usize) -> Result<Vec<Duration>, String> {
        self.posted += 1;
        let (number, text) = (self.posted, filled("The build of this morning is on the shelf. "));
        let Thread { id, conversation } = thread;
        let body = json!({"conversation": conversation, "thread": id, "text": text, "idempotency_key": format!("{id}n{number}")});
        let mut out = Vec::new();
        talk::request(&mut out, "POST", "/v1/messages", &self.token, &body.to_string());
        send(&mut self.door, &out).await?;
        let (status, body) = answer(&mut self.door).await?;
        if status != 201 {
            return Err(format!("post: HTTP {status}: {}", String::from_utf8_lossy(&body)));
        }
        let acknowledged = Instant::now();
        let mut times = Vec::new();
        while times.len() < waiting {
            let heard = timeout(PATIENCE, self.answers.recv()).await;
            let heard = heard.map_err(|_| "an agent waits in vain")?.ok_or("no agent waits")??;
            times.push(heard.saturating_duration_since(acknowledged));
        }
        Ok(times)
    }
}

/// One that waits for what comes after the messages it has seen.
struct Agent {
    door: TcpStream,
    token: String,
    thread: String,
    seen: u64,
}

impl Agent {
    async fn wait(&mut self) -> Result<(), String> {
        let (thread, seen) = (&self.thread, self.seen);
        let arguments =
            format!(r#"{{"thread_id":"{thread}","since_seq":{seen},"wait_seconds":300}}"#);
        let mut out = Vec::new();
        talk::call(&mut out, talk::CHORUS, "read_messages", &self.token, seen, &arguments);
        send(&mut self.door, &out).await
    }

    /// Takes the answer, and waits again; when the answer was there.
    async fn next(&mut self) -> Result<Instant, String> {
        let (status, body) = answer(&mut self.door).await?;
        let heard = Instant::now();
        self.seen += 1;
        let body = String::from_utf8_lossy(&body);
        let one_more = format!(r#""next_seq":{}}},"isError":false}}}}"#, self.seen);
        if status != 200 || !body.ends_with(&one_more) {
            return Err(format!("not the one message after {}: HTTP {status}: {body}", self.seen));
        }
        self.wait().await?;
        Ok(heard)
    }
}

async fn connect(addr: SocketAddr) -> Result<TcpStream, String> {
    let door = TcpStream::connect(addr).await.map_err(|e| format!("connect: {e}"))?;
    door.set_nodelay(true).map_err(|e| format!("connect: {e}"))?;
    Ok(door)
}

async fn send(door: &mut TcpStream, request: &[u8]) -> Result<(), String> {
    door.write_all(request).await.map_err(|e| format!("send: {e}"))
}

/// One answer: its status and its body.
async fn answer(door: &mut TcpStream) -> Result<(u16, Vec<u8>), String> {
    let mut got = Vec::new();
    loop {
        if let Some((status, head, end)) = talk::head_and_body(&got) {
            return Ok((status, got[head..end].to_vec()));
        }
        if door.read_buf(&mut got).await.map_err(|e| format!("receive: {e}"))? == 0 {
            return Err("the host closed the connection".to_owned());
        }
    }
}
