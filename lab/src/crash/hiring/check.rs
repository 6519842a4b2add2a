//! What must hold of jobs, money and reputation, however often the host was killed.

use std::collections::{BTreeMap, BTreeSet};

/// Hundredths of a credit: what the page's seller asks, and what its buyer offers.
pub(super) const PRICE: i64 = 5;
pub(super) const BUDGET: i64 = 10;
/// A new agent's reputation, the most there is, and what a success adds on behalf of nobody.
const FIRST: f64 = 50.0;
const MOST: f64 = 100.0;
const SUCCESS: f64 = 1.0;

/// All that was seen.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// What buyers were told.
    pub hired: Vec<Hired>,
    /// What the seller was told of its results.
    pub sent: Vec<Sent>,
    pub minted: i64,
    /// Owners and what they have.
    pub accounts: BTreeMap<String, i64>,
    pub entries: Vec<Entry>,
    /// The jobs that have moved the seller's reputation, and where it is.
    pub moved: Vec<String>,
    pub reputation: f64,
    /// What went wrong on the way.
    pub wrong: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hired {
    pub job: String,
    /// The result that was printed is the translation.
    pub is_right: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    pub job: String,
    /// `Completed` and paid in full.
    pub is_paid: bool,
    pub duplicate: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub kind: String,
    pub job: String,
    pub amount: i64,
}

/// What does not hold; empty when all does.
#[must_use]
pub fn check(seen: &Evidence) -> Vec<String> {
    let mut wrong = seen.wrong.clone();
    let jobs: BTreeSet<_> = seen.hired.iter().map(|hired| &*hired.job).collect();
    if jobs.len() < seen.hired.len() {
        wrong.push("two buyers have one job".to_owned());
    }
    for hired in seen.hired.iter().filter(|hired| !hired.is_right) {
        wrong.push(format!("the buyer of {} did not print its result", hired.job));
    }
    for job in &jobs {
        each_once(job, seen, &mut wrong);
    }
    for entry in seen.entries.iter().filter(|e| e.kind != "mint") {
        if !jobs.contains(&*entry.job) {
            wrong.push(format!(
                "{} of {} for {}, which nobody asked for",
                entry.kind, entry.amount, entry.job
            ));
        }
    }
    let (count, sum) = (jobs.len() as i64, seen.accounts.values().sum::<i64>());
    if sum != 0 {
        wrong.push(format!("the sum over all accounts is {sum}"));
    }
    for (owner, due) in [
        ("@mint", -seen.minted),
        ("@escrow", 0),
        ("buyer", seen.minted - count * PRICE),
        ("seller", count * PRICE),
    ] {
        let has = seen.accounts.get(owner).copied();
        if has != Some(due) {
            wrong.push(format!("{owner} has {has:?} and not {due}"));
        }
    }
    let due = (FIRST + SUCCESS * count as f64).min(MOST);
    if (seen.reputation - due).abs() > 1e-6 {
        wrong.push(format!("the reputation is {} and not {due}", seen.reputation));
    }
    wrong
}

/// A job's money, reputation and answers.
fn each_once(job: &str, seen: &Evidence, wrong: &mut Vec<String>) {
    let mut moved: Vec<_> =
        seen.entries.iter().filter(|e| e.job == job).map(|e| (&*e.kind, e.amount)).collect();
    moved.sort_unstable();
    if moved != [("hold", BUDGET), ("pay", PRICE), ("refund", BUDGET - PRICE)] {
        wrong.push(format!("{job} has moved {moved:?}"));
    }
    let times = seen.moved.iter().filter(|moved| *moved == job).count();
    if times != 1 {
        wrong.push(format!("{job} has moved the reputation {times} times"));
    }
    let sent: Vec<_> = seen.sent.iter().filter(|sent| sent.job == job).collect();
    if sent.len() < 3 {
        wrong.push(format!("the result of {job} was taken {} times", sent.len()));
    }
    if sent.iter().any(|sent| !sent.is_paid) {
        wrong.push(format!("a result of {job} was answered otherwise: {sent:?}"));
    }
    // The answer to the first may have been lost; then all that were seen say that they are
    // duplicates.
    let first = sent.iter().filter(|sent| !sent.duplicate).count();
    if first > 1 {
        wrong.push(format!("{first} results of {job} were the first"));
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn well() -> Evidence {
        let entry = |kind: &str, amount| Entry { kind: kind.into(), job: "j".into(), amount };
        let sent = |duplicate| Sent { job: "j".into(), is_paid: true, duplicate };
        let accounts = [("@mint", -100), ("@escrow", 0), ("buyer", 95), ("seller", 5)];
        Evidence {
            hired: vec![Hired { job: "j".into(), is_right: true }],
            sent: vec![sent(false), sent(true), sent(true)],
            minted: 100,
            accounts: accounts.map(|(owner, has)| (owner.to_owned(), has)).into(),
            entries: vec![
                Entry { kind: "mint".into(), job: String::new(), amount: 100 },
                entry("hold", 10),
                entry("pay", 5),
                entry("refund", 5),
            ],
            moved: vec!["j".into()],
            reputation: 51.0,
            wrong: Vec::new(),
        }
    }

    #[test]
    fn what_went_well_is_no_reproach() {
        assert_eq!(check(&well()), Vec::<String>::new());
        let mut lost = well();
        lost.sent[0].duplicate = true;
        assert_eq!(check(&lost), Vec::<String>::new());
    }

    // A checker that cannot fail is worth nothing.
    #[test]
    fn each_harm_is_noticed() {
        type Harm = fn(&mut Evidence);
        let harms: [(&str, Harm); 12] = [
            ("has moved [", |e| e.entries.push(e.entries[2].clone())),
            ("has moved [", |e| drop(e.entries.remove(3))),
            ("nobody asked for", |e| e.entries[2].job = "k".into()),
            ("the reputation 2 times", |e| e.moved.push("j".into())),
            ("the reputation 0 times", |e| e.moved.clear()),
            ("the reputation is 52", |e| e.reputation = 52.0),
            ("did not print", |e| e.hired[0].is_right = false),
            ("was taken 2 times", |e| drop(e.sent.pop())),
            ("answered otherwise", |e| e.sent[1].is_paid = false),
            ("2 results of j were the first", |e| e.sent[1].duplicate = false),
            ("the sum over all accounts is 1", |e| *e.accounts.get_mut("seller").unwrap() += 1),
            ("@escrow has Some(10)", |e| *e.accounts.get_mut("@escrow").unwrap() += 10),
        ];
        for (what, harm) in harms {
            let mut evidence = well();
            harm(&mut evidence);
            let wrong = check(&evidence);
            assert!(wrong.iter().any(|line| line.contains(what)), "{what}: {wrong:?}");
        }
    }
}
