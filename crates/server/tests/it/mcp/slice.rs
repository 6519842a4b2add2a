//! The protocol's own example, from the thread's beginning to its end.

use serde_json::json;

use super::clients::WIRES;
use crate::test_host::TestHost;

// covers: THR-9, THR-11, THR-13, THR-15, THR-16, THR-17, THR-18, THR-22, THR-432, THR-444, THR-445
#[tokio::test]
async fn a_thread_is_made_talked_in_read_and_resolved() {
    for wire in WIRES {
        let host = TestHost::open().await;
        host.room(&["executioner_agent", "reviewer_agent", "coordinator_agent"]).await;
        let lead = host.token_of("coordinator_agent", "orchestrator").await;
        let lead = host.mcp(&lead, wire).await;
        let reviewer = host.mcp(&host.token("reviewer_agent").await, wire).await;
        let executioner = host.mcp(&host.token("executioner_agent").await, wire).await;
        let made = lead
            .call(
                "create_thread",
                json!({
                    "workspace_id": host.running.workspace_id,
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
        let get = json!({"thread_id": thread});
        let found = reviewer.call("get_thread", get.clone()).await.unwrap();
        for (field, value) in [
            ("thread_id", &made["thread_id"]),
            ("workspace_id", &json!(host.running.workspace_id)),
            ("title", &json!("Profile mapper review loop")),
            ("type", &json!("workflow")),
            ("status", &json!("active")),
            ("created_at", &made["created_at"]),
            ("updated_at", &made["created_at"]),
        ] {
            assert_eq!(&found[field], value, "{field}");
        }
        let participants = json!(["executioner_agent", "reviewer_agent", "coordinator_agent"]);
        assert_eq!(found["participants"], participants);

        let metadata = json!({
            "event_type": "finding_reported",
            "severity": "high",
            "file": "lib/features/profile/data/mappers/user_mapper.dart",
            "line": 42,
            "task_id": "TASK-219",
        });
        let finding = json!({
            "thread_id": thread,
            "schema_version": 1,
            "sender_agent_id": "reviewer_agent",
            "kind": "event",
            "body": "Blocking issue found in null fallback",
            "metadata": metadata,
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
        let conflict = Err("IDEMPOTENCY_CONFLICT".into());
        assert_eq!(reviewer.call("post_message", other.clone()).await, conflict);
        other.as_object_mut().unwrap().remove("schema_version");
        assert_eq!(reviewer.call("post_message", other).await, Err("VALIDATION_ERROR".into()));

        let read = json!({"thread_id": thread, "agent_id": "executioner_agent", "since_seq": 0,
            "limit": 50});
        let read = executioner.call("read_messages", read).await.unwrap();
        let message = &read["messages"][0];
        for (field, value) in [
            ("message_id", &posted["message_id"]),
            ("seq", &json!(1)),
            ("schema_version", &json!(1)),
            ("kind", &json!("event")),
            ("body", &json!("Blocking issue found in null fallback")),
            ("metadata", &metadata),
            ("sender_agent_id", &json!("reviewer_agent")),
            ("created_at", &posted["created_at"]),
        ] {
            assert_eq!(&message[field], value, "{field}");
        }
        assert_eq!((&read["next_seq"], &read["has_more"]), (&json!(1), &json!(false)));

        let ack = |seq: u64| json!({"thread_id": thread, "agent_id": "executioner_agent", "last_read_seq": seq});
        let acked = executioner.call("ack_read", ack(1)).await.unwrap();
        assert_eq!((&acked["ok"], acked["updated_at"].is_string()), (&json!(true), true));
        assert_eq!(executioner.call("ack_read", ack(0)).await, Err("VALIDATION_ERROR".into()));
        assert_eq!(executioner.call("ack_read", ack(2)).await, Err("VALIDATION_ERROR".into()));
        let fixed = json!({"thread_id": thread, "schema_version": 1, "kind": "event", "body": "abc1234",
            "metadata": {"event_type": "fix_pushed", "event_version": 1},
            "in_reply_to": posted["message_id"]});
        executioner.call("post_message", fixed).await.unwrap();
        let verified = json!({"thread_id": thread, "schema_version": 1, "kind": "event", "body": "it holds",
            "metadata": {"event_type": "finding_verified"}, "in_reply_to": posted["message_id"]});
        reviewer.call("post_message", verified).await.unwrap();
        host.pass(1_000).await;
        let resolved = json!({"thread_id": thread, "agent_id": "reviewer_agent", "status": "resolved",
            "reason": "all_findings_verified"});
        let resolved = reviewer.call("update_thread_status", resolved).await.unwrap();
        assert_eq!(resolved["status"], "resolved");
        let now = reviewer.call("get_thread", get).await.unwrap();
        assert_eq!(
            (&now["thread_id"], &now["created_at"]),
            (&made["thread_id"], &made["created_at"])
        );
        assert_eq!(now["updated_at"], resolved["updated_at"]);
        assert_ne!(now["updated_at"], made["created_at"]);
        let since = json!({"thread_id": thread, "since_seq": 1, "limit": 50});
        let since = executioner.call("read_messages", since).await.unwrap();
        assert_eq!(since["messages"][0]["in_reply_to"], posted["message_id"]);
        let last = since["messages"].as_array().unwrap().last().unwrap();
        assert_eq!(
            (&last["kind"], &last["body"]),
            (&json!("system"), &json!("all_findings_verified"))
        );
        let ask = json!({"thread_id": thread, "max_messages": 200});
        let summary = executioner.call("summarize_thread", ask).await.unwrap();
        assert_eq!(
            (&summary["last_status"], &summary["open_items"]),
            (&json!("resolved"), &json!([]))
        );
        let text = summary["summary"].as_str().unwrap();
        let begins = "1 finding reported: 0 open, 1 verified, 0 rejected. 1 fix pushed.";
        assert!(text.starts_with(begins) && text.contains("all_findings_verified"), "{text}");

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
        let host = TestHost::open().await;
        host.room(&["scout", "crew"]).await;
        let scout = host.mcp(&host.token("scout").await, wire).await;
        let crew = host.mcp(&host.token("crew").await, wire).await;
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
    let host = TestHost::open().await;
    let init = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize"});
    let request = || host.request(reqwest::Method::POST, "/v1/mcp").json(&init);
    for request in [request(), request().bearer_auth("guess")] {
        let refused = TestHost::answer(request).await.refused(401);
        assert_eq!(refused, "UNAUTHORIZED");
    }
    let answer = request().send().await.unwrap();
    let points = answer.headers()["www-authenticate"].to_str().unwrap().to_owned();
    let url = points.strip_prefix("Bearer resource_metadata=\"").unwrap().trim_end_matches('"');
    let told = reqwest::get(url).await.unwrap().json::<serde_json::Value>().await.unwrap();
    assert_eq!(told["resource"], host.url("/v1/mcp"));
}
