//! A room in which threads are waited for to fall silent is looked at from the start, with nobody asking for it.

use chorus_core::commands::conversations;
use chorus_core::model::ids::Timestamp;
use chorus_core::model::requests::{OpenThread, SettingsPatch};
use chorus_core::model::stimulus::StimulusKind;
use chorus_core::model::thread::ThreadKind;

use crate::ground::{ADA, Ground, as_crashed, doctor, person};

const HOUR: i64 = 3_600_000;

// covers: CHN-152
#[test]
fn what_fell_silent_over_a_crash_is_asked_when_the_host_is_back() {
    let folder = tempfile::tempdir().unwrap();
    let ground = Ground::open(folder.path());
    let room = ground.settle();
    let other = ground.channel("other");
    let idle_followup = Some(Some(HOUR));
    let settings = SettingsPatch { idle_followup, ..SettingsPatch::default() };
    ground
        .ask(person(), conversations::ChangeConversation { conversation: room.uid, settings })
        .unwrap();
    for conversation in [room.uid, other.uid] {
        let opening = OpenThread {
            home: conversation.into(),
            root: Some(ground.say(conversation, "about the cache").event.uid),
            title: "the cache".into(),
            kind: ThreadKind::Conversation,
            owner: Some(ADA),
            participants: Vec::new(),
            idempotency: None,
        };
        ground.ask(person(), opening).unwrap();
    }
    ground.pass(2_000);
    let copy = as_crashed(folder.path());
    ground.writer.stop();

    let ground = Ground::at(copy.path(), Timestamp(1_000_000 + 2 * HOUR));
    // Nothing is asked of the room itself, which would load it.
    ground.pass(1_000);
    ground.pass(1_000);
    ground.pass(1_000);
    let made = ground.readers.stimuli(room.key).unwrap();
    let kinds: Vec<_> = made.iter().map(|s| (s.kind, s.said.is_some())).collect();
    assert_eq!(kinds, [(StimulusKind::ThreadIdleFollowup, true)]);
    assert!(ground.readers.stimuli(other.key).unwrap().is_empty());
    ground.writer.stop();
    assert_eq!(doctor(copy.path()).problems, []);
    let ground = Ground::at(copy.path(), Timestamp(1_000_000 + 9 * HOUR));
    ground.pass(1_000);
    assert_eq!(ground.readers.stimuli(room.key).unwrap().len(), 1);
    ground.writer.stop();
}
