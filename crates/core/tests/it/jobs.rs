//! Jobs that a member of this host was asked for by a message.

use chorus_core::commands::{jobs, ledger, registry};
use chorus_core::model::caller::By;
use chorus_core::model::disposition::Disposition;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::Uid;
use chorus_core::model::job::{Job, JobResult, Outcome, Payment, Pipeline, Posted};
use chorus_core::model::ledger::Credits;
use chorus_core::model::registry::{Registration, Skill};

use crate::house::{ALICE, BOB, House, SCOUT, at, code};

const JOB: Uid = Uid(9_000_001);
const AGENT: Uid = Uid(77);
const TIMEOUT_MS: i64 = 60_000;

/// A house in which bob can pay and scout sums.
fn market() -> House {
    let mut house = House::new();
    let (transfer, to, amount) = (Uid(1), "bob".into(), Credits(100));
    house.run(house.by(ALICE), ledger::Mint { transfer, to, amount, memo: None }).expect("minted");
    let skill = Skill {
        name: "sum".into(),
        description: "".into(),
        cost: Credits(10),
        input: "{}".into(),
        output: "{}".into(),
    };
    let asked = Registration {
        agent: Some(AGENT),
        name: "Scout".into(),
        endpoint: None,
        pulls: false,
        skills: vec![skill],
    };
    house.run(house.by(SCOUT), registry::Register { asked, owner: None }).expect("registered");
    house
}

fn hire(house: &mut House, pipeline: Option<Pipeline>) -> Result<(), Refusal> {
    let request = jobs::Request {
        job: pipeline.as_ref().map_or(JOB, |pipeline| Pipeline::job(pipeline.uid, 1)),
        agent: AGENT,
        orchestrator: None,
        skill: "sum".into(),
        input: "{}".into(),
        budget: Credits(10),
        payment: Payment::Escrow,
        payment_identifier: None,
        callback: None,
        evaluation: None,
        timeout_ms: TIMEOUT_MS,
        thread: None,
        pipeline,
    };
    house.run(house.by(BOB), request).map(drop)
}

/// Scout is asked in bob's name, and the host notes that.
fn ask(house: &mut House) -> Uid {
    let asked = house.says(BOB, "@scout you are hired");
    note_asked(house, asked);
    asked
}

fn note_asked(house: &mut House, asked: Uid) {
    let asked_in = Some((at(house.event(asked)), asked));
    let posted = Posted::Taken;
    let note = jobs::JobPosted { job: JOB, end: false, attempt: 1, posted, asked_in };
    house.run(By::host(), note).expect("the host's own");
}

fn deliver(house: &mut House, by: By) {
    let (output, cost, stated_at) = (Some("{}".into()), Credits(10), house.now);
    let result = JobResult { success: true, output, cost, time_ms: 1, error: None, stated_at };
    house.run(by, jobs::Deliver { job: JOB, agent: AGENT, result, next: None }).expect("its own");
}

fn job(house: &House) -> Job {
    (*house.log.market.jobs[&JOB]).clone()
}

fn cancel(house: &mut House) -> Result<(), Refusal> {
    house.run(house.by(BOB), jobs::Cancel { job: JOB }).map(drop)
}

// covers: REG-35, REG-39, REG-48
#[test]
fn a_job_whose_agent_has_answered_is_neither_taken_back_nor_timed_out() {
    let mut house = market();
    hire(&mut house, None).expect("bob can pay");
    ask(&mut house);
    let offer = house.take(SCOUT);
    house.reply(&offer, "the sum is 4").expect("asked");
    assert_eq!(code(cancel(&mut house)), Code::Conflict);
    // The host ends before it has made the answer the result, and starts again later.
    house.restart();
    house.pass(TIMEOUT_MS + 5_000);
    assert_eq!(job(&house).outcome, None, "its answer came in time");
    deliver(&mut house, By::host());
    assert_eq!((job(&house).outcome, job(&house).paid), (Some(Outcome::Paid), Credits(10)));
    house.log.market.check();
}

// covers: REG-39
#[test]
fn what_is_answered_too_late_or_not_at_all_times_out() {
    for late in [true, false] {
        let mut house = market();
        hire(&mut house, None).expect("bob can pay");
        ask(&mut house);
        let offer = house.take(SCOUT);
        house.now = house.now.plus(TIMEOUT_MS + 1);
        if late {
            house.reply(&offer, "the sum is 4").expect("asked");
        }
        house.pass(1_000);
        let ended = job(&house).outcome;
        assert!(matches!(ended, Some(Outcome::TimedOut | Outcome::Undelivered)), "{ended:?}");
        house.log.market.check();
    }
}

// covers: REG-49
#[test]
fn a_job_that_ended_while_it_was_asked_for_asks_nobody() {
    for delivered in [true, false] {
        let mut house = market();
        hire(&mut house, None).expect("bob can pay");
        let asked = house.says(BOB, "@scout you are hired");
        match delivered {
            true => {
                let scout = house.by(SCOUT);
                deliver(&mut house, scout);
            }
            false => cancel(&mut house).expect("nobody has answered"),
        }
        note_asked(&mut house, asked);
        let ended = if delivered { Disposition::Responded } else { Disposition::Superseded };
        assert_eq!(house.disposition(asked, SCOUT), Some(ended));
    }
}

// covers: REG-1
#[test]
fn a_pipeline_leaves_room_for_the_ids_of_its_jobs() {
    let mut house = market();
    let pipeline = |id| Pipeline {
        uid: Uid(id),
        step: 1,
        context: "{}".into(),
        rest: Vec::new(),
        next: None,
        next_job: None,
        stopped: None,
    };
    let refused = hire(&mut house, Some(pipeline(u128::MAX)));
    assert_eq!(code(refused), Code::ValidationError);
    hire(&mut house, Some(pipeline(u128::MAX - 1))).expect("there is one id left");
}
