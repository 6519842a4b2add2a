//! Accounts and transfers.

use super::*;

fn pay(amount: f64) -> Value {
    json!({"transfer_id": TRANSFER, "from_owner": "buyer", "to_owner": "seller", "amount": amount})
}

// covers: REG-50, REG-51, REG-52
#[tokio::test]
async fn a_transfer_is_made_once_and_never_takes_more_than_there_is() {
    let market = Market::open().await;
    let made = market.host.post(&market.buyer, "/transfer", pay(0.10)).await;
    assert_eq!(made.status, 201);
    let made = made.ok();
    assert_eq!((&made["status"], &made["balance"]), (&json!("settled"), &json!(9.9)));
    assert_eq!(
        market.host.post(&market.buyer, "/transfer", pay(0.10)).await.ok()["duplicate"],
        true
    );
    let other = market.host.post(&market.buyer, "/transfer", pay(0.20)).await;
    assert_eq!(other.refused(409), "CONFLICT", "the same id with other content");
    assert_eq!((market.balance("buyer").await, market.balance("seller").await), (9.9, 0.1));
    let mut all = pay(9.91);
    all["transfer_id"] = json!(JOB);
    let refused = market.host.post(&market.buyer, "/transfer", all.clone()).await;
    assert_eq!(refused.refused(402), "TRANSFER_FAILED");
    all["amount"] = json!(9.9);
    market.host.post(&market.buyer, "/transfer", all).await.ok();
    assert_eq!((market.balance("buyer").await, market.balance("seller").await), (0.0, 10.0));
    let statement = market.host.get(&market.buyer, "/accounts/me/statement").await.ok();
    let kinds: Vec<_> = statement["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["transfer", "transfer", "mint"]);
    market.stop().await;
}

// covers: REG-53
#[tokio::test]
async fn only_an_operator_mints_and_the_sum_over_all_accounts_is_what_was_minted() {
    let market = Market::open().await;
    let path = "/accounts/buyer/mint";
    for token in [&market.buyer, &market.seller] {
        let refused = market.host.post(token, path, json!({"amount": 1})).await;
        assert_eq!(refused.refused(403), "INSUFFICIENT_AUTHORITY");
    }
    let once = json!({"amount": 1, "transfer_id": TRANSFER});
    market.host.post(&market.operator, path, once.clone()).await.ok();
    assert_eq!(market.host.post(&market.operator, path, once).await.ok()["balance"], 11);
    let accounts = market.host.get(&market.operator, "/accounts").await.ok();
    let sum: f64 = accounts["accounts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|account| account["balance"].as_f64().unwrap())
        .sum();
    assert_eq!(sum, 0.0, "with the mint's own account, which is negative");
    let ledger = market.host.get(&market.operator, "/audit").await.ok();
    assert_eq!(ledger["ledger"]["minted"], 11);
    assert_eq!(
        market.host.get(&market.buyer, "/audit").await.refused(403),
        "INSUFFICIENT_AUTHORITY"
    );
    let own = market.host.get(&market.buyer, "/accounts").await.ok();
    assert_eq!(own["accounts"].as_array().unwrap().len(), 1);
    assert_eq!(market.host.get(&market.buyer, "/accounts/seller").await.refused(404), "NOT_FOUND");
}

// covers: REG-54
#[tokio::test]
async fn a_hundred_at_once_cannot_spend_what_one_could() {
    let market = Market::open().await;
    let pays = (0..100).map(|n| {
        let mut pay = pay(1.0);
        pay["transfer_id"] = json!(format!("00000000-0000-4000-8000-{n:012}"));
        market.host.post(&market.buyer, "/transfer", pay)
    });
    let answers = futures_util::future::join_all(pays).await;
    let paid = answers.iter().filter(|answer| answer.status == 201).count();
    assert_eq!(paid, 10);
    assert!(answers.iter().all(|answer| matches!(answer.status, 201 | 402)));
    assert_eq!((market.balance("buyer").await, market.balance("seller").await), (0.0, 10.0));
    market.stop().await;
}

// covers: REG-55
#[tokio::test]
async fn a_member_spends_within_the_limits_that_an_operator_sets() {
    let mut market = Market::open().await;
    let limit = json!({"per_job": 0.5, "per_day": 0.25});
    let path = "/spending/buyer";
    let no = market.host.send(&market.buyer, Method::PUT, path, Some(limit.clone())).await;
    assert_eq!(no.refused(403), "INSUFFICIENT_AUTHORITY");
    market.host.send(&market.operator, Method::PUT, path, Some(limit.clone())).await.ok();
    assert_eq!(market.host.get(&market.buyer, path).await.ok(), limit);
    let refused = market.host.post(&market.buyer, "/transfer", pay(0.6)).await;
    assert_eq!(refused.refused(403), "FORBIDDEN", "more than for a job");
    market.hire().await;
    let refused = market.host.post(&market.buyer, "/transfer", pay(0.11)).await;
    assert_eq!(refused.refused(403), "FORBIDDEN", "more than on a day");
    // What comes back was not spent.
    let url = market.posted().await.json()["callback_url"].clone();
    market.call_back(&url, failure("no")).await.ok();
    market.host.post(&market.buyer, "/transfer", pay(0.25)).await.ok();
    market.stop().await;
}
