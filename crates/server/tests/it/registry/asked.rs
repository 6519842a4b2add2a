//! Agents of this host, who are asked for jobs by messages.

use super::*;

const OUTPUT: &str = r#"{"text": "string", "to": "string"}"#;

/// A host on which the agent `scout` translates, and `ann` has credits.
async fn translator() -> (TestHost, String) {
    let host = TestHost::open().await;
    host.room(&["scout"]).await;
    let scout = host.token("scout").await;
    let output: Value = serde_json::from_str(OUTPUT).unwrap();
    let offer = json!({"agent_name": "Scout", "skills": [{"skill_name": "translate",
        "cost_per_call": 0.05, "input_schema": {"text": "string"}, "output_schema": output}]});
    host.post(&scout, "/register", offer).await.ok();
    let operator = host.operator();
    host.post(&operator, "/accounts/ann/mint", json!({"amount": 1})).await.ok();
    let ann = host.token("ann").await;
    (host, ann)
}

fn hire() -> Value {
    json!({"job_id": JOB, "agent_id": "@scout", "skill_name": "translate", "budget": 0.5,
        "input_data": {"text": "hello @ann"}})
}

/// The host knows that it has asked for the job.
async fn asked(host: &TestHost, ann: &str) {
    let path = format!("/jobs/{JOB}");
    eventually("the host knows that it asked", || async {
        host.get(ann, &path).await.ok()["event_id"].is_string()
    })
    .await;
}

async fn ended(host: &TestHost, ann: &str) -> Value {
    let path = format!("/jobs/{JOB}");
    eventually("the job has ended", || async {
        host.get(ann, &path).await.ok()["ended_at"].is_string()
    })
    .await;
    host.get(ann, &path).await.ok()
}

// covers: REG-47, REG-48
#[tokio::test]
async fn a_member_is_hired_by_its_handle_and_its_answer_is_the_result() {
    let result = json!({"text": "hallo", "to": "de"});
    for (answer, state, output) in [
        (result.to_string(), "Completed", result.clone()),
        (format!("Gladly:\n```json\n{result}\n```"), "Completed", result.clone()),
        ("FAILURE: I know no German.".to_owned(), "Rejected", Value::Null),
        ("It means hallo.".to_owned(), "Rejected", Value::Null),
    ] {
        let (host, ann) = translator().await;
        let mut scout = host.connect(&host.token("scout").await).await;
        let job = host.post(&ann, "/jobs", hire()).await.ok();
        assert_eq!(job["state"], "Funded");
        let offer = scout.take().await;
        let asked = offer.to_string();
        assert!(asked.contains("hello @ann") && asked.contains("translate"), "{offer}");
        scout.reply(&offer, &answer).await.unwrap();
        let done = ended(&host, &ann).await;
        assert_eq!((&done["state"], &done["output_data"]), (&json!(state), &output), "{done}");
        assert_eq!(done["event_id"], offer["eventId"]);
        let TestHost { running, folder, .. } = host;
        running.stop().await;
        assert_eq!(crate::test_host::verify(folder.path()).problems, []);
    }
}

// covers: REG-48
#[tokio::test]
async fn no_report_of_the_host_is_a_result() {
    for (report, state, said) in [
        (Some("failed"), "Rejected", "the runtime ended with exit status: 3"),
        (Some("ignored"), "Rejected", "This was set aside"),
        (None, "Expired", ""),
    ] {
        let host = TestHost::open().await;
        host.room(&["scout"]).await;
        let token = host.token("scout").await;
        let offer = json!({"agent_name": "Scout",
            "skills": [{"skill_name": "translate", "cost_per_call": 0.05}]});
        host.post(&token, "/register", offer).await.ok();
        let operator = host.operator();
        host.post(&operator, "/accounts/ann/mint", json!({"amount": 1})).await.ok();
        let ann = host.token("ann").await;
        let mut scout = host.connect(&token).await;
        host.post(&ann, "/jobs", hire()).await.ok();
        let offer = scout.take().await;
        if let Some(disposition) = report {
            let note = "the runtime ended with exit status: 3";
            let params =
                json!({"eventId": offer["eventId"], "disposition": disposition, "note": note});
            scout.call("chat/disposition", params).await.unwrap();
        }
        let path = format!("/jobs/{JOB}");
        if report.is_none() {
            // Until the answer is overdue, and then until the job is.
            for _ in 0..20 {
                host.pass(60_000).await;
            }
        }
        let done = ended(&host, &ann).await;
        assert_eq!(done["state"], state, "{done}");
        assert!(done["error_message"].as_str().unwrap_or_default().contains(said), "{done}");
        assert_eq!(done["output_data"], Value::Null);
        let account = host.get(&ann, "/accounts/ann").await.ok();
        assert_eq!(account["balance"], 1, "{path}: {account}");
    }
}

// covers: REG-47
#[tokio::test]
async fn a_job_is_asked_for_in_the_thread_that_it_names() {
    let (host, ann) = translator().await;
    let mut scout = host.connect(&host.token("scout").await).await;
    let new = json!({"title": "German", "participants": ["scout"]});
    let thread = host.tool(&ann, "create_thread", new).await.unwrap();
    let mut request = hire();
    request["thread_id"] = thread["thread_id"].clone();
    host.post(&ann, "/jobs", request.clone()).await.ok();
    let offer = scout.take().await;
    scout.reply(&offer, r#"{"text": "hallo", "to": "de"}"#).await.unwrap();
    assert_eq!(ended(&host, &ann).await["state"], "Completed");
    let read = json!({"thread_id": thread["thread_id"]});
    let messages = host.tool(&ann, "read_messages", read).await.unwrap();
    assert_eq!(messages["messages"].as_array().unwrap().len(), 2, "{messages}");
    request["job_id"] = json!(AGENT);
    request["thread_id"] = json!("th_00000000000000000000000000000000");
    assert_eq!(host.post(&ann, "/jobs", request).await.refused(404), "NOT_FOUND");
}

// covers: REG-49
#[tokio::test]
async fn a_job_that_is_taken_back_or_delivered_by_the_tool_asks_for_nothing_more() {
    for by_tool in [true, false] {
        let (host, ann) = translator().await;
        let token = host.token("scout").await;
        let mut scout = host.connect(&token).await;
        host.post(&ann, "/jobs", hire()).await.ok();
        let offer = scout.take().await;
        let path = format!("/jobs/{JOB}");
        eventually("the host knows that it asked", || async {
            host.get(&ann, &path).await.ok()["event_id"].is_string()
        })
        .await;
        if by_tool {
            let result = json!({"job_id": JOB, "status": "SUCCESS",
                "output_data": {"text": "hallo", "to": "de"}});
            host.tool(&token, "deliver_job", result).await.unwrap();
        } else {
            host.send(&ann, Method::DELETE, &path, None).await.ok();
        }
        assert!(ended(&host, &ann).await["ended_at"].is_string());
        let event = offer["eventId"].as_str().unwrap();
        let why = host.get(&ann, &format!("/v1/events/{event}/attention")).await.ok();
        let state = if by_tool { "responded" } else { "superseded" };
        assert!(why.to_string().contains(state), "{why}");
        // Nobody is reminded.
        host.pass(400_000).await;
        let again = host.get(&ann, &format!("/v1/events/{event}/attention")).await.ok();
        assert_eq!(why["deliveries"], again["deliveries"]);
    }
}

// covers: REG-35, REG-48
#[tokio::test]
async fn a_job_is_not_taken_back_once_its_agent_was_told_that_its_answer_is_posted() {
    let (host, ann) = translator().await;
    let mut scout = host.connect(&host.token("scout").await).await;
    host.post(&ann, "/jobs", hire()).await.ok();
    let offer = scout.take().await;
    asked(&host, &ann).await;
    scout.reply(&offer, r#"{"text": "hallo", "to": "de"}"#).await.unwrap();
    let taken_back = host.send(&ann, Method::DELETE, &format!("/jobs/{JOB}"), None).await;
    assert_eq!(taken_back.refused(409), "CONFLICT");
    assert_eq!(ended(&host, &ann).await["state"], "Completed");
}

// covers: REG-14, REG-44
#[tokio::test]
async fn an_agent_delivers_its_jobs_for_the_owner_that_it_has_now() {
    let (host, ann) = translator().await;
    let scout = host.token("scout").await;
    let offer = json!({"agent_name": "Scout", "pull": true,
        "skills": [{"skill_name": "translate", "cost_per_call": 0.05}]});
    host.post(&scout, "/register", offer).await.ok();
    host.post(&ann, "/jobs", hire()).await.ok();
    host.token("ben").await;
    let operator = host.operator();
    host.send(&operator, Method::PATCH, "/v1/members/scout", Some(json!({"owner_id": "ben"})))
        .await
        .ok();
    let result = json!({"job_id": JOB, "status": "SUCCESS", "output_data": {}});
    host.tool(&scout, "deliver_job", result).await.unwrap();
    assert_eq!(ended(&host, &ann).await["state"], "Completed");
    let account = host.get(&operator, "/accounts/ben").await.ok();
    assert_eq!(account["balance"], 0.05, "{account}");
}

// covers: REG-39, REG-48
#[tokio::test]
async fn an_answer_that_a_crash_kept_from_the_job_is_taken_at_the_next_start() {
    let (host, ann) = translator().await;
    let mut scout = host.connect(&host.token("scout").await).await;
    host.post(&ann, "/jobs", hire()).await.ok();
    let offer = scout.take().await;
    asked(&host, &ann).await;
    // The job forgets what became of it: as if the host had ended before it took the answer.
    scout.reply(&offer, r#"{"text": "hallo", "to": "de"}"#).await.unwrap();
    let now = host.clock_now();
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    let host = TestHost::open_in(folder, now).await;
    let ann = host.token("ann").await;
    let done = ended(&host, &ann).await;
    assert_eq!((&done["state"], &done["paid"]), (&json!("Completed"), &json!(0.05)));
}

// covers: REG-47
#[tokio::test]
async fn an_agent_that_pulls_its_jobs_is_not_asked() {
    let (host, ann) = translator().await;
    let token = host.token("scout").await;
    let mut scout = host.connect(&token).await;
    let offer = json!({"agent_name": "Scout", "pull": true, "skills": [{"skill_name": "translate",
        "cost_per_call": 0.05}]});
    let agent = host.post(&token, "/register", offer).await.ok()["agent_id"].clone();
    host.post(&ann, "/jobs", hire()).await.ok();
    assert!(scout.is_quiet().await);
    let mine = host.get(&token, "/jobs?side=worker").await.ok();
    assert_eq!(
        (&mine["jobs"][0]["job_id"], &mine["jobs"][0]["attempts"]),
        (&json!(JOB), &json!(0))
    );
    let result = json!({"job_id": JOB, "agent_id": agent, "status": "SUCCESS", "output_data": {}});
    host.post(&token, &result_path(), result).await.ok();
    assert_eq!(ended(&host, &ann).await["state"], "Completed");
}

// covers: REG-37, REG-38
#[tokio::test]
async fn a_member_takes_direct_jobs_at_its_own_door_and_the_hirer_is_told_before_it_pays() {
    let (host, ann) = translator().await;
    let mut scout = host.connect(&host.token("scout").await).await;
    let mut hirer = Remote::open().await;
    let mut request = hire();
    request["callback_url"] = json!(hirer.at("/results"));
    let agent = host.get(&ann, "/agents/@scout").await.ok();
    let door = agent["api_endpoint"].as_str().unwrap();
    let door = &door[door.find("/agents/").unwrap()..];
    request.as_object_mut().unwrap().remove("agent_id");
    let asked = host.post(&ann, door, request).await;
    assert_eq!(asked.status, 202);
    assert_eq!(asked.ok()["state"], "Open");
    let offer = scout.take().await;
    scout.reply(&offer, r#"{"text": "hallo", "to": "de"}"#).await.unwrap();
    let told = hirer.post().await.json();
    assert_eq!((&told["status"], &told["execution_cost"]), (&json!("SUCCESS"), &json!(0.05)));
    let pay = json!({"transfer_id": TRANSFER, "from_owner": "ann", "to_owner": "scout",
        "amount": 0.05, "job_id": JOB});
    host.post(&ann, "/transfer", pay).await.ok();
    assert_eq!(ended(&host, &ann).await["state"], "Completed");
}

// covers: REG-36, REG-49
#[tokio::test]
async fn a_result_that_waits_for_its_evaluator_asks_the_agent_for_nothing_more() {
    let (host, ann) = translator().await;
    let token = host.token("scout").await;
    let mut scout = host.connect(&token).await;
    let mut request = hire();
    request["evaluator"] = json!("ann");
    host.post(&ann, "/jobs", request).await.ok();
    let offer = scout.take().await;
    asked(&host, &ann).await;
    let result = json!({"job_id": JOB, "status": "SUCCESS",
        "output_data": {"text": "hallo", "to": "de"}});
    host.tool(&token, "deliver_job", result).await.unwrap();
    assert_eq!(host.get(&ann, &format!("/jobs/{JOB}")).await.ok()["state"], "Submitted");
    let event = offer["eventId"].as_str().unwrap();
    let why = host.get(&ann, &format!("/v1/events/{event}/attention")).await.ok();
    assert!(why.to_string().contains("responded"), "{why}");
}
