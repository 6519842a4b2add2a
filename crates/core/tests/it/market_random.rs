//! A hundred thousand random operations of the market, in batches of which some are lost in a crash: every
//! sum holds after each.

use chorus_core::commands::{Command, Prepared, jobs, ledger, registry};
use chorus_core::model::caller::{Authority, By};
use chorus_core::model::ids::Uid;
use chorus_core::model::job::{Evaluation, JobResult, Payment, Posted};
use chorus_core::model::ledger::Credits;
use chorus_core::model::registry::{Registration, Skill};
use chorus_core::model::seed::CommandSeed;

use crate::house::{ALICE, BOB, House, REVIEWER, SCOUT, WRITER};

const OPERATIONS: usize = 100_000;

struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn of<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize].clone()
    }
}

/// Runs a command as part of a batch that is not written yet.
fn run<C: Command>(house: &mut House, by: By, n: u128, command: C) {
    let drawn = CommandSeed { uid: Uid(1_000_000 + n), ..CommandSeed::default() };
    let done = house.ws.execute(&mut house.log, by, &Prepared::new(command, drawn), house.now);
    done.expect("memory is always there");
}

/// One random operation by somebody.
fn operate(house: &mut House, dice: &mut Dice, n: u128) {
    let members = [ALICE, BOB, SCOUT, REVIEWER, WRITER];
    let names = ["alice", "bob", "scout", "reviewer", "writer", "nobody"];
    let member = dice.of(&members);
    let by = By { authority: Authority::Worker, ..house.by(member) };
    let operator = By { authority: Authority::Operator, ..house.by(ALICE) };
    let amount = Credits(dice.below(400) as i64);
    let job = Uid(10_000 + u128::from(dice.below(20_000)));
    let seller = dice.of(&[SCOUT, REVIEWER, WRITER]);
    let agent = Uid(seller.0.into());
    let by_seller = By { authority: Authority::Worker, ..house.by(seller) };
    match dice.below(14) {
        0 => {
            let skill = |name: &str, cost| Skill {
                name: name.into(),
                description: "".into(),
                cost: Credits(cost),
                input: "{}".into(),
                output: "{}".into(),
            };
            let skills = vec![skill("sum", 5), skill("paint", dice.below(300) as i64)];
            let endpoint = Some("https://a.example/jobs".into());
            let asked = Registration {
                agent: Some(agent),
                name: "an agent".into(),
                endpoint,
                pulls: false,
                skills,
            };
            run(house, by_seller, n, registry::Register { asked, owner: None });
        }
        1 if dice.below(30) == 0 => run(house, by_seller, n, registry::Unregister { agent }),
        1 => run(house, by_seller, n, registry::Heartbeat { agent: Some(agent) }),
        2 => {
            let transfer = Uid(u128::from(dice.below(5_000)));
            let to = dice.of(&names).into();
            run(house, operator, n, ledger::Mint { transfer, to, amount, memo: None });
        }
        3 | 4 => {
            let transfer = Uid(u128::from(dice.below(5_000)));
            let of_job = (dice.below(2) == 0).then_some(job);
            let (from, to) = (dice.of(&names).into(), dice.of(&names).into());
            run(
                house,
                by,
                n,
                ledger::Transfer { transfer, from, to, amount, job: of_job, memo: None },
            );
        }
        5 if dice.below(20) == 0 => {
            let limit = ledger::LimitSpending {
                member,
                per_job: (dice.below(2) == 0).then_some(Credits(250)),
                per_day: (dice.below(2) == 0).then_some(Credits(1_000)),
            };
            run(house, operator, n, limit);
        }
        5..=7 => {
            let evaluator = dice.of(&members);
            let evaluation = Evaluation { by: evaluator, within_ms: 60_000 };
            let request = jobs::Request {
                job,
                agent,
                orchestrator: (dice.below(2) == 0).then(|| Uid(1 + u128::from(dice.below(6)))),
                skill: dice.of(&["sum", "sum", "paint", "dance"]).into(),
                input: "{}".into(),
                budget: amount,
                payment: dice.of(&[Payment::Escrow, Payment::Escrow, Payment::Direct]),
                payment_identifier: None,
                callback: (dice.below(3) == 0).then(|| "https://b.example/r".into()),
                evaluation: (dice.below(3) == 0).then_some(evaluation),
                timeout_ms: 60_000,
                thread: None,
                pipeline: None,
            };
            run(house, by, n, request);
        }
        8 | 9 => {
            let result = JobResult {
                success: dice.below(4) > 0,
                output: Some(dice.of(&["{}", "{\"a\":1}"]).into()),
                cost: amount,
                time_ms: 1,
                error: None,
                stated_at: house.now,
            };
            let open = house.log.market.jobs.values().filter(|job| !job.state.has_ended());
            let open: Vec<_> = open.map(|job| (job.uid, job.agent)).collect();
            let (job, known) = if open.is_empty() { (job, agent) } else { dice.of(&open) };
            let by = if dice.below(2) == 0 { By::host() } else { by };
            run(house, by, n, jobs::Deliver { job, agent: known, result, next: None });
        }
        10 => run(house, by, n, jobs::Cancel { job }),
        11 => run(house, by, n, jobs::Evaluate { job, accept: dice.below(2) == 0 }),
        12 if dice.below(2) == 0 => run(house, by, n, jobs::Dispute { job, reason: "why".into() }),
        12 => {
            let for_hirer = dice.below(2) == 0;
            run(house, operator, n, jobs::DecideDispute { job, for_hirer, note: "so".into() });
        }
        _ => {
            let posted = match dice.below(3) {
                0 => Posted::Taken,
                1 => Posted::Refused("HTTP 400".into()),
                _ => Posted::Again("HTTP 503".into(), None),
            };
            let posted = jobs::JobPosted {
                job,
                end: dice.below(2) == 0,
                attempt: 1,
                posted,
                asked_in: None,
            };
            run(house, By::host(), n, posted);
        }
    }
}

// covers: REG-56, REG-73
#[test]
fn every_sum_holds_after_a_hundred_thousand_operations_and_crashes() {
    let mut dice = Dice(20_261_128);
    let mut house = House::asleep();
    let (mut done, mut crashes) = (0, 0);
    while done < OPERATIONS {
        let before = house.ws.directory().clone();
        for _ in 0..1 + dice.below(40) {
            operate(&mut house, &mut dice, done as u128);
            done += 1;
        }
        house.now = house.now.plus(dice.below(2_000) as i64);
        let _ = house.ws.fire_due(&mut house.log, house.now, 8);
        if dice.below(6) == 0 {
            // Nothing of the batch was committed.
            house.ws.restore_directory(before);
            crashes += 1;
        } else {
            let changes = house.ws.take_changes();
            house.log.write(&house.ws, &changes);
        }
        if done % 50 == 0 {
            house.log.market.check();
        }
    }
    let market = &house.log.market;
    market.check();
    assert!(crashes > 500, "{crashes}");
    let ended = market.jobs.values().filter(|job| job.state.has_ended()).count();
    assert!(
        ended > 1_000 && market.reputations.len() > 400,
        "{ended} {}",
        market.reputations.len()
    );
}
