//! What readers are shown follows edits, deletions and reactions, and pages go both ways.

use chorus_core::command::{Command, MessageState};
use chorus_core::event::Message;
use chorus_core::ids::Seq;
use chorus_core::reaction::Signal;
use chorus_store::{Line, Page, Start};

use crate::ground::{BOB, Ground, by, person};

#[test]
fn a_message_is_read_as_it_stands_now() {
    let folder = tempfile::tempdir().unwrap();
    let ground = Ground::open(folder.path());
    let room = ground.settle();
    let (kept, gone) = (ground.say(room.uid, "before"), ground.say(room.uid, "a secret"));
    let content = Message { text: "after".into(), ..Message::default() };
    let message = kept.event.uid;
    ground.ask(person(), Command::Edit { message, content: content.clone() }).unwrap();
    let react = Command::React { message, signal: Signal::Agree, detail: None, on: true };
    ground.ask(by(BOB), react).unwrap();
    ground.ask(person(), Command::Delete { message: gone.event.uid }).unwrap();

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
