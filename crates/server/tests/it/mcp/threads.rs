//! Threads as the protocol's sentences have them: cursors, retries, statuses with their reasons, and summaries in words.

use serde_json::{Value, json};

use super::clients::{WIRES, Wire};
use super::methods::{chat, event, thread};
use crate::test_host::{START, TestHost};

const DAY: i64 = 24 * 3_600_000;

// covers: THR-420
#[tokio::test]
async fn a_limit_of_one_gives_one_message() {
    let host = TestHost::open().await;
    let room = host.room(&["scout", "crew"]).await;
    let ann = host.token("ann").await;
    let scout = host.mcp(&host.token("scout").await, Wire::Stateless).await;
    let root = host.say(&ann, &room, "what broke?").await;
    let new =
        json!({"channel_id": room, "root_message_id": root["message_id"], "type": "workflow"});
    let thread = &thread(&scout, new).await;
    for n in 1..=3 {
        scout.call("post_message", chat(thread, &format!("step {n}"))).await.unwrap();
    }
    let (mut ask, mut seen) = (json!({"thread_id": thread, "limit": 1}), Vec::new());
    loop {
        let page = scout.call("read_messages", ask).await.unwrap();
        let messages = page["messages"].as_array().unwrap();
        assert_eq!(messages.len(), 1, "{page}");
        seen.push(messages[0]["seq"].as_u64().unwrap());
        ask = json!({"thread_id": thread, "limit": 1, "since_seq": page["next_seq"]});
        if page["has_more"] == false {
            break;
        }
    }
    assert_eq!(seen, [0, 1, 2, 3]);
    let path = format!("/v1/messages?conversation={room}&thread={thread}");
    let (mut seen, mut before) = (Vec::new(), String::new());
    loop {
        let page = host.get(&ann, &format!("{path}&limit=1{before}")).await.ok();
        let messages = page["messages"].as_array().unwrap();
        assert_eq!(messages.len(), 1, "{page}");
        seen.push(messages[0]["text"].as_str().unwrap().to_owned());
        before = format!("&before_seq={}", messages[0]["seq"]);
        if page["has_more"] == false {
            break;
        }
    }
    assert_eq!(seen, ["step 3", "step 2", "step 1", "what broke?"]);
    let from = host.get(&ann, &format!("{path}&limit=2&after_seq=0")).await.ok();
    let texts: Vec<_> = from["messages"].as_array().unwrap().iter().map(|m| &m["text"]).collect();
    assert_eq!(json!(texts), json!(["what broke?", "step 1"]));
    assert_eq!(from["has_more"], true);
}

// covers: THR-20, THR-21, ATT-184
#[tokio::test]
async fn ephemeral_message_is_not_read_with_those_that_have_a_seq() {
    let host = TestHost::open().await;
    host.room(&["scout", "crew"]).await;
    let scouts = host.token("scout").await;
    let scout = host.mcp(&scouts, Wire::Stateless).await;
    let crew = host.mcp(&host.token("crew").await, Wire::Stateless).await;
    let thread = &thread(&scout, json!({})).await;
    let made = scout.call("get_thread", json!({"thread_id": thread})).await.unwrap();
    let whisper = |key: &str| {
        json!({"conversation": made["channel_id"], "thread": thread, "text": "psst",
            "visibility": "ephemeral", "only": ["crew"], "idempotency_key": key})
    };
    for text in ["one", "two", "a", "b", "three", "c"] {
        match text {
            "a" | "b" | "c" => drop(host.post(&scouts, "/v1/messages", whisper(text)).await.ok()),
            text => drop(scout.call("post_message", chat(thread, text)).await.unwrap()),
        }
    }
    for limit in 1..=5 {
        let (mut since, mut seen) = (json!(0), Vec::new());
        for _ in 0..5 {
            let ask = json!({"thread_id": thread, "since_seq": since, "limit": limit});
            let page = crew.call("read_messages", ask).await.unwrap();
            seen.extend(page["messages"].as_array().unwrap().iter().map(|m| m["body"].clone()));
            since = page["next_seq"].clone();
        }
        assert_eq!((json!(seen), since), (json!(["one", "two", "three"]), json!(3)), "{limit}");
    }
    let wait = json!({"thread_id": thread, "since_seq": 3, "wait_seconds": 300});
    let (waited, _) = tokio::join!(crew.call("read_messages", wait), async {
        host.post(&scouts, "/v1/messages", whisper("d")).await.ok();
        scout.call("post_message", chat(thread, "four")).await.unwrap();
    });
    assert_eq!(waited.unwrap()["messages"][0]["body"], "four");
}

// covers: THR-544
#[tokio::test]
async fn long_messages_are_read_in_as_many_answers_as_they_need() {
    let host = TestHost::open().await;
    host.room(&["scout", "crew"]).await;
    let scout = host.mcp(&host.token("scout").await, Wire::Stateless).await;
    let ann = host.mcp(&host.token("ann").await, Wire::Stateless).await;
    let thread = &thread(&ann, json!({"participants": ["scout"]})).await;
    let long = "It is \"long\".\n".repeat(700);
    for n in 1..=60 {
        ann.call("post_message", chat(thread, &format!("{n} {long}"))).await.unwrap();
    }
    let numbers = |page: &Value, messages: &str, text: fn(&Value) -> &Value| -> Vec<u64> {
        assert!(page.to_string().len() < 512 * 1024, "given twice it is under 1 MiB");
        let texts = page[messages].as_array().unwrap().iter().map(text);
        texts.map(|t| t.as_str().unwrap().split(' ').next().unwrap().parse().unwrap()).collect()
    };
    let (mut since, mut seen, mut answers) = (json!(0), Vec::new(), 0);
    loop {
        let ask = json!({"thread_id": thread, "since_seq": since, "limit": 200});
        let page = scout.call("read_messages", ask).await.unwrap();
        seen.extend(numbers(&page, "messages", |m| &m["body"]));
        since = page["next_seq"].clone();
        answers += 1;
        if page["has_more"] == false {
            break;
        }
    }
    assert_eq!((seen, answers), ((1..=60).collect(), 3));
    let text: fn(&Value) -> &Value = |m| &m["text"];
    // Backwards, the newest come first.
    let (mut ask, mut seen) = (json!({"threadId": thread, "limit": 200}), Vec::new());
    loop {
        let page = scout.call("chat.read_thread", ask).await.unwrap();
        seen.splice(0..0, numbers(&page, "messages", text));
        let before = page["messages"][0]["sequence"].clone();
        ask = json!({"threadId": thread, "limit": 200, "beforeSequence": before});
        if page["hasMore"] == false {
            break;
        }
    }
    assert_eq!(seen, (1..=60).collect::<Vec<_>>());
    for (tool, list, args) in [
        ("read_channel_thread", "messages", json!({"thread_id": thread, "limit": 200})),
        ("chat.list_events", "events", json!({"limit": 200})),
    ] {
        let page = scout.call(tool, args).await.unwrap();
        let newest = numbers(&page, list, text);
        assert_eq!(newest.last(), Some(&60), "{tool}");
        assert!(page["hasMore"] == true || page["has_more"] == true, "{tool}: {newest:?}");
    }
}

// covers: THR-430, THR-431, THR-444, THR-445
#[tokio::test]
async fn a_cursor_can_be_read_and_what_was_acknowledged_is_not_unread() {
    for wire in WIRES {
        let host = TestHost::open().await;
        host.room(&["scout", "crew"]).await;
        let token = host.token("crew").await;
        let scout = host.mcp(&host.token("scout").await, wire).await;
        let crew = host.mcp(&token, wire).await;
        let thread = &thread(&scout, json!({"type": "workflow"})).await;
        let mut posted = Vec::new();
        for n in 1..=3 {
            let said = chat(thread, &format!("step {n}"));
            posted.push(scout.call("post_message", said).await.unwrap());
        }
        crew.call("post_message", chat(thread, "mine")).await.unwrap();
        let get = json!({"thread_id": thread});
        let found = crew.call("get_thread", get.clone()).await.unwrap();
        assert_eq!(found["cursor"], json!({"agent_id": "crew", "last_read_seq": 0, "unread": 3}));
        assert_eq!(found["workspace_id"], host.running.workspace_id);
        assert_eq!((&found["title"], &found["type"]), (&json!("work"), &json!("workflow")));
        assert!(found["created_at"].is_string() && found["updated_at"].is_string());
        let channel = found["channel_id"].as_str().unwrap();
        assert_eq!(unread(&host, &token, channel).await, 3);
        let acked =
            crew.call("ack_read", json!({"thread_id": thread, "last_read_seq": 2})).await.unwrap();
        assert_eq!((&acked["unread"], &acked["ok"]), (&json!(1), &json!(true)));
        assert!(acked["updated_at"].is_string());
        let cursor = json!({"agent_id": "crew", "last_read_seq": 2,
            "last_acked_message_id": posted[1]["message_id"], "unread": 1});
        assert_eq!(crew.call("get_thread", get.clone()).await.unwrap()["cursor"], cursor);
        assert_eq!(unread(&host, &token, channel).await, 1);
        let scouts = scout.call("get_thread", get.clone()).await.unwrap();
        assert_eq!(scouts["cursor"]["last_read_seq"], 0, "each has its own");
        crew.call("ack_read", json!({"thread_id": thread, "last_read_seq": 4})).await.unwrap();
        assert_eq!(unread(&host, &token, channel).await, 0);
        let read = crew.call("read_messages", get).await.unwrap();
        let first = &read["messages"][0];
        for (field, value) in [
            ("message_id", &posted[0]["message_id"]),
            ("thread_id", &json!(thread)),
            ("schema_version", &json!(1)),
            ("kind", &json!("chat")),
            ("body", &json!("step 1")),
            ("sender_agent_id", &json!("scout")),
            ("created_at", &posted[0]["created_at"]),
        ] {
            assert_eq!(&first[field], value, "{field}");
        }
    }
}

async fn unread(host: &TestHost, token: &str, channel: &str) -> u64 {
    let index = host.get(token, "/v1/index?scope=all").await.ok();
    let seats = index["channels"].as_array().unwrap();
    let seat = seats.iter().find(|seat| seat["id"] == channel).unwrap();
    seat["unread"].as_u64().unwrap()
}

// covers: THR-432
#[tokio::test]
async fn a_change_of_status_is_read_with_its_reason_and_ends_a_wait() {
    for wire in WIRES {
        let host = TestHost::open().await;
        host.room(&["scout", "crew"]).await;
        let scout = host.mcp(&host.token("scout").await, wire).await;
        let crew = host.mcp(&host.token("crew").await, wire).await;
        let thread = &thread(&scout, json!({})).await;
        let wait = json!({"thread_id": thread, "since_seq": 0, "wait_seconds": 60});
        let block = json!({"thread_id": thread, "status": "blocked", "reason": "no key yet",
            "metadata": {"ticket": 7, "status": "mine", "event_type": "mine"}});
        let change = async { scout.call("update_thread_status", block.clone()).await.unwrap() };
        let (waited, _) = tokio::join!(crew.call("read_messages", wait), change);
        let waited = waited.unwrap();
        let told = &waited["messages"][0];
        assert_eq!((&told["kind"], &told["body"]), (&json!("system"), &json!("no key yet")));
        assert_eq!((&told["seq"], &told["sender_agent_id"]), (&json!(1), &json!("scout")));
        let metadata =
            json!({"ticket": 7, "status": "blocked", "event_type": "thread_status_changed"});
        assert_eq!(told["metadata"], metadata);
        // The same again changes nothing, and says nothing.
        scout.call("update_thread_status", block).await.unwrap();
        for (status, body, event_type) in [
            ("active", "The thread is active.", "thread_status_changed"),
            ("resolved", "The thread is resolved.", "thread_resolved"),
            ("closed", "The thread is closed.", "thread_status_changed"),
        ] {
            let to = json!({"thread_id": thread, "status": status});
            scout.call("update_thread_status", to).await.unwrap();
            let read = crew.call("read_messages", json!({"thread_id": thread})).await.unwrap();
            let last = read["messages"].as_array().unwrap().last().unwrap();
            assert_eq!((&last["body"], &last["kind"]), (&json!(body), &json!("system")));
            assert_eq!(last["metadata"]["event_type"], event_type);
        }
        let found = crew.call("get_thread", json!({"thread_id": thread})).await.unwrap();
        assert_eq!((&found["last_seq"], &found["status"]), (&json!(4), &json!("closed")));
        for bad in [json!([1]), json!("x")] {
            let bad = json!({"thread_id": thread, "status": "closed", "metadata": bad});
            let refused = scout.call("update_thread_status", bad).await;
            assert_eq!(refused, Err("VALIDATION_ERROR".into()));
        }
        let open = crew.call("chat.list_events", json!({"unsettled": true})).await.unwrap();
        assert_eq!(open["events"], json!([]), "it wakes nobody");
    }
}

// covers: THR-433
#[tokio::test]
async fn a_thread_is_created_once_under_a_key() {
    let folder = tempfile::tempdir().unwrap();
    let few = |config: &mut chorus_server::Config| config.settings.limits.conversations_per_day = 2;
    let host = TestHost::open_with(folder, START, few).await;
    let room = host.room(&["scout", "crew"]).await;
    let token = host.token("scout").await;
    let scout = host.mcp(&token, Wire::Sessions).await;
    let crew = host.mcp(&host.token("crew").await, Wire::Stateless).await;
    let new = |more: Value| {
        let mut new = json!({"title": "review", "participants": ["crew"], "idempotency_key": "k1"});
        new.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        new
    };
    let mut made = Vec::new();
    for place in [json!({}), json!({"channel_id": room, "type": "workflow"})] {
        let both = tokio::join!(
            scout.call("create_thread", new(place.clone())),
            scout.call("create_thread", new(place.clone()))
        );
        let (first, second) = (both.0.unwrap(), both.1.unwrap());
        assert_eq!(first["thread_id"], second["thread_id"]);
        assert_ne!(first["duplicate"] == true, second["duplicate"] == true);
        for other in [json!({"title": "something else"}), json!({"participants": []})] {
            let mut other = new(other);
            other.as_object_mut().unwrap().extend(place.as_object().unwrap().clone());
            let refused = scout.call("create_thread", other).await;
            assert_eq!(refused, Err("IDEMPOTENCY_CONFLICT".into()));
        }
        let crews = crew.call("create_thread", new(place.clone())).await.unwrap();
        assert_ne!(crews["thread_id"], first["thread_id"], "another's key is another key");
        made.push((place, first["thread_id"].clone()));
    }
    assert_ne!(made[0].1, made[1].1);
    // Of all that scout has one conversation beside the room: a retry makes none.
    let all = host.get(&token, "/v1/index?scope=all").await.ok();
    assert_eq!(all["channels"].as_array().unwrap().len(), 2, "{all}");
    // However much later.
    host.pass(3 * DAY).await;
    let token = host.token("scout").await;
    let scout = host.mcp(&token, Wire::Stateless).await;
    for (place, thread) in &made {
        let again = scout.call("create_thread", new(place.clone())).await.unwrap();
        assert_eq!((&again["thread_id"], &again["duplicate"]), (thread, &json!(true)));
    }
    drop((scout, crew));
    let TestHost { running, folder, clock, .. } = host;
    running.stop().await;
    assert!(crate::test_host::doctor(folder.path()).is_clean());
    let host = TestHost::open_with(folder, chorus_store::Clock::now(&*clock), few).await;
    let scout = host.mcp(&token, Wire::Stateless).await;
    for (place, thread) in &made {
        for _ in 0..3 {
            let again = scout.call("create_thread", new(place.clone())).await.unwrap();
            assert_eq!((&again["thread_id"], &again["duplicate"]), (thread, &json!(true)));
        }
    }
    for n in 0..2 {
        let key = json!({"idempotency_key": format!("more {n}")});
        assert_ne!(scout.call("create_thread", new(key)).await.unwrap()["duplicate"], true);
    }
    let third = scout.call("create_thread", new(json!({"idempotency_key": "more"}))).await;
    assert_eq!(third, Err("RATE_LIMITED".into()));
    for bad in ["", &"k".repeat(1_000)] {
        let refused = scout.call("create_thread", new(json!({"idempotency_key": bad}))).await;
        assert_eq!(refused, Err("VALIDATION_ERROR".into()));
    }
}

// covers: THR-11, THR-12, THR-433
#[tokio::test]
async fn member_that_left_a_thread_finds_it_under_no_key() {
    let host = TestHost::open().await;
    host.room(&["scout", "crew"]).await;
    let token = host.token("scout").await;
    let scout = host.mcp(&token, Wire::Stateless).await;
    let new = json!({"title": "review", "participants": ["crew"], "idempotency_key": "k1"});
    let made = scout.call("create_thread", new.clone()).await.unwrap();
    let seat = format!("/v1/channels/{}/members/scout", made["channel_id"].as_str().unwrap());
    host.send(&token, reqwest::Method::DELETE, &seat, None).await.ok();
    assert_eq!(scout.call("create_thread", new).await, Err("NOT_FOUND".into()));
}

// covers: THR-434, THR-435
#[tokio::test]
async fn the_session_is_the_tokens_and_the_workspace_has_a_name() {
    let host = TestHost::open().await;
    host.room(&["scout", "crew"]).await;
    let session = "sess_01890000000070008000000000000001";
    let new = json!({"agent": "scout", "role": "worker", "session": session});
    let issued = host.post(&host.operator(), "/v1/tokens", new).await.ok();
    for wire in WIRES {
        let scout = host.mcp(issued["token"].as_str().unwrap(), wire).await;
        let crew = host.mcp(&host.token("crew").await, wire).await;
        let thread =
            &thread(&scout, json!({"type": "workflow", "workspace_id": workspace(&host).await}))
                .await;
        for stated in [None, Some(session)] {
            let mut post = chat(thread, "x");
            if let Some(stated) = stated {
                post["sender_session_id"] = json!(stated);
            }
            scout.call("post_message", post).await.unwrap();
        }
        let mut other = chat(thread, "x");
        other["sender_session_id"] = json!("sess_01890000000070008000000000000002");
        assert_eq!(scout.call("post_message", other).await, Err("CLAIM_MISMATCH".into()));
        let read = crew.call("read_messages", json!({"thread_id": thread})).await.unwrap();
        let messages = read["messages"].as_array().unwrap();
        assert_eq!(messages.len(), 2);
        assert!(messages.iter().all(|m| m["sender_session_id"] == session), "{read}");
        let elsewhere = json!({"thread_id": thread, "workspace_id": "another"});
        assert_eq!(crew.call("get_thread", elsewhere).await, Err("OUT_OF_SCOPE_WORKSPACE".into()));
    }
}

/// The name of the host's workspace, as the resource's metadata have it.
async fn workspace(host: &TestHost) -> String {
    let told =
        reqwest::get(host.url("/.well-known/oauth-protected-resource/v1/mcp")).await.unwrap();
    let told = told.json::<Value>().await.unwrap();
    told["resource_name"].as_str().unwrap().strip_prefix("Chorus: ").unwrap().to_owned()
}

// covers: THR-438, THR-439
#[tokio::test]
async fn a_summary_says_in_words_what_happened() {
    let host = TestHost::open().await;
    host.room(&["scout", "crew"]).await;
    let token = host.token("scout").await;
    let scout = host.mcp(&token, Wire::Sessions).await;
    let crew = host.mcp(&host.token("crew").await, Wire::Stateless).await;
    let thread = &thread(&scout, json!({"type": "workflow"})).await;
    let say = |kind: &str, body: &str, more: Value| {
        let mut metadata = json!({"event_type": kind});
        metadata.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        event(thread, body, metadata)
    };
    let named = json!({"finding_id": "F-1"});
    let found = scout.call("post_message", say("finding_reported", "a typo", named)).await.unwrap();
    let id = found["message_id"].as_str().unwrap();
    let edit = json!({"text": "null \"fallback\"\nin the mapper"});
    host.send(&token, reqwest::Method::PATCH, &format!("/v1/messages/{id}"), Some(edit)).await.ok();
    for (kind, body, more) in [
        ("decision_made", "we ship on Monday", json!({})),
        ("question_asked", "which branch?", json!({"question_id": "Q-1"})),
        ("question_asked", "who tests?", json!({"question_id": "Q-2"})),
        ("question_answered", "main", json!({"question_id": "Q-1"})),
        ("thread_escalated", "prod is down", json!({})),
        ("re_review_requested", "please look again", json!({})),
    ] {
        crew.call("post_message", say(kind, body, more)).await.unwrap();
    }
    let asked = crew.call("post_message", chat(thread, "@scout can you look?")).await.unwrap();
    for n in 0..6 {
        crew.call("post_message", say("build", &format!("step {n}"), json!({}))).await.unwrap();
    }
    let block = json!({"thread_id": thread, "status": "blocked", "reason": "a finding is open"});
    crew.call("update_thread_status", block).await.unwrap();
    let seq = &asked["seq"];
    let ask = json!({"thread_id": thread, "max_messages": 20});
    let summary = scout.call("summarize_thread", ask).await.unwrap();
    let text = summary["summary"].as_str().unwrap();
    for part in [
        "1 finding reported: 1 open, 0 verified, 0 rejected.".to_owned(),
        "Open findings: F-1: \"null 'fallback' in the mapper\" (#1, @scout).".to_owned(),
        "Decided: \"we ship on Monday\" (#2, @crew).".to_owned(),
        "Escalated: \"prod is down\" (#6, @crew).".to_owned(),
        "Open questions: \"who tests?\" (#4, @crew).".to_owned(),
        "@crew waits for @scout (#7)".to_owned(),
        format!("@crew waits for @scout (#{seq})"),
        "Status: blocked, \"a finding is open\" by @crew.".to_owned(),
    ] {
        assert!(text.contains(&part), "{part}\n{text}");
    }
    assert!(!text.contains("a typo") && !text.contains("which branch"), "{text}");
    assert_eq!(summary["open_items"][0]["body"], "null \"fallback\"\nin the mapper");
    // However few messages are read, no finding and no decision is left out.
    let short = json!({"thread_id": thread, "max_messages": 1});
    let short = scout.call("summarize_thread", short).await.unwrap();
    assert_eq!(short["open_items"], summary["open_items"]);
    let few = short["summary"].as_str().unwrap();
    assert!(few.contains("we ship on Monday") && !few.contains(&format!("(#{seq})")), "{few}");
    assert_eq!((&short["messages_read"], &short["messages_total"]), (&json!(1), &json!(15)));
    let mut answer = chat(thread, "I do");
    answer["in_reply_to"] = asked["message_id"].clone();
    scout.call("post_message", answer).await.unwrap();
    let after = scout.call("summarize_thread", json!({"thread_id": thread})).await.unwrap();
    assert!(!after["summary"].as_str().unwrap().contains(&format!("(#{seq})")), "{after}");
}
