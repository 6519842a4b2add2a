//! What an export and an import keep of the market, and which imports are refused.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chorus_core::codec;
use chorus_core::model::ledger::Credits;
use chorus_server::history::{Signing, export, import};

use super::*;
use crate::test_host::{place, verify};

/// The jobs beside [`JOB`]: one that is contested, and one under way.
const CONTESTED: &str = "00000000-0000-4000-8000-000000000001";
const OPEN: &str = "00000000-0000-4000-8000-000000000002";

/// All that the market shows to an operator, except whether agents are heard of.
async fn shown(host: &TestHost) -> Value {
    let operator = host.operator();
    let mut all = json!({});
    for path in [
        "/agents".to_owned(),
        "/skills".to_owned(),
        "/discover?q=data".to_owned(),
        format!("/agents/{AGENT}/reputation"),
        "/jobs?side=all".to_owned(),
        "/accounts".to_owned(),
        "/accounts/buyer/statement".to_owned(),
        "/spending/buyer".to_owned(),
        "/audit".to_owned(),
    ] {
        all[&path] = host.get(&operator, &path).await.ok();
    }
    for list in ["/agents", "/discover?q=data"] {
        let agent = all[list]["agents"][0].as_object_mut().unwrap();
        agent.remove("status");
        agent.remove("last_heartbeat_at");
    }
    all
}

/// A market on which a job was paid, one is contested, and one is under way.
struct Exported {
    /// What it shows.
    shown: Value,
    lines: Vec<u8>,
    sign: Signing,
    now: Timestamp,
}

async fn exported() -> Exported {
    let market = Market::open().await;
    for job in [JOB, CONTESTED, OPEN] {
        let mut request = market.request();
        request["job_id"] = json!(job);
        market.host.post(&market.buyer, "/jobs", request).await.ok();
        if job != OPEN {
            let mut done = result();
            done["job_id"] = json!(job);
            let path = format!("/jobs/{job}/result");
            market.host.post(&market.seller, &path, done).await.ok();
        }
    }
    let contest = json!({"reason": "Q3 is not in the text"});
    let path = format!("/jobs/{CONTESTED}/dispute");
    market.host.post(&market.buyer, &path, contest).await.ok();
    let limit = json!({"per_job": 5, "per_day": 8});
    let limited =
        market.host.send(&market.operator, Method::PUT, "/spending/buyer", Some(limit)).await;
    limited.ok();
    let pay = json!({"transfer_id": TRANSFER, "from_owner": "buyer", "to_owner": "seller",
        "amount": 1.25, "memo": "thanks"});
    market.host.post(&market.buyer, "/transfer", pay).await.ok();
    let shown = shown(&market.host).await;
    let (folder, now) = market.stop().await;
    let sign = Signing::open(&folder.path().join("keys")).unwrap();
    let mut lines = Vec::new();
    export(&place(folder.path()), &sign, now, None, &mut lines).unwrap();
    Exported { shown, lines, sign, now }
}

// covers: REG-57
#[tokio::test]
async fn an_import_shows_the_same_agents_jobs_balances_and_ledger() {
    let Exported { shown: before, lines, sign, now } = exported().await;
    let folders = tempfile::tempdir().unwrap();
    let imported = tempfile::TempDir::new_in(folders.path()).unwrap();
    let data = imported.path().to_owned();
    std::fs::remove_dir(&data).unwrap();
    import(&mut &lines[..], &place(&data), None, now).unwrap();
    assert_eq!(verify(&data).problems, []);
    let mut again = Vec::new();
    export(&place(&data), &sign, now, None, &mut again).unwrap();
    assert_eq!(again, lines, "what was imported is what was exported");
    let host = TestHost::open_in(imported, now).await;
    assert_eq!(shown(&host).await, before);
    // What was held is there for the job that is under way.
    let mut done = result();
    done["job_id"] = json!(OPEN);
    let seller = host.token("seller").await;
    let taken = host.post(&seller, &format!("/jobs/{OPEN}/result"), done).await.ok();
    assert_eq!((&taken["state"], &taken["paid"]), (&json!("Completed"), &json!(0.1)));
}

/// The lines with the packed value of one of them changed.
fn changed(
    lines: &str,
    which: &str,
    field: &str,
    change: impl Fn(&[u8]) -> Option<Vec<u8>>,
) -> String {
    let mut done = false;
    let changed = lines.lines().map(|line| {
        let mut read: Value = serde_json::from_str(line).unwrap();
        let packed = read[which][field].as_str().and_then(|text| STANDARD.decode(text).ok());
        match packed.filter(|_| !done).and_then(|packed| change(&packed)) {
            Some(packed) => {
                done = true;
                read[which][field] = json!(STANDARD.encode(packed));
                read.to_string() + "\n"
            }
            None => line.to_owned() + "\n",
        }
    });
    let changed = changed.collect();
    assert!(done, "no {which} to change");
    changed
}

// covers: REG-57
#[tokio::test]
async fn an_import_whose_ledger_does_not_follow_from_its_entries_is_refused() {
    let Exported { lines, now, .. } = exported().await;
    let lines = String::from_utf8(lines).unwrap();
    let other_amount = changed(&lines, "ledger_entry", "entry", |packed| {
        let mut entry = codec::read_entry(packed).unwrap();
        entry.amount = Credits(entry.amount.0 + 1);
        Some(codec::entry(&entry))
    });
    let other_balance = changed(&lines, "account", "account", |packed| {
        let mut account = codec::read_account(packed).unwrap();
        account.balance = Credits(account.balance.0 + 1);
        (&*account.owner == "buyer").then(|| codec::account(&account))
    });
    let entries = || lines.lines().filter(|line| line.starts_with("{\"ledger_entry\""));
    let (second, last) = (entries().nth(1).unwrap(), entries().next_back().unwrap());
    let without = |gone: &str| lines.replace(&format!("{gone}\n"), "");
    let folders = tempfile::tempdir().unwrap();
    for (n, (lines, why)) in [
        (other_amount, "entry 1 of the ledger does not follow"),
        (without(second), "entry 3 of the ledger does not follow"),
        (without(last), "is not what its entries make"),
        (other_balance, "the account of buyer is not what its entries make"),
    ]
    .into_iter()
    .enumerate()
    {
        let data = folders.path().join(n.to_string());
        let refused = import(&mut lines.as_bytes(), &place(&data), None, now).unwrap_err();
        assert!(refused.to_string().contains(why), "{refused}");
    }
}
