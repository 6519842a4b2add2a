//! An agent is hired, and credits and reputation move as they must: in a house of its own, whose
//! accounts nobody else moves.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::scene::{Scene, brief};
use crate::referee::house::{Member, Said, text};
use crate::referee::rules::{HELD, MOVES, NO_OVERDRAFT, NOT_ANOTHERS, SETTLED_ONCE, SUMS};

/// How often the same is said.
const TIMES: usize = 3;

/// Hire, be killed now and then, deliver again and again, and spend at once what is there once.
pub(super) async fn hired(scene: &mut Scene) -> Result<(), String> {
    let (ann, bot, eve) = (scene.person().await?, scene.agent().await?, scene.agent().await?);
    let price = scene.chance.within(1..100) as i64;
    let budget = price + scene.chance.within(0..50) as i64;
    // Half of what is left at the end pays another job.
    let minted = budget + 2 * price + scene.chance.within(100..500) as i64;
    let mint = json!({ "transfer_id": uuid(scene), "amount": credits(minted) });
    let path = format!("/accounts/{}/mint", ann.id);
    for _ in 0..TIMES {
        scene.house.op("POST", &path, mint.clone()).await?;
    }
    let skill = json!({
        "skill_name": "count",
        "description": "Counts",
        "cost_per_call": credits(price),
        "input_schema": { "text": "string" },
        "output_schema": { "words": "number" },
    });
    let offer = json!({ "agent_name": format!("The {}", bot.id), "skills": [skill] });
    for _ in 0..TIMES {
        scene.house.ask_until(&bot.token, "POST", "/register", &offer).await.given()?;
    }
    let mut books = Books { ann: ann.id.clone(), bot: bot.id.clone(), minted, held: 0, paid: 0 };
    books.judge(scene).await?;
    let job = request(scene, &bot, budget);
    for _ in 0..TIMES {
        let asked = scene.house.ask_until(&ann.token, "POST", "/jobs", &job).await.given()?;
        let seen = || asked.to_string();
        let is_held = asked["state"] == "Funded" && hundredths(&asked["held"]) == budget;
        scene.expect(HELD, is_held, "a job that is asked for holds its budget once", seen, &[]);
    }
    books.held = budget;
    books.judge(scene).await?;
    killed_perhaps(scene)?;
    another_delivers(scene, &job, &[&eve, &ann]).await?;
    books.judge(scene).await?;
    delivered(scene, &bot, &job, &mut books, price).await?;
    let path = format!("/agents/@{}/reputation", bot.id);
    let history = scene.house.get(&ann.token, &path).await?;
    let moved = history["changes"].as_array().map_or(0, Vec::len);
    let seen = || history.to_string();
    let once = moved == 1 && history["reputation_score"] == 51.0;
    scene.expect(MOVES, once, "a job that was paid moves reputation once", seen, &[]);
    spent_at_once(scene, &ann, &bot, &mut books).await
}

/// What the accounts of a house must be in which nobody else has any.
struct Books {
    ann: String,
    bot: String,
    minted: i64,
    held: i64,
    paid: i64,
}

impl Books {
    /// Looks at all accounts and at every entry.
    async fn judge(&self, scene: &Scene) -> Result<(), String> {
        let shown = scene.house.get(&scene.house.operator, "/accounts?limit=200").await?;
        let accounts: BTreeMap<_, _> = shown["accounts"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|a| (a["owner_id"].as_str().unwrap_or_default(), hundredths(&a["balance"])))
            .collect();
        let seen = || format!("{accounts:?}");
        let sum: i64 = accounts.values().sum();
        scene.expect(SUMS, sum == 0, "the sum over all accounts is 0 with the mint", seen, &[]);
        let due = [
            ("@mint", -self.minted),
            ("@escrow", self.held),
            (&*self.ann, self.minted - self.held - self.paid),
            (&*self.bot, self.paid),
        ];
        for (owner, due) in due {
            // An account opens with what comes first.
            let has = accounts.get(owner).copied().unwrap_or_default();
            let seen = || format!("{owner} has {has} hundredths and not {due}: {accounts:?}");
            scene.expect(SUMS, has == due, "each account has what moved", seen, &[]);
        }
        let audit = scene.house.get(&scene.house.operator, "/audit?limit=200").await?;
        let (mut replayed, mut number) = (BTreeMap::<&str, i64>::new(), 0);
        let mut without_gap = true;
        for entry in audit["entries"].as_array().into_iter().flatten() {
            number += 1;
            without_gap &= entry["entry"].as_u64() == Some(number);
            let amount = hundredths(&entry["amount"]);
            let side = |name: &str| entry[name].as_str().unwrap_or_default();
            *replayed.entry(side("from_owner")).or_default() -= amount;
            *replayed.entry(side("to_owner")).or_default() += amount;
        }
        let seen = || audit.to_string();
        let whole = without_gap && audit["ledger"]["entries"].as_u64() == Some(number);
        scene.expect(SUMS, whole, "entries are numbered without a gap", seen, &[]);
        let same = accounts.iter().all(|(owner, has)| replayed.get(owner).unwrap_or(&0) == has);
        let seen = || format!("{replayed:?} of the entries, {accounts:?} of the accounts");
        scene.expect(SUMS, same, "the entries come to each balance", seen, &[]);
        Ok(())
    }
}

fn killed_perhaps(scene: &mut Scene) -> Result<(), String> {
    if scene.chance.one_in(2) {
        scene.house.kill()?;
        scene.house.start()?;
    }
    Ok(())
}

/// Others deliver the job with their own tokens, which changes nothing.
async fn another_delivers(scene: &Scene, job: &Value, by: &[&Member]) -> Result<(), String> {
    let id = text(job, "job_id")?;
    let path = format!("/jobs/{id}/result");
    for member in by {
        let result = result(scene, job, 2).await?;
        let said = scene.house.ask_until(&member.token, "POST", &path, &result).await;
        let seen = || format!("{} delivers: {}", member.id, brief(&said));
        let refused = matches!(said.code(), Some("FORBIDDEN" | "NOT_FOUND"));
        scene.expect(NOT_ANOTHERS, refused, "nobody else delivers a job's result", seen, &[]);
    }
    Ok(())
}

/// The agent delivers again and again, over a kill perhaps, and then something else.
async fn delivered(
    scene: &mut Scene,
    bot: &Member,
    job: &Value,
    books: &mut Books,
    price: i64,
) -> Result<(), String> {
    let path = format!("/jobs/{}/result", text(job, "job_id")?);
    let same = result(scene, job, 2).await?;
    for number in 0..TIMES {
        let said = scene.house.ask_until(&bot.token, "POST", &path, &same).await.given()?;
        let seen = || format!("result {number}: {said}");
        let paid = said["state"] == "Completed"
            && hundredths(&said["paid"]) == price
            && said["duplicate"] == json!(number > 0);
        scene.expect(SETTLED_ONCE, paid, "the same result is paid the first time", seen, &[]);
        (books.held, books.paid) = (0, price);
        books.judge(scene).await?;
        killed_perhaps(scene)?;
    }
    let other = result(scene, job, 3).await?;
    let said = scene.house.ask_until(&bot.token, "POST", &path, &other).await;
    scene.refused(SETTLED_ONCE, "another result", "CONFLICT", said, &[]);
    books.judge(scene).await
}

/// Two jobs and two transfers at once, of which what is there pays one.
async fn spent_at_once(
    scene: &mut Scene,
    ann: &Member,
    bot: &Member,
    books: &mut Books,
) -> Result<(), String> {
    let has = books.minted - books.held - books.paid;
    let most = has / 2 + 1;
    let jobs = [request(scene, bot, most), request(scene, bot, most)];
    let transfers = [uuid(scene), uuid(scene)].map(|id| {
        json!({
            "transfer_id": id,
            "from_owner": ann.id,
            "to_owner": bot.id,
            "amount": credits(most),
        })
    });
    let house = &scene.house;
    let ask = async |path, body| house.ask_until(&ann.token, "POST", path, body).await;
    let (one, two, three, four) = tokio::join!(
        ask("/jobs", &jobs[0]),
        ask("/transfer", &transfers[0]),
        ask("/jobs", &jobs[1]),
        ask("/transfer", &transfers[1]),
    );
    let all = [one, two, three, four];
    let given = all.iter().filter(|said| matches!(said, Said::Given(_))).count();
    let failed = all.iter().filter(|said| said.code() == Some("TRANSFER_FAILED")).count();
    let seen = || format!("of {has}, {most} four times: {:?}", all.each_ref().map(brief));
    let one_of_four = (given, failed) == (1, 3);
    scene.expect(NO_OVERDRAFT, one_of_four, "what is there is spent once", seen, &[]);
    for (number, said) in all.iter().enumerate() {
        if matches!(said, Said::Given(_)) {
            let is_job = number % 2 == 0;
            *(if is_job { &mut books.held } else { &mut books.paid }) += most;
        }
    }
    books.judge(scene).await
}

fn request(scene: &mut Scene, bot: &Member, budget: i64) -> Value {
    json!({
        "job_id": uuid(scene),
        "agent_id": format!("@{}", bot.id),
        "skill_name": "count",
        "input_data": { "text": "good morning" },
        "budget": credits(budget),
        "currency": "chorus_credits_v1",
    })
}

async fn result(scene: &Scene, job: &Value, words: u32) -> Result<Value, String> {
    let id = text(job, "job_id")?;
    let shown = scene.house.get(&scene.house.operator, &format!("/jobs/{id}")).await?;
    Ok(json!({
        "job_id": id,
        "agent_id": shown["agent_id"],
        "status": "SUCCESS",
        "output_data": { "words": words },
    }))
}

fn uuid(scene: &mut Scene) -> String {
    let (first, last) = (scene.chance.within(0..1 << 32), scene.chance.within(0..1 << 48));
    format!("{first:08x}-0000-4000-8000-{last:012x}")
}

fn credits(hundredths: i64) -> f64 {
    hundredths as f64 / 100.0
}

fn hundredths(amount: &Value) -> i64 {
    (amount.as_f64().unwrap_or(f64::NAN) * 100.0).round() as i64
}
