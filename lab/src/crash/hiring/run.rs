//! One run: jobs one after the other and side by side, and a host that dies in the middle of them.

use std::time::{Duration, Instant};
use std::{fmt, fs};

use serde_json::{Value, json};

use super::check::{Entry, Evidence, Hired, PRICE, Sent, check};
use super::program::Program;
use crate::crash::chance::Chance;
use crate::crash::door::Door;
use crate::crash::host::Host;
use crate::crash::plan::Plan;
use crate::crash::room;

/// Whole credits that the buyer begins with.
const MINTED: i64 = 10;
/// Buyers at once, while the host is killed at random moments.
const BUYERS: usize = 2;
/// Longest that a job may take after the last kill: a post that went down with the host is made
/// again after 40 s.
const PATIENCE: Duration = Duration::from_secs(55);

/// What a run comes to.
#[derive(Clone, Debug)]
pub struct Report {
    /// What does not hold; empty when all does.
    pub wrong: Vec<String>,
    seed: u64,
    kills: usize,
    jobs: usize,
    taken: usize,
    sent: usize,
    took: Duration,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, kills, jobs, taken, sent, .. } = self;
        writeln!(f, "seed {seed}, {:.0} s", self.took.as_secs_f64())?;
        writeln!(f, "the host was killed {kills} times")?;
        writeln!(f, "{jobs} jobs were posted {taken} times, and {sent} results were answered")?;
        self.wrong.iter().take(20).try_for_each(|wrong| writeln!(f, "WRONG: {wrong}"))
    }
}

/// Runs the plan.
///
/// # Errors
/// What kept the run from coming to a verdict.
pub fn run(plan: &Plan) -> Result<Report, String> {
    let began = Instant::now();
    let mut market = Market::open(plan)?;
    market.after_the_first_result()?;
    market.after_it_was_accepted()?;
    while market.kills < plan.kills {
        market.at_random()?;
    }
    market.ended()?;
    let mut evidence = market.evidence()?;
    evidence.wrong.extend(market.host.doctor().err());
    market.host.kill()?;
    evidence.wrong.extend(market.host.doctor().err());
    market.restart()?;
    let again = market.evidence()?;
    let mut wrong = check(&evidence);
    wrong.extend(check(&again).into_iter().map(|line| format!("after a restart: {line}")));
    let taken =
        market.seller.lines().iter().filter(|l| l.starts_with("took translate_text")).count();
    market.host.stop()?;
    Ok(Report {
        wrong,
        seed: plan.seed,
        kills: market.kills,
        jobs: evidence.hired.len(),
        taken,
        sent: evidence.sent.len(),
        took: began.elapsed(),
    })
}

struct Market {
    plan: Plan,
    chance: Chance,
    host: Host,
    door: Door,
    seller: Program,
    agent: String,
    /// Those that may still wait: nobody waits for them before the last kill.
    buyers: Vec<Program>,
    hired: Vec<Hired>,
    kills: usize,
}

impl Market {
    fn open(plan: &Plan) -> Result<Self, String> {
        let mut chance = Chance::new(plan.seed);
        let mut host = Host::on(&plan.folder, &plan.chorus, &mut chance)?;
        host.settings = vec![
            ("CHORUS_WEBHOOK_ALLOW", "127.0.0.0/8".to_owned()),
            ("CHORUS_LIMITS_MEMBER_PER_SECOND", "0".to_owned()),
        ];
        host.start()?;
        host.ready()?;
        let mut door = Door::new(host.addr, room::operator(&host.data())?);
        for member in ["seller", "buyer"] {
            let path = plan.folder.join(format!("{member}.token"));
            let token = room::member(&mut door, member, "agent")?;
            fs::write(&path, token).map_err(|e| format!("{}: {e}", path.display()))?;
        }
        door.must("POST", "/accounts/buyer/mint", &json!({ "amount": MINTED }))?;
        let seller =
            Program::start(&plan.folder, "seller.py", &[], &format!("http://{}", host.addr))?;
        let agent = seller.wait("that it is registered", PATIENCE, |lines| {
            lines.iter().find_map(|line| line.strip_prefix("registered ").map(str::to_owned))
        })?;
        let (plan, buyers, hired) = (plan.clone(), Vec::new(), Vec::new());
        Ok(Self { plan, chance, host, door, seller, agent, buyers, hired, kills: 0 })
    }

    fn buyer(&self) -> Result<Program, String> {
        let host = format!("http://{}", self.host.addr);
        Program::start(&self.plan.folder, "buyer.py", &["hello world"], &host)
    }

    fn kill(&mut self) -> Result<(), String> {
        self.kills += 1;
        self.host.kill()?;
        let time = self.chance.millis(0..100);
        std::thread::sleep(time);
        self.restart()
    }

    fn restart(&mut self) -> Result<(), String> {
        self.host.start()?;
        self.host.ready().map(drop)
    }

    /// The host is killed as soon as it has answered a request for a job with 202.
    fn after_it_was_accepted(&mut self) -> Result<(), String> {
        let buyer = self.buyer()?;
        buyer.wait("which job it has", PATIENCE, |lines| asked(lines).map(drop))?;
        self.buyers.push(buyer);
        self.kill()
    }

    /// The host is killed as soon as it has answered the first of three results.
    fn after_the_first_result(&mut self) -> Result<(), String> {
        let buyer = self.buyer()?;
        let job = buyer.wait("which job it has", PATIENCE, asked)?;
        let first = format!("sent {job} 1 ");
        let heard = |lines: &[String]| lines.iter().any(|l| l.starts_with(&first)).then_some(());
        self.seller.wait("that a result was taken", PATIENCE, heard)?;
        self.buyers.push(buyer);
        self.kill()
    }

    fn at_random(&mut self) -> Result<(), String> {
        for _ in 0..BUYERS {
            let buyer = self.buyer()?;
            self.buyers.push(buyer);
        }
        let time = self.chance.millis(50..700);
        std::thread::sleep(time);
        self.kill()
    }

    /// Waits until each buyer has its result, and the seller has sent it three times.
    fn ended(&mut self) -> Result<(), String> {
        for buyer in std::mem::take(&mut self.buyers) {
            let (status, lines) = buyer.end(PATIENCE)?;
            let job =
                asked(&lines).ok_or_else(|| format!("a buyer ended ({status}): {lines:?}"))?;
            let third = format!("sent {job} 3 ");
            let heard =
                |lines: &[String]| lines.iter().any(|l| l.starts_with(&third)).then_some(());
            self.seller.wait(&format!("{third:?}"), PATIENCE, heard)?;
            let is_right = status.success() && lines.iter().any(|l| l.contains("'hallo Welt'"));
            self.hired.push(Hired { job, is_right });
        }
        Ok(())
    }

    fn evidence(&mut self) -> Result<Evidence, String> {
        let mut seen = Evidence { hired: self.hired.clone(), ..Evidence::default() };
        for line in self.seller.lines() {
            let mut words = line.splitn(4, ' ');
            let (Some("sent"), Some(job), Some(_), Some(taken)) =
                (words.next(), words.next(), words.next(), words.next())
            else {
                continue;
            };
            let taken: Value = serde_json::from_str(taken).map_err(|e| format!("{line}: {e}"))?;
            // Answers to challenges are no results.
            if taken["job_id"].is_string() || taken["error"].is_object() {
                seen.sent.push(Sent {
                    job: job.to_owned(),
                    is_paid: taken["state"] == "Completed" && hundredths(&taken["paid"]) == PRICE,
                    duplicate: taken["duplicate"] == true,
                });
            }
        }
        for account in self.all("/accounts", "accounts")? {
            let owner = account["owner_id"].as_str().unwrap_or_default().to_owned();
            seen.accounts.insert(owner, hundredths(&account["balance"]));
        }
        let entries = self.all("/audit", "entries")?;
        seen.entries = entries
            .iter()
            .map(|entry| Entry {
                kind: entry["kind"].as_str().unwrap_or_default().to_owned(),
                job: entry["job_id"].as_str().unwrap_or_default().to_owned(),
                amount: hundredths(&entry["amount"]),
            })
            .collect();
        seen.minted = MINTED * 100;
        let path = format!("/agents/{}/reputation", self.agent);
        let moved = self.all(&path, "changes")?;
        let job = |change: &Value| change["job_id"].as_str().unwrap_or_default().to_owned();
        seen.moved = moved.iter().map(job).collect();
        let agent = self.door.must("GET", &format!("/agents/{}", self.agent), &Value::Null)?;
        seen.reputation = agent["reputation_score"].as_f64().unwrap_or_default();
        Ok(seen)
    }

    /// Every page of a list.
    fn all(&mut self, path: &str, name: &str) -> Result<Vec<Value>, String> {
        let (mut all, mut after) = (Vec::new(), String::new());
        loop {
            let page = self.door.must("GET", &format!("{path}?limit=200{after}"), &Value::Null)?;
            all.extend(page[name].as_array().cloned().unwrap_or_default());
            match page["next"].as_str() {
                Some(next) => after = format!("&after={next}"),
                None => return Ok(all),
            }
        }
    }
}

/// The job that a buyer says it has.
fn asked(lines: &[String]) -> Option<String> {
    lines.iter().find_map(|line| line.strip_prefix("job ").map(str::to_owned))
}

fn hundredths(amount: &Value) -> i64 {
    (amount.as_f64().unwrap_or(f64::NAN) * 100.0).round() as i64
}
