//! Jobs through the host, from the request to the settlement.

use super::*;

// covers: REG-30, REG-32, REG-33, REG-40, REG-72
#[tokio::test]
async fn the_examples_of_the_spec_settle_once_though_the_result_comes_three_times() {
    let mut market = Market::open().await;
    let asked = market.hire().await;
    assert_eq!((&asked["status"], &asked["state"]), (&json!("PENDING"), &json!("Funded")));
    assert_eq!((&asked["held"], &asked["price"]), (&json!(0.15), &json!(0.1)));
    assert_eq!(market.balance("buyer").await, 9.85, "the budget is held");
    // What the agent gets is the spec's request, word for word, with a callback of the host's.
    let posted = market.posted().await;
    assert_eq!(posted.path, "/jobs");
    assert_eq!(posted.headers["idempotency-key"], JOB);
    let got = posted.json();
    for (name, value) in market.request().as_object().unwrap() {
        if name != "timestamp_utc" {
            assert_eq!(got[name], *value, "{name}");
        }
    }
    assert_eq!(
        market.host.post(&market.buyer, "/jobs", market.request()).await.ok()["duplicate"],
        true
    );
    // It takes its time, and says so.
    let pending =
        json!({"job_id": JOB, "agent_id": AGENT, "status": "PENDING", "error_message": "half"});
    market.call_back(&got["callback_url"], pending).await.ok();
    assert_eq!(market.job().await["progress"], "half");
    for n in 0..3 {
        let taken = market.call_back(&got["callback_url"], result()).await.ok();
        assert_eq!(taken["duplicate"], n > 0);
        assert_eq!((&taken["state"], &taken["paid"]), (&json!("Completed"), &json!(0.1)));
    }
    let done = market.job().await;
    assert_eq!((&done["status"], &done["outcome"]), (&json!("SUCCESS"), &json!("paid")));
    assert_eq!(done["output_data"], result()["output_data"]);
    assert_eq!((market.balance("buyer").await, market.balance("seller").await), (9.9, 0.1));
    assert_eq!(market.balance("@escrow").await, 0.0);
    assert_eq!(market.reputation().await, 51.0, "50 + 2.0 × 50 / 100");
    let history = market.host.get(&market.buyer, &format!("/agents/{AGENT}/reputation")).await.ok();
    assert_eq!(history["changes"].as_array().unwrap().len(), 1);
    assert_eq!(history["changes"][0]["job_id"], JOB);
    // Another result is refused, and moves nothing.
    let mut other = result();
    other["output_data"] = json!({"entities": []});
    assert_eq!(market.call_back(&got["callback_url"], other).await.refused(409), "CONFLICT");
    assert_eq!((market.balance("buyer").await, market.reputation().await), (9.9, 51.0));
    market.stop().await;
}

// covers: REG-33, REG-72
#[tokio::test]
async fn a_failure_returns_all_and_costs_reputation() {
    let mut market = Market::open().await;
    market.hire().await;
    let url = market.posted().await.json()["callback_url"].clone();
    let taken = market.call_back(&url, failure("no text")).await.ok();
    assert_eq!(taken["state"], "Rejected");
    let done = market.job().await;
    assert_eq!((&done["status"], &done["error_message"]), (&json!("FAILURE"), &json!("no text")));
    assert_eq!((market.balance("buyer").await, market.balance("seller").await), (10.0, 0.0));
    assert_eq!(market.reputation().await, 45.5, "50 - 3.0 × 1.5");
    market.stop().await;
}

// covers: REG-34, REG-35
#[tokio::test]
async fn a_job_without_a_result_in_time_expires_and_a_late_result_is_refused() {
    // A hirer that gives less than the usual time cannot cost the agent anything.
    for (timeout_ms, score) in [(600_000, 45.5), (599_999, 50.0)] {
        let mut market = Market::open().await;
        let mut request = market.request();
        request["timeout_ms"] = json!(timeout_ms);
        market.host.post(&market.buyer, "/jobs", request).await.ok();
        let url = market.posted().await.json()["callback_url"].clone();
        eventually("it is taken", || async { market.job().await["taken_at"].is_string() }).await;
        market.host.pass(601_000).await;
        eventually("it ends", || async { market.job().await["state"] == "Expired" }).await;
        let done = market.job().await;
        assert_eq!((&done["outcome"], &done["held"]), (&json!("timed_out"), &json!(0)));
        assert_eq!((market.balance("buyer").await, market.reputation().await), (10.0, score));
        assert_eq!(market.call_back(&url, result()).await.refused(409), "CONFLICT");
        assert_eq!(market.balance("seller").await, 0.0);
        market.stop().await;
    }
}

// covers: REG-72
#[tokio::test]
async fn a_hirer_cannot_ruin_a_reputation_for_nothing() {
    // Its own evaluator refuses: the credits return, and nothing is held against the agent.
    let mut market = Market::open().await;
    let mut request = market.request();
    request["evaluator"] = json!("buyer");
    market.host.post(&market.buyer, "/jobs", request).await.ok();
    let posted = market.posted().await.json();
    assert_eq!(posted["evaluator"], "buyer", "the agent knows who will decide");
    market.call_back(&posted["callback_url"], result()).await.ok();
    let path = format!("/jobs/{JOB}/evaluation");
    let done = market.host.post(&market.buyer, &path, json!({"accept": false})).await.ok();
    assert_eq!(done["outcome"], "refused");
    assert_eq!((market.balance("buyer").await, market.reputation().await), (10.0, 50.0));
    market.stop().await;
    // A skill without a price can gain nothing, and so it can lose nothing, whatever is held.
    let mut market = Market::open().await;
    let mut free = market.registration();
    free["skills"][0]["cost_per_call"] = json!(0);
    market.host.post(&market.seller, "/register", free).await.ok();
    market.hire().await;
    let url = market.posted().await.json()["callback_url"].clone();
    market.call_back(&url, failure("no text")).await.ok();
    assert_eq!(market.job().await["outcome"], "failed");
    assert_eq!((market.balance("buyer").await, market.reputation().await), (10.0, 50.0));
    market.stop().await;
}

// covers: REG-41
#[tokio::test]
async fn an_agent_whose_member_was_removed_is_not_hired_though_it_was_just_heard_of() {
    let market = Market::open().await;
    let beat = json!({"agent_id": AGENT});
    market.host.post(&market.seller, "/heartbeat", beat).await.ok();
    let path = "/v1/members/seller";
    market.host.send(&market.operator, Method::DELETE, path, None).await.ok();
    let refused = market.host.post(&market.buyer, "/jobs", market.request()).await;
    assert_eq!(refused.refused(503), "AGENT_OFFLINE");
    assert_eq!(market.balance("buyer").await, 10.0, "nothing is held");
    market.stop().await;
}

// covers: REG-11, REG-14, REG-43, REG-50
#[tokio::test]
async fn an_agent_that_is_given_to_another_owner_goes_on_and_nothing_is_stranded() {
    let mut market = Market::open().await;
    market.hire().await;
    let url = market.posted().await.json()["callback_url"].clone();
    market.call_back(&url, result()).await.ok();
    assert_eq!(market.balance("seller").await, 0.1);
    let given = json!({"owner_id": "buyer"});
    let path = "/v1/members/seller";
    market.host.send(&market.operator, Method::PATCH, path, Some(given)).await.ok();
    // Its owner does not hire it, and it may change what it offers.
    let mut again = market.request();
    again["job_id"] = json!("f81d4fae-7dec-11d0-a765-00a0c91e6b00");
    let refused = market.host.post(&market.buyer, "/jobs", again.clone()).await;
    assert_eq!(refused.refused(400), "VALIDATION_ERROR");
    let mut registration = market.registration();
    registration["owner_id"] = json!("buyer");
    market.host.post(&market.seller, "/register", registration).await.ok();
    assert_eq!(market.reputation().await, 51.0);
    // Others pay its owner now.
    let third = market.host.token("third").await;
    market.mint("third", 1.0).await;
    let asked = market.host.post(&third, "/jobs", again).await.ok();
    assert_eq!(asked["agent_owner"], "buyer");
    // What the old account has is moved by an operator, and by nobody else.
    let left = json!({"transfer_id": TRANSFER, "from_owner": "seller", "to_owner": "buyer",
        "amount": 0.1});
    let refused = market.host.post(&market.buyer, "/transfer", left.clone()).await;
    assert_eq!(refused.refused(403), "CLAIM_MISMATCH");
    market.host.post(&market.operator, "/transfer", left).await.ok();
    assert_eq!(market.balance("seller").await, 0.0);
    let mut of_somebody = json!({"from_owner": "third", "to_owner": "buyer", "amount": 0.1});
    of_somebody["transfer_id"] = json!("0b3ba3b8-7dec-11d0-a765-1a2b3c4d5e60");
    let refused = market.host.post(&market.operator, "/transfer", of_somebody).await;
    assert_eq!(refused.refused(403), "CLAIM_MISMATCH");
    market.stop().await;
}

// covers: REG-70
#[tokio::test]
async fn an_agent_hires_in_its_own_name_alone() {
    let mut market = Market::open().await;
    let own = "5f1c1a52-0b3b-4b1a-9c1a-1a2b3c4d5e6f";
    let mut mine = market.registration();
    mine["agent_id"] = json!(own);
    mine["owner_id"] = json!("buyer");
    market.host.post(&market.buyer, "/register", mine).await.ok();
    let mut request = market.request();
    request["orchestrator_id"] = json!("00000000-0000-4000-8000-000000000009");
    let refused = market.host.post(&market.buyer, "/jobs", request).await;
    assert_eq!(refused.refused(403), "CLAIM_MISMATCH");
    let asked = market.host.post(&market.buyer, "/jobs", market.request()).await.ok();
    assert_eq!(asked["orchestrator_id"], own, "whose reputation counts is shown");
    let posted = market.posted().await.json();
    assert_eq!(posted["orchestrator_id"], own);
    market.stop().await;
}

// covers: REG-34
#[tokio::test]
async fn a_job_that_never_reached_its_agent_costs_it_no_reputation() {
    let mut market = Market::open().await;
    market.agent.post().await;
    market.agent.answers(&[503, 503, 503, 503, 503, 503, 503, 503, 503, 503, 503, 503]);
    let mut request = market.request();
    request["timeout_ms"] = json!(60_000);
    market.host.post(&market.buyer, "/jobs", request).await.ok();
    let mut posts = 0;
    while posts < 3 {
        let post = market.agent.post_later(&market.host).await;
        posts += usize::from(post.json()["skill_name"] != "chorus.verify");
    }
    eventually("the job has moved", || async { market.job().await["delivery_error"].is_string() })
        .await;
    assert!(market.job().await["attempts"].as_u64().unwrap() >= 3, "it is tried again");
    market.host.pass(60_000).await;
    eventually("the job has moved", || async { market.job().await["state"] == "Expired" }).await;
    assert_eq!(market.job().await["outcome"], "undelivered");
    assert_eq!((market.balance("buyer").await, market.reputation().await), (10.0, 50.0));
    market.stop().await;
}

// covers: REG-35
#[tokio::test]
async fn a_hirer_takes_a_job_back_before_its_result_and_not_after_it() {
    let mut market = Market::open().await;
    market.hire().await;
    let url = market.posted().await.json()["callback_url"].clone();
    let path = format!("/jobs/{JOB}");
    let refused = market.host.send(&market.seller, Method::DELETE, &path, None).await;
    assert_eq!(refused.refused(403), "FORBIDDEN");
    let done = market.host.send(&market.buyer, Method::DELETE, &path, None).await.ok();
    assert_eq!((&done["state"], &done["outcome"]), (&json!("Rejected"), &json!("cancelled")));
    assert_eq!(market.host.send(&market.buyer, Method::DELETE, &path, None).await.status, 200);
    assert_eq!(market.call_back(&url, result()).await.refused(409), "CONFLICT");
    assert_eq!((market.balance("buyer").await, market.reputation().await), (10.0, 50.0));
    market.stop().await;
}

// covers: REG-36
#[tokio::test]
async fn an_evaluator_accepts_or_refuses_and_silence_accepts() {
    for (decision, state, seller, score) in [
        (Some(true), "Completed", 0.1, 51.0),
        (Some(false), "Rejected", 0.0, 45.5),
        (None, "Completed", 0.1, 51.0),
    ] {
        let mut market = Market::open().await;
        let judge = market.host.token("judge").await;
        let mut request = market.request();
        request["evaluator"] = json!("judge");
        request["evaluation_ms"] = json!(60_000);
        market.host.post(&market.buyer, "/jobs", request).await.ok();
        let url = market.posted().await.json()["callback_url"].clone();
        let taken = market.call_back(&url, result()).await.ok();
        assert_eq!((&taken["state"], &taken["paid"]), (&json!("Submitted"), &json!(0)));
        let path = format!("/jobs/{JOB}/evaluation");
        let no = market.host.post(&market.buyer, &path, json!({"accept": true})).await;
        assert_eq!(no.refused(403), "FORBIDDEN", "only the evaluator");
        match decision {
            Some(accept) => {
                let done = market.host.post(&judge, &path, json!({"accept": accept})).await.ok();
                assert_eq!(done["state"], state);
            }
            None => {
                market.host.pass(61_000).await;
                eventually("the job has moved", || async { market.job().await["state"] == state })
                    .await;
            }
        }
        assert_eq!(market.balance("seller").await, seller, "{decision:?}");
        assert_eq!(market.reputation().await, score, "{decision:?}");
        market.stop().await;
    }
}

// covers: REG-60, REG-61
#[tokio::test]
async fn a_contested_job_is_decided_by_an_operator_and_the_entries_show_it() {
    for (refund, buyer, seller, score) in [(true, 10.0, 0.0, 45.5), (false, 9.9, 0.1, 51.0)] {
        let mut market = Market::open().await;
        market.hire().await;
        let url = market.posted().await.json()["callback_url"].clone();
        let path = format!("/jobs/{JOB}/dispute");
        let reason = json!({"reason": "The period is wrong."});
        let early = market.host.post(&market.buyer, &path, reason.clone()).await;
        assert_eq!(early.refused(409), "CONFLICT");
        market.call_back(&url, result()).await.ok();
        let other = market.host.post(&market.seller, &path, reason.clone()).await;
        assert_eq!(other.refused(403), "FORBIDDEN");
        market.host.post(&market.buyer, &path, reason).await.ok();
        let listed = "/jobs?side=all&disputed=true";
        let jobs = market.host.get(&market.operator, listed).await.ok()["jobs"].clone();
        assert_eq!(jobs[0]["job_id"], JOB, "an operator finds it");
        let own = market.host.get(&market.buyer, "/jobs?disputed=true").await;
        assert_eq!(own.refused(400), "VALIDATION_ERROR");
        let decision = format!("{path}/decision");
        let body = json!({"refund": refund, "note": "Looked at it."});
        let no = market.host.post(&market.buyer, &decision, body.clone()).await;
        assert_eq!(no.refused(403), "INSUFFICIENT_AUTHORITY");
        let done = market.host.post(&market.operator, &decision, body).await.ok();
        let winner = if refund { "hirer" } else { "agent" };
        assert_eq!(done["dispute"]["decided_for"], winner);
        let jobs = market.host.get(&market.operator, listed).await.ok()["jobs"].clone();
        assert_eq!(jobs, json!([]), "and no more once it is decided");
        assert_eq!(market.balance("buyer").await, buyer);
        assert_eq!(market.balance("seller").await, seller);
        assert_eq!(market.reputation().await, score);
        let ledger = market.host.get(&market.operator, "/audit").await.ok();
        let last = ledger["entries"].as_array().unwrap().last().unwrap().clone();
        assert_eq!(last["kind"] == "reverse", refund, "{last}");
        market.stop().await;
    }
}

// covers: REG-35
#[tokio::test]
async fn a_job_can_be_contested_for_three_days() {
    let mut market = Market::open().await;
    market.hire().await;
    let url = market.posted().await.json()["callback_url"].clone();
    market.call_back(&url, result()).await.ok();
    market.host.pass(3 * 24 * 3_600_000 + 1).await;
    let path = format!("/jobs/{JOB}/dispute");
    let buyer = market.host.token("buyer").await;
    let late = market.host.post(&buyer, &path, json!({"reason": "late"})).await;
    assert_eq!(late.refused(409), "CONFLICT");
}

// covers: REG-38
#[tokio::test]
async fn a_hirers_callback_is_told_of_the_end_until_it_takes_it() {
    let mut market = Market::open().await;
    let mut hirer = Remote::open().await;
    hirer.answers(&[503]);
    let mut request = market.request();
    request["callback_url"] = json!(hirer.at("/results"));
    market.host.post(&market.buyer, "/jobs", request).await.ok();
    let got = market.posted().await.json();
    assert_ne!(got["callback_url"], hirer.at("/results"), "the agent answers to the host");
    market.call_back(&got["callback_url"], result()).await.ok();
    let told = hirer.post().await;
    assert_eq!(told.path, "/results");
    let told = told.json();
    for name in ["job_id", "agent_id", "status", "output_data", "execution_cost"] {
        assert_eq!(told[name], result()[name], "{name}");
    }
    let again = hirer.post_later(&market.host).await.json();
    assert_eq!(again["status"], "SUCCESS", "again, as it was not taken");
}

// covers: REG-37
#[tokio::test]
async fn a_direct_job_moves_reputation_only_after_its_result_and_its_transfer() {
    let market = Market::open().await;
    let mut request = market.request();
    request["payment"] = json!("direct");
    let asked = market.host.post(&market.buyer, "/jobs", request).await.ok();
    assert_eq!((&asked["state"], &asked["held"]), (&json!("Open"), &json!(0)));
    let pay = json!({"transfer_id": TRANSFER, "from_owner": "buyer", "to_owner": "seller",
        "amount": 0.10, "job_id": JOB, "timestamp_utc": "2026-02-11T14:15:09Z"});
    let early = market.host.post(&market.buyer, "/transfer", pay.clone()).await;
    assert_eq!(early.refused(409), "CONFLICT");
    let taken = market.host.post(&market.seller, &result_path(), result()).await.ok();
    assert_eq!(taken["state"], "Submitted");
    assert_eq!(market.reputation().await, 50.0);
    let mut dollars = pay.clone();
    dollars["currency"] = json!("dollars");
    let refused = market.host.post(&market.buyer, "/transfer", dollars).await;
    assert_eq!(refused.refused(400), "VALIDATION_ERROR");
    market.host.post(&market.buyer, "/transfer", pay.clone()).await.ok();
    assert_eq!((market.balance("seller").await, market.reputation().await), (0.1, 51.0));
    assert_eq!(market.host.post(&market.buyer, "/transfer", pay).await.ok()["duplicate"], true);
    assert_eq!((market.balance("seller").await, market.reputation().await), (0.1, 51.0));
    assert_eq!(market.job().await["state"], "Completed");
    market.stop().await;
}

// covers: REG-39
#[tokio::test]
async fn money_and_reputation_are_there_after_a_restart_and_what_was_owed_goes_on() {
    let mut market = Market::open().await;
    market.hire().await;
    let url = market.posted().await.json()["callback_url"].clone();
    let Market { host, agent, .. } = market;
    let now = host.clock_now();
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    let host = TestHost::open_in(folder, now).await;
    let (seller, buyer) = (host.token("seller").await, host.token("buyer").await);
    let operator = host.operator();
    let market = Market { host, agent, seller, buyer, operator };
    assert_eq!(market.balance("buyer").await, 9.85);
    market.call_back(&url, result()).await.ok();
    assert_eq!((market.balance("buyer").await, market.reputation().await), (9.9, 51.0));
    market.stop().await;
}

// covers: REG-45
#[tokio::test]
async fn receipts_are_signed_and_say_what_was_agreed_delivered_and_paid() {
    let mut market = Market::open().await;
    market.hire().await;
    let path = format!("/jobs/{JOB}/receipts");
    let early = market.host.get(&market.buyer, &path).await.ok();
    assert!(early["payment"].is_null() && early["result"].is_null());
    let url = market.posted().await.json()["callback_url"].clone();
    market.call_back(&url, result()).await.ok();
    let receipts = market.host.get(&market.buyer, &path).await.ok();
    assert_eq!(early["offer"], receipts["offer"], "the same is signed the same way");
    for (kind, name, value) in [
        ("offer", "budget", json!(0.15)),
        ("result", "status", json!("SUCCESS")),
        ("payment", "amount", json!(0.1)),
    ] {
        let payload = receipts[kind].as_str().unwrap().split('.').nth(1).unwrap().to_owned();
        use base64::Engine as _;
        let bytes = base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(payload).unwrap();
        let payload: Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!((&payload["type"], &payload["job_id"]), (&json!(kind), &json!(JOB)));
        assert_eq!(payload[name], value, "{payload}");
    }
    let other = market.host.token("other").await;
    assert_eq!(market.host.get(&other, &path).await.refused(404), "NOT_FOUND");
}
