//! A loaded room equals the room that was written.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::sync::Arc;

use chorus_core::commands::{
    Command, Prepared, conversations, directory as members, messages, threads,
};
use chorus_core::model::caller::{Authority, By};
use chorus_core::model::conversation::{ConversationKind, Participation, Settings, Visibility};
use chorus_core::model::event::{Idempotency, Message};
use chorus_core::model::ids::{ConversationKey, MemberKey, Seq, Timestamp, Uid};
use chorus_core::model::member::{MemberFields, MemberKind};
use chorus_core::model::reaction::Signal;
use chorus_core::model::requests::{OpenThread, Post};
use chorus_core::model::seed::CommandSeed;
use chorus_core::model::thread::{ThreadKind, ThreadStatus};
use chorus_core::state::directory::Directory;
use chorus_core::state::room::Room;
use chorus_core::state::workspace::Workspace;

use crate::db::Db;
use crate::facts::Stored;
use crate::record::record;
use crate::sqlite::Sqlite;
use crate::{Tenant, directory, schema};

struct Ground {
    _folder: tempfile::TempDir,
    db: Box<dyn Db>,
    workspace: Workspace,
    drawn: u128,
    now: Timestamp,
}

impl Ground {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("chorus.db");
        let db: Box<dyn Db> = Box::new(Sqlite::writer(&file, None, crate::db::Sync::Full).unwrap());
        schema::migrate(&*db, &schema::SQLITE, Timestamp(1)).unwrap();
        let tenant = Tenant { key: 1, uid: Uid(1), name: "default".into(), epoch: 1, lead: None };
        directory::add_tenant(&*db, &tenant, Timestamp(1)).unwrap();
        let workspace = Workspace::new(Directory::default(), 0);
        Self { _folder: folder, db, workspace, drawn: 1, now: Timestamp(1_000) }
    }

    fn stored(&self) -> Stored<'_> {
        let directory = self.workspace.directory().clone();
        Stored::new(&*self.db, 1, directory, self.now)
    }

    fn run<C: Command>(&mut self, by: u32, command: C) -> C::Output {
        self.drawn += 1;
        let authority = Authority::Operator;
        let by = By { member: MemberKey(by), session: None, authority, turn: None };
        let drawn = CommandSeed {
            uid: Uid(self.drawn << 40),
            second: Uid((self.drawn << 40) + 99),
            salt: [3; 16],
        };
        let directory = self.workspace.directory().clone();
        let mut facts = Stored::new(&*self.db, 1, directory, self.now);
        let executed = self
            .workspace
            .execute(&mut facts, by, &Prepared::new(command, drawn), self.now)
            .unwrap();
        let changes = self.workspace.take_changes();
        self.db.begin().unwrap();
        record(&*self.db, 1, &self.workspace, &changes).unwrap();
        self.db.commit().unwrap();
        self.now = self.now.plus(10);
        executed.done.unwrap()
    }

    fn post(&mut self, room: Uid, thread: Option<Uid>, text: &str) -> Uid {
        let key = (self.drawn as u64).to_be_bytes().repeat(2).try_into().unwrap();
        let post = Post {
            conversation: room,
            thread,
            message: Message { text: text.into(), ..Message::default() },
            in_reply_to: None,
            idempotency: Some(Idempotency { key, payload: key }),
            recipient: None,
            mentions: Vec::new(),
            directedness: None,
            audience: Default::default(),
            left_out: Vec::new(),
        };
        self.run(1, post).entry.event.uid
    }

    /// A conversation with everything that a room remembers.
    fn live(&mut self) -> ConversationKey {
        for (id, kind) in
            [("person", MemberKind::Human), ("ada", MemberKind::Agent), ("bob", MemberKind::Agent)]
        {
            self.run(
                0,
                members::AddMember { id: id.into(), kind, fields: MemberFields::default() },
            );
        }
        let settings = Settings {
            title: "room".into(),
            description: "what".into(),
            purpose: "why".into(),
            visibility: Visibility::Private,
            ..Settings::default()
        };
        let (kind, members) = (ConversationKind::Channel, vec![MemberKey(2), MemberKey(3)]);
        let room = self.run(1, conversations::CreateConversation { kind, settings, members });
        let (member, participation) = (MemberKey(3), Participation::AlwaysListen);
        self.run(
            1,
            conversations::SetSeat {
                conversation: room.uid,
                member,
                participation,
                terms: Default::default(),
            },
        );
        let said = self.post(room.uid, None, "@ada what is the time?");
        let opening = OpenThread {
            home: room.uid.into(),
            root: Some(said),
            title: "time".into(),
            kind: ThreadKind::Workflow,
            owner: Some(MemberKey(2)),
            participants: vec![MemberKey(3)],
            idempotency: None,
        };
        let thread = self.run(1, opening).thread;
        self.post(room.uid, Some(thread.uid), "in the thread");
        let (status, reason) = (Some(ThreadStatus::Blocked), "waiting".into());
        self.run(
            1,
            threads::ChangeThread {
                thread: thread.uid,
                status,
                owner: None,
                reason,
                summary: None,
                note: None,
            },
        );
        let content = Message { text: "@ada what is the hour?".into(), ..Message::default() };
        self.run(1, messages::Edit { message: said, content });
        let (message, signal) = (said, Signal::Agree);
        self.run(3, messages::React { message, signal, detail: None, on: true });
        for n in 0..100 {
            self.post(room.uid, None, &format!("number {n}"));
        }
        self.run(1, conversations::SetCursor { conversation: room.uid, read: Seq(7) });
        room.key
    }
}

#[test]
fn a_room_is_loaded_as_it_was_written() {
    let mut ground = Ground::new();
    let key = ground.live();
    ground.workspace.store_open();
    let changes = ground.workspace.take_changes();
    record(&*ground.db, 1, &ground.workspace, &changes).unwrap();
    let loaded = ground.stored().load(key).unwrap().unwrap();
    let kept = ground.workspace.room(key).unwrap();
    assert_eq!(loaded.conversation(), kept.conversation());
    assert_eq!(loaded.head(), kept.head());
    assert_eq!(loaded.roster(), kept.roster());
    assert_eq!(loaded.listeners(), kept.listeners());
    assert_eq!(loaded.threads(), kept.threads());
    assert_eq!(loaded.tail(), kept.tail());
    assert_eq!(open(&loaded), open(kept));
    assert!(!open(kept).is_empty());
    for event in kept.tail() {
        let key = event.idempotency.unwrap().key;
        assert_eq!(loaded.sent().get(&key), kept.sent().get(&key));
        assert_eq!(loaded.sent().get(&key), Some(event.seq));
    }
}

#[test]
fn a_room_is_the_replay_of_its_log() {
    let mut ground = Ground::new();
    let key = ground.live();
    let kept = ground.workspace.room(key).unwrap();
    let mut replayed = Room::new((**kept.conversation()).clone());
    for event in crate::event::after(&*ground.db, 1, key, Seq(0), 1_000).unwrap() {
        replayed.apply(&event);
    }
    assert_eq!(replayed.roster(), kept.roster());
    assert_eq!(replayed.threads(), kept.threads());
    assert_eq!((replayed.head().seq, replayed.head().hash), (kept.head().seq, kept.head().hash));
    let changed: BTreeMap<_, _> =
        replayed.messages().iter().filter(|(_, state)| !state.is_plain()).collect();
    let rows = crate::message::all(&*ground.db, 1, key).unwrap();
    assert_eq!(changed.into_iter().map(|(s, m)| (*s, m.clone())).collect::<Vec<_>>(), rows);
}

/// The open events, without what a restart deliberately changes.
fn open(room: &Room) -> Vec<(Seq, Uid, Arc<chorus_core::model::attention::Attention>, Vec<u16>)> {
    let open = room.open().values();
    open.map(|o| {
        (o.seq, o.uid, o.attention.clone(), o.deliveries.iter().map(|d| d.attempt).collect())
    })
    .collect()
}
