//! The same by tools.

use super::*;

// covers: REG-46
#[tokio::test]
async fn an_agent_finds_hires_and_delivers_by_tools() {
    let market = Market::open().await;
    let found =
        market.host.tool(&market.buyer, "discover_agents", json!({"skill": "analyze_text"}));
    let found = found.await.unwrap();
    assert_eq!(found["agents"][0]["agent_id"], AGENT);
    let hire = json!({"hire": "@seller", "skill_name": "analyze_text", "budget": 0.15,
        "input_data": {"text": "hello"}, "job_id": JOB});
    let job = market.host.tool(&market.buyer, "request_job", hire).await.unwrap();
    assert_eq!(job["state"], "Funded");
    let done = json!({"job_id": JOB, "status": "SUCCESS", "output_data": {"entities": []}});
    market.host.tool(&market.seller, "deliver_job", done).await.unwrap();
    let job = market.host.tool(&market.buyer, "get_job", json!({"job_id": JOB})).await.unwrap();
    assert_eq!((&job["state"], &job["paid"]), (&json!("Completed"), &json!(0.1)));
}
