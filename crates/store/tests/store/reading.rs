//! What readers are shown follows edits, deletions and reactions, and pages go both ways.

use chorus_core::commands::{messages, threads};
use chorus_core::model::event::{Message, MessageKind};
use chorus_core::model::ids::{Seq, Uid};
use chorus_core::model::message_state::MessageState;
use chorus_core::model::reaction::Signal;
use chorus_core::model::requests::OpenThread;
use chorus_core::model::thread::{ThreadKind, ThreadStatus};
use chorus_store::{Line, Page, Start};

use crate::ground::{BOB, Ground, by, logged, person, post};

#[test]
fn a_message_is_read_as_it_stands_now() {
    let folder = tempfile::tempdir().unwrap();
    let ground = Ground::open(folder.path());
    let room = ground.settle();
    let (kept, gone) = (ground.say(room.uid, "before"), ground.say(room.uid, "a secret"));
    let content = Message { text: "after".into(), ..Message::default() };
    let message = kept.event.uid;
    ground.ask(person(), messages::Edit { message, content: content.clone() }).unwrap();
    let react = messages::React { message, signal: Signal::Agree, detail: None, on: true };
    ground.ask(by(BOB), react).unwrap();
    ground.ask(person(), messages::Delete { message: gone.event.uid }).unwrap();

    let shown = ground.readers.entry(kept.event.uid).unwrap().unwrap();
    assert_eq!(shown.content, Some(content));
    assert_eq!(shown.state.reactions, [(BOB, Signal::Agree)]);
    let shown = ground.readers.entry(gone.event.uid).unwrap().unwrap();
    assert_eq!(shown.content, None);
    assert!(shown.state.deleted_at.is_some());

    let page = |line, start, limit| Page { conversation: room.key, line, start, limit };
    let read = |page| ground.readers.entries(&page).unwrap().unwrap();
    let (all, more) = read(page(Line::All, Start::After(Seq(0)), 100));
    assert!(!more);
    let seqs: Vec<_> = all.iter().map(|e| e.entry.event.seq.0).collect();
    assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>());
    let edit = all.iter().find(|e| e.entry.event.change.name() == "message_edited").unwrap();
    assert_eq!(edit.entry.about, Some(kept.event.uid));
    assert_eq!(edit.state, MessageState::default());
    let (newest, more) = read(page(Line::All, Start::Newest, 2));
    assert!(more);
    assert_eq!(
        newest.iter().map(|e| e.entry.event.seq.0).collect::<Vec<_>>(),
        seqs[seqs.len() - 2..]
    );
    let (before, _) = read(page(Line::Messages, Start::Before(gone.event.seq), 10));
    assert_eq!(before.len(), 1);
    assert_eq!(before[0].entry.event.uid, kept.event.uid);
    ground.writer.stop();
}

// covers: THR-14, THR-438
#[test]
fn what_was_done_in_a_thread_is_read_without_its_talk_or_anybody_elses() {
    let folder = tempfile::tempdir().unwrap();
    let ground = Ground::open(folder.path());
    let room = ground.settle();
    let open = || {
        let opening = OpenThread {
            home: room.uid.into(),
            root: None,
            title: "the cache".into(),
            kind: ThreadKind::Workflow,
            owner: None,
            participants: Vec::new(),
            idempotency: None,
        };
        ground.ask(person(), opening).unwrap().thread
    };
    let (thread, other) = (open(), open());
    let say = |thread: Uid, kind: MessageKind, text: &str| {
        let mut said = post(room.uid, text, None);
        said.thread = Some(thread);
        said.message.kind = kind;
        logged(ground.ask(person(), said).unwrap()).event
    };
    // Talk whose text begins with what an event's body begins with is talk.
    say(thread.uid, MessageKind::Chat, "\u{2}\u{3}");
    let gone = say(thread.uid, MessageKind::Event, "gone");
    say(other.uid, MessageKind::Event, "elsewhere");
    say(thread.uid, MessageKind::Chat, "talk");
    let changed = say(thread.uid, MessageKind::Event, "before");
    say(thread.uid, MessageKind::System, "said by the host");
    ground.ask(person(), messages::Delete { message: gone.uid }).unwrap();
    let content = Message { text: "after".into(), ..Message::default() };
    ground.ask(person(), messages::Edit { message: changed.uid, content }).unwrap();
    let (status, reason) = (Some(ThreadStatus::Blocked), "".into());
    let block = threads::ChangeThread {
        thread: thread.uid,
        status,
        owner: None,
        reason,
        summary: None,
        note: None,
    };
    ground.ask(person(), block).unwrap();
    let line = Line::Acts(thread.key);
    let page = |start, limit| Page { conversation: room.key, line, start, limit };
    let read = |start, limit| {
        let (entries, more) = ground.readers.entries(&page(start, limit)).unwrap().unwrap();
        let says = entries.iter().map(|e| {
            let content = e.content.as_ref().map(|m| m.text.to_string());
            content.unwrap_or_else(|| e.entry.event.change.name().to_owned())
        });
        (says.collect::<Vec<_>>(), more)
    };
    let all = ["message_posted", "after", "said by the host", "thread_status_changed"];
    let (found, more) = read(Start::After(Seq(0)), 10);
    assert_eq!((found.as_slice(), more), (all.map(str::to_owned).as_slice(), false));
    assert_eq!(read(Start::Newest, 1), (vec![all[3].to_owned()], true));
    ground.writer.stop();
}
