//! The protocol's own example, from the thread's beginning to its end.

use serde_json::json;

use super::clients::WIRES;
use crate::house::House;

// covers: THR-11, THR-15, THR-17, THR-22
#[tokio::test]
async fn a_thread_is_made_talked_in_read_and_resolved() {
    for wire in WIRES {
        let house = House::open().await;
        house.room(&["executioner_agent", "reviewer_agent", "coordinator_agent"]).await;
        let lead = house.token_of("coordinator_agent", "orchestrator").await;
        let lead = house.mcp(&lead, wire).await;
        let reviewer = house.mcp(&house.token("reviewer_agent").await, wire).await;
        let executioner = house.mcp(&house.token("executioner_agent").await, wire).await;
        let made = lead
            .call(
                "create_thread",
                json!({
                    "workspace_id": house.running.workspace_id,
                    "title": "Profile mapper review loop",
                    "type": "workflow",
                    "participants": ["executioner_agent", "reviewer_agent"],
                    "created_by": "coordinator_agent",
                }),
            )
            .await
            .unwrap();
        assert_eq!(made["status"], "active");
        let thread = made["thread_id"].as_str().unwrap();
        let found = reviewer.call("get_thread", json!({"thread_id": thread})).await.unwrap();
        assert_eq!(found["title"], "Profile mapper review loop");
        assert_eq!(found["type"], "workflow");

        let finding = json!({
            "thread_id": thread,
            "schema_version": 1,
            "sender_agent_id": "reviewer_agent",
            "kind": "event",
            "body": "Blocking issue found in null fallback",
            "metadata": {
                "event_type": "finding_reported",
                "severity": "high",
                "file": "lib/features/profile/data/mappers/user_mapper.dart",
                "line": 42,
                "task_id": "TASK-219",
            },
            "idempotency_key": "rv-find-219-1",
        });
        let posted = reviewer.call("post_message", finding.clone()).await.unwrap();
        assert_eq!((&posted["seq"], &posted["thread_status"]), (&json!(1), &json!("active")));
        let again = reviewer.call("post_message", finding.clone()).await.unwrap();
        assert_eq!(
            (&again["message_id"], &again["duplicate"]),
            (&posted["message_id"], &json!(true))
        );
        let mut other = finding;
        other["body"] = json!("something else");
        assert_eq!(reviewer.call("post_message", other).await, Err("IDEMPOTENCY_CONFLICT".into()));

        let read = json!({"thread_id": thread, "agent_id": "executioner_agent", "since_seq": 0});
        let read = executioner.call("read_messages", read).await.unwrap();
        assert_eq!(read["messages"][0]["metadata"]["severity"], "high");
        assert_eq!(read["messages"][0]["sender_agent_id"], "reviewer_agent");
        assert_eq!((&read["next_seq"], &read["has_more"]), (&json!(1), &json!(false)));

        let ack = |seq: u64| json!({"thread_id": thread, "last_read_seq": seq});
        assert_eq!(executioner.call("ack_read", ack(1)).await.unwrap()["ok"], true);
        assert_eq!(executioner.call("ack_read", ack(0)).await, Err("VALIDATION_ERROR".into()));
        assert_eq!(executioner.call("ack_read", ack(2)).await, Err("VALIDATION_ERROR".into()));
        let resolved = json!({"thread_id": thread, "status": "resolved", "reason": "verified"});
        let resolved = reviewer.call("update_thread_status", resolved).await.unwrap();
        assert_eq!(resolved["status"], "resolved");

        let listed = executioner.call("chat.list_events", json!({})).await.unwrap();
        assert!(listed["events"].is_array());
        let chat = json!({"threadId": thread});
        let chat = executioner.call("chat.read_thread", chat).await.unwrap();
        assert_eq!(chat["messages"][0]["text"], "Blocking issue found in null fallback");
    }
}

// covers: THR-21
#[tokio::test]
async fn a_wait_ends_with_the_message_that_it_waited_for() {
    for wire in WIRES {
        let house = House::open().await;
        house.room(&["scout", "crew"]).await;
        let scout = house.mcp(&house.token("scout").await, wire).await;
        let crew = house.mcp(&house.token("crew").await, wire).await;
        let new = json!({"title": "wait", "participants": ["crew"]});
        let made = scout.call("create_thread", new).await.unwrap();
        let thread = made["thread_id"].as_str().unwrap();
        let wait = json!({"thread_id": thread, "since_seq": 0, "wait_seconds": 60});
        let say = async {
            // Both orders are right: the wait begins before the message, or finds it there.
            let new =
                json!({"thread_id": thread, "schema_version": 1, "kind": "chat", "body": "now"});
            scout.call("post_message", new).await.unwrap()
        };
        let (waited, _) = tokio::join!(crew.call("read_messages", wait), say);
        assert_eq!(waited.unwrap()["messages"][0]["body"], "now");
        let nothing = json!({"thread_id": thread, "since_seq": 1, "wait_seconds": 1});
        let nothing = crew.call("read_messages", nothing).await.unwrap();
        assert_eq!(nothing, json!({"messages": [], "next_seq": 1, "has_more": false}));
    }
}

// covers: THR-2
#[tokio::test]
async fn without_a_token_a_client_is_told_where_to_learn_of_one() {
    let house = House::open().await;
    let init = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize"});
    let request = house.request(reqwest::Method::POST, "/v1/mcp").json(&init);
    let answer = request.send().await.unwrap();
    assert_eq!(answer.status(), 401);
    let points = answer.headers()["www-authenticate"].to_str().unwrap().to_owned();
    let url = points.strip_prefix("Bearer resource_metadata=\"").unwrap().trim_end_matches('"');
    let told = reqwest::get(url).await.unwrap().json::<serde_json::Value>().await.unwrap();
    assert_eq!(told["resource"], house.url("/v1/mcp"));
}
