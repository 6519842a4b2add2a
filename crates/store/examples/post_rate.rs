//! How many posts a second the writer takes: 64 callers, each sending its next post when its last was
//! answered, into channels of one person and three agents that are all named.
//!
//! `cargo run --release -p chorus-store --example post_rate [SECONDS] [CHANNELS]`; with `CHORUS_RATE_DATABASE` on a
//! PostgreSQL, by its URL, or `auto` for one that is started.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use chorus_cluster::{Cluster, Durability};
use chorus_core::commands::{conversations, directory};
use chorus_core::model::caller::{Authority, By};
use chorus_core::model::conversation::{ConversationKind, Settings, Visibility};
use chorus_core::model::error::Refusal;
use chorus_core::model::event::{Idempotency, Message};
use chorus_core::model::ids::{MemberKey, Uid};
use chorus_core::model::member::{MemberFields, MemberKind};
use chorus_core::model::requests::Post;
use chorus_core::model::seed::CommandSeed;
use chorus_store::postgres::Address;
use chorus_store::{Options, Writer, open};

const CALLERS: usize = 64;

static NEXT: AtomicU64 = AtomicU64::new(1);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let seconds = args.next().map_or(Ok(5), |s| s.parse())?;
    let channels = args.next().map_or(Ok(16), |s| s.parse())?;
    let folder = PathBuf::from(std::env::var("CHORUS_RATE_DIR").unwrap_or_else(|_| {
        std::env::temp_dir()
            .join(format!("chorus-post-rate-{}", std::process::id()))
            .display()
            .to_string()
    }));
    let mut options = Options::new(&folder, Uid(1));
    let mut cluster = None;
    if let Ok(url) = std::env::var("CHORUS_RATE_DATABASE") {
        let url = match url.as_str() {
            "auto" => {
                let sizes = ["-c", "shared_buffers=256MB", "-c", "max_wal_size=4GB"];
                cluster.insert(Cluster::start(Durability::Durable, &sizes)?).url("postgres")
            }
            _ => url,
        };
        options.database = Some(Arc::new(Address::read(&url)?));
    }
    let on_disk = options.database.is_none();
    let store = open(options)?;
    let (writer, _readers) = store.start(Box::new(drop))?;
    let rooms = people_and_rooms(&writer, channels)?;
    let posts = Arc::new(AtomicU64::new(0));
    let began = Instant::now();
    for caller in 0..CALLERS {
        post_on(writer.clone(), rooms[caller % rooms.len()], posts.clone());
    }
    std::thread::sleep(Duration::from_secs(seconds));
    let count = posts.load(Ordering::Relaxed);
    let rate = count as f64 / began.elapsed().as_secs_f64();
    let stats = writer.stats();
    println!("{rate:.0} posts/s, {} commands a batch", stats.commands / stats.batches.max(1));
    println!("{} us a commit", stats.commit_us / stats.commits.max(1));
    writer.stop();
    if on_disk {
        let bytes = std::fs::metadata(folder.join("chorus.db"))?.len();
        println!("{} bytes on disk a post", bytes / count.max(1));
    }
    std::fs::remove_dir_all(folder)?;
    Ok(())
}

/// Sends a post, and the next one when it was answered, until the writer stops.
fn post_on(writer: Writer, room: Uid, posts: Arc<AtomicU64>) {
    let again = writer.clone();
    let n = NEXT.fetch_add(1, Ordering::Relaxed);
    let mut key = [0; 16];
    key[..8].copy_from_slice(&n.to_be_bytes());
    let text = format!("@ada @bob @cyd number {n}: {}", "all work and no play ".repeat(13));
    let post = Post {
        conversation: room,
        thread: None,
        message: Message { text: text.into(), ..Message::default() },
        in_reply_to: None,
        idempotency: Some(Idempotency { key, payload: key }),
        recipient: None,
        mentions: Vec::new(),
        directedness: None,
        audience: Default::default(),
        left_out: Vec::new(),
    };
    writer.submit(person(), post, drawn(), move |answer| {
        if answer.is_ok() {
            posts.fetch_add(1, Ordering::Relaxed);
            post_on(again, room, posts);
        }
    });
}

fn people_and_rooms(writer: &Writer, channels: usize) -> Result<Vec<Uid>, Refusal> {
    for (id, kind) in [
        ("person", MemberKind::Human),
        ("ada", MemberKind::Agent),
        ("bob", MemberKind::Agent),
        ("cyd", MemberKind::Agent),
    ] {
        let fields = MemberFields::default();
        let add = directory::AddMember { id: id.into(), kind, fields };
        writer.execute(By::host(), add, drawn())?;
    }
    let mut rooms = Vec::new();
    for n in 0..channels {
        let settings = Settings {
            title: format!("room {n}").into(),
            description: "".into(),
            purpose: "".into(),
            visibility: Visibility::Public,
            ..Settings::default()
        };
        let members = [2, 3, 4].map(MemberKey).to_vec();
        let kind = ConversationKind::Channel;
        let make = conversations::CreateConversation { kind, settings, members };
        rooms.push(writer.execute(person(), make, drawn())?.uid);
    }
    Ok(rooms)
}

fn person() -> By {
    By { member: MemberKey(1), session: None, authority: Authority::Operator, turn: None }
}

/// Ids that rise with time, as drawn ones do.
fn drawn() -> CommandSeed {
    let n = u128::from(NEXT.fetch_add(1, Ordering::Relaxed));
    CommandSeed { uid: Uid(n << 40), second: Uid((n << 40) + (1 << 39)), salt: [7; 16] }
}
