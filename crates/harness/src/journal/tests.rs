#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::path::Path;

use chorus_core::model::disposition::Disposition;
use chorus_core::model::ids::Timestamp;
use chorus_core::model::reaction::Signal;

use super::{Error, Journal, Known, Offer, Outgoing, SessionKey, State, Step};

const NOW: Timestamp = Timestamp(1_000_000);

fn open(folder: &Path) -> Journal {
    Journal::open(folder, NOW).unwrap()
}

fn offer(event: &str) -> Offer<'_> {
    Offer { event, delivery: "{}", fence: 1, knock: false }
}

fn settle(event: &str, disposition: Disposition, tell: bool) -> Step {
    Step::Settle { event: event.into(), disposition, note: None, signal: None, tell }
}

fn reply(event: &str, body: &str) -> Step {
    Step::Reply { event: event.into(), n: 1, body: body.into() }
}

fn started(event: &str, attempt: u32) -> Step {
    Step::Started { events: vec![(event.into(), attempt)] }
}

// covers: OPS-505
#[test]
fn a_journal_is_of_the_workspace_of_its_first_use() {
    let folder = tempfile::tempdir().unwrap();
    let may = |workspace| Journal::may_belong_to(folder.path(), workspace);
    may("wk_1").unwrap();
    assert!(!folder.path().join("harness.db").exists(), "looking makes nothing");
    let mut journal = open(folder.path());
    may("wk_2").unwrap();
    journal.belongs_to("wk_1").unwrap();
    journal.belongs_to("wk_1").unwrap();
    may("wk_1").unwrap();
    assert!(matches!(journal.belongs_to("wk_2"), Err(Error::OtherWorkspace { .. })));
    drop(journal);
    assert!(open(folder.path()).belongs_to("wk_2").is_err());
    let refused = may("wk_2").unwrap_err().to_string();
    assert!(refused.contains("wk_1") && refused.contains("--state-dir"), "{refused}");
}

#[test]
fn a_second_harness_on_one_folder_is_refused_until_the_first_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let first = open(folder.path());
    assert!(matches!(Journal::open(folder.path(), NOW), Err(Error::InUse(_))));
    drop(first);
    open(folder.path());
}

// covers: OPS-420
#[test]
fn what_was_said_to_the_agent_is_read_by_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("agent");
    drop(open(&folder));
    // One of an earlier version, which others can read.
    let file = folder.join("harness.db");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let _journal = open(&folder);
    for (path, mode) in
        [(folder.clone(), 0o700), (file, 0o600), (folder.join("harness.lock"), 0o600)]
    {
        let found = std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        assert_eq!(found, mode, "{}", path.display());
    }
}

// covers: ATT-105, FAIL-9
#[test]
fn an_event_is_new_once_and_known_across_restarts() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = open(folder.path());
    assert_eq!(journal.accept(&offer("evt_1"), NOW).unwrap(), Known::New);
    assert!(matches!(journal.accept(&offer("evt_1"), NOW).unwrap(), Known::Open(_)));
    journal.record(&[settle("evt_1", Disposition::Ignored, false)], NOW).unwrap();
    drop(journal);
    let mut journal = open(folder.path());
    let Known::Settled(entry) = journal.accept(&offer("evt_1"), NOW).unwrap() else { panic!() };
    assert_eq!(entry.disposition, Some(Disposition::Ignored));
}

// covers: ATT-104
/// The handles are leaked, so that nothing is closed or checkpointed: what is read back is what was on
/// disk at that moment. (A copy of the folder stands for the disk of the dead process.)
#[test]
fn what_was_recorded_is_on_disk_when_the_process_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = open(folder.path());
    journal.accept(&offer("evt_1"), NOW).unwrap();
    journal.accept(&offer("evt_2"), NOW).unwrap();
    journal
        .record(&[started("evt_1", 1), started("evt_2", 1), reply("evt_1", "hello")], NOW)
        .unwrap();
    journal.set_session("sess_1").unwrap();
    let disk = tempfile::tempdir().unwrap();
    for file in std::fs::read_dir(folder.path()).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), disk.path().join(file.file_name())).unwrap();
    }
    std::mem::forget(journal);

    let journal = open(disk.path());
    assert_eq!(journal.session().unwrap().as_deref(), Some("sess_1"));
    assert_eq!(journal.last_event().unwrap().as_deref(), Some("evt_2"));
    let open: Vec<_> = journal.unanswered().unwrap();
    assert_eq!(open.len(), 1);
    assert_eq!(
        (open[0].event.as_str(), open[0].state, open[0].attempts),
        ("evt_2", State::Started, 1)
    );
    let [Outgoing::Reply { key, body, .. }] = &journal.outbox().unwrap()[..] else { panic!() };
    assert_eq!((key.as_str(), body.as_str()), ("reply:evt_1:1", "hello"));
}

// covers: ATT-107
#[test]
fn a_reply_keeps_its_first_body_and_is_repeated_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = open(folder.path());
    journal.accept(&offer("evt_1"), NOW).unwrap();
    journal.record(&[reply("evt_1", "first")], NOW).unwrap();
    journal.record(&[reply("evt_1", "second")], NOW).unwrap();
    journal.sent("evt_1", "reply:evt_1:1", NOW).unwrap();
    assert_eq!(journal.outbox().unwrap(), []);
    let again = Offer { fence: 9, ..offer("evt_1") };
    assert!(
        matches!(journal.accept(&again, NOW).unwrap(), Known::Settled(_)),
        "answered is answered"
    );
    journal.repeat("evt_1").unwrap();
    let [Outgoing::Reply { body, .. }] = &journal.outbox().unwrap()[..] else { panic!() };
    assert_eq!(body, "first");
}

// covers: ATT-107
#[test]
fn a_disposition_stays_in_the_outbox_until_the_host_knows() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = open(folder.path());
    journal.accept(&offer("evt_1"), NOW).unwrap();
    let seen = Step::Settle {
        event: "evt_1".into(),
        disposition: Disposition::Acknowledged,
        note: Some("thanks".into()),
        signal: Some(Signal::Agree),
        tell: true,
    };
    journal.record(&[seen], NOW).unwrap();
    let expected = Outgoing::Disposition {
        event: "evt_1".into(),
        disposition: Disposition::Acknowledged,
        note: Some("thanks".into()),
        signal: Some(Signal::Agree),
        delivery: "{}".into(),
    };
    assert_eq!(journal.outbox().unwrap(), std::slice::from_ref(&expected));
    journal.told("evt_1").unwrap();
    assert_eq!(journal.outbox().unwrap(), []);
    journal.repeat("evt_1").unwrap();
    assert_eq!(journal.outbox().unwrap(), [expected]);
}

#[test]
fn a_knock_that_brings_its_body_and_a_later_fence_are_new_work_unless_answered() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = open(folder.path());
    let knock = Offer { knock: true, fence: 0, ..offer("evt_1") };
    journal.accept(&knock, NOW).unwrap();
    journal.record(&[settle("evt_1", Disposition::Ignored, false)], NOW).unwrap();
    assert!(matches!(journal.accept(&knock, NOW).unwrap(), Known::Settled(_)));
    assert_eq!(journal.accept(&offer("evt_1"), NOW).unwrap(), Known::New);
    journal.record(&[reply("evt_1", "refused")], NOW).unwrap();
    journal
        .dropped("evt_1", "reply:evt_1:1", Disposition::Superseded, "stale", false, NOW)
        .unwrap();
    let later = Offer { fence: 2, ..offer("evt_1") };
    assert_eq!(journal.accept(&later, NOW).unwrap(), Known::New);
    journal.record(&[reply("evt_1", "taken")], NOW).unwrap();
    let [Outgoing::Reply { body, .. }] = &journal.outbox().unwrap()[..] else { panic!() };
    assert_eq!(body, "taken");
}

#[test]
fn a_turn_that_was_stopped_does_not_count_as_an_attempt() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = open(folder.path());
    journal.accept(&offer("evt_1"), NOW).unwrap();
    journal.record(&[started("evt_1", 2)], NOW).unwrap();
    journal.record(&[Step::Stopped { events: vec!["evt_1".into()] }], NOW).unwrap();
    let entry = journal.entry("evt_1").unwrap().unwrap();
    assert_eq!((entry.state, entry.attempts), (State::Accepted, 1));
}

#[test]
fn settled_entries_are_forgotten_after_seven_days_and_untold_ones_never() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = open(folder.path());
    for event in ["evt_told", "evt_untold", "evt_open"] {
        journal.accept(&offer(event), NOW).unwrap();
    }
    let steps = [
        settle("evt_told", Disposition::Ignored, false),
        settle("evt_untold", Disposition::Ignored, true),
    ];
    journal.record(&steps, NOW).unwrap();
    let week = 7 * 24 * 3_600_000;
    assert_eq!(journal.prune(NOW.plus(week)).unwrap(), 0);
    assert_eq!(journal.prune(NOW.plus(week + 1)).unwrap(), 1);
    assert!(journal.entry("evt_told").unwrap().is_none());
    assert!(journal.entry("evt_untold").unwrap().is_some());
    assert!(journal.entry("evt_open").unwrap().is_some());
}

// covers: OPS-521
#[test]
fn each_place_has_a_session_of_each_program_in_each_folder() {
    let folder = tempfile::tempdir().unwrap();
    let key = |program, folder, thread| SessionKey {
        program,
        folder: Path::new(folder),
        conversation: "ch_1",
        thread,
    };
    let here = key("claude", "/x", None);
    let others = [
        key("codex", "/x", None),
        key("claude", "/y", None),
        key("claude", "/x", Some("th_1")),
        SessionKey { conversation: "ch_2", ..here },
    ];
    let journal = open(folder.path());
    for (n, other) in others.iter().enumerate() {
        journal.keep_program_session(other, &format!("other-{n}"), NOW).unwrap();
    }
    assert_eq!(journal.program_session(&here).unwrap(), None);
    journal.keep_program_session(&here, "s-1", NOW).unwrap();
    journal.keep_program_session(&here, "s-2", NOW.plus(1)).unwrap();
    drop(journal);
    let mut journal = open(folder.path());
    assert_eq!(journal.program_session(&here).unwrap().as_deref(), Some("s-2"));
    assert_eq!(journal.program_session(&others[2]).unwrap().as_deref(), Some("other-2"));
    let kept = 90 * 24 * 3_600_000;
    journal.prune(NOW.plus(kept + 1)).unwrap();
    assert_eq!(journal.program_session(&here).unwrap().as_deref(), Some("s-2"));
    assert_eq!(journal.program_session(&others[0]).unwrap(), None);
}
