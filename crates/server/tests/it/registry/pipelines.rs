//! Pipelines: steps that share a context and a budget.

use super::*;

const PIPELINE: &str = "f81d4fae-7dec-11d0-a765-00a0c91e6b00";

/// Agents that take their jobs themselves: the token and the UUID of each.
async fn sellers(host: &TestHost) -> Vec<(String, String)> {
    let mut sellers = Vec::new();
    for (name, skill, cost, input) in [
        ("reader", "summarize", 0.2, json!({"text": "string"})),
        ("talker", "translate", 0.3, json!({"text": "string", "to": "string"})),
    ] {
        let token = host.token(name).await;
        let offer = json!({"agent_name": name, "pull": true, "skills": [{"skill_name": skill,
            "cost_per_call": cost, "input_schema": input}]});
        let made = host.post(&token, "/register", offer).await.ok();
        sellers.push((token, made["agent_id"].as_str().unwrap().to_owned()));
    }
    sellers
}

async fn deliver(host: &TestHost, (token, agent): &(String, String), output: Value) -> Value {
    let mine = host.get(token, "/jobs?side=worker").await.ok();
    let job = mine["jobs"][0].clone();
    let id = job["job_id"].as_str().unwrap();
    let result =
        json!({"job_id": id, "agent_id": agent, "status": "SUCCESS", "output_data": output});
    host.post(token, &format!("/jobs/{id}/result"), result).await.ok();
    job
}

// covers: REG-62
#[tokio::test]
async fn each_step_begins_with_what_the_steps_before_have_made() {
    let host = TestHost::open().await;
    let sellers = sellers(&host).await;
    let (operator, buyer) = (host.operator(), host.token("buyer").await);
    host.post(&operator, "/accounts/buyer/mint", json!({"amount": 10})).await.ok();
    let asked = json!({"pipeline_id": PIPELINE, "context": {"text": "a long text", "to": "de"},
        "budget": 1, "steps": [
            {"agent_id": sellers[0].1, "skill_name": "summarize", "fraction": 0.4},
            {"agent_id": "@talker", "skill_name": "translate", "fraction": 0.6,
                "input_data": {"text": "$summary", "to": "$to"}}]});
    let begun = host.post(&buyer, "/pipelines", asked.clone()).await;
    assert_eq!(begun.status, 202);
    let begun = begun.ok();
    assert_eq!(
        (&begun["status"], &begun["steps"][0]["state"]),
        (&json!("PENDING"), &json!("Funded"))
    );
    assert_eq!(begun["steps"][1]["job_id"], Value::Null);
    let again = host.post(&buyer, "/pipelines", asked).await.ok();
    assert_eq!(again["steps"], begun["steps"]);
    let first = deliver(&host, &sellers[0], json!({"summary": "short"})).await;
    assert_eq!(first["input_data"], json!({"text": "a long text", "to": "de"}));
    let second = deliver(&host, &sellers[1], json!({"translation": "kurz"})).await;
    assert_eq!(second["input_data"], json!({"text": "short", "to": "de"}));
    assert_eq!((&first["budget"], &second["budget"]), (&json!(0.4), &json!(0.6)));
    let path = format!("/pipelines/{PIPELINE}");
    let done = host.get(&buyer, &path).await.ok();
    assert_eq!((&done["status"], &done["paid"]), (&json!("SUCCESS"), &json!(0.5)));
    assert_eq!(
        done["context"],
        json!({"text": "a long text", "to": "de", "summary": "short",
        "translation": "kurz"})
    );
    let account = host.get(&buyer, "/accounts/me").await.ok();
    assert_eq!(account["balance"], 9.5);
    let other = host.token("other").await;
    assert_eq!(host.get(&other, &path).await.refused(404), "NOT_FOUND");
}

// covers: REG-30, REG-62
#[tokio::test]
async fn a_step_takes_nobodys_job_away() {
    let host = TestHost::open().await;
    let sellers = sellers(&host).await;
    let (operator, buyer) = (host.operator(), host.token("buyer").await);
    let mallory = host.token("mallory").await;
    for owner in ["buyer", "mallory"] {
        let mint = format!("/accounts/{owner}/mint");
        host.post(&operator, &mint, json!({"amount": 10})).await.ok();
    }
    // The second step of the pipeline would have this id.
    let job = "f81d4fae-7dec-11d0-a765-00a0c91e6b02";
    let asked = json!({"job_id": job, "agent_id": sellers[1].1, "skill_name": "translate",
        "input_data": {"text": "a", "to": "de"}, "budget": 5});
    host.post(&buyer, "/jobs", asked).await.ok();
    let step = json!({"agent_id": sellers[0].1, "skill_name": "summarize", "fraction": 0.5});
    let pipeline = json!({"pipeline_id": PIPELINE, "context": {"text": "x"}, "budget": 1,
        "steps": [step, step]});
    host.post(&mallory, "/pipelines", pipeline).await.ok();
    let path = format!("/pipelines/{PIPELINE}");
    assert_eq!(host.get(&sellers[0].0, &path).await.refused(404), "NOT_FOUND", "a worker");
    deliver(&host, &sellers[0], json!({"summary": "short"})).await;
    let stopped = host.get(&mallory, &path).await.ok();
    assert_eq!((&stopped["status"], &stopped["paid"]), (&json!("FAILURE"), &json!(0.2)));
    assert!(stopped["error_message"].as_str().unwrap().contains("another job"), "{stopped}");
    let kept = host.get(&buyer, &format!("/jobs/{job}")).await.ok();
    assert_eq!((&kept["hirer"], &kept["held"]), (&json!("buyer"), &json!(5)));
}

// covers: REG-62
#[tokio::test]
async fn a_step_that_cannot_be_asked_for_ends_the_pipeline() {
    let host = TestHost::open().await;
    let sellers = sellers(&host).await;
    let (operator, buyer) = (host.operator(), host.token("buyer").await);
    host.post(&operator, "/accounts/buyer/mint", json!({"amount": 10})).await.ok();
    let asked = |input: Value| {
        json!({"pipeline_id": PIPELINE, "context": {"text": "a long text"},
        "budget": 1, "steps": [
            {"agent_id": sellers[0].1, "skill_name": "summarize", "fraction": 0.4},
            {"agent_id": sellers[1].1, "skill_name": "translate", "fraction": 0.6, "input_data": input}]})
    };
    let begun = asked(json!({"text": "$nothing", "to": "de"}));
    host.post(&buyer, "/pipelines", begun).await.ok();
    deliver(&host, &sellers[0], json!({"summary": "short"})).await;
    let path = format!("/pipelines/{PIPELINE}");
    let done = host.get(&buyer, &path).await.ok();
    assert_eq!((&done["status"], &done["paid"]), (&json!("FAILURE"), &json!(0.2)), "{done}");
    assert!(done["error_message"].as_str().unwrap().contains("nothing"), "{done}");
    for (field, value) in [
        ("budget", json!(-1)),
        ("context", json!([])),
        ("steps", json!([])),
        ("pipeline_id", json!("x")),
    ] {
        let mut bad = asked(json!({}));
        bad[field] = value;
        let refused = host.post(&buyer, "/pipelines", bad).await;
        assert_eq!(refused.refused(400), "VALIDATION_ERROR", "{field}");
    }
    for timeout in [-1, 0, 5, 604_800_001, 1_000_000_000_000_000_i64] {
        let mut bad = asked(json!({}));
        bad["pipeline_id"] = json!(JOB);
        bad["steps"][1]["timeout_ms"] = json!(timeout);
        assert_eq!(host.post(&buyer, "/pipelines", bad).await.refused(400), "VALIDATION_ERROR");
    }
    let mut bad = asked(json!({}));
    bad["pipeline_id"] = json!(JOB);
    bad["steps"][0]["fraction"] = json!(0.5);
    assert_eq!(host.post(&buyer, "/pipelines", bad).await.refused(400), "VALIDATION_ERROR");
}
