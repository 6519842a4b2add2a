//! From a post to the harnesses of those it tells: how soon the last one has it, and how many a second.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::harness::{Harness, Heard};
use super::rooms::{filled, id_of, person, token};
use super::server::Host;
use crate::bench::{load, talk};

/// Nothing here takes this long unless a delivery was lost.
const PATIENCE: Duration = Duration::from_secs(15);
/// Posts whose deliveries may be on their way at once when the rate is measured.
const AHEAD: u64 = 4;

/// Agents in a channel of their own, and a person who speaks to all of them.
pub(super) struct Audience {
    runtime: Runtime,
    /// One token an agent; they connect for each measurement anew.
    tokens: Vec<String>,
    speaker: Speaker,
}

/// Whoever posts.
struct Speaker {
    addr: SocketAddr,
    token: String,
    room: String,
    text: String,
    /// Those it speaks to, named beside the text: a post to a thousand is as long as one to a hundred.
    mentions: Vec<String>,
    posted: u64,
}

/// When an agent settles what it was told.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Settles {
    AtOnce,
    Afterwards,
}

/// What the agents report.
enum Seen {
    Arrived(Instant),
    Settled,
    Lost(String),
}

type Reports = mpsc::UnboundedReceiver<Seen>;

impl Audience {
    /// Makes the agents, the speaker and the channel.
    pub(super) fn gather(host: &Host, agents: usize) -> Result<Self, String> {
        let (id, speaker) = person(host, &format!("speaker{agents}"))?;
        let mut members = vec![id];
        let mut tokens = Vec::new();
        for number in 0..agents {
            let id = format!("s{agents}a{number}");
            host.ask("POST", "/v1/members", &json!({"id": id, "kind": "agent"}))?;
            tokens.push(token(host, &id, "worker")?);
            members.push(id);
        }
        let title = format!("audience of {agents}");
        let body = json!({"title": title, "members": members, "replies": "line"});
        let room = id_of(&host.ask("POST", "/v1/channels", &body)?)?;
        let text = filled("Can you look at this? ");
        let mentions = members.split_off(1);
        let speaker = Speaker { addr: host.addr, token: speaker, room, text, mentions, posted: 0 };
        Ok(Self { runtime: load::runtime()?, tokens, speaker })
    }

    /// Microseconds from sending a post until it is acknowledged and the last harness has it, one post at a
    /// time: the next is sent when all have settled this one.
    pub(super) fn deliver(&mut self, window: Duration) -> Result<Vec<f64>, String> {
        let Self { runtime, tokens, speaker } = self;
        runtime.block_on(async {
            let (seen, mut reports) = mpsc::unbounded_channel();
            let (all_in, _) = watch::channel(());
            let mut agents = JoinSet::new();
            for token in tokens.iter() {
                let harness = Harness::connect(speaker.addr, token.clone()).await?;
                agents.spawn(patient(harness, seen.clone(), all_in.subscribe()));
            }
            let mut door = speaker.connect().await?;
            let (mut times, started) = (Vec::new(), Instant::now());
            while started.elapsed() < window {
                let sent = Instant::now();
                let arrivals = arrivals(&mut reports, tokens.len());
                let (acknowledged, last) = tokio::join!(speaker.post(&mut door), arrivals);
                let last = last?.max(acknowledged?);
                times.push((last - sent).as_secs_f64() * 1e6);
                all_in.send_replace(());
                settlements(&mut reports, tokens.len()).await?;
            }
            agents.shutdown().await;
            Ok(times)
        })
    }

    /// Deliveries a second: a few posts on their way at once, each told to all and acknowledged as it comes.
    /// Agents also settle each at once, or all of them when the measurement is over.
    pub(super) fn fan_out(&mut self, window: Duration, settles: Settles) -> Result<f64, String> {
        let Self { runtime, tokens, speaker } = self;
        runtime.block_on(async {
            let (seen, mut reports) = mpsc::unbounded_channel();
            let (over, _) = watch::channel(());
            let mut agents = JoinSet::new();
            for token in tokens.iter() {
                let harness = Harness::connect(speaker.addr, token.clone()).await?;
                agents.spawn(eager(harness, settles, seen.clone(), over.subscribe()));
            }
            let mut door = speaker.connect().await?;
            let each = tokens.len() as u64;
            let (mut posts, mut arrived, mut settled) = (0_u64, 0_u64, 0_u64);
            let (started, mut last) = (Instant::now(), Instant::now());
            while started.elapsed() < window || settled < posts * each {
                if arrived == posts * each && started.elapsed() >= window {
                    over.send_replace(());
                }
                if started.elapsed() < window && posts * each < arrived + AHEAD * each {
                    speaker.post(&mut door).await?;
                    posts += 1;
                }
                let mut report = reports.try_recv().ok();
                let must_wait =
                    posts * each >= arrived + AHEAD * each || started.elapsed() >= window;
                if report.is_none() && must_wait {
                    report = Some(next(&mut reports).await?);
                }
                while let Some(seen) = report {
                    match seen {
                        Seen::Arrived(at) => (arrived, last) = (arrived + 1, at),
                        Seen::Settled => settled += 1,
                        Seen::Lost(why) => return Err(why),
                    }
                    report = reports.try_recv().ok();
                }
            }
            agents.shutdown().await;
            Ok(arrived as f64 / (last - started).as_secs_f64())
        })
    }
}

impl Speaker {
    async fn connect(&self) -> Result<TcpStream, String> {
        let door = TcpStream::connect(self.addr).await.map_err(|e| e.to_string())?;
        door.set_nodelay(true).map_err(|e| e.to_string())?;
        Ok(door)
    }

    /// Posts once; when it was acknowledged.
    async fn post(&mut self, door: &mut TcpStream) -> Result<Instant, String> {
        self.posted += 1;
        let body = json!({
            "conversation": self.room,
            "text": self.text,
            "mentions": self.mentions,
            "idempotency_key": format!("spoken {}", self.posted),
        });
        let mut out = Vec::new();
        talk::request(&mut out, "POST", "/v1/messages", &self.token, &body.to_string());
        door.write_all(&out).await.map_err(|e| format!("post: {e}"))?;
        let mut got = Vec::new();
        loop {
            if door.read_buf(&mut got).await.map_err(|e| format!("post: {e}"))? == 0 {
                return Err("post: the host closed the connection".to_owned());
            }
            match talk::head_and_body(&got) {
                None => {}
                Some((200..300, ..)) => return Ok(Instant::now()),
                Some(_) => return Err(String::from_utf8_lossy(&got).into_owned()),
            }
        }
    }
}

/// An agent that settles when it is told that all have the post.
async fn patient(
    mut harness: Harness,
    seen: mpsc::UnboundedSender<Seen>,
    mut all_in: watch::Receiver<()>,
) {
    loop {
        let report = match harness.hear().await {
            Err(why) => Seen::Lost(why),
            Ok(Heard::Answer) => Seen::Settled,
            Ok(Heard::Offer(offer)) => {
                let arrived = seen.send(Seen::Arrived(Instant::now()));
                if arrived.is_err() || all_in.changed().await.is_err() {
                    return;
                }
                match harness.settle(&offer).await {
                    Ok(()) => continue,
                    Err(why) => Seen::Lost(why),
                }
            }
        };
        let over = matches!(report, Seen::Lost(_));
        if seen.send(report).is_err() || over {
            return;
        }
    }
}

/// An agent that acknowledges what it is told at once. It settles it at once too, or when it hears that all is over.
async fn eager(
    mut harness: Harness,
    settles: Settles,
    seen: mpsc::UnboundedSender<Seen>,
    mut over: watch::Receiver<()>,
) {
    let mut offers = Vec::new();
    loop {
        let report = tokio::select! {
            heard = harness.hear() => match heard {
                Err(why) => Err(why),
                Ok(Heard::Answer) => Ok(Seen::Settled),
                Ok(Heard::Offer(offer)) => {
                    let done = match settles {
                        Settles::AtOnce => harness.settle(&offer).await,
                        Settles::Afterwards => harness.acknowledge(&offer).await,
                    };
                    offers.push(offer);
                    done.map(|()| Seen::Arrived(Instant::now()))
                }
            },
            Ok(()) = over.changed(), if settles == Settles::Afterwards => {
                match harness.settle_all(&std::mem::take(&mut offers)).await {
                    Ok(()) => continue,
                    Err(why) => Err(why),
                }
            }
        };
        let report = report.unwrap_or_else(Seen::Lost);
        let is_lost = matches!(report, Seen::Lost(_));
        if seen.send(report).is_err() || is_lost {
            return;
        }
    }
}

async fn next(reports: &mut Reports) -> Result<Seen, String> {
    match timeout(PATIENCE, reports.recv()).await {
        Ok(Some(seen)) => Ok(seen),
        Ok(None) => Err("all agents are gone".to_owned()),
        Err(_) => Err(format!("nothing came for {} s", PATIENCE.as_secs())),
    }
}

/// Waits for that many arrivals; when the last one came.
async fn arrivals(reports: &mut Reports, count: usize) -> Result<Instant, String> {
    let (mut last, mut arrived) = (Instant::now(), 0);
    while arrived < count {
        match next(reports).await? {
            Seen::Arrived(at) => (arrived, last) = (arrived + 1, at),
            Seen::Settled => {}
            Seen::Lost(why) => return Err(why),
        }
    }
    Ok(last)
}

/// Waits for that many settlements.
async fn settlements(reports: &mut Reports, count: usize) -> Result<(), String> {
    let mut settled = 0;
    while settled < count {
        match next(reports).await? {
            Seen::Settled => settled += 1,
            Seen::Arrived(_) => return Err("a delivery came twice".to_owned()),
            Seen::Lost(why) => return Err(why),
        }
    }
    Ok(())
}
