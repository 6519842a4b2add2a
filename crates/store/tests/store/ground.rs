//! A host's store in a temporary folder, with people and agents, driven by a clock that is set by hand.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use chorus_core::commands::messages::Logged;
use chorus_core::commands::{Command, conversations, directory};
use chorus_core::model::caller::{Authority, By};
use chorus_core::model::conversation::{Conversation, ConversationKind, Settings, Visibility};
use chorus_core::model::error::Refusal;
use chorus_core::model::event::{Idempotency, Message};
use chorus_core::model::ids::{MemberKey, SessionKey, Timestamp, Uid};
use chorus_core::model::member::{MemberFields, MemberKind};
use chorus_core::model::offer::Entry;
use chorus_core::model::requests::Post;
use chorus_core::model::seed::CommandSeed;
use chorus_core::queries;
use chorus_core::state::effect::Effect;
use chorus_store::doctor::Report;
use chorus_store::postgres::Address;
use chorus_store::{ManualClock, Options, Place, Readers, Writer, open};
use rusqlite::Connection;

static NEXT: AtomicU64 = AtomicU64::new(1);

/// The person and the two agents of every ground.
pub(crate) const PERSON: MemberKey = MemberKey(1);
pub(crate) const ADA: MemberKey = MemberKey(2);
pub(crate) const BOB: MemberKey = MemberKey(3);

/// A workspace of these tests, in the folder itself or where `CHORUS_TEST_ENGINE` says.
pub(crate) fn options(folder: &Path) -> Options {
    let url = chorus_cluster::under_test(folder).unwrap();
    let database = url.map(|url| Arc::new(Address::read(&url).unwrap()));
    Options { database, ..Options::new(folder, Uid(0xab)) }
}

/// A folder whose workspace is what a crash would leave of another's now: what is committed.
pub(crate) fn as_crashed(folder: &Path) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    match chorus_cluster::under_test(folder).unwrap() {
        None => {
            for name in ["chorus.db", "chorus.db-wal"] {
                let _ = std::fs::copy(folder.join(name), copy.path().join(name));
            }
        }
        Some(from) => {
            let to = chorus_cluster::under_test(copy.path()).unwrap().unwrap();
            let from = from.rsplit("%3D").next().unwrap();
            let sql = format!(
                "DO $$ DECLARE t text; BEGIN
                    FOR t IN SELECT tablename FROM pg_tables WHERE schemaname = '{from}' LOOP
                        EXECUTE format('CREATE TABLE %I (LIKE {from}.%I INCLUDING ALL)', t, t);
                        EXECUTE format('INSERT INTO %I SELECT * FROM {from}.%I', t, t);
                    END LOOP;
                END $$"
            );
            chorus_cluster::sql_at(&to, &sql).unwrap();
        }
    }
    copy
}

pub(crate) fn place(folder: &Path) -> Place {
    options(folder).place()
}

pub(crate) fn doctor(folder: &Path) -> Report {
    chorus_store::doctor(&place(folder)).unwrap()
}

/// Changes rows behind the store's back.
pub(crate) fn damage(folder: &Path, sql: &str) {
    match chorus_cluster::under_test(folder).unwrap() {
        None => {
            let db = Connection::open(folder.join("chorus.db")).unwrap();
            assert!(db.execute(sql, []).unwrap() > 0, "it changed nothing: {sql}");
        }
        Some(url) => {
            let sql = sql.replace("x'", "'\\x").replace("AS BLOB", "AS BYTEA");
            let changed = format!("{sql} RETURNING 1");
            assert!(!chorus_cluster::sql_at(&url, &changed).unwrap().is_empty(), "{sql}");
        }
    }
}

/// Every row of every table.
pub(crate) fn rows(folder: &Path) -> Vec<String> {
    let Some(url) = chorus_cluster::under_test(folder).unwrap() else {
        let db = Connection::open(folder.join("chorus.db")).unwrap();
        let sql = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name";
        let mut names = db.prepare(sql).unwrap();
        let names = names.query_map([], |row| row.get::<_, String>(0)).unwrap();
        let tables = names.map(Result::unwrap).map(|name| {
            let mut all = db.prepare(&format!("SELECT * FROM {name}")).unwrap();
            let columns = all.column_count();
            let mut found = all.query([]).unwrap();
            let mut rows = vec![name];
            while let Some(row) = found.next().unwrap() {
                let values = (0..columns).map(|n| format!("{:?}", row.get_ref(n).unwrap()));
                rows.push(values.collect::<Vec<_>>().join(", "));
            }
            rows
        });
        return tables.flatten().collect();
    };
    // Not who works on it, which changes with everybody who does.
    let names = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()
        AND tablename NOT IN ('live_host', 'workspace_owner') ORDER BY 1";
    let names = chorus_cluster::sql_at(&url, names).unwrap();
    let table = |name| {
        let sql = format!("SELECT t::text FROM {name} t ORDER BY 1");
        format!("{name}\n{}", chorus_cluster::sql_at(&url, &sql).unwrap())
    };
    names.lines().map(table).collect()
}

pub(crate) struct Ground {
    pub(crate) writer: Writer,
    pub(crate) readers: Readers,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) effects: Arc<Mutex<Vec<Effect>>>,
}

impl Ground {
    pub(crate) fn open(folder: &Path) -> Self {
        Self::with(options(folder), Timestamp(1_000_000))
    }

    pub(crate) fn at(folder: &Path, at: Timestamp) -> Self {
        Self::with(options(folder), at)
    }

    pub(crate) fn with(options: Options, at: Timestamp) -> Self {
        chorus_statements::watch();
        let clock = Arc::new(ManualClock::new(at));
        let effects = Arc::new(Mutex::new(Vec::new()));
        let kept = effects.clone();
        let sink = move |new: Vec<Effect>| kept.lock().unwrap().extend(new);
        let store = open(Options { clock: clock.clone(), ..options }).unwrap();
        let (writer, readers) = store.start(Box::new(sink)).unwrap();
        Self { writer, readers, clock, effects }
    }

    pub(crate) fn ask<C: Command>(&self, by: By, command: C) -> Result<C::Output, Refusal> {
        self.ask_drawn(by, command, drawn())
    }

    pub(crate) fn ask_drawn<C: Command>(
        &self,
        by: By,
        command: C,
        drawn: CommandSeed,
    ) -> Result<C::Output, Refusal> {
        Ok(self.writer.execute(by, command, drawn)?)
    }

    /// The person and the agents, and a public channel of all three.
    pub(crate) fn settle(&self) -> Arc<Conversation> {
        for (id, kind) in
            [("person", MemberKind::Human), ("ada", MemberKind::Agent), ("bob", MemberKind::Agent)]
        {
            let fields = MemberFields::default();
            self.ask(By::host(), directory::AddMember { id: id.into(), kind, fields }).unwrap();
        }
        self.channel("room")
    }

    pub(crate) fn channel(&self, title: &str) -> Arc<Conversation> {
        let settings = Settings {
            title: title.into(),
            description: "".into(),
            purpose: "".into(),
            visibility: Visibility::Public,
            ..Settings::default()
        };
        let (kind, members) = (ConversationKind::Channel, vec![ADA, BOB]);
        self.ask(person(), conversations::CreateConversation { kind, settings, members }).unwrap()
    }

    pub(crate) fn say(&self, room: Uid, text: &str) -> Entry {
        self.ask(person(), post(room, text, None)).unwrap().entry
    }

    pub(crate) fn connect(&self, agent: MemberKey) -> SessionKey {
        let command = directory::OpenSession { runtime: "test".into(), ..Default::default() };
        self.ask(by(agent), command).unwrap().key
    }

    /// Time passes, and everything that it makes happen has happened.
    pub(crate) fn pass(&self, ms: i64) {
        self.clock.advance(ms);
        self.writer.tick();
        let idle = queries::Waiting { member: Some(PERSON), limit: 0 };
        self.ask(person(), idle).unwrap();
    }
}

pub(crate) fn logged(logged: Logged) -> Entry {
    logged.entry
}

pub(crate) fn post(room: Uid, text: &str, key: Option<u8>) -> Post {
    let payload = text.bytes().fold(0u128, |hash, b| hash.wrapping_mul(31).wrapping_add(b.into()));
    Post {
        conversation: room,
        thread: None,
        message: Message { text: text.into(), ..Message::default() },
        in_reply_to: None,
        idempotency: key.map(|key| Idempotency { key: [key; 16], payload: payload.to_be_bytes() }),
        recipient: None,
        mentions: Vec::new(),
        directedness: None,
        audience: Default::default(),
        left_out: Vec::new(),
    }
}

pub(crate) fn person() -> By {
    By { member: PERSON, session: None, authority: Authority::Operator, turn: None }
}

pub(crate) fn by(agent: MemberKey) -> By {
    By { member: agent, session: None, authority: Authority::Worker, turn: None }
}

pub(crate) fn drawn() -> CommandSeed {
    let n = u128::from(NEXT.fetch_add(1, Ordering::Relaxed));
    CommandSeed { uid: Uid(n << 40), second: Uid((n << 40) + (1 << 39)), salt: [n as u8; 16] }
}
