//! What each method promises: order, pages, cursors, findings, summaries, one channel, resources and prompts.

use rmcp::model::{GetPromptRequestParams, ReadResourceRequestParams};
use serde_json::{Value, json};

use super::clients::{Client, WIRES, Wire};
use crate::test_host::{START, TestHost};

pub(super) async fn thread(client: &Client, more: Value) -> String {
    let mut new = json!({"title": "work", "participants": ["crew"]});
    new.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let made = client.call("create_thread", new).await.unwrap();
    made["thread_id"].as_str().unwrap().to_owned()
}

pub(super) fn chat(thread: &str, body: &str) -> Value {
    json!({"thread_id": thread, "schema_version": 1, "kind": "chat", "body": body})
}

pub(super) fn event(thread: &str, body: &str, metadata: Value) -> Value {
    json!({"thread_id": thread, "schema_version": 1, "kind": "event", "body": body, "metadata": metadata})
}

// covers: THR-15, THR-20, THR-22
#[tokio::test]
async fn messages_are_read_in_pages_and_a_cursor_lasts() {
    let host = TestHost::open().await;
    let room = host.room(&["scout", "crew"]).await;
    let (ann, token) = (host.token("ann").await, host.token("crew").await);
    let scout = host.mcp(&host.token("scout").await, Wire::Stateless).await;
    let root = host.say(&ann, &room, "what broke?").await;
    let new =
        json!({"channel_id": room, "root_message_id": root["message_id"], "type": "workflow"});
    let thread = &thread(&scout, new).await;
    for n in 1..=7 {
        // What is said beside a thread moves its messages' places in the log, and not in the thread.
        host.say(&ann, &room, &format!("beside {n}")).await;
        let posted = scout.call("post_message", chat(thread, &format!("step {n}"))).await.unwrap();
        assert_eq!(posted["seq"], n);
    }
    let crew = host.mcp(&token, Wire::Sessions).await;
    let (mut since, mut seen) = (0, Vec::new());
    loop {
        let page = json!({"thread_id": thread, "since_seq": since, "limit": 3});
        let page = crew.call("read_messages", page).await.unwrap();
        seen.extend(
            page["messages"].as_array().unwrap().iter().map(|m| m["seq"].as_u64().unwrap()),
        );
        since = page["next_seq"].as_u64().unwrap();
        if page["has_more"] == false {
            break;
        }
    }
    assert_eq!(seen, (1..=7).collect::<Vec<_>>());
    for since in 0..=7 {
        let rest = json!({"thread_id": thread, "since_seq": since});
        let rest = crew.call("read_messages", rest).await.unwrap();
        assert_eq!(rest["messages"].as_array().unwrap().len() as u64, 7 - since, "{since}");
    }
    let whole = crew.call("read_messages", json!({"thread_id": thread})).await.unwrap();
    assert_eq!(
        (&whole["messages"][0]["seq"], &whole["messages"][0]["body"]),
        (&json!(0), &json!("what broke?"))
    );

    let acked =
        crew.call("ack_read", json!({"thread_id": thread, "last_read_seq": 4})).await.unwrap();
    assert_eq!(acked["last_acked_message_id"], whole["messages"][4]["message_id"]);
    let scouts =
        scout.call("ack_read", json!({"thread_id": thread, "last_read_seq": 1})).await.unwrap();
    assert_eq!(scouts["last_read_seq"], 1, "each has its own");
    drop((crew, scout));
    let TestHost { running, folder, clock, .. } = host;
    running.stop().await;
    assert!(crate::test_host::doctor(folder.path()).is_clean());
    let host = TestHost::open_in(folder, chorus_store::Clock::now(&*clock)).await;
    let crew = host.mcp(&token, Wire::Sessions).await;
    for (seq, expect) in [(3, "VALIDATION_ERROR"), (8, "VALIDATION_ERROR")] {
        let back = json!({"thread_id": thread, "last_read_seq": seq});
        assert_eq!(crew.call("ack_read", back).await, Err(expect.into()), "{seq}");
    }
}

// covers: THR-14, THR-23, THR-439
#[tokio::test]
async fn findings_are_summed_up_and_keep_a_worker_from_closing() {
    let host = TestHost::open().await;
    host.room(&["scout", "crew"]).await;
    let scout = host.mcp(&host.token("scout").await, Wire::Sessions).await;
    let crew = host.mcp(&host.token("crew").await, Wire::Sessions).await;
    let thread = &thread(&scout, json!({})).await;
    let found = |metadata: Value| {
        let mut all = json!({"event_type": "finding_reported"});
        all.as_object_mut().unwrap().extend(metadata.as_object().unwrap().clone());
        event(thread, "null fallback", all)
    };
    let named = scout.call("post_message", found(json!({"finding_id": "F-1"}))).await.unwrap();
    let plain = scout.call("post_message", found(json!({}))).await.unwrap();
    let fixed = event(thread, "abc1234", json!({"event_type": "fix_pushed", "finding_id": "F-1"}));
    crew.call("post_message", fixed).await.unwrap();
    let custom = event(thread, "?", json!({"event_type": "coffee_break"}));
    assert_eq!(crew.call("post_message", custom).await.unwrap()["event_registered"], false);
    assert_eq!(named["event_registered"], true);

    let ask = json!({"thread_id": thread});
    let summary = crew.call("summarize_thread", ask.clone()).await.unwrap();
    let text = "2 findings reported: 2 open, 0 verified, 0 rejected. 1 fix pushed. 1 other event. \
                Open findings: F-1: \"null fallback\" (#1, @scout); \"null fallback\" (#2, @scout). \
                Waiting: @crew waits for @scout (#4). 4 messages in all. Status: active.";
    assert_eq!(summary["summary"], text);
    assert_eq!(summary["open_items"][0]["finding_id"], "F-1");
    assert_eq!(summary["open_items"][1]["message_id"], plain["message_id"]);
    assert_eq!(summary["last_status"], "active");
    assert_eq!(crew.call("summarize_thread", ask.clone()).await.unwrap(), summary);

    let close = json!({"thread_id": thread, "status": "closed"});
    let refused = Err("INSUFFICIENT_AUTHORITY".to_owned());
    assert_eq!(crew.call("update_thread_status", close.clone()).await, refused);
    let verified =
        event(thread, "ok", json!({"event_type": "finding_verified", "finding_id": "F-1"}));
    scout.call("post_message", verified).await.unwrap();
    assert_eq!(crew.call("update_thread_status", close.clone()).await, refused);
    let mut rejected = event(thread, "no", json!({"event_type": "finding_rejected"}));
    rejected["in_reply_to"] = plain["message_id"].clone();
    scout.call("post_message", rejected).await.unwrap();
    let summary = crew.call("summarize_thread", ask).await.unwrap();
    assert_eq!(summary["open_items"], json!([]));
    let begins = "2 findings reported: 0 open, 1 verified, 1 rejected.";
    assert!(summary["summary"].as_str().unwrap().starts_with(begins), "{summary}");
    crew.call("update_thread_status", close).await.unwrap();
}

// covers: THR-24
#[tokio::test]
async fn an_operators_command_writes_the_text_unless_it_fails() {
    let says = r#"grep -o '"last_status":"active"'"#;
    for (command, by, text) in [
        (says, "command", "\"last_status\":\"active\""),
        ("exit 1", "host", "No findings reported."),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let host = TestHost::open_with(folder, START, |config| {
            config.settings.threads.summary_command = Some(command.to_owned());
        });
        let host = host.await;
        host.room(&["scout", "crew"]).await;
        let scout = host.mcp(&host.token("scout").await, Wire::Stateless).await;
        let thread = thread(&scout, json!({})).await;
        let summary = scout.call("summarize_thread", json!({"thread_id": thread})).await.unwrap();
        assert_eq!(summary["written_by"], by);
        assert!(summary["summary"].as_str().unwrap().starts_with(text), "{summary}");
    }
}

// covers: THR-1, THR-5, THR-6
#[tokio::test]
async fn both_wires_have_the_same_tools_under_either_kind_of_name() {
    let host = TestHost::open().await;
    host.room(&["scout"]).await;
    let token = host.token("scout").await;
    let mut lists = Vec::new();
    for wire in WIRES {
        let client = host.mcp(&token, wire).await;
        lists.push(client.0.list_all_tools().await.unwrap());
        let client = host.mcp_at(&token, wire, "/v1/mcp?names=underscore").await;
        let names = client.0.list_all_tools().await.unwrap();
        assert!(names.iter().all(|tool| !tool.name.contains('.')));
        client.call("chat_list_events", json!({})).await.unwrap();
        client.call("chat.list_events", json!({})).await.unwrap();
    }
    assert_eq!(lists[0], lists[1]);
    for tool in &lists[0] {
        let hints = tool.annotations.as_ref().unwrap();
        let all = [hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint];
        assert!(all.iter().all(Option::is_some), "{}", tool.name);
        assert!(tool.output_schema.is_some() && tool.title.is_some(), "{}", tool.name);
    }
}

// covers: THR-25
#[tokio::test]
async fn the_address_of_one_channel_is_for_that_channel() {
    let host = TestHost::open().await;
    let room = host.room(&["scout", "crew"]).await;
    let new = json!({"title": "elsewhere", "members": ["scout", "crew", "ann"]});
    let elsewhere = host.post(&host.operator(), "/v1/channels", new).await.ok();
    let elsewhere = elsewhere["id"].as_str().unwrap();
    let token = host.token("scout").await;
    let said = host.say(&host.token("ann").await, elsewhere, "@scout there?").await;
    let message = said["event_id"].as_str().unwrap().replace("evt_", "msg_");
    for wire in WIRES {
        let whole = host.mcp(&token, wire).await;
        let there = &thread(&whole, json!({"channel_id": elsewhere})).await;
        let client = host.mcp_at(&token, wire, &format!("/mcp/{room}")).await;
        let made = client.call("create_thread", json!({"title": "here"})).await.unwrap();
        assert_eq!(made["channel_id"], room);
        let here = made["thread_id"].as_str().unwrap();
        client.call("post_message", chat(here, "x")).await.unwrap();
        client.call("chat.list_events", json!({})).await.unwrap();
        let files = client.call("chat.read_asset", json!({})).await.unwrap();
        assert_eq!(files, json!({"assets": []}), "those of the channel");
        for (tool, arguments) in [
            ("create_thread", json!({"title": "x", "channel_id": elsewhere})),
            ("get_thread", json!({"thread_id": there})),
            ("post_message", chat(there, "x")),
            ("chat.read_thread", json!({"conversation": elsewhere})),
            ("chat.read_thread", json!({"eventId": said["event_id"]})),
            ("chat.read_asset", json!({"conversation": elsewhere})),
            ("chat.read_asset", json!({"eventId": said["event_id"]})),
            ("chat.claim", json!({"eventId": said["event_id"]})),
            ("chat.react", json!({"inReplyTo": said["event_id"], "signal": "seen"})),
            ("chat.resolve", json!({"threadId": there})),
            ("set_channel_reaction", json!({"message_id": message, "signal": "seen"})),
            ("read_channel_thread", json!({"message_id": message})),
            ("read_channel_thread", json!({"thread_id": there})),
            (
                "create_channel_stimulus",
                json!({"channel_id": elsewhere, "kind": "agent_idea", "text": "x"}),
            ),
            (
                "chat.send_message",
                json!({"target": {"conversation": elsewhere}, "idempotencyKey": "k", "visibility": "channel",
                    "directedness": "ambient", "text": "x"}),
            ),
        ] {
            assert_eq!(
                client.call(tool, arguments.clone()).await,
                Err("FORBIDDEN".into()),
                "{tool} {arguments}"
            );
        }
    }
    // Of what the caller may not see the address says no more than any other.
    let secret = host.mcp(&host.token("ann").await, Wire::Sessions).await;
    let secret = thread(&secret, json!({"participants": ["crew"]})).await;
    let client = host.mcp_at(&token, Wire::Stateless, &format!("/mcp/{room}")).await;
    let asked = json!({"thread_id": secret});
    assert_eq!(client.call("get_thread", asked).await, Err("NOT_FOUND".into()));
    let stranger = host.request(reqwest::Method::POST, "/mcp/ch_00000000000000000000000000000001");
    assert_eq!(stranger.bearer_auth(&token).send().await.unwrap().status(), 404);
}

// covers: CHN-98
#[tokio::test]
async fn an_idea_is_queued_over_every_door_and_what_is_wrong_with_it_is_said() {
    let host = TestHost::open().await;
    let room = host.room(&["scout", "crew"]).await;
    let others = json!({"title": "elsewhere", "visibility": "private", "members": ["crew", "ann"]});
    let others = host.post(&host.operator(), "/v1/channels", others).await.ok()["id"].clone();
    let (scout, crew) = (host.token("scout").await, host.token("crew").await);
    let whole = host.mcp(&scout, Wire::Sessions).await;
    let narrow = host.mcp_at(&scout, Wire::Stateless, &format!("/mcp/{room}")).await;
    let crews = host.mcp(&crew, Wire::Stateless).await;
    let there = thread(&crews, json!({"channel_id": others})).await;
    let idea = |text: &str, more: Value| {
        let mut new = json!({"kind": "agent_idea", "text": text, "channel_id": room});
        new.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        new
    };
    let tool = "create_channel_stimulus";
    let first = whole.call(tool, idea("a cache", json!({"targets": ["crew"]}))).await.unwrap();
    assert_eq!((&first["state"], &first["source"]), (&json!("pending"), &json!("scout")));
    let here = json!({"kind": "agent_idea", "text": "a bell"});
    let second = narrow.call(tool, here).await.unwrap();
    let third = host.tool(&scout, tool, idea("a map", json!({}))).await.unwrap();
    let queue = host.get(&scout, &format!("/v1/channels/{room}/stimuli")).await.ok();
    let queued = queue["stimuli"].as_array().unwrap();
    assert_eq!(queued.len(), 3);
    for made in [first, second, third] {
        assert!(
            queued.iter().any(|s| s["id"] == made["id"] && s["text"] == made["text"]),
            "{made}"
        );
    }
    let bad = [
        (idea("x", json!({"channel_id": others})), "NOT_FOUND"),
        (idea("x", json!({"source": "crew"})), "INSUFFICIENT_AUTHORITY"),
        (idea("x", json!({"kind": "task_completed"})), "INSUFFICIENT_AUTHORITY"),
        (idea("x", json!({"targets": ["ann", "nobody"]})), "NOT_FOUND"),
        (idea("x", json!({"scope": "thread"})), "VALIDATION_ERROR"),
        (idea("x", json!({"scope": "thread", "thread": there})), "NOT_FOUND"),
        (idea("x", json!({"expires_at": "2020-01-01T00:00:00Z"})), "VALIDATION_ERROR"),
        (idea("x", json!({"turn": "turn_no"})), "VALIDATION_ERROR"),
        (idea("x", json!({"more": 1})), "VALIDATION_ERROR"),
        (idea("", json!({})), "VALIDATION_ERROR"),
    ];
    for (arguments, code) in bad {
        let over_mcp = whole.call(tool, arguments.clone()).await;
        assert_eq!(over_mcp, Err(code.into()), "{arguments}");
        assert_eq!(host.tool(&scout, tool, arguments.clone()).await, over_mcp, "{arguments}");
    }
    // Whoever has a seat in both places knows the thread, which is in the other.
    let astray = idea("x", json!({"scope": "thread", "thread": there}));
    assert_eq!(crews.call(tool, astray).await, Err("VALIDATION_ERROR".into()));
    let after = host.get(&scout, &format!("/v1/channels/{room}/stimuli")).await.ok();
    assert_eq!(after["stimuli"].as_array().unwrap().len(), 3, "{after}");
    for n in 3..32 {
        narrow.call(tool, idea(&format!("idea {n}"), json!({}))).await.unwrap();
    }
    let more = idea("one more", json!({}));
    assert_eq!(whole.call(tool, more.clone()).await, Err("RATE_LIMITED".into()));
    assert_eq!(host.tool(&scout, tool, more).await, Err("RATE_LIMITED".into()));
}

// covers: THR-26, THR-28
#[tokio::test]
async fn channels_and_threads_are_resources_and_there_are_prompts() {
    for wire in WIRES {
        let host = TestHost::open().await;
        let room = host.room(&["scout", "crew", "stranger"]).await;
        let scout = host.mcp(&host.token("scout").await, wire).await;
        let stranger = host.mcp(&host.token("stranger").await, wire).await;
        let thread = &thread(&scout, json!({})).await;
        scout.call("post_message", chat(thread, "the first")).await.unwrap();
        let uri = format!("chorus://threads/{thread}");
        let listed =
            |list: Vec<rmcp::model::Resource>| list.into_iter().map(|r| r.uri).collect::<Vec<_>>();
        let mine = listed(scout.0.list_all_resources().await.unwrap());
        assert!(
            mine.contains(&uri) && mine.contains(&format!("chorus://channels/{room}")),
            "{mine:?}"
        );
        assert!(!listed(stranger.0.list_all_resources().await.unwrap()).contains(&uri));
        assert_eq!(scout.0.list_all_resource_templates().await.unwrap().len(), 4);
        let read = async |client: &Client, uri: &str| {
            let read = client.0.read_resource(ReadResourceRequestParams::new(uri)).await;
            read.map(|read| json!(read)["contents"][0]["text"].as_str().unwrap().to_owned())
        };
        let transcript = read(&scout, &format!("{uri}/transcript")).await.unwrap();
        assert!(transcript.contains("the first"), "{transcript}");
        assert!(read(&scout, &uri).await.unwrap().contains("\"status\":\"active\""));
        assert!(read(&scout, &format!("chorus://channels/{room}")).await.unwrap().contains("room"));
        for bad in
            [uri.as_str(), "chorus://threads/x", "file:///etc/passwd", "chorus://channels/ch_1/x"]
        {
            assert!(read(&stranger, bad).await.is_err(), "{bad}");
        }
        let prompts = scout.0.list_all_prompts().await.unwrap();
        let names: Vec<_> = prompts.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(names, ["standing_response_rules", "catch_me_up"]);
        for name in names {
            let given = scout.0.get_prompt(GetPromptRequestParams::new(name)).await.unwrap();
            assert!(json!(given).to_string().contains("response_policy"));
        }
        assert!(scout.0.get_prompt(GetPromptRequestParams::new("other")).await.is_err());
    }
}

// covers: OPS-454
#[tokio::test]
async fn an_operators_command_runs_twice_at_once_and_no_more() {
    let runs = tempfile::tempdir().unwrap();
    let here = runs.path().display();
    // Each waits for a third to come, for a second at most, and says how many there were.
    let command = format!(
        "cd {here}; touch $$.run; n=0; most=0; \
         while [ $n -lt 50 ] && [ $most -lt 3 ]; do \
           now=$(ls | grep -c run); [ $now -gt $most ] && most=$now; n=$((n+1)); sleep 0.02; \
         done; rm $$.run; echo most $most"
    );
    let host = TestHost::open_with(tempfile::tempdir().unwrap(), START, |config| {
        config.settings.threads.summary_command = Some(command);
    });
    let host = host.await;
    host.room(&["scout", "crew"]).await;
    let scout = host.mcp(&host.token("scout").await, Wire::Stateless).await;
    let thread = thread(&scout, json!({})).await;
    let ask = || scout.call("summarize_thread", json!({"thread_id": thread}));
    let all = tokio::join!(ask(), ask(), ask(), ask(), ask());
    for summary in [all.0, all.1, all.2, all.3, all.4] {
        let summary = summary.unwrap();
        assert_eq!(summary["written_by"], "command", "{summary}");
        assert!(["most 1", "most 2"].contains(&summary["summary"].as_str().unwrap()), "{summary}");
    }
}
