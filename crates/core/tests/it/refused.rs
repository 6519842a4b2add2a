//! A refused command changes nothing: every command of every family is tried in states where it is refused, and the
//! whole workspace is compared before and after.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use chorus_core::commands::directory::SessionName;
use chorus_core::commands::{
    NotDone, approvals, assets, conversations, deliveries, digests, directory, endpoints, inboxes,
    jobs, ledger, messages, notes, projects, registry, retention, schedules, stimuli, threads,
    turns, wakes,
};
use chorus_core::model::asset::Media;
use chorus_core::model::audit::{Action, Note};
use chorus_core::model::caller::{Authority, By, TurnRef};
use chorus_core::model::conversation::{ConversationKind, Participation, Settings};
use chorus_core::model::delivery::Retry;
use chorus_core::model::digest::Written;
use chorus_core::model::disposition::Disposition;
use chorus_core::model::endpoint::{Act, Secret};
use chorus_core::model::event::{Idempotency, Message, Reason};
use chorus_core::model::ids::{EventRef, MemberKey, RoleKey, Seq, SessionKey, Timestamp, Uid};
use chorus_core::model::inbox::{Channel, Checks, Patch, Received};
use chorus_core::model::job::{Evaluation, JobResult, Payment, Posted};
use chorus_core::model::ledger::Credits;
use chorus_core::model::member::{MemberFields, MemberKind, SessionStatus};
use chorus_core::model::project::{Asked, Linking, TaskFields};
use chorus_core::model::reaction::Signal;
use chorus_core::model::registry::{Registration, Skill};
use chorus_core::model::requests::{OpenThread, SettingsPatch};
use chorus_core::model::schedule::{NewSchedule, SchedulePatch, When};
use chorus_core::model::thread::work::WorkChange;
use chorus_core::model::thread::{ThreadKind, ThreadStatus};
use chorus_core::model::token;
use chorus_core::model::wake::{Lane, ReportResult};
use chorus_core::queries;

use crate::boxed::{Boxed, boxed};
use crate::house::{ALICE, BOB, House, REVIEWER, SCOUT, Say, WRITER};
use crate::stimuli::idea;

/// Random numbers of a seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % sides
    }

    fn of<T: Clone>(&mut self, from: &[T]) -> T {
        let n = self.below(from.len());
        from[n].clone()
    }
}

/// What commands may be about: things that are there, and one that is not.
struct Things {
    conversations: Vec<Uid>,
    events: Vec<Uid>,
    places: Vec<EventRef>,
    threads: Vec<Uid>,
    others: Vec<Uid>,
    members: Vec<MemberKey>,
    sessions: Vec<SessionKey>,
}

const UNKNOWN: Uid = Uid(0xdead);

impl Things {
    fn of(house: &House) -> Self {
        let rooms: BTreeMap<_, _> = house.ws.rooms().map(|room| (room.key(), room)).collect();
        let directory = house.ws.directory();
        let mut conversations = vec![UNKNOWN];
        let (mut threads, mut others) = (vec![UNKNOWN], vec![UNKNOWN]);
        for room in rooms.values() {
            conversations.push(room.conversation().uid);
            let in_order: BTreeMap<_, _> = room.threads().iter().collect();
            threads.extend(in_order.values().map(|thread| thread.uid));
            others.extend(room.schedules().keys().copied());
        }
        let mut events = vec![UNKNOWN];
        events.extend(house.log.events.values().map(|event| event.uid));
        let mut places = vec![EventRef { conversation: Default::default(), seq: Seq(1) }];
        places.extend(house.log.events.keys().copied());
        others.extend(directory.approvals.keys().copied());
        others.extend(directory.projects.keys().copied());
        others.extend(directory.inboxes.keys().copied());
        let mut sessions = vec![SessionKey(99)];
        sessions.extend(directory.sessions.keys().copied());
        let members = vec![ALICE, BOB, SCOUT, REVIEWER, WRITER, MemberKey(9), MemberKey(77)];
        Self { conversations, events, places, threads, others, members, sessions }
    }
}

/// Commands of all families, about whatever the dice say.
#[rustfmt::skip]
fn commands(house: &House, dice: &mut Dice) -> Vec<Boxed> {
    let all = Things::of(house);
    let conversation = dice.of(&all.conversations);
    let (event, message) = (dice.of(&all.events), dice.of(&all.events));
    let (thread, place) = (dice.of(&all.threads), dice.of(&all.places));
    let uid = dice.of(&all.others);
    let (member, other) = (dice.of(&all.members), dice.of(&all.members));
    let session = dice.of(&all.sessions);
    let role = RoleKey(dice.below(3) as u32);
    let on = dice.below(2) == 0;
    let text: Arc<str> = dice.of(&["@scout is it green?", "the build is done", "thanks!", ""]).into();
    let name = dice.of(&["helpers", "alice", "new one", "new", "", "@scout"]).to_owned();
    let content = Message { text: text.clone(), ..Message::default() };
    let mut say = Say::to(conversation, &text).0;
    say.in_reply_to = on.then_some(event);
    say.thread = (dice.below(3) == 0).then_some(thread);
    let stimulus = chorus_core::model::requests::NewStimulus { conversation, source: Some(other), ..idea(house, &text) };
    let fields = MemberFields { handle: Some(name.clone()), ..MemberFields::default() };
    let settings = Settings { title: text.clone(), ..Settings::default() };
    let patch = SettingsPatch { archived: Some(on), title: Some(name.clone()), ..SettingsPatch::default() };
    let disposition = dice.of(&Disposition::ALL);
    let signal = dice.of(&Signal::ALL);
    let status = Some(dice.of(&ThreadStatus::ALL));
    let attempt = dice.below(3) as u16;
    let received = Received {
        secret: [dice.below(2) as u8; 32],
        channel: Channel { hash: [1; 32], title: text.clone(), context: "".into() },
        message: content.clone(),
        idempotency: Idempotency { key: [dice.below(3) as u8; 16], payload: [dice.below(2) as u8; 16] },
        kind: MemberKind::Human,
        hop: 0,
        directedness: None,
        callback: Secret("back".into()),
    };
    let new = NewSchedule {
        when: When::Every(dice.of(&[0, 60_000, 3_600_000])),
        source: on.then_some(other), thread: None, text: text.clone(), title: None,
        targets: vec![member], progress_key: None, initiative_key: None,
    };
    let secret = Secret("https://agent.example/inbox/sk".into());
    let act = dice.of(&[
        Act::Add { url: secret.clone(), signing: None }, Act::Rotate { url: secret, signing: None },
        Act::Pause, Act::Resume, Act::Remove, Act::Gone { epoch: Timestamp(1) },
    ]);
    let asked = token::Asked {
        jti: "t1".into(), member, authority: dice.of(&Authority::ALL), session: on.then_some(uid),
        expires: house.now.plus(1_000), kid: "k".into(), proof: [0; 32],
    };
    let project = dice.of(&[
        Asked::Create { title: text.clone(), description: "".into(), members: vec![member], links: Vec::new(), kickoff: None },
        Asked::Change { project: uid, title: Some(text.clone()), description: None },
        Asked::Delete { project: uid },
        Asked::SetMember { project: uid, id: "one".into(), member: Some(member), title: None, lead: Some(on) },
        Asked::RemoveMember { project: uid, id: "one".into() },
        Asked::Link { project: uid, link: Linking { conversation, default: None, mirror: Some(on) }, kickoff: None },
        Asked::Unlink { project: uid, conversation },
        Asked::AddTask { project: uid, fields: TaskFields { title: Some(text.clone()), ..TaskFields::default() } },
        Asked::ChangeTask { project: uid, task: UNKNOWN, fields: TaskFields::default() },
        Asked::RemoveTask { project: uid, task: UNKNOWN },
    ]);
    let written = Written { after: Seq(0), through: Seq(dice.below(9) as u64), member, text: text.clone() };
    let opening = OpenThread {
        home: conversation.into(), root: on.then_some(event), title: text.to_string(), kind: ThreadKind::Workflow,
        owner: Some(member), participants: vec![other], idempotency: None,
    };
    let note = Note { act: Action::CallTool, name: "chat.react".into(), member: None, refused: None, took_ms: None };
    let session_name = if on { SessionName::Ours(uid) } else { SessionName::Runtimes(name.as_str().into()) };
    let heartbeat = directory::Heartbeat {
        member: on.then(|| name.clone()), session: session_name, runtime: text.to_string(), resumable: on,
        status: dice.of(&SessionStatus::ALL),
    };
    let mut wake_ids = vec![UNKNOWN];
    wake_ids.extend(house.ws.directory().wakes.keys().copied());
    let wake_report = wakes::ReportWake {
        wake: dice.of(&wake_ids), fence: 1 + dice.below(2) as u32, lane: on.then(|| dice.of(&Lane::ALL)),
        result: dice.of(&ReportResult::ALL), why: None, evidence: None, deferred_until: None, resume_id: None,
        lines: None,
    };
    let (agent, job) = (Uid(7 + dice.below(2) as u128), Uid(70 + dice.below(3) as u128));
    let (amount, skill) = (Credits(dice.of(&[0, 5, 50])), dice.of(&["sum", "paint", ""]));
    let transfer = Uid(dice.below(3) as u128);
    let registration = Registration {
        agent: on.then_some(agent), name: name.as_str().into(), endpoint: on.then(|| "https://a.example/jobs".into()), pulls: false,
        skills: vec![Skill {
            name: skill.into(), description: text.clone(), cost: Credits(5), input: "{}".into(), output: "{}".into(),
        }],
    };
    let request = jobs::Request {
        job, agent, orchestrator: None, skill: skill.into(),
        input: "{}".into(), budget: amount, payment: dice.of(&Payment::ALL), payment_identifier: None, callback: None,
        evaluation: (dice.below(3) == 0).then_some(Evaluation { by: other, within_ms: 60_000 }), timeout_ms: 60_000, thread: None, pipeline: None,
    };
    let result = JobResult {
        success: on, output: Some("{}".into()), cost: amount, time_ms: 1, error: None, stated_at: house.now,
    };
    vec![
        boxed(registry::Register { asked: registration, owner: (dice.below(4) == 0).then(|| name.as_str().into()) }),
        boxed(registry::Unregister { agent }),
        boxed(registry::Heartbeat { agent: on.then_some(agent) }),
        boxed(registry::ChallengeEndpoint { agent, answered: on.then(|| "https://another.example".into()) }),
        boxed(request),
        boxed(jobs::Deliver { job, agent, result, next: None }),
        boxed(jobs::ReportProgress { job, agent, note: text.clone() }),
        boxed(jobs::Cancel { job }),
        boxed(jobs::Evaluate { job, accept: on }),
        boxed(jobs::Dispute { job, reason: text.clone() }),
        boxed(jobs::DecideDispute { job, for_hirer: on, note: text.clone() }),
        boxed(jobs::JobPosted { job, end: on, attempt, posted: Posted::Refused("HTTP 400".into()), asked_in: on.then_some((place, uid)) }),
        boxed(ledger::Mint { transfer, to: name.as_str().into(), amount, memo: None }),
        boxed(ledger::Transfer { transfer, from: "alice".into(), to: name.as_str().into(), amount, job: on.then_some(job), memo: None }),
        boxed(ledger::LimitSpending { member, per_job: on.then_some(amount), per_day: None }),
        boxed(approvals::MayCall { tool: "chat.react".into(), arguments: "{}".into() }),
        boxed(approvals::DecideApproval { approval: uid, approved: on, reason: None }),
        boxed(assets::KeepAsset { hash: [3; 32], name: name.clone(), media: Media::Text, bytes: 3, data: Arc::from(&b"red"[..]) }),
        boxed(assets::KeepThumbnail { hash: [4; 32], thumbnail: Arc::from(&b"red"[..]) }),
        boxed(assets::SweepAssets),
        boxed(assets::ForgetObjects { objects: vec![([3; 32], name.clone())] }),
        boxed(conversations::CreateConversation { kind: ConversationKind::Channel, settings, members: vec![member, other] }),
        boxed(conversations::ChangeConversation { conversation, settings: patch }),
        boxed(conversations::SetSeat { conversation, member, participation: dice.of(&Participation::ALL), terms: Default::default() }),
        boxed(conversations::RemoveSeat { conversation, member }),
        boxed(conversations::Leave { conversation, thread: on.then_some(thread), member }),
        boxed(conversations::SetCursor { conversation, read: Seq(dice.below(99) as u64) }),
        boxed(conversations::AckThread { thread, read: Seq(dice.below(99) as u64) }),
        boxed(deliveries::OfferAgain),
        boxed(deliveries::Claim { event }),
        boxed(deliveries::Release { event }),
        boxed(deliveries::Accept { event: place, attempt, epoch: None }),
        boxed(deliveries::Reject { event: place, attempt }),
        boxed(deliveries::Dispose { event, disposition, note: None }),
        boxed(deliveries::Resolve { event, note: None }),
        boxed(deliveries::Defer { event, until: on.then_some(house.now.plus(9_000)), reason: None }),
        boxed(deliveries::Retrieve { event }),
        boxed(deliveries::Life { session }),
        boxed(deliveries::Progress { event: on.then_some(event) }),
        boxed(deliveries::MayActUnasked { conversation, shows: on }),
        boxed(deliveries::CancelDelivery { event, attempt: None }),
        boxed(deliveries::Redeliver { event, member }),
        boxed(deliveries::EndDelivery { event, member }),
        boxed(directory::PauseAgent { agent: member, on }),
        boxed(digests::KeepDigest { conversation, written }),
        boxed(directory::AddMember { id: name.clone(), kind: MemberKind::Agent, fields: fields.clone() }),
        boxed(directory::ChangeMember { member, fields }),
        boxed(directory::RemoveMember { member: dice.of(&[MemberKey(77), WRITER]) }),
        boxed(directory::SetLead { member: Some(member) }),
        boxed(directory::AddRole { name: name.clone() }),
        boxed(directory::RemoveRole { role }),
        boxed(directory::SetRoleMember { role, member, on }),
        boxed(directory::AddStream { name: name.clone(), owner: Some(member) }),
        boxed(directory::OpenSession { uid: on.then_some(uid), runtime: text.to_string(), resumable: on, ..Default::default() }),
        boxed(directory::KnowSession { uid }),
        boxed(directory::OpenSession { runtime: text.to_string(), resumable: on, runner: true, folder: Some(text.clone()), ..Default::default() }),
        boxed(heartbeat),
        boxed(directory::CloseSession { session }),
        boxed(directory::IssueToken(asked)),
        boxed(directory::RevokeToken { jti: "t1".into(), expires: house.now }),
        boxed(directory::RevokeTokens { member }),
        boxed(directory::SweepExpired),
        boxed(endpoints::Endpoint { member, act }),
        boxed(endpoints::GiveUp { event: place, attempt }),
        boxed(endpoints::PostFailed { event: place, attempt, retry: Retry { failed: 1, until: house.now, epoch: Timestamp(1) } }),
        boxed(endpoints::PostAgain { event: place }),
        boxed(inboxes::AddInbox { agent: member, name: Some(text.clone()), secret: [1; 32], checks: Checks::default() }),
        boxed(inboxes::ChangeInbox { inbox: uid, patch: Patch { name: Some(text.clone()), ..Patch::default() } }),
        boxed(inboxes::RotateInbox { inbox: uid, secret: [2; 32] }),
        boxed(inboxes::RemoveInbox { inbox: uid }),
        boxed(inboxes::NoteTrouble { inbox: uid, what: text.clone() }),
        boxed(inboxes::Receive(received)),
        boxed(inboxes::SentBack { conversation: place.conversation, through: place.seq }),
        boxed(inboxes::SweepCallbacks),
        boxed(messages::CloseRun(say.clone())),
        boxed(messages::PostUnasked(say.clone())),
        boxed(messages::EmitOutput { message: content.clone() }),
        boxed(messages::Edit { message, content }),
        boxed(messages::Delete { message }),
        boxed(messages::Erase { message, reason: dice.of(&Reason::ALL) }),
        boxed(messages::React { message, signal, detail: None, on }),
        boxed(notes::Note(note)),
        boxed(projects::Project(project)),
        boxed(retention::Trim { conversation, through: Seq(dice.below(50) as u64), erased: None }),
        boxed(schedules::AddSchedule { conversation, new }),
        boxed(schedules::ChangeSchedule { conversation, schedule: uid, patch: SchedulePatch { paused: Some(on), ..SchedulePatch::default() } }),
        boxed(schedules::RemoveSchedule { conversation, schedule: uid }),
        boxed(stimuli::Stimulate(stimulus)),
        boxed(stimuli::SteerStimulus { conversation, stimulus: uid, again: on }),
        boxed(opening),
        boxed(threads::ChangeThread { thread, status, owner: Some(Some(member)), reason: text.clone(), summary: None, note: None }),
        boxed(threads::ChangeWork { thread, change: Box::new(WorkChange { topic_kind: Some(Some(text.clone())), ..Default::default() }) }),
        boxed(threads::Promote { message, note: Some(text.clone()) }),
        boxed(turns::Continue { conversation, thread: on.then_some(thread) }),
        boxed(turns::BreakTurn { conversation, subject: event, member }),
        boxed(queries::Barrier),
        boxed(queries::Preview(say.clone())),
        boxed(queries::Owed { session, limit: 9 }),
        boxed(queries::SilentRuns { session }),
        boxed(queries::Standing { event }),
        boxed(queries::Waiting { member: on.then_some(member), limit: 9 }),
        boxed(queries::Overdue { member: on.then_some(member), limit: 9 }),
        boxed(queries::Droppable { conversation }),
        boxed(queries::Turns { conversation }),
        boxed(queries::Wakes { session: None, event: on.then_some(event) }),
        boxed(wakes::RunnerListens { session }),
        boxed(wakes::Trigger { thread: dice.of(&[thread, conversation]), target: dice.of(&["scout", "writer", "alice", "nobody"]).into(), reason: text.to_string(), prompt: on.then(|| text.to_string()), force: dice.below(4) == 0 }),
        boxed(wake_report),
        boxed(say),
    ]
}

/// Who asks: people with every authority, agents, and agents in a turn that is theirs, another's or over.
fn caller(house: &House, dice: &mut Dice) -> By {
    let member = dice.of(&[ALICE, BOB, SCOUT, REVIEWER, WRITER, MemberKey(77), MemberKey::HOST]);
    let by = if member == MemberKey::HOST { By::host() } else { house.by(member) };
    let authority = if dice.below(3) == 0 { dice.of(&Authority::ALL) } else { by.authority };
    let event = dice.of(&Things::of(house).places);
    let turn = TurnRef {
        conversation: event.conversation,
        seq: event.seq,
        fence: dice.below(3) as u32,
        attempt: 0,
    };
    By { authority, turn: (dice.below(3) == 0).then_some(turn), ..by }
}

/// All that a workspace has, but for what it remembers of things that it has looked up.
fn everything(house: &House) -> String {
    let mut rooms = BTreeMap::new();
    for room in house.ws.rooms() {
        let roster: BTreeMap<_, _> = room.roster().iter().collect();
        let threads: BTreeMap<_, _> = room.threads().iter().collect();
        let (listeners, open, closed) = (room.listeners(), room.open(), room.closed());
        let state = format!(
            "{:?} {:?} {roster:?} {listeners:?} {threads:?} {open:?} {closed:?} {:?} {:?} {:?} {:?}",
            room.conversation(),
            room.head(),
            room.stimuli(),
            room.schedules(),
            room.autonomous(),
            room.remote(),
        );
        rooms.insert(room.key(), state);
    }
    let market = &house.log.market;
    format!("{} {:?} {market:?} {rooms:?}", house.fingerprint(), house.ws.directory())
}

/// A house in which much is under way.
fn busy(dice: &mut Dice) -> House {
    let mut house = if dice.below(2) == 0 { House::new() } else { House::with_subjects() };
    house.add_member("stranger", MemberKind::Human);
    for _ in 0..40 {
        let by = caller(&house, dice);
        let mut commands = commands(&house, dice);
        let n = dice.below(commands.len());
        // Whatever comes of it is part of the state.
        let _ = commands.swap_remove(n).run(&mut house, by);
        match dice.below(6) {
            0 => house.pass(dice.of(&[1_000, 61_000, 301_000])),
            1 => drop(house.post(ALICE, Say::to(house.ops, "@scout @reviewer what do you think?"))),
            2 => {
                if let Some(offer) = house.offers(SCOUT).pop() {
                    let _ = house.accept(&offer);
                }
            }
            _ => {}
        }
    }
    house
}

/// The names of all commands, as the sources have them.
#[expect(clippy::disallowed_methods, reason = "the sources say which commands there are")]
fn declared(folder: &Path, names: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("the sources are here") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            declared(&path, names);
            continue;
        }
        let text = fs::read_to_string(&path).expect("a source");
        let after = text.lines().filter_map(|line| line.strip_prefix("impl Command for "));
        names.extend(after.map(|name| name.trim_end_matches(" {").to_owned()));
    }
}

// covers: ATT-129
#[test]
fn a_refused_command_changes_nothing_whatever_it_is() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut all = BTreeSet::new();
    declared(&sources.join("commands"), &mut all);
    declared(&sources.join("queries"), &mut all);
    let (mut tried, mut refused) = (BTreeSet::new(), BTreeMap::<&str, u32>::new());
    for seed in 1..=24 {
        let mut dice = Dice(u64::wrapping_mul(seed, 0x9e37_79b9_7f4a_7c15));
        let mut house = busy(&mut dice);
        for _ in 0..12 {
            for command in commands(&house, &mut dice) {
                let by = caller(&house, &mut dice);
                let before = everything(&house);
                tried.insert(command.name.to_owned());
                if let Err(NotDone::Refused(why)) = command.run(&mut house, by) {
                    *refused.entry(command.name).or_default() += 1;
                    let after = everything(&house);
                    assert!(before == after, "seed {seed}: {} by {by:?}: {why}", command.name);
                }
            }
        }
    }
    assert_eq!(tried, all, "every command is tried");
    // What only looks, or is the host's own, may never be refused; the rest are.
    let never: Vec<_> = all.iter().filter(|name| !refused.contains_key(&***name)).collect();
    assert!(never.len() <= 12, "hardly ever refused: {never:?}");
}
