//! What must be refused, with the code that says why, and changes nothing.

use super::*;

/// The balances, the reputation and the length of the ledger: all that may not move.
async fn state(market: &Market) -> (f64, f64, f64, Value) {
    let ledger = market.host.get(&market.operator, "/audit").await.ok()["ledger"].clone();
    (
        market.balance("buyer").await,
        market.balance("seller").await,
        market.reputation().await,
        ledger,
    )
}

// covers: REG-2, REG-3, REG-12, REG-13, REG-17
#[tokio::test]
async fn a_registration_with_anything_wrong_is_refused() {
    let market = Market::open().await;
    let before = market.host.get(&market.buyer, "/agents").await.ok();
    for (path, value, status, code) in [
        ("/agent_id", json!("not-a-uuid"), 400, "VALIDATION_ERROR"),
        ("/agent_name", json!(""), 400, "VALIDATION_ERROR"),
        ("/agent_name", json!("a\nb"), 400, "VALIDATION_ERROR"),
        ("/agent_name", json!("a\u{202e}b"), 400, "VALIDATION_ERROR"),
        ("/agent_name", json!(7), 400, "VALIDATION_ERROR"),
        ("/owner_id", json!("buyer"), 403, "CLAIM_MISMATCH"),
        ("/version", json!("0.2"), 400, "VALIDATION_ERROR"),
        ("/timestamp_utc", json!("2999-02-11T14:15:09Z"), 400, "VALIDATION_ERROR"),
        ("/timestamp_utc", json!("yesterday"), 400, "VALIDATION_ERROR"),
        ("/skills", json!([]), 400, "VALIDATION_ERROR"),
        ("/skills/0/skill_name", json!("two words"), 400, "VALIDATION_ERROR"),
        ("/skills/0/skill_name", json!("chorus.verify"), 400, "VALIDATION_ERROR"),
        ("/skills/0/cost_per_call", json!(0.105), 400, "VALIDATION_ERROR"),
        ("/skills/0/cost_per_call", json!(-0.1), 400, "VALIDATION_ERROR"),
        ("/skills/0/cost_per_call", json!(1e300), 400, "VALIDATION_ERROR"),
        ("/skills/0/cost_per_call", json!("0.1"), 400, "VALIDATION_ERROR"),
        (
            "/skills/0/input_schema",
            json!({"$ref": "https://example.com/s.json"}),
            400,
            "VALIDATION_ERROR",
        ),
        ("/skills/0/input_schema", json!({"text": "strnig"}), 400, "VALIDATION_ERROR"),
        ("/skills/0/output_schema", json!([1]), 400, "VALIDATION_ERROR"),
        ("/api_endpoint", json!("http://10.0.0.1/jobs"), 422, "ADDRESS_REFUSED"),
        ("/api_endpoint", json!("http://169.254.169.254/jobs"), 422, "ADDRESS_REFUSED"),
        ("/api_endpoint", json!("http://[::1]/jobs"), 422, "ADDRESS_REFUSED"),
        ("/api_endpoint", json!("ftp://a.example/jobs"), 400, "VALIDATION_ERROR"),
        ("/api_endpoint", json!("http://me:pw@a.example/jobs"), 400, "VALIDATION_ERROR"),
    ] {
        let mut bad = market.registration();
        *bad.pointer_mut(path).unwrap() = value.clone();
        let refused = market.host.post(&market.seller, "/register", bad).await;
        assert_eq!(refused.refused(status), code, "{path} {value}");
    }
    let mut twice = market.registration();
    twice["skills"] = json!([twice["skills"][0], twice["skills"][0]]);
    let refused = market.host.post(&market.seller, "/register", twice).await;
    assert_eq!(refused.refused(400), "VALIDATION_ERROR");
    let mut nowhere = market.registration();
    nowhere.as_object_mut().unwrap().remove("api_endpoint");
    nowhere["agent_id"] = json!(JOB);
    nowhere["owner_id"] = json!("operator");
    let refused = market.host.post(&market.operator, "/register", nowhere).await;
    assert_eq!(refused.refused(400), "VALIDATION_ERROR", "a person's agent is somewhere");
    assert_eq!(market.host.get(&market.buyer, "/agents").await.ok(), before);
}

// covers: REG-2, REG-3, REG-41, REG-42, REG-43
#[tokio::test]
async fn a_request_with_anything_wrong_is_refused_and_holds_nothing() {
    let market = Market::open().await;
    let before = state(&market).await;
    for (path, value, status, code) in [
        ("/job_id", json!("7"), 400, "VALIDATION_ERROR"),
        ("/agent_id", json!("00000000-0000-4000-8000-000000000001"), 404, "NOT_FOUND"),
        ("/agent_id", json!("nobody"), 404, "NOT_FOUND"),
        ("/agent_id", json!("@buyer"), 404, "NOT_FOUND"),
        ("/skill_name", json!("paint"), 422, "SKILL_MISMATCH"),
        ("/skill_name", json!(""), 400, "VALIDATION_ERROR"),
        ("/input_data", json!({"text": 7}), 400, "VALIDATION_ERROR"),
        ("/input_data", json!({}), 400, "VALIDATION_ERROR"),
        ("/input_data", json!("text"), 400, "VALIDATION_ERROR"),
        ("/budget", json!(0.09), 402, "BUDGET_INSUFFICIENT"),
        ("/budget", json!(0.155), 400, "VALIDATION_ERROR"),
        ("/budget", json!(-1), 400, "VALIDATION_ERROR"),
        ("/budget", json!(10.01), 402, "TRANSFER_FAILED"),
        ("/budget", json!(1e15), 400, "VALIDATION_ERROR"),
        ("/currency", json!("dollars"), 400, "VALIDATION_ERROR"),
        ("/timestamp_utc", json!("2999-01-01T00:00:00Z"), 400, "VALIDATION_ERROR"),
        ("/version", json!("9"), 400, "VALIDATION_ERROR"),
        ("/payment", json!("later"), 400, "VALIDATION_ERROR"),
        ("/timeout_ms", json!(1), 400, "VALIDATION_ERROR"),
        ("/evaluation_ms", json!(60_000), 400, "VALIDATION_ERROR"),
        ("/evaluator", json!("seller"), 400, "VALIDATION_ERROR"),
        ("/evaluator", json!("nobody"), 404, "NOT_FOUND"),
        ("/callback_url", json!("http://192.168.0.1/r"), 422, "ADDRESS_REFUSED"),
    ] {
        let mut bad = market.request();
        bad[&path[1..]] = value.clone();
        let refused = market.host.post(&market.buyer, "/jobs", bad).await;
        assert_eq!(refused.refused(status), code, "{path} {value}");
        assert_eq!(state(&market).await, before, "{path} {value}");
    }
    // Nobody hires their own.
    market.mint("seller", 1.0).await;
    let refused = market.host.post(&market.seller, "/jobs", market.request()).await;
    assert_eq!(refused.refused(400), "VALIDATION_ERROR");
    // One id, one request.
    market.hire().await;
    let mut other = market.request();
    other["budget"] = json!(0.16);
    assert_eq!(market.host.post(&market.buyer, "/jobs", other).await.refused(409), "CONFLICT");
    let third = market.host.token("third").await;
    market.mint("third", 1.0).await;
    let refused = market.host.post(&third, "/jobs", market.request()).await;
    assert_eq!(refused.refused(409), "CONFLICT");
    market.stop().await;
}

// covers: REG-2, REG-33, REG-44
#[tokio::test]
async fn a_result_with_anything_wrong_is_refused_and_can_be_put_right() {
    let mut market = Market::open().await;
    market.hire().await;
    let url = market.posted().await.json()["callback_url"].clone();
    let before = state(&market).await;
    for (path, value, status, code) in [
        ("job_id", json!(AGENT), 400, "VALIDATION_ERROR"),
        ("agent_id", json!(JOB), 403, "CLAIM_MISMATCH"),
        ("status", json!("DONE"), 400, "VALIDATION_ERROR"),
        ("output_data", json!(null), 400, "VALIDATION_ERROR"),
        ("output_data", json!({"entities": 7}), 400, "VALIDATION_ERROR"),
        ("output_data", json!([1]), 400, "VALIDATION_ERROR"),
        ("execution_cost", json!(0.001), 400, "VALIDATION_ERROR"),
        ("execution_cost", json!(-0.1), 400, "VALIDATION_ERROR"),
        ("execution_time_ms", json!(-1), 400, "VALIDATION_ERROR"),
        ("error_message", json!("x".repeat(2_000)), 400, "VALIDATION_ERROR"),
        ("timestamp_utc", json!("2999-01-01T00:00:00Z"), 400, "VALIDATION_ERROR"),
    ] {
        let mut bad = result();
        bad[path] = value.clone();
        let refused = market.call_back(&url, bad).await;
        assert_eq!(refused.refused(status), code, "{path} {value}");
    }
    // Somebody else's.
    let third = market.host.token("third").await;
    for (token, status, code) in [(&third, 404, "NOT_FOUND"), (&market.buyer, 403, "FORBIDDEN")] {
        let refused = market.host.post(token, &result_path(), result()).await;
        assert_eq!(refused.refused(status), code);
    }
    let forged = format!("{}/tok_AAAAAAAAAAAAAAAA", result_path());
    let forged = TestHost::answer(market.host.request(Method::POST, &forged).json(&result())).await;
    assert_eq!(forged.refused(401), "UNAUTHORIZED");
    assert_eq!(state(&market).await, before);
    // It asks for more than was agreed on, and is paid what was.
    let mut dear = result();
    dear["execution_cost"] = json!(5);
    assert_eq!(market.call_back(&url, dear).await.ok()["paid"], 0.1);
    market.stop().await;
}

// covers: REG-2, REG-3, REG-50
#[tokio::test]
async fn a_transfer_with_anything_wrong_is_refused() {
    let market = Market::open().await;
    let before = state(&market).await;
    let good =
        json!({"transfer_id": TRANSFER, "from_owner": "buyer", "to_owner": "seller", "amount": 1});
    for (path, value, status, code) in [
        ("transfer_id", json!("1"), 400, "VALIDATION_ERROR"),
        ("from_owner", json!("seller"), 403, "CLAIM_MISMATCH"),
        ("from_owner", json!("@escrow"), 400, "VALIDATION_ERROR"),
        ("to_owner", json!("buyer"), 400, "VALIDATION_ERROR"),
        ("to_owner", json!("@mint"), 400, "VALIDATION_ERROR"),
        ("to_owner", json!("nobody"), 404, "NOT_FOUND"),
        ("amount", json!(0), 400, "VALIDATION_ERROR"),
        ("amount", json!(-1), 400, "VALIDATION_ERROR"),
        ("amount", json!(0.001), 400, "VALIDATION_ERROR"),
        ("amount", json!(1e13), 400, "VALIDATION_ERROR"),
        ("timestamp_utc", json!("2999-01-01T00:00:00Z"), 400, "VALIDATION_ERROR"),
    ] {
        let mut bad = good.clone();
        bad[path] = value.clone();
        let refused = market.host.post(&market.buyer, "/transfer", bad).await;
        assert_eq!(refused.refused(status), code, "{path} {value}");
    }
    market.hire().await;
    let mut of_job = good;
    of_job["job_id"] = json!(JOB);
    let refused = market.host.post(&market.buyer, "/transfer", of_job).await;
    assert_eq!(refused.refused(409), "CONFLICT", "the host settles it");
    assert_ne!(state(&market).await, before, "the hold");
}
