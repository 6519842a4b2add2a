//! Stimuli: what waits to be said without a person asking, when it is, and that it is said once.

use std::sync::Arc;

use chorus_core::commands::{conversations, messages, stimuli, threads};
use chorus_core::model::caller::By;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::event::{Change, Event, Message, MessageKind};
use chorus_core::model::ids::{MemberKey, Uid};
use chorus_core::model::limits;
use chorus_core::model::requests::{NewStimulus, OpenThread, SettingsPatch};
use chorus_core::model::stimulus::{Stimulus, StimulusKind, StimulusState, queue};
use chorus_core::model::thread::work::{WorkChange, WorkStatus};
use chorus_core::model::thread::{Thread, ThreadKind, ThreadStatus};

use crate::house::{ALICE, House, REVIEWER, SCOUT, Say, code};

pub(crate) const QUIET: i64 = limits::STIMULUS_QUIET_MS;
/// What holds where a channel sets nothing.
pub(crate) const PENDING: usize = 32;
pub(crate) const ROOTS: usize = 4;

pub(crate) fn idea(house: &House, text: &str) -> NewStimulus {
    NewStimulus {
        conversation: house.ops,
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
    }
}

pub(crate) fn ask(
    by: MemberKey,
    new: NewStimulus,
    house: &mut House,
) -> Result<Arc<Stimulus>, Refusal> {
    house.run(house.by(by), stimuli::Stimulate(new)).map(|queued| queued.stimulus)
}

pub(crate) fn steer(
    house: &mut House,
    by: MemberKey,
    uid: Uid,
    again: bool,
) -> Result<Arc<Stimulus>, Refusal> {
    let conversation = house.ops;
    let steer = stimuli::SteerStimulus { conversation, stimulus: uid, again };
    house.run(house.by(by), steer).map(|queued| queued.stimulus)
}

pub(crate) fn stimuli(house: &House) -> queue::Queue {
    house.ws.rooms().find(|r| r.conversation().uid == house.ops).unwrap().stimuli().clone()
}

fn state(house: &House, uid: Uid) -> StimulusState {
    stimuli(house)[&uid].state
}

pub(crate) fn threads(house: &House) -> Vec<Arc<Thread>> {
    let room = house.ws.rooms().find(|r| r.conversation().uid == house.ops).unwrap();
    let mut all: Vec<_> = room.threads().values().cloned().collect();
    all.sort_by_key(|t| t.key);
    all
}

/// Messages that stimuli have become.
pub(crate) fn said(house: &House) -> Vec<Arc<Event>> {
    let is = |m: &Message| m.kind == MessageKind::Event;
    let all = house.log.events.values();
    all.filter(|e| matches!(&e.change, Change::Posted(m) if is(m))).cloned().collect()
}

pub(crate) fn end(house: &mut House, thread: Uid) {
    let (status, reason) = (Some(ThreadStatus::Resolved), "done".into());
    let change =
        threads::ChangeThread { thread, status, owner: None, reason, summary: None, note: None };
    house.run(house.by(ALICE), change).unwrap();
}

// covers: CHN-80, CHN-81, CHN-82
#[test]
fn an_idea_opens_a_subject_with_a_thread_and_its_targets_are_told() {
    let mut house = House::new();
    let new =
        NewStimulus { targets: vec![REVIEWER], ..idea(&house, "shall we look at the cache?") };
    let asked = ask(SCOUT, new, &mut house).unwrap();
    assert_eq!(asked.state, StimulusState::Pending);
    house.pass(1_000);
    assert_eq!(state(&house, asked.uid), StimulusState::Claimed);
    assert!(said(&house).is_empty(), "claiming is recorded before anything is said");
    house.pass(1_000);
    let all = said(&house);
    assert_eq!(all.len(), 1);
    assert_eq!((all[0].actor, all[0].hop, all[0].thread), (SCOUT, 1, None));
    assert_eq!(stimuli(&house)[&asked.uid].said, Some(all[0].uid));
    let thread = threads(&house).remove(0);
    assert_eq!(thread.root, Some(all[0].seq));
    assert_eq!(thread.work.spur.map(|s| (s.uid, s.opened)), Some((asked.uid, true)));
    assert_eq!(house.offer(REVIEWER).entry.event.uid, all[0].uid);
    assert_eq!(&*stimuli(&house)[&asked.uid].text, "", "nothing is kept of what was said");
}

// covers: CHN-82, CHN-83
#[test]
fn one_is_claimed_at_a_time_within_a_millisecond_too() {
    let mut house = House::new();
    for n in 0..3 {
        ask(SCOUT, idea(&house, &format!("idea {n}")), &mut house).unwrap();
        let now = house.now;
        house.ws.fire_due(&mut house.log, now, 8).unwrap();
    }
    let claimed = stimuli(&house).values().filter(|s| s.state == StimulusState::Claimed).count();
    assert_eq!(claimed, 1);
    house.pass(10_000);
    assert_eq!(said(&house).len(), 1);
}

// covers: CHN-83, CHN-84, CHN-85
#[test]
fn subjects_come_one_at_a_time_after_a_quiet_and_four_an_hour() {
    let mut house = House::new();
    let all: Vec<_> = (0..6)
        .map(|n| ask(SCOUT, idea(&house, &format!("idea {n}")), &mut house))
        .collect::<Result<_, _>>()
        .unwrap();
    let waits = |house: &House| all.iter().filter(|s| state(house, s.uid).is_open()).count();
    house.pass(2_000);
    assert_eq!(waits(&house), 5);
    let due = stimuli(&house)[&all[1].uid].due_at;
    assert!(due > house.now.plus(QUIET), "one that is alive holds the others back longer");
    house.pass(QUIET + 5_000);
    assert_eq!(waits(&house), 5, "the first is still alive");
    for n in 1..4 {
        let thread = threads(&house).last().unwrap().uid;
        end(&mut house, thread);
        house.pass(QUIET + 5_000);
        assert_eq!(waits(&house), 5 - n);
    }
    let thread = threads(&house).last().unwrap().uid;
    end(&mut house, thread);
    house.pass(QUIET + 5_000);
    assert_eq!(waits(&house), 2, "four an hour");
    house.pass(3_600_000);
    assert_eq!(waits(&house), 1);
}

// covers: CHN-86, CHN-87
#[test]
fn what_is_about_the_same_takes_the_place_of_what_waits() {
    let mut house = House::new();
    // The quiet after a first one keeps the others waiting.
    ask(SCOUT, idea(&house, "first"), &mut house).unwrap();
    house.pass(2_000);
    let keyed = |house: &House, text: &str, progress: Option<&str>, dedupe: Option<&str>| {
        let (progress_key, dedupe_key) = (progress.map(Into::into), dedupe.map(Into::into));
        NewStimulus { progress_key, dedupe_key, ..idea(house, text) }
    };
    for (progress, dedupe, expect) in [
        (Some("build"), Some("x"), StimulusState::Superseded),
        (None, Some("nightly"), StimulusState::Superseded),
        (None, None, StimulusState::Coalesced),
    ] {
        let text = |n: u8| if dedupe.is_none() { "the same".into() } else { format!("at {n}") };
        let one = ask(SCOUT, keyed(&house, &text(1), progress, dedupe), &mut house).unwrap();
        let two = ask(SCOUT, keyed(&house, &text(2), progress, dedupe), &mut house).unwrap();
        let old = stimuli(&house)[&one.uid].clone();
        assert_eq!((old.state, old.by, &*old.text), (expect, Some(two.uid), ""));
        assert_eq!(two.created_at, one.created_at, "it keeps the place in line");
    }
    assert_eq!(queue::waiting(&stimuli(&house)), 3);
    // Above the cap only what takes another's place is taken.
    for n in 3..PENDING {
        ask(SCOUT, idea(&house, &format!("another {n}")), &mut house).unwrap();
    }
    let before = stimuli(&house);
    assert_eq!(code(ask(SCOUT, idea(&house, "one more"), &mut house)), Code::RateLimited);
    assert_eq!(stimuli(&house), before);
    ask(SCOUT, keyed(&house, "still", None, Some("nightly")), &mut house).unwrap();
}

// covers: CHN-75, CHN-88, CHN-89, CHN-341
#[test]
fn an_undertaking_goes_on_in_its_thread_and_its_progress_replaces_itself() {
    let mut house = House::new();
    let of = |house: &House, text: &str| NewStimulus {
        initiative_key: Some("release".into()),
        progress_key: Some("build".into()),
        ..idea(house, text)
    };
    for n in 0..5 {
        let new = of(&house, &format!("{n} of 5 are built"));
        ask(SCOUT, new, &mut house).unwrap();
        house.pass(2_000);
        assert_eq!(queue::waiting(&stimuli(&house)), 0, "the quiet is for subjects");
    }
    let all = threads(&house);
    assert_eq!((all.len(), said(&house).len()), (1, 1), "one subject, and one message");
    assert_eq!(all[0].work.progress.len(), 1);
    let (progress, first) = (&all[0].work.progress[0], said(&house)[0].uid);
    assert_eq!((&*progress.text, progress.said), ("4 of 5 are built", Some(first)));
}

// covers: CHN-90, CHN-91
#[test]
fn one_is_called_off_asked_for_again_and_expires() {
    let mut house = House::new();
    ask(SCOUT, idea(&house, "first"), &mut house).unwrap();
    house.pass(2_000);
    let late = NewStimulus { expires_at: Some(house.now.plus(60_000)), ..idea(&house, "late") };
    let late = ask(SCOUT, late, &mut house).unwrap();
    let two = ask(SCOUT, idea(&house, "second"), &mut house).unwrap();
    assert_eq!(code(steer(&mut house, REVIEWER, two.uid, false)), Code::InsufficientAuthority);
    assert_eq!(code(steer(&mut house, SCOUT, Uid(1), false)), Code::NotFound);
    assert_eq!(code(steer(&mut house, SCOUT, two.uid, true)), Code::Conflict);
    steer(&mut house, ALICE, two.uid, false).unwrap();
    steer(&mut house, SCOUT, two.uid, false).unwrap();
    house.pass(61_000);
    assert_eq!(state(&house, late.uid), StimulusState::Cancelled);
    assert_eq!(state(&house, two.uid), StimulusState::Cancelled);
    steer(&mut house, SCOUT, two.uid, true).unwrap();
    let thread = threads(&house)[0].uid;
    end(&mut house, thread);
    house.pass(QUIET + 5_000);
    assert_eq!(state(&house, two.uid), StimulusState::Dispatched);
    assert_eq!(code(steer(&mut house, SCOUT, two.uid, false)), Code::Conflict);
}

// covers: CHN-91
#[test]
fn what_waits_is_called_off_with_its_channel_and_with_its_source() {
    let reason = |house: &House, uid: Uid| stimuli(house)[&uid].reason.clone().unwrap();
    let mut house = House::new();
    let archive = |archived| conversations::ChangeConversation {
        conversation: house.ops,
        settings: SettingsPatch { archived: Some(archived), ..SettingsPatch::default() },
    };
    let [closed, opened] = [archive(true), archive(false)];
    ask(SCOUT, idea(&house, "first"), &mut house).unwrap();
    house.pass(2_000);
    let hers = ask(REVIEWER, idea(&house, "second"), &mut house).unwrap();
    let his = ask(SCOUT, idea(&house, "third"), &mut house).unwrap();
    let leave = conversations::RemoveSeat { conversation: house.ops, member: REVIEWER };
    house.run(house.by(ALICE), leave).unwrap();
    assert_eq!(state(&house, hers.uid), StimulusState::Cancelled);
    assert!(reason(&house, hers.uid).contains("no longer a member"));
    assert_eq!(state(&house, his.uid), StimulusState::Pending);
    house.run(house.by(ALICE), closed).unwrap();
    assert_eq!(state(&house, his.uid), StimulusState::Cancelled);
    assert!(reason(&house, his.uid).contains("archived"));
    house.run(house.by(ALICE), opened).unwrap();
    house.pass(QUIET + 5_000);
    assert_eq!(state(&house, his.uid), StimulusState::Cancelled);
}

// covers: CHN-92
#[test]
fn a_host_that_is_killed_between_claim_and_dispatch_says_it_once() {
    let mut house = House::new();
    let asked = ask(SCOUT, idea(&house, "shall we?"), &mut house).unwrap();
    house.pass(1_000);
    assert_eq!(state(&house, asked.uid), StimulusState::Claimed);
    house.restart();
    house.pass(3_000);
    assert_eq!((state(&house, asked.uid), said(&house).len()), (StimulusState::Dispatched, 1));
    // Even if the mark were lost: its message is known by the stimulus.
    let at = (said(&house)[0].conversation, asked.uid);
    let marked = house.log.stimuli[&at].clone();
    let (ended_at, opened) = (None, false);
    let claimed = Stimulus {
        state: StimulusState::Claimed,
        ended_at,
        said: None,
        opened,
        ..(*marked).clone()
    };
    house.log.stimuli.insert(at, Arc::new(claimed));
    house.restart();
    house.pass(3_000);
    assert_eq!((state(&house, asked.uid), said(&house).len()), (StimulusState::Dispatched, 1));
    assert_eq!(stimuli(&house)[&asked.uid].said, marked.said);
}

fn thread(house: &mut House, owner: MemberKey) -> Uid {
    let opening = OpenThread {
        home: house.ops.into(),
        root: None,
        title: "review".into(),
        kind: ThreadKind::Workflow,
        owner: Some(owner),
        participants: vec![SCOUT],
        idempotency: None,
    };
    house.run(house.by(ALICE), opening).unwrap().thread.uid
}

// covers: CHN-93, CHN-94, CHN-95
#[test]
fn what_happens_in_threads_makes_its_stimuli() {
    let mut house = House::new();
    let review = thread(&mut house, REVIEWER);
    let event = |house: &House, kind: &str, id: &str| {
        let mut say = Say::to(house.ops, kind).in_thread(review);
        say.0.message.kind = MessageKind::Event;
        let metadata = format!(r#"{{"event_type":"{kind}","finding_id":"{id}"}}"#);
        say.0.message.metadata = Some(metadata.into());
        say
    };
    let kinds = |house: &House, state| -> Vec<_> {
        stimuli(house).values().filter(|s| s.state == state).map(|s| s.kind).collect()
    };
    for (kind, id) in
        [("finding_reported", "1"), ("finding_reported", "2"), ("finding_verified", "1")]
    {
        let say = event(&house, kind, id);
        house.post(SCOUT, say).unwrap();
        assert_eq!(kinds(&house, StimulusState::Pending), []);
    }
    let say = event(&house, "finding_rejected", "2");
    house.post(SCOUT, say).unwrap();
    assert_eq!(kinds(&house, StimulusState::Pending), [StimulusKind::ReviewCompleted]);
    house.offers(REVIEWER);
    house.pass(2_000);
    assert_eq!(house.offers(REVIEWER).len(), 1, "the thread's owner is told");
    // Nothing is completed by a verdict again, or by one on nothing.
    for (kind, id) in [("finding_verified", "1"), ("finding_verified", "7")] {
        let say = event(&house, kind, id);
        house.post(SCOUT, say).unwrap();
        assert_eq!(kinds(&house, StimulusState::Pending), []);
    }
    // An edit into the last verdict completes it.
    let say = event(&house, "finding_reported", "3");
    house.post(SCOUT, say).unwrap();
    let note = event(&house, "noted", "3");
    let note = house.post(SCOUT, note).unwrap();
    let content = event(&house, "finding_verified", "3").0.message;
    house.run(house.by(SCOUT), messages::Edit { message: note, content }).unwrap();
    assert_eq!(kinds(&house, StimulusState::Pending), [StimulusKind::ReviewCompleted]);
    house.pass(2_000);
    house.offers(REVIEWER);

    let over = WorkChange { status: Some(WorkStatus::Superseded), ..WorkChange::default() };
    let change = threads::ChangeWork { thread: review, change: Box::new(over) };
    house.run(house.by(ALICE), change).unwrap();
    house.pass(2_000);
    assert_eq!(
        kinds(&house, StimulusState::Dispatched).last(),
        Some(&StimulusKind::SupersessionNotice)
    );
    let (status, reason) = (Some(ThreadStatus::Resolved), "".into());
    let summary = Some("all is well".into());
    let done =
        threads::ChangeThread { thread: review, status, owner: None, reason, summary, note: None };
    house.run(house.by(ALICE), done).unwrap();
    assert_eq!(kinds(&house, StimulusState::Dispatched).last(), Some(&StimulusKind::ResultSummary));
    for agent in [SCOUT, REVIEWER] {
        assert_eq!(house.offers(agent).len(), 0, "these wake nobody");
    }
}

// covers: CHN-80, CHN-96
#[test]
fn bad_stimuli_change_nothing() {
    let mut house = House::new();
    let pair = house.pair;
    let closed = thread(&mut house, REVIEWER);
    let (status, reason) = (Some(ThreadStatus::Closed), "".into());
    let close = threads::ChangeThread {
        thread: closed,
        status,
        owner: None,
        reason,
        summary: None,
        note: None,
    };
    house.run(house.by(ALICE), close).unwrap();
    let stranger = house.add_member("stranger", chorus_core::model::member::MemberKind::Agent);
    let base = idea(&house, "hello");
    let before = house.fingerprint();
    for (by, bad, expect) in [
        (SCOUT, NewStimulus { text: " ".into(), ..base.clone() }, Code::ValidationError),
        (
            SCOUT,
            NewStimulus { text: "x".repeat(limits::SUMMARY_BYTES + 1).into(), ..base.clone() },
            Code::PayloadTooLarge,
        ),
        (
            SCOUT,
            NewStimulus { source: Some(REVIEWER), ..base.clone() },
            Code::InsufficientAuthority,
        ),
        (
            SCOUT,
            NewStimulus { kind: StimulusKind::TaskCompleted, ..base.clone() },
            Code::InsufficientAuthority,
        ),
        (
            ALICE,
            NewStimulus { kind: StimulusKind::ResultSummary, ..base.clone() },
            Code::ValidationError,
        ),
        (ALICE, NewStimulus { source: Some(stranger), ..base.clone() }, Code::ValidationError),
        (ALICE, NewStimulus { source: Some(MemberKey(99)), ..base.clone() }, Code::NotFound),
        (SCOUT, NewStimulus { targets: vec![stranger], ..base.clone() }, Code::ValidationError),
        (
            SCOUT,
            NewStimulus { private: true, targets: vec![ALICE], ..base.clone() },
            Code::ValidationError,
        ),
        (SCOUT, NewStimulus { expires_at: Some(house.now), ..base.clone() }, Code::ValidationError),
        (SCOUT, NewStimulus { dedupe_key: Some("".into()), ..base.clone() }, Code::ValidationError),
        (SCOUT, NewStimulus { thread: Some(closed), ..base.clone() }, Code::Conflict),
        (
            SCOUT,
            NewStimulus { conversation: pair, thread: Some(closed), ..base.clone() },
            Code::ValidationError,
        ),
        (REVIEWER, NewStimulus { conversation: pair, ..base.clone() }, Code::NotFound),
    ] {
        assert_eq!(code(ask(by, bad.clone(), &mut house)), expect, "{bad:?}");
    }
    assert_eq!(code(house.run(By::host(), stimuli::Stimulate(base))), Code::NotFound);
    assert_eq!(house.fingerprint(), before);
    assert!(stimuli(&house).is_empty());
}
