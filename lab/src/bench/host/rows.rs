//! Logs of a thousand and of five million rows, and what posting and reading cost on each.
//!
//! The rows are written by the store's own writer, as years of talk that lie behind: ten rooms,
//! one person, unaddressed text. Only then does the host start on them, so that it is measured as it comes
//! up on such a folder.

use std::path::Path;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use chorus_core::commands::{Command, conversations, directory};
use chorus_core::model::caller::{Authority, By};
use chorus_core::model::conversation::{ConversationKind, Settings, Visibility};
use chorus_core::model::error::Refusal;
use chorus_core::model::event::{Idempotency, Message};
use chorus_core::model::ids::{MemberKey, Prefix, Timestamp, Uid};
use chorus_core::model::member::{MemberFields, MemberKind};
use chorus_core::model::requests::Post;
use chorus_core::model::seed::CommandSeed;
use chorus_store::postgres::Address;
use chorus_store::{Clock, Options, Sync, SystemClock, Writer};

use super::rooms::{TEXT_BYTES, token};
use super::server::{Ground, Host, Hosts};
use crate::bench::load;
use crate::bench::talk::{Get, Post as PostTalk};

/// Rooms that the rows go to, in turn.
const ROOMS: u64 = 10;
/// Posts on their way to the writer at once.
const AHEAD: u64 = 256;
/// How far back the first row lies.
const YEARS_MS: i64 = 3 * 365 * 24 * 3_600_000;

/// A host on a folder with that many rows.
pub(super) struct Rows {
    pub(super) host: Host,
    token: String,
    rooms: Vec<String>,
    each: u64,
    runs: u64,
}

impl Rows {
    pub(super) fn fill(hosts: Hosts<'_>, rows: u64) -> Result<Self, String> {
        let ground = hosts.ground()?;
        let rooms = write(&ground, rows).map_err(|e| format!("filling: {e}"))?;
        let host = hosts.start_on(&[], ground)?;
        let token = token(&host, "writer", "operator")?;
        Ok(Self { host, token, rooms, each: rows / ROOMS, runs: 0 })
    }

    /// Microseconds of a post, with 64 clients over all rooms.
    pub(super) fn post_us(&mut self, window: Duration) -> Result<f64, String> {
        self.runs += 1;
        let run = self.runs;
        let text = text();
        let talks = (0..64).map(|client: u64| {
            let (text, rooms) = (text.clone(), self.rooms.clone());
            PostTalk {
                path: "/v1/messages",
                token: self.token.clone(),
                asked: 0,
                body: Box::new(move |n| {
                    let room = &rooms[((client + n) % ROOMS) as usize];
                    format!(
                        r#"{{"conversation":"{room}","text":"{text}","idempotency_key":"p{run}c{client}n{n}"}}"#
                    )
                }),
            }
        });
        Ok(1e6 / load::run(self.host.addr, window, talks.collect())?.rate)
    }

    /// Microseconds of reading 50 messages after a cursor anywhere in a log, with 64 clients.
    pub(super) fn read_us(&mut self, window: Duration) -> Result<f64, String> {
        let talks = (0..64).map(|client: u64| {
            let mut at = client.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
            let (rooms, each, token) = (self.rooms.clone(), self.each, self.token.clone());
            Get(Box::new(move |out| {
                at ^= at << 13;
                at ^= at >> 7;
                at ^= at << 17;
                let room = &rooms[(at % ROOMS) as usize];
                let after = (at >> 16) % each.saturating_sub(50).max(1);
                read(out, room, after, &token);
            }))
        });
        Ok(1e6 / load::run(self.host.addr, window, talks.collect())?.rate)
    }

    /// Reads 50 messages after a cursor among the newest 150 of each room, with 64 clients: how harnesses and
    /// screens read. Reads a second.
    pub(super) fn read_newest(&mut self, window: Duration) -> Result<f64, String> {
        let head = self.head()?;
        let talks = (0..64).map(|client: u64| {
            let (rooms, token) = (self.rooms.clone(), self.token.clone());
            let mut n = client;
            Get(Box::new(move |out| {
                n += 1;
                let room = &rooms[(n % 8) as usize];
                read(out, room, head.saturating_sub(50 + (n * 7) % 100), &token);
            }))
        });
        Ok(load::run(self.host.addr, window, talks.collect())?.rate)
    }

    /// The newest seq that all rooms have.
    fn head(&self) -> Result<u64, String> {
        let mut newest = u64::MAX;
        for room in self.rooms.iter().take(8) {
            let path = format!("/v1/messages?conversation={room}&limit=1");
            let answer = self.host.ask("GET", &path, &serde_json::Value::Null)?;
            let seq = answer["messages"][0]["seq"].as_u64().ok_or("a room without messages")?;
            newest = newest.min(seq);
        }
        Ok(newest)
    }

    /// A room's id, for who reads all of it.
    pub(super) fn room(&self, number: usize) -> &str {
        &self.rooms[number % self.rooms.len()]
    }
}

fn read(out: &mut Vec<u8>, room: &str, after: u64, token: &str) {
    let request = format!(
        "GET /v1/messages?conversation={room}&after_seq={after}&limit=50 HTTP/1.1\r\nhost: 127.0.0.1\r\n\
         authorization: Bearer {token}\r\n\r\n"
    );
    out.extend_from_slice(request.as_bytes());
}

fn text() -> String {
    let filler = "the build of this morning is on the shelf and nobody has looked at it yet ";
    filler.chars().cycle().take(TEXT_BYTES).collect()
}

/// The clock of the years that lie behind: it goes on with every row.
#[derive(Debug)]
struct Behind {
    start: i64,
    step: i64,
    written: Arc<AtomicU64>,
}

impl Clock for Behind {
    fn now(&self) -> Timestamp {
        Timestamp(self.start + self.step * self.written.load(Ordering::Relaxed) as i64)
    }
}

/// Fills an empty folder; the public ids of its rooms.
fn write(ground: &Ground, rows: u64) -> Result<Vec<String>, String> {
    let start = SystemClock.now().0 - YEARS_MS;
    let written = Arc::new(AtomicU64::new(0));
    let step = (YEARS_MS / 2) / rows.max(1) as i64;
    let clock = Arc::new(Behind { start, step, written: written.clone() });
    let ids =
        Arc::new(Ids { at: AtomicI64::new(start), clock: clock.clone(), next: AtomicU64::new(1) });
    let data = ground.folder.path();
    let database = ground.database.as_ref().map(|schema| Address::read(&schema.url));
    let database = database.transpose().map_err(|e| e.to_string())?.map(Arc::new);
    let options = Options::new(data, ids.uid());
    let options = Options { sync: Sync::DangerousNormal, database, clock, ..options };
    let store = chorus_store::open(options).map_err(|e| e.to_string())?;
    let (writer, _readers) = store.start(Box::new(drop)).map_err(|e| e.to_string())?;
    let fields = MemberFields::default();
    let person = directory::AddMember { id: "writer".into(), kind: MemberKind::Human, fields };
    ask(&writer, By::host(), person, ids.drawn())?;
    let mut rooms = Vec::new();
    for number in 0..ROOMS {
        let settings = Settings {
            title: format!("years {number}").into(),
            description: "".into(),
            purpose: "".into(),
            visibility: Visibility::Public,
            ..Settings::default()
        };
        let members = vec![MemberKey(1)];
        let kind = ConversationKind::Channel;
        let make = conversations::CreateConversation { kind, settings, members };
        rooms.push(ask(&writer, by(), make, ids.drawn())?.uid);
    }
    let (done, finished) = mpsc::channel();
    let fill = Arc::new(Fill {
        writer: writer.clone(),
        rooms: rooms.clone(),
        text: text().into(),
        ids,
        sent: AtomicU64::new(0),
        written,
        rows,
        done,
    });
    (0..AHEAD.min(rows)).for_each(|_| fill.next());
    let refused = finished.recv().map_err(|_| "the writer ended")?;
    // What is still on its way is answered before the writer stops.
    writer.stop();
    written_through(data).map_err(|e| e.to_string())?;
    match refused {
        Some(refusal) => Err(refusal.message.to_string()),
        None => Ok(rooms.into_iter().map(|uid| uid.show(Prefix::Conversation)).collect()),
    }
}

/// Waits until the disk has all of it: the years that lie behind are not written while the present is measured.
fn written_through(data: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(data)? {
        let path = entry?.path();
        if path.is_file() {
            std::fs::File::open(path)?.sync_all()?;
        }
    }
    Ok(())
}

/// Posts one after the other until all are written.
struct Fill {
    writer: Writer,
    rooms: Vec<Uid>,
    text: Arc<str>,
    ids: Arc<Ids>,
    sent: AtomicU64,
    written: Arc<AtomicU64>,
    rows: u64,
    done: mpsc::Sender<Option<Refusal>>,
}

impl Fill {
    fn next(self: &Arc<Self>) {
        let n = self.sent.fetch_add(1, Ordering::Relaxed);
        if n >= self.rows {
            return;
        }
        let mut key = [0; 16];
        key[..8].copy_from_slice(&n.to_be_bytes());
        let post = Post {
            conversation: self.rooms[(n % ROOMS) as usize],
            thread: None,
            message: Message { text: self.text.clone(), ..Message::default() },
            in_reply_to: None,
            idempotency: Some(Idempotency { key, payload: key }),
            recipient: None,
            mentions: Vec::new(),
            directedness: None,
            audience: Default::default(),
            left_out: Vec::new(),
        };
        let this = self.clone();
        self.writer.submit(by(), post, self.ids.drawn(), move |answer| {
            let written = this.written.fetch_add(1, Ordering::Relaxed) + 1;
            // Nobody waits any more after the first word.
            if let Err(why) = answer {
                let _ = this.done.send(Some(why.into()));
            } else if written == this.rows {
                let _ = this.done.send(None);
            } else {
                this.next();
            }
        });
    }
}

/// Ids that lie as far back as their rows.
struct Ids {
    at: AtomicI64,
    clock: Arc<Behind>,
    next: AtomicU64,
}

impl Ids {
    fn uid(&self) -> Uid {
        let now = self.clock.now().0;
        let at = self.at.fetch_max(now, Ordering::Relaxed).max(now);
        let n = u128::from(self.next.fetch_add(1, Ordering::Relaxed));
        Uid(((at as u128) << 80) | (7 << 76) | (2 << 62) | n)
    }

    fn drawn(&self) -> CommandSeed {
        CommandSeed { uid: self.uid(), second: self.uid(), salt: [7; 16] }
    }
}

fn by() -> By {
    By { member: MemberKey(1), session: None, authority: Authority::Operator, turn: None }
}

fn ask<C: Command>(
    writer: &Writer,
    by: By,
    command: C,
    drawn: CommandSeed,
) -> Result<C::Output, String> {
    writer.execute(by, command, drawn).map_err(|why| Refusal::from(why).message)
}
