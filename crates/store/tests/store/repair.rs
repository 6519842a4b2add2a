//! What does not fit the logs is mended: each kind of damage is made first, on a folder with a bit of everything.

use std::collections::BTreeSet;
use std::path::Path;

use chorus_core::codec::{self, Coded};
use chorus_core::commands::{assets, conversations, deliveries, messages, stimuli, threads};
use chorus_core::model::asset::Media;
use chorus_core::model::conversation::{ConversationKind, Participation, Replies, Settings};
use chorus_core::model::disposition::Disposition;
use chorus_core::model::ids::{ConversationKey, Prefix, Seq, Timestamp, Uid};
use chorus_core::model::limits;
use chorus_core::model::reaction::Signal;
use chorus_core::model::requests::{NewStimulus, OpenThread};
use chorus_core::model::stimulus::{Stimulus, StimulusKind, StimulusState};
use chorus_core::model::thread::ThreadKind;
use chorus_core::model::thread::work::{Binding, BindingKind, Report, WorkChange, WorkStatus};
use chorus_core::queries;
use chorus_store::open;
use chorus_store::repair::{Part, Repair};
use sha2::{Digest, Sha256};

use crate::ground::{ADA, BOB, Ground, by, damage, doctor, options, person, place, rows};

/// What a host mends that starts there; nothing else of it runs.
fn start(folder: &Path) -> Vec<Repair> {
    open(options(folder)).unwrap().repairs().to_vec()
}

/// The stimulus as it is to be found.
fn put_stimulus(folder: &Path, stimulus: &Stimulus) {
    let hex = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
    let (uid, packed) = (hex(&stimulus.uid.0.to_be_bytes()), hex(&codec::stimulus(stimulus)));
    let state = stimulus.state.code();
    damage(
        folder,
        &format!("UPDATE stimulus SET state = {state}, packed = x'{packed}' WHERE uid = x'{uid}'"),
    );
}

/// Everything that was said in a room, in order.
fn said(ground: &Ground, key: ConversationKey) -> Vec<String> {
    let log = ground.readers.log(key, Seq(0), 1_000).unwrap();
    log.iter().filter_map(|e| Some(e.change.message()?.text.to_string())).collect()
}

fn mend(folder: &Path) -> Vec<Repair> {
    chorus_store::repair(&place(folder), folder).unwrap()
}

fn work(ground: &Ground, thread: Uid, key: &str, text: &str) {
    let change = WorkChange {
        status: Some(WorkStatus::Active),
        topic_kind: Some(Some("incident".into())),
        bind: vec![Binding { kind: BindingKind::Task, id: key.into() }],
        progress: Some(Report { key: key.into(), text: text.into(), percent: Some(40) }),
        ..WorkChange::default()
    };
    ground.ask(person(), threads::ChangeWork { thread, change: Box::new(change) }).unwrap();
}

fn idea(room: Uid, text: &str) -> stimuli::Stimulate {
    stimuli::Stimulate(NewStimulus {
        conversation: room,
        kind: StimulusKind::AgentIdea,
        source: None,
        thread: None,
        text: text.into(),
        title: None,
        targets: Vec::new(),
        private: false,
        progress_key: None,
        dedupe_key: None,
        initiative_key: None,
        expires_at: None,
    })
}

/// A room in which turns are taken, at work and stopped: its threads have work, one agent has the turn of a question and
/// another waits, a stimulus was said and one waits.
fn at_work() -> (tempfile::TempDir, ConversationKey) {
    let folder = tempfile::tempdir().unwrap();
    let ground = Ground::open(folder.path());
    ground.settle();
    let settings =
        Settings { title: "work".into(), replies: Replies::Thread, ..Settings::default() };
    let (kind, members) = (ConversationKind::Channel, vec![ADA, BOB]);
    let made = ground.ask(person(), conversations::CreateConversation { kind, settings, members });
    let room = made.unwrap();
    let seat = conversations::SetSeat {
        conversation: room.uid,
        member: BOB,
        participation: Participation::AlwaysListen,
        terms: Default::default(),
    };
    ground.ask(person(), seat).unwrap();
    let kept = assets::KeepAsset {
        hash: Sha256::digest(b"log").into(),
        name: "log.txt".into(),
        media: Media::Text,
        bytes: 3,
        data: b"log".as_slice().into(),
    };
    let asset = ground.ask(person(), kept).unwrap();
    let mut post = crate::ground::post(room.uid, "the log", None);
    let part = format!(r#"[{{"asset_id":"{}","type":"asset"}}]"#, asset.uid.show(Prefix::Asset));
    post.message.parts = Some(part.into());
    ground.ask(person(), post).unwrap();
    for (title, key) in [("the build", "build"), ("the deploy", "deploy")] {
        let root = ground.say(room.uid, &format!("what of {title}?"));
        let opening = OpenThread {
            home: room.uid.into(),
            root: Some(root.event.uid),
            title: title.into(),
            kind: ThreadKind::Workflow,
            owner: Some(BOB),
            participants: vec![ADA],
            idempotency: None,
        };
        let thread = ground.ask(person(), opening).unwrap().thread;
        work(&ground, thread.uid, key, "half of it");
    }
    ground.connect(ADA);
    let asked = ground.say(room.uid, "@ada what is the time?");
    let react =
        messages::React { message: asked.event.uid, signal: Signal::Agree, detail: None, on: true };
    ground.ask(by(BOB), react).unwrap();
    ground.pass(2_000);
    let event = asked.event.uid;
    let ignored = deliveries::Dispose { event, disposition: Disposition::Ignored, note: None };
    ground.ask(by(ADA), ignored).unwrap();
    ground.pass(limits::DIGEST_MS);
    ground.ask(by(ADA), idea(room.uid, "Shall we look at the cache?")).unwrap();
    ground.pass(2_000);
    ground.pass(2_000);
    ground.ask(by(ADA), idea(room.uid, "And at the index?")).unwrap();
    ground.say(room.uid, "@ada @bob who is on call?");
    ground.pass(2_000);
    ground
        .ask(person(), conversations::SetCursor { conversation: room.uid, read: Seq(3) })
        .unwrap();
    ground.writer.stop();
    (folder, room.key)
}

// covers: CHN-200, CHN-201
#[test]
fn a_folder_in_order_is_left_alone() {
    let (folder, _) = at_work();
    assert_eq!(doctor(folder.path()).problems, []);
    let before = rows(folder.path());
    assert_eq!(mend(folder.path()), []);
    assert_eq!(rows(folder.path()), before);
}

// covers: CHN-200, CHN-202, CHN-203, CHN-204, CHN-205
#[test]
fn each_kind_of_damage_is_mended() {
    use Part::{
        AssetReference, Conversation, Cursor, Delivery, Digest, Head, Message, Seat, Stimulus,
        Thread, Turn, Work,
    };
    for (sql, part) in [
        ("UPDATE conversation SET title = 'other' WHERE conversation = 2", Conversation),
        ("UPDATE conversation SET settings = x'ff' WHERE conversation = 2", Conversation),
        ("UPDATE head SET seq = seq + 1 WHERE conversation = 2", Head),
        ("UPDATE head SET last_at = 1, unattended = 9 WHERE conversation = 2", Head),
        ("UPDATE head SET settled = seq + 5 WHERE conversation = 2", Head),
        ("DELETE FROM head WHERE conversation = 2", Head),
        ("UPDATE roster SET participation = 4 WHERE conversation = 2 AND member = 2", Seat),
        ("UPDATE roster SET participation = 99 WHERE conversation = 2 AND member = 2", Seat),
        ("DELETE FROM roster WHERE conversation = 2 AND member = 2", Seat),
        ("INSERT INTO roster VALUES (1, 2, 9, 1)", Seat),
        ("INSERT INTO gone VALUES (1, 2, 2, 0)", Seat),
        ("UPDATE thread SET title = 'other'", Thread),
        ("UPDATE thread SET root = root + 1", Thread),
        ("UPDATE thread SET status = 99", Thread),
        ("DELETE FROM thread WHERE title = 'the build'", Thread),
        ("UPDATE thread SET work = NULL", Work),
        // The work of one stands in the other.
        (
            "UPDATE thread SET work = (SELECT work FROM thread WHERE title = 'the build')
                WHERE title = 'the deploy'",
            Work,
        ),
        ("DELETE FROM message", Message),
        ("UPDATE message SET reactions = x'ff'", Message),
        ("DELETE FROM receipt", Delivery),
        ("UPDATE receipt SET packed = x'00'", Delivery),
        ("DELETE FROM pending", Delivery),
        ("UPDATE pending SET packed = x'00'", Delivery),
        ("UPDATE pending SET seq = seq + 100", Delivery),
        (
            "INSERT INTO pending SELECT workspace, conversation, seq, 0, dead, packed FROM receipt",
            Delivery,
        ),
        (
            "INSERT INTO receipt SELECT workspace, conversation, seq, dead, packed FROM pending",
            Delivery,
        ),
        ("UPDATE public_turn SET packed = x'ff'", Turn),
        ("UPDATE public_turn SET subject = subject - 1", Turn),
        ("UPDATE stimulus SET packed = x'ff'", Stimulus),
        ("UPDATE stimulus SET state = 5", Stimulus),
        ("UPDATE digest SET packed = x'ff'", Digest),
        ("UPDATE digested SET seq = seq + 100", Digest),
        ("UPDATE mark SET read = 999", Cursor),
        ("DELETE FROM asset_ref", AssetReference),
        ("UPDATE asset_ref SET seq = seq + 1", AssetReference),
    ] {
        let (folder, key) = at_work();
        damage(folder.path(), sql);
        assert!(!doctor(folder.path()).is_clean(), "the doctor does not see it: {sql}");
        let repairs = mend(folder.path());
        let right = |r: &Repair| r.part == part && r.conversation == Some(key);
        assert!(repairs.iter().any(right), "{sql}: {repairs:#?}");
        assert_eq!(doctor(folder.path()).problems, [], "{sql}");
        assert_eq!(mend(folder.path()), [], "{sql}: again");
        let ground = Ground::at(folder.path(), Timestamp(1_000_000 + limits::DIGEST_MS + 10_000));
        ground.pass(2_000);
        ground.writer.stop();
        assert_eq!(doctor(folder.path()).problems, [], "{sql}: after a host");
    }
}

// covers: CHN-206
#[test]
fn what_is_wrong_with_a_log_is_named_and_nothing_of_its_conversation_is_touched() {
    for sql in [
        "UPDATE event SET actor = 2 WHERE conversation = 2 AND seq = 6",
        "UPDATE event SET body = x'ff' WHERE conversation = 2 AND seq = 6",
        "DELETE FROM event WHERE conversation = 2 AND seq = 6",
        "DELETE FROM event WHERE conversation = 2
            AND seq = (SELECT max(seq) FROM event WHERE conversation = 2)",
        "UPDATE head SET hash = (SELECT hash FROM event WHERE conversation = 2 AND seq = 3)
            WHERE conversation = 2",
        "UPDATE audit SET at = at + 1 WHERE block = 2",
    ] {
        let (folder, _) = at_work();
        damage(folder.path(), sql);
        damage(folder.path(), "UPDATE conversation SET title = 'other' WHERE conversation = 1");
        if !sql.contains("audit") {
            damage(folder.path(), "UPDATE thread SET title = 'other'");
        }
        let before = doctor(folder.path()).problems;
        let repairs = mend(folder.path());
        let conversations: BTreeSet<_> =
            repairs.iter().map(|r| r.conversation.unwrap().0).collect();
        assert_eq!(conversations, BTreeSet::from([1]), "{sql}: {repairs:#?}");
        let after = doctor(folder.path()).problems;
        assert!(!after.is_empty() && after.len() + 1 == before.len(), "{sql}: {after:#?}");
    }
}

/// A later time than any in [`at_work`].
const LATER: Timestamp = Timestamp(1_000_000 + limits::DIGEST_MS + 10_000);

// covers: CHN-207
#[test]
fn a_stimulus_that_was_claimed_waits_again_and_is_said_once() {
    let (folder, key) = at_work();
    let ground = Ground::at(folder.path(), LATER);
    let all = ground.readers.stimuli(key).unwrap();
    ground.writer.stop();
    let waits = all.iter().find(|s| s.state == StimulusState::Pending).unwrap();
    let claimed =
        Stimulus { state: StimulusState::Claimed, attempts: 1, due_at: LATER, ..waits.clone() };
    put_stimulus(folder.path(), &claimed);
    let repairs = start(folder.path());
    assert_eq!(repairs.iter().map(|r| r.part).collect::<Vec<_>>(), [Part::Stimulus]);
    assert!(repairs[0].to_string().contains("waits again"), "{}", repairs[0]);
    assert_eq!(start(folder.path()), [], "once is enough");
    let ground = Ground::at(folder.path(), LATER);
    let found = ground.readers.stimuli(key).unwrap();
    let again = found.iter().find(|s| s.uid == waits.uid).unwrap();
    assert_eq!((again.state, again.attempts), (StimulusState::Pending, 1));
    for ms in [3_600_000, 2_000, 2_000] {
        ground.pass(ms);
    }
    let index = said(&ground, key).into_iter().filter(|text| text == "And at the index?");
    assert_eq!(index.count(), 1);
    ground.writer.stop();
    assert_eq!(doctor(folder.path()).problems, []);
}

// covers: CHN-208
#[test]
fn what_a_stimulus_has_said_already_is_used_and_not_said_again() {
    for state in [StimulusState::Pending, StimulusState::Claimed] {
        for at_once in [true, false] {
            let (folder, key) = at_work();
            let ground = Ground::at(folder.path(), LATER);
            let all = ground.readers.stimuli(key).unwrap();
            let before = said(&ground, key);
            ground.writer.stop();
            let done = all.iter().find(|s| s.state == StimulusState::Dispatched).unwrap();
            let text = "Shall we look at the cache?".into();
            let undone = Stimulus {
                state,
                text,
                said: None,
                opened: false,
                ended_at: None,
                due_at: LATER,
                ..done.clone()
            };
            put_stimulus(folder.path(), &undone);
            assert!(!doctor(folder.path()).is_clean(), "it is said and waits");
            let repairs = if at_once { start(folder.path()) } else { mend(folder.path()) };
            assert!(repairs[0].to_string().contains("not posted again"), "{repairs:?}");
            // Long after the window in which keys are remembered.
            let ground = Ground::at(folder.path(), LATER.plus(30 * 24 * 3_600_000));
            let found = ground.readers.stimuli(key).unwrap();
            let found = found.iter().find(|s| s.uid == done.uid).unwrap();
            assert_eq!((found.state, found.said, found.opened), (done.state, done.said, true));
            assert_eq!(said(&ground, key), before);
            ground.writer.stop();
        }
    }
}

// covers: CHN-203, CHN-204, CHN-209
#[test]
fn the_work_of_threads_is_what_their_log_says_when_a_host_starts() {
    for sql in [
        "UPDATE thread SET work = NULL",
        "UPDATE thread SET work = x'ff'",
        "UPDATE thread SET root = root + 1 WHERE work IS NOT NULL",
        "UPDATE thread SET work = (SELECT work FROM thread WHERE title = 'the build')
            WHERE title = 'the deploy'",
    ] {
        let (folder, key) = at_work();
        let threads = |at| {
            let ground = Ground::at(folder.path(), at);
            let threads = ground.readers.threads(key).unwrap();
            ground.writer.stop();
            threads
        };
        let before = threads(LATER);
        assert!(before.iter().any(|t| !t.work.bindings.is_empty() && t.root.is_some()));
        damage(folder.path(), sql);
        let repairs = start(folder.path());
        assert!(!repairs.is_empty(), "{sql}");
        let parts = repairs.iter().all(|r| matches!(r.part, Part::Work | Part::Thread));
        assert!(parts, "{sql}: {repairs:#?}");
        assert_eq!(threads(LATER), before, "{sql}");
        assert_eq!(doctor(folder.path()).problems, []);
    }
}

// covers: CHN-202, CHN-205
#[test]
fn what_runs_had_in_hand_is_settled_before_turns_are_given() {
    for (sql, part) in [
        ("UPDATE public_turn SET packed = x'ff'", Part::Turn),
        ("UPDATE public_turn SET subject = subject - 1", Part::Turn),
        ("UPDATE pending SET packed = x'00'", Part::Delivery),
        ("UPDATE pending SET seq = seq + 100", Part::Delivery),
    ] {
        let (folder, key) = at_work();
        damage(folder.path(), sql);
        let repairs = start(folder.path());
        assert!(repairs.iter().any(|r| r.part == part), "{sql}: {repairs:#?}");
        let ground = Ground::at(folder.path(), LATER);
        ground.pass(2_000);
        let room = ground.readers.conversation_by_key(key).unwrap().unwrap();
        let turns = queries::Turns { conversation: room.uid };
        let subjects = ground.ask(person(), turns).unwrap();
        let holders: Vec<_> = subjects.iter().map(|s| s.turn.leases.len()).collect();
        assert!(holders.iter().all(|n| *n <= 1) && holders.contains(&1), "{sql}: {subjects:#?}");
        ground.writer.stop();
        let left = doctor(folder.path()).problems;
        // What has lost its row altogether is found by a look at all of the log.
        if !sql.contains("seq + 100") {
            assert_eq!(left, [], "{sql}");
        }
        mend(folder.path());
        assert_eq!(doctor(folder.path()).problems, [], "{sql}");
    }
}

#[test]
fn a_folder_that_a_host_has_is_not_mended() {
    let (folder, _) = at_work();
    let ground = Ground::at(folder.path(), LATER);
    let refused = chorus_store::repair(&place(folder.path()), folder.path()).unwrap_err();
    assert!(refused.to_string().contains("in use by another running host"), "{refused}");
    ground.writer.stop();
}

// covers: CHN-202
#[test]
fn what_a_session_had_in_hand_that_is_not_there_waits_again() {
    let (folder, key) = at_work();
    let ground = Ground::at(folder.path(), LATER);
    let offered = |ground: &Ground| {
        let all = ground.readers.pending().unwrap();
        all.iter().flat_map(|(_, open)| &open.deliveries).filter(|d| d.session().is_some()).count()
    };
    let room = ground.readers.conversation_by_key(key).unwrap().unwrap();
    let subjects = ground.ask(person(), queries::Turns { conversation: room.uid }).unwrap();
    let (holder, cause) = (subjects[0].turn.leases[0].member, subjects[0].turn.leases[0].cause);
    let event = chorus_core::model::ids::EventRef { conversation: key, seq: cause };
    let session = ground.connect(holder);
    let me = chorus_core::model::caller::By { session: Some(session), ..by(holder) };
    let offers = ground.ask(me, queries::Owed { session, limit: 10 }).unwrap().offers;
    let attempt = offers.iter().find(|o| o.entry.event.seq == cause).unwrap().attempt;
    ground.ask(me, deliveries::Accept { event, attempt, epoch: None }).unwrap();
    ground.say(room.uid, "so that all of it is written");
    ground.pass(2_000);
    ground.writer.stop();
    damage(folder.path(), "DELETE FROM session");
    let repairs = start(folder.path());
    assert!(
        repairs.iter().any(|r| r.part == Part::Delivery && r.what.contains("waits again")),
        "{repairs:#?}"
    );
    assert_eq!(start(folder.path()), []);
    let ground = Ground::at(folder.path(), LATER.plus(10_000));
    assert_eq!(offered(&ground), 0);
    ground.writer.stop();
}

// covers: CHN-200
#[test]
fn an_index_that_is_damaged_goes_and_one_that_is_whole_stays() {
    let (folder, _) = at_work();
    let file = folder.path().join("search.db");
    let ground = Ground::at(folder.path(), LATER);
    let (search, mut index) = chorus_store::search::Search::of(folder.path(), Uid(0xab));
    for key in index.behind(&ground.readers).unwrap() {
        while index.step(&ground.readers, key, 100).unwrap().more {}
    }
    drop((search, index));
    ground.writer.stop();
    let whole = std::fs::metadata(&file).unwrap().len();
    assert_eq!(mend(folder.path()), []);
    assert_eq!(std::fs::metadata(&file).unwrap().len(), whole);
    std::fs::write(&file, b"this is no index").unwrap();
    let repairs = mend(folder.path());
    assert_eq!(repairs.iter().map(|r| r.part).collect::<Vec<_>>(), [Part::Search]);
    assert!(!file.exists());
}
