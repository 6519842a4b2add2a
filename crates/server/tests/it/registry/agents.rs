//! Registration, liveness and discovery.

use super::*;

// covers: REG-10, REG-11, REG-14
#[tokio::test]
async fn a_repeated_registration_changes_it_and_keeps_its_reputation() {
    let mut market = Market::open().await;
    market.hire().await;
    let url = market.posted().await.json()["callback_url"].clone();
    market.call_back(&url, result()).await.ok();
    let mut again = market.registration();
    again["skills"][0]["cost_per_call"] = json!(0.2);
    let made = market.host.post(&market.seller, "/register", again).await;
    assert_eq!(made.status, 201);
    assert_eq!(made.ok()["reputation_score"], 51.0);
    let agent = market.host.get(&market.buyer, &format!("/agents/{AGENT}")).await.ok();
    assert_eq!(agent["skills"].as_array().unwrap().len(), 1);
    assert_eq!(agent["skills"][0]["cost_per_call"], 0.2);
    // It leaves, and comes back with what it had.
    let path = format!("/agents/{AGENT}");
    let no = market.host.send(&market.buyer, Method::DELETE, &path, None).await;
    assert_eq!(no.refused(403), "FORBIDDEN");
    market.host.send(&market.seller, Method::DELETE, &path, None).await.ok();
    let found = market.host.get(&market.buyer, "/discover?skill=analyze_text").await.ok();
    assert_eq!(found["agents"], json!([]));
    assert_eq!(market.host.get(&market.buyer, "/skills").await.ok()["skills"], json!([]));
    let back = market.host.post(&market.seller, "/register", market.registration()).await.ok();
    assert_eq!(back["reputation_score"], 51.0);
    market.stop().await;
}

// covers: REG-14
#[tokio::test]
async fn nobody_registers_for_another_owner() {
    let market = Market::open().await;
    let mut forged = market.registration();
    let refused = market.host.post(&market.buyer, "/register", forged.clone()).await;
    assert_eq!(refused.refused(403), "CLAIM_MISMATCH", "the owner is the token's");
    forged["owner_id"] = json!("buyer");
    let refused = market.host.post(&market.buyer, "/register", forged.clone()).await;
    assert_eq!(refused.refused(409), "CONFLICT", "the agent has an owner");
    // One agent, one UUID.
    let mut second = market.registration();
    second["agent_id"] = json!(JOB);
    let refused = market.host.post(&market.seller, "/register", second).await;
    assert_eq!(refused.refused(409), "CONFLICT");
}

// covers: REG-15, REG-41
#[tokio::test]
async fn an_agent_that_misses_its_heartbeats_is_offline_and_cannot_be_hired() {
    let market = Market::open().await;
    let online = "/discover?skill=analyze_text&status=online";
    let count = |found: Value| found["agents"].as_array().unwrap().len();
    assert_eq!(count(market.host.get(&market.buyer, online).await.ok()), 1);
    market.host.pass(91_000).await;
    assert_eq!(count(market.host.get(&market.buyer, online).await.ok()), 0);
    let all = market.host.get(&market.buyer, "/discover?skill=analyze_text").await.ok();
    assert_eq!(all["agents"][0]["status"], "offline");
    let refused = market.host.post(&market.buyer, "/jobs", market.request()).await;
    assert_eq!(refused.refused(503), "AGENT_OFFLINE");
    assert_eq!(market.balance("buyer").await, 10.0);
    let other = market.host.post(&market.buyer, "/heartbeat", json!({"agent_id": AGENT})).await;
    assert_eq!(other.refused(403), "FORBIDDEN");
    let beat = market.host.post(&market.seller, "/heartbeat", json!({})).await.ok();
    assert_eq!((&beat["status"], &beat["next_within_ms"]), (&json!("online"), &json!(30_000)));
    market.hire().await;
}

// covers: REG-16
#[tokio::test]
async fn an_endpoint_is_verified_when_it_answers_a_challenge_and_no_longer_when_it_stops() {
    let mut market = Market::open().await;
    let only = "/discover?skill=analyze_text&verified=true";
    let count = |found: Value| found["agents"].as_array().unwrap().len();
    let challenge = market.agent.post().await.json();
    assert_eq!(challenge["skill_name"], "chorus.verify");
    assert_eq!(count(market.host.get(&market.buyer, only).await.ok()), 0);
    let answer = json!({"job_id": challenge["job_id"], "agent_id": AGENT, "status": "FAILURE",
        "error_message": "SKILL_MISMATCH"});
    let forged = format!("/agents/{AGENT}/challenge/tok_AAAA");
    let forged = TestHost::answer(market.host.request(Method::POST, &forged).json(&answer)).await;
    assert_eq!(forged.refused(401), "UNAUTHORIZED");
    // Another endpoint proves nothing of the one before, and the one before nothing of it.
    let mut moved = market.registration();
    moved["api_endpoint"] = json!("http://127.0.0.1:9/jobs");
    let here = market.registration();
    market.host.post(&market.seller, "/register", moved).await.ok();
    let late = market.call_back(&challenge["callback_url"], answer.clone()).await;
    assert_eq!(late.refused(401), "UNAUTHORIZED");
    market.host.post(&market.seller, "/register", here).await.ok();
    let challenge = market.agent.post().await.json();
    let answered = market.call_back(&challenge["callback_url"], answer).await;
    assert_eq!(answered.status, 204);
    assert_eq!(count(market.host.get(&market.buyer, only).await.ok()), 1);
    // An hour later it is challenged again, and says nothing.
    market.host.pass(3_600_001).await;
    market.host.pass(16_000).await;
    market.agent.post().await;
    let operator = market.host.operator();
    assert_eq!(count(market.host.get(&operator, only).await.ok()), 1, "it has some time");
    market.host.pass(31_000).await;
    market.agent.post().await;
    assert_eq!(count(market.host.get(&operator, only).await.ok()), 0);
}

// covers: REG-20, REG-21, REG-22
#[tokio::test]
async fn discovery_ranks_by_reputation_then_cost_then_the_last_success() {
    let host = TestHost::open().await;
    let operator = host.operator();
    let here = "http://127.0.0.1:9/jobs";
    for (n, cost) in [(1, 0.3), (2, 0.1), (3, 0.2), (4, 0.2)] {
        let agent = json!({"agent_id": format!("00000000-0000-4000-8000-00000000000{n}"),
            "agent_name": format!("Number {n}"), "api_endpoint": here,
            "skills": [{"skill_name": "translate", "description": "Words into German",
                "cost_per_call": cost}, {"skill_name": "sum", "cost_per_call": 1}]});
        host.post(&operator, "/register", agent).await.ok();
    }
    let names = |found: &Value| -> Vec<String> {
        let agents = found["agents"].as_array().unwrap().iter();
        agents.map(|a| a["agent_name"].as_str().unwrap()["Number ".len()..].to_owned()).collect()
    };
    for (query, found) in [
        ("skill=translate", "2 3 4 1"),
        ("skill=translate&max_cost=0.2", "2 3 4"),
        ("skill=translate&min_reputation=50", "2 3 4 1"),
        ("skill=translate&min_reputation=50.5", ""),
        ("skill=nothing", ""),
        ("q=german", "2 3 4 1"),
        ("q=german+words", "2 3 4 1"),
        ("q=german+french", ""),
        ("skill=translate&status=offline", ""),
        ("skill=translate&verified=true", ""),
    ] {
        let answer = host.get(&operator, &format!("/discover?{query}")).await.ok();
        assert_eq!(names(&answer).join(" "), found, "{query}");
    }
    let mut seen = Vec::new();
    let mut after = String::new();
    loop {
        let page =
            host.get(&operator, &format!("/discover?skill=translate&limit=3{after}")).await.ok();
        seen.extend(names(&page));
        let Some(next) = page["next"].as_str() else { break };
        after = format!("&after={next}");
    }
    assert_eq!(seen.join(" "), "2 3 4 1");
    let skills = host.get(&operator, "/skills").await.ok();
    assert_eq!(
        skills["skills"],
        json!([{"skill_name": "sum", "agents": 4, "cheapest": 1},
        {"skill_name": "translate", "agents": 4, "cheapest": 0.1}])
    );
    for bad in ["min_reputation=101", "max_cost=-1", "after=x", "limit=0", "status=busy"] {
        let refused = host.get(&operator, &format!("/discover?{bad}")).await;
        assert_eq!(refused.refused(400), "VALIDATION_ERROR", "{bad}");
    }
}

// covers: REG-23
#[tokio::test]
async fn newcomers_have_their_share_only_where_an_operator_says_so() {
    for (every, found) in [(0, "1 2 3"), (2, "1 3 2")] {
        let folder = tempfile::tempdir().unwrap();
        let host = TestHost::open_with(folder, START, |config| {
            config.settings.registry.newcomer_every = every;
        })
        .await;
        let operator = host.operator();
        let mut workers = Vec::new();
        for (n, cost) in [(1, 0.1), (2, 0.2), (3, 0.9)] {
            let token = host.token(&format!("w{n}")).await;
            let agent = json!({"agent_name": format!("{n}"),
                "skills": [{"skill_name": "sum", "cost_per_call": cost}]});
            let made = host.post(&token, "/register", agent).await.ok();
            workers.push((token, made["agent_id"].clone()));
        }
        host.post(&operator, "/accounts/operator/mint", json!({"amount": 100})).await.ok();
        // The first two have proved themselves.
        for (token, agent) in &workers[..2] {
            for _ in 0..5 {
                let job =
                    json!({"agent_id": agent, "skill_name": "sum", "input_data": {}, "budget": 1});
                let job = host.post(&operator, "/jobs", job).await.ok();
                let path = format!("/jobs/{}/result", job["job_id"].as_str().unwrap());
                let result = json!({"job_id": job["job_id"], "agent_id": agent,
                    "status": "SUCCESS", "output_data": {}});
                host.post(token, &path, result).await.ok();
            }
        }
        let answer = host.get(&operator, "/discover?skill=sum").await.ok();
        let names: Vec<_> = answer["agents"]
            .as_array()
            .unwrap()
            .iter()
            .map(|agent| agent["agent_name"].as_str().unwrap())
            .collect();
        assert_eq!(names.join(" "), found, "one of {every}");
    }
}
