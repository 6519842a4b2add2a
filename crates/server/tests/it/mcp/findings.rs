//! Who may close a thread: whose a block and a finding are, and what was said of them.

use serde_json::{Value, json};

use super::clients::Wire;
use super::methods::{chat, event, thread};
use crate::test_host::TestHost;

// covers: THR-436, THR-437
#[tokio::test]
async fn a_worker_lifts_neither_anothers_block_nor_anothers_finding() {
    let host = TestHost::open().await;
    host.room(&["scout", "crew"]).await;
    let scout = host.mcp(&host.token("scout").await, Wire::Sessions).await;
    let crew = host.mcp(&host.token("crew").await, Wire::Stateless).await;
    let lead = host.token_of("scout", "orchestrator").await;
    let lead = host.mcp(&lead, Wire::Stateless).await;
    let refused = Err("INSUFFICIENT_AUTHORITY".to_owned());

    let blocked = &thread(&scout, json!({})).await;
    let to = |thread: &str, status: &str| json!({"thread_id": thread, "status": status});
    scout.call("update_thread_status", to(blocked, "blocked")).await.unwrap();
    for status in ["active", "closed"] {
        assert_eq!(
            crew.call("update_thread_status", to(blocked, status)).await,
            refused,
            "{status}"
        );
    }
    scout.call("update_thread_status", to(blocked, "active")).await.unwrap();
    crew.call("update_thread_status", to(blocked, "blocked")).await.unwrap();
    lead.call("update_thread_status", to(blocked, "active")).await.unwrap();
    crew.call("update_thread_status", to(blocked, "closed")).await.unwrap();

    let thread = &thread(&scout, json!({})).await;
    let about = |kind: &str| event(thread, kind, json!({"event_type": kind, "finding_id": "F-1"}));
    scout.call("post_message", about("finding_reported")).await.unwrap();
    crew.call("post_message", about("finding_verified")).await.unwrap();
    assert_eq!(crew.call("update_thread_status", to(thread, "closed")).await, refused);
    // Taking the finding over makes it no less another's.
    crew.call("post_message", about("finding_reported")).await.unwrap();
    crew.call("post_message", about("finding_rejected")).await.unwrap();
    assert_eq!(crew.call("update_thread_status", to(thread, "closed")).await, refused);
    scout.call("post_message", about("finding_verified")).await.unwrap();
    crew.call("update_thread_status", to(thread, "closed")).await.unwrap();
}

// covers: THR-14, THR-23, THR-437, THR-438
#[tokio::test]
async fn deleted_message_neither_takes_over_nor_settles_a_finding() {
    for by_edit in [false, true] {
        let host = TestHost::open().await;
        host.room(&["scout", "crew"]).await;
        let (scouts, crews) = (host.token("scout").await, host.token("crew").await);
        let scout = host.mcp(&scouts, Wire::Sessions).await;
        let crew = host.mcp(&crews, Wire::Stateless).await;
        let thread = &thread(&scout, json!({})).await;
        let about =
            |kind: &str| event(thread, kind, json!({"event_type": kind, "finding_id": "F-1"}));
        // What is edited into something else says what it was no more, either.
        let unsay = async |token: &str, said: &Value| {
            let path = format!("/v1/messages/{}", said["message_id"].as_str().unwrap());
            let other = json!({"text": "x", "metadata": {"event_type": "coffee_break"}});
            let (method, body) = match by_edit {
                true => (reqwest::Method::PATCH, Some(other)),
                false => (reqwest::Method::DELETE, None),
            };
            host.send(token, method, &path, body).await.ok();
        };
        let close = json!({"thread_id": thread, "status": "closed"});
        let refused = Err("INSUFFICIENT_AUTHORITY".to_owned());
        let open = async || {
            let ask = json!({"thread_id": thread});
            let summary = crew.call("summarize_thread", ask).await.unwrap();
            let items = summary["open_items"].as_array().unwrap().clone();
            let by = summary["summary"].as_str().unwrap().contains("(#1, @scout)");
            (items.len(), by)
        };

        let found = scout.call("post_message", about("finding_reported")).await.unwrap();
        let again = crew.call("post_message", about("finding_reported")).await.unwrap();
        unsay(&crews, &again).await;
        assert_eq!(crew.call("update_thread_status", close.clone()).await, refused, "{by_edit}");
        assert_eq!(open().await, (1, true));
        let verdict = scout.call("post_message", about("finding_verified")).await.unwrap();
        assert_eq!(open().await, (0, false));
        unsay(&scouts, &verdict).await;
        assert_eq!(crew.call("update_thread_status", close.clone()).await, refused, "{by_edit}");
        assert_eq!(open().await, (1, true));
        // Who found it may say that it was none.
        unsay(&scouts, &found).await;
        assert_eq!(open().await, (0, false));
        crew.call("update_thread_status", close).await.unwrap();
    }
}

// covers: THR-14, THR-437, ATT-183
#[tokio::test]
async fn ephemeral_message_is_no_entry_of_a_thread() {
    let host = TestHost::open().await;
    host.room(&["scout", "crew", "aide"]).await;
    let (scouts, crews) = (host.token("scout").await, host.token("crew").await);
    let scout = host.mcp(&scouts, Wire::Sessions).await;
    let crew = host.mcp(&crews, Wire::Stateless).await;
    let aide = host.mcp(&host.token("aide").await, Wire::Stateless).await;
    let new = json!({"title": "work", "participants": ["crew", "aide"]});
    let made = scout.call("create_thread", new).await.unwrap();
    let thread = made["thread_id"].as_str().unwrap();
    let whisper = json!({"conversation": made["channel_id"], "thread": thread, "text": "psst",
        "visibility": "ephemeral", "only": ["aide"], "idempotency_key": "1"});
    let whisper = host.post(&crews, "/v1/messages", whisper).await.ok();
    let about = |kind: &str| event(thread, kind, json!({"event_type": kind, "finding_id": "F-1"}));
    scout.call("post_message", about("finding_reported")).await.unwrap();
    let mut verdict = about("finding_verified");
    verdict["in_reply_to"] = whisper["message_id"].clone();
    aide.call("post_message", verdict).await.unwrap();
    let close = json!({"thread_id": thread, "status": "closed"});
    let refused = Err("INSUFFICIENT_AUTHORITY".to_owned());
    assert_eq!(crew.call("update_thread_status", close.clone()).await, refused);
    scout.call("post_message", about("finding_verified")).await.unwrap();
    crew.call("update_thread_status", close).await.unwrap();
}

// covers: THR-19, THR-432
#[tokio::test]
async fn worker_cannot_rewrite_a_status_of_the_host() {
    let host = TestHost::open().await;
    host.room(&["scout", "crew"]).await;
    let token = host.token("scout").await;
    let scout = host.mcp(&token, Wire::Sessions).await;
    let thread = &thread(&scout, json!({})).await;
    let block = json!({"thread_id": thread, "status": "blocked", "reason": "no key yet"});
    scout.call("update_thread_status", block).await.unwrap();
    let read = json!({"thread_id": thread});
    let before = scout.call("read_messages", read.clone()).await.unwrap();
    let path = format!("/v1/messages/{}", before["messages"][0]["message_id"].as_str().unwrap());
    let other = json!({"text": "all done", "metadata": {"event_type": "thread_resolved"}});
    for (method, body) in
        [(reqwest::Method::PATCH, Some(other.clone())), (reqwest::Method::DELETE, None)]
    {
        let answer = host.send(&token, method, &path, body).await;
        assert_eq!(answer.refused(403), "INSUFFICIENT_AUTHORITY");
    }
    assert_eq!(scout.call("read_messages", read).await.unwrap(), before);
    let operator = host.operator();
    host.send(&operator, reqwest::Method::PATCH, &path, Some(other)).await;
}

// covers: THR-437
#[tokio::test]
async fn an_event_that_is_edited_into_a_report_takes_over_no_finding() {
    let host = TestHost::open().await;
    host.room(&["scout", "crew"]).await;
    let crews = host.token("crew").await;
    let scout = host.mcp(&host.token("scout").await, Wire::Sessions).await;
    let crew = host.mcp(&crews, Wire::Stateless).await;
    let thread = &thread(&scout, json!({})).await;
    let about = |kind: &str| event(thread, kind, json!({"event_type": kind, "finding_id": "F-1"}));
    let before = event(thread, "fix", json!({"event_type": "fix_pushed"}));
    let before = crew.call("post_message", before).await.unwrap();
    scout.call("post_message", about("finding_reported")).await.unwrap();
    let path = format!("/v1/messages/{}", before["message_id"].as_str().unwrap());
    let report = json!({"event_type": "finding_reported", "finding_id": "F-1"});
    let report = json!({"text": "x", "metadata": report});
    host.send(&crews, reqwest::Method::PATCH, &path, Some(report)).await.ok();
    crew.call("post_message", about("finding_rejected")).await.unwrap();
    let close = json!({"thread_id": thread, "status": "closed"});
    let refused = Err("INSUFFICIENT_AUTHORITY".to_owned());
    assert_eq!(crew.call("update_thread_status", close).await, refused);
}

// covers: THR-420
#[tokio::test]
async fn a_page_is_filled_with_messages_whatever_else_was_done_in_the_thread() {
    let host = TestHost::open().await;
    host.room(&["scout", "crew"]).await;
    let token = host.token("scout").await;
    let scout = host.mcp(&token, Wire::Sessions).await;
    let thread = &thread(&scout, json!({})).await;
    let says = |text: &str| chat(thread, text);
    let first = scout.call("post_message", says("first")).await.unwrap();
    let path = format!("/v1/messages/{}", first["message_id"].as_str().unwrap());
    for n in 0..3 {
        let edit = json!({"text": format!("first, {n}")});
        host.send(&token, reqwest::Method::PATCH, &path, Some(edit)).await.ok();
    }
    let second = scout.call("post_message", says("second")).await.unwrap();
    let read = json!({"thread_id": thread, "since_seq": first["seq"], "limit": 1});
    let page = scout.call("read_messages", read).await.unwrap();
    assert_eq!(page["messages"].as_array().unwrap().len(), 1, "{page}");
    assert_eq!((&page["next_seq"], &page["has_more"]), (&second["seq"], &json!(false)));
}
