//! Every command against a real host: what one makes, another shows.

use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::cli::{Going, chorus};
use crate::host::Host;

#[test]
fn one_command_shows_what_another_created() {
    let host = Host::with_room(&["scout", "builder"]);
    let members = host.json(&["member", "list"]);
    let ids: Vec<_> =
        members["members"].as_array().unwrap().iter().map(|m| m["id"].as_str().unwrap()).collect();
    for id in ["operator", "alice", "bob", "scout", "builder"] {
        assert!(ids.contains(&id), "{ids:?}");
    }
    let alice = host.json(&[
        "member",
        "set",
        "@alice",
        "--display-name",
        "Alice A.",
        "--identity",
        "slack:U1",
    ]);
    assert_eq!(alice["display_name"], "Alice A.");
    assert_eq!(alice["identities"], json!([{ "platform": "slack", "id": "U1" }]));

    let role = host.json(&["role", "create", "fixers", "scout", "@builder"]);
    assert_eq!(role, json!({ "name": "fixers", "members": ["scout", "builder"] }));
    let role = host.json(&["role", "remove", "@fixers", "builder"]);
    assert_eq!(role["members"], json!(["scout"]));
    assert_eq!(
        host.json(&["role", "add", "fixers", "builder"])["members"],
        json!(["scout", "builder"])
    );
    host.json(&["role", "delete", "fixers"]);
    assert_eq!(host.json(&["role", "list"])["roles"], json!([]));

    let channel = host.json(&["channel", "set", "ops", "--purpose", "keep it running"]);
    assert_eq!(channel["purpose"], "keep it running");
    let id = channel["id"].as_str().unwrap();
    assert_eq!(host.json(&["channel", "show", id])["title"], "ops");
    host.json(&["channel", "remove", "#ops", "bob"]);
    let seats = host.json(&["channel", "add", "#ops", "bob", "--participation", "always_listen"]);
    let seats = seats["members"].as_array().unwrap();
    let bob = seats.iter().find(|seat| seat["member"] == "bob").unwrap();
    assert_eq!(bob["participation"], "always_listen");
}

// covers: ATT-44, ATT-45
// covers: ATT-112, ATT-134, ATT-402, ATT-403, FAIL-10
#[test]
fn a_message_is_previewed_posted_explained_edited_answered_and_deleted() {
    let host = Host::with_room(&["scout"]);
    let say = "@scout is the deploy blocked?";
    let preview = host.json(&["post", "#ops", say, "--as", "alice", "--preview"]);
    assert_eq!(preview["intent"], "question");
    assert_eq!(preview["told"][0]["member"], "scout");
    assert_eq!(preview["told"][0]["policy"], "must_respond");
    assert_eq!(preview["told"][0]["reason"], "mention");
    let text = host.run(&["post", "#ops", say, "--as", "alice", "--preview"]).ok().out;
    for word in ["scout", "to_me", "must_respond", "mention", "everybody else: to_other"] {
        assert!(text.contains(word), "{word} is missing in:\n{text}");
    }
    assert_eq!(messages(&host), Vec::<String>::new(), "a preview posts nothing");

    let posted = host.json(&["post", "#ops", say, "--as", "alice", "--key", "k1"]);
    let event = posted["event_id"].as_str().unwrap();
    assert_eq!(posted["told"][0]["member"], "scout");
    let again = host.json(&["post", "#ops", say, "--as", "alice", "--key", "k1"]);
    assert_eq!((&again["duplicate"], &again["event_id"]), (&json!(true), &posted["event_id"]));

    let why = host.json(&["why", event]);
    assert_eq!((&why["author"], &why["rest"]), (&json!("alice"), &json!("to_other")));
    assert_eq!(why["told"][0]["receipt"]["state"], "waiting");
    let text = host.run(&["why", event]).ok().out;
    assert!(text.starts_with(say) && text.contains("waits for the agent"), "{text}");

    let mail = host.json(&["mail", "--agent", "scout"]);
    assert_eq!(mail["open"][0]["event_id"], event, "{mail}");
    let text = host.run(&["mail", "--agent", "scout"]).ok().out;
    assert!(text.contains("must respond") && text.contains("#ops alice: @scout"), "{text}");
    assert_eq!(host.run(&["mail", "--agent", "bob"]).ok().out, "nothing waits for bob\n");

    host.json(&["react", event, "agree", "--as", "bob"]);
    host.json(&["react", event, "agree", "--as", "bob", "--remove"]);
    let edited = host.json(&["edit", event, "@scout is the release blocked?", "--as", "alice"]);
    assert_eq!(edited["text"], "@scout is the release blocked?");
    let text = host.run(&["why", event]).ok().out;
    assert!(text.contains("edited: evt_") && text.contains("before it was edited"), "{text}");
    let text = host.run(&["edit", event, "@scout is it?", "--as", "alice"]).ok().out;
    let first = text.split(' ').next().unwrap();
    assert!(
        first.starts_with("evt_") && first != event && text.contains("told scout: must"),
        "{text}"
    );
    let text = host.run(&["tail", "#ops", "--follow", "false", "--verbose"]).ok().out;
    let after = text.split("edited: ").last().unwrap();
    assert!(after.contains("told scout: must respond"), "{text}");
    let text = host.run(&["why", first]).ok().out;
    assert!(text.contains("is it?") && !text.contains("before it was"), "{text}");
    host.json(&["delete", event, "--as", "alice"]);
    let kinds: Vec<_> =
        events(&host).iter().map(|e| e["type"].as_str().unwrap().to_owned()).collect();
    let after = kinds.iter().position(|kind| kind == "message_posted").unwrap();
    assert_eq!(
        kinds[after..],
        [
            "message_posted",
            "reaction_set",
            "reaction_cleared",
            "message_edited",
            "message_edited",
            "message_deleted"
        ]
    );
    let text = host.run(&["tail", "#ops", "--follow", "false"]).ok().out;
    for line in ["#ops bob 👍 agree on alice", "#ops alice edited:", "#ops alice deleted a message"]
    {
        assert!(text.contains(line), "{line} is missing in:\n{text}");
    }
}

// covers: OPS-1
#[test]
fn an_erased_message_is_gone_for_good() {
    let host = Host::with_room(&["scout"]);
    let event = host.post("the password is hunter2");
    let event = event["event_id"].as_str().unwrap();
    let bad = host.run(&["erase", event, "--reason", "hunter2", "--json"]);
    assert_eq!((bad.code, &bad.json()["error"]["code"]), (2, &json!("VALIDATION_ERROR")));
    let unknown = host.run(&["erase", "evt_00000000000000000000000000000001", "--yes", "--json"]);
    assert_eq!((unknown.code, &unknown.json()["error"]["code"]), (1, &json!("NOT_FOUND")));
    let erased = host.json(&["erase", event, "--yes", "--reason", "secret"]);
    assert_eq!((&erased["erased"], erased.get("text")), (&json!(true), None));
    let text = host.run(&["erase", event, "--yes"]).ok().out;
    assert!(text.starts_with("erased msg_"), "again is no error: {text}");
    let text = host.run(&["tail", "#ops", "--follow", "false"]).ok().out;
    assert!(text.contains("erased a message (secret)") && !text.contains("hunter2"), "{text}");
}

#[test]
fn the_hosts_are_listed() {
    let host = Host::with_room(&[]);
    let hosts = host.json(&["hosts"]);
    assert_eq!(hosts["hosts"][0]["owner"], true);
    let text = host.run(&["hosts"]).ok().out;
    assert!(text.contains("has the workspace in its folder"), "{text}");
}

// covers: OPS-9, OPS-11
#[test]
fn the_audit_is_listed_exported_and_verified() {
    let host = Host::with_room(&["scout"]);
    host.post("the password is hunter2");
    let audit = host.json(&["audit", "--kind", "message_posted", "--since", "1h"]);
    assert_eq!(audit["entries"][0]["by"], "alice");
    let text = host.run(&["audit", "--conversation", "#ops", "--member", "alice"]).ok().out;
    assert!(text.contains("message_posted") && !text.contains("hunter2"), "{text}");
    let file = host.data().join("audit.jsonl");
    let path = file.to_str().unwrap();
    let written = host.json(&["audit", "--export", path]);
    let exported = std::fs::read_to_string(&file).unwrap();
    let lines: Vec<Value> = exported.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(lines.len() as u64, written["entries"].as_u64().unwrap() + 1);
    assert!(lines.last().unwrap()["signed"].is_string());
    let again = host.run(&["audit", "--export", path, "--json"]);
    assert_eq!((again.code, &again.json()["error"]["code"]), (1, &json!("CONFLICT")));
    host.run(&["audit", "--verify"]).ok();
}

#[test]
fn threads_are_opened_and_brought_to_an_end() {
    let host = Host::with_room(&["scout"]);
    let root = host.post("the parser is slow");
    let root = root["event_id"].as_str().unwrap();
    let thread = host.json(&[
        "thread",
        "create",
        "slow parser",
        "--channel",
        "#ops",
        "--root",
        root,
        "--type",
        "incident",
        "--owner",
        "scout",
    ]);
    let id = thread["id"].as_str().unwrap();
    assert_eq!((&thread["title"], &thread["status"]), (&json!("slow parser"), &json!("active")));
    let posted = host.json(&["post", "#ops", "any news?", "--thread", id, "--as", "alice"]);
    assert_eq!(posted["thread_id"], id);
    assert_eq!(posted["told"][0]["reason"], "thread_owner", "{posted}");
    let thread = host.json(&[
        "thread",
        "set",
        id,
        "--status",
        "resolved",
        "--reason",
        "fixed",
        "--no-owner",
    ]);
    assert_eq!((&thread["status"], &thread["owner"]), (&json!("resolved"), &Value::Null));
    let listed = host.json(&["thread", "list", "#ops", "--status", "resolved"]);
    assert_eq!(listed["threads"][0]["id"], id);
    assert_eq!(host.json(&["thread", "list", "--status", "active"])["threads"], json!([]));
}

#[test]
fn lists_are_json_for_programs_and_text_for_people() {
    let host = Host::with_room(&["scout"]);
    host.post("@scout are you there?");
    let lists: [(&[&str], &str); 6] = [
        (&["agents"], "agents"),
        (&["sessions"], "sessions"),
        (&["claims"], "claims"),
        (&["dead-letters"], "deliveries"),
        (&["channel", "list"], "channels"),
        (&["role", "list"], "roles"),
    ];
    for (arguments, field) in lists {
        assert!(host.json(arguments)[field].is_array(), "{arguments:?}");
        host.run(arguments).ok();
    }
    let agents = host.run(&["agents"]).ok().out;
    assert!(agents.lines().any(|l| l.starts_with("scout") && l.contains("offline")), "{agents}");
    let numbers = host.json(&["moderation", "#ops", "--since", "7d"]);
    assert!(numbers["turns_granted"].is_u64(), "{numbers}");
    let shown = host.run(&["moderation", "#ops"]).ok().out;
    assert!(shown.contains("silence chosen"), "{shown}");
    host.run(&["doctor"]).ok();
    host.json(&["doctor"]);
}

/// The log of #ops.
fn events(host: &Host) -> Vec<Value> {
    let out = host.run(&["tail", "#ops", "--since", "0", "--follow", "false", "--json"]).ok().out;
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn messages(host: &Host) -> Vec<String> {
    let posted = events(host).into_iter().filter(|event| event["type"] == "message_posted");
    posted.map(|event| event["message"]["text"].to_string()).collect()
}

#[test]
fn the_bridge_speaks_c2a_over_lines() {
    let host = Host::with_room(&["scout"]);
    let token = host.run(&["token", "issue", "--agent", "scout", "--role", "worker"]).ok().out;
    let mut command = chorus();
    command.args(["c2a", "--token", token.trim(), "--data"]).arg(host.data()).stdin(Stdio::piped());
    let mut bridge = Going::start(&mut command);
    let mut input = bridge.child.stdin.take().unwrap();
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2026-06-02",
        "clientInfo": { "name": "test", "version": "1" },
        "capabilities": {},
    } });
    writeln!(input, "{hello}").unwrap();
    let answer = |line: &str| serde_json::from_str::<Value>(line).ok();
    let answer = bridge.wait(|line| answer(line).filter(|a| a["id"] == 1));
    assert_eq!(answer["result"]["member"]["id"], "scout", "{answer}");
    host.post("@scout are you there?");
    let offered = bridge.wait(|line| {
        let frame: Value = serde_json::from_str(line).ok()?;
        (frame["method"] == "chat/deliver").then_some(frame)
    });
    assert_eq!(offered["params"]["attention"]["policy"], "must_respond", "{offered}");
    drop(input);
    assert!(bridge.child.wait().unwrap().success());
}

// covers: ATT-172, ATT-176
#[test]
fn continue_lists_what_is_paused_and_lets_it_go_on() {
    let host = Host::with_room(&["scout"]);
    assert_eq!(host.json(&["continue"]), json!({ "pauses": [] }));
    host.json(&["channel", "set", "#ops", "--agent-budget", "1"]);
    host.json(&["post", "#ops", "the build is red", "--as", "scout"]);
    let pauses = host.json(&["continue"]);
    assert_eq!(pauses["pauses"][0]["title"], "ops");
    assert_eq!(pauses["pauses"][0]["unattended"], 1);
    assert!(host.run(&["mail"]).ok().out.contains("chorus continue"));
    let done = host.json(&["continue", "#ops"]);
    assert_eq!(done["was_paused"], true);
    assert_eq!(host.json(&["continue", "#ops"])["was_paused"], false);
    let none = host.run(&["continue", "#nowhere", "--json"]);
    assert!(none.out.contains("NOT_FOUND"), "{}", none.out);
    let wrong = host.run(&["channel", "set", "#ops", "--agent-budget", "0", "--json"]);
    assert!(wrong.out.contains("VALIDATION_ERROR"), "{}", wrong.out);
    let default = host.json(&["channel", "set", "#ops", "--agent-budget", "default"]);
    assert_eq!(default["agent_budget"], Value::Null);
}

// covers: ATT-180, ATT-181
#[test]
fn an_ephemeral_post_is_for_the_members_it_names() {
    let host = Host::with_room(&["scout"]);
    let say = ["post", "#ops", "psst", "--as", "alice", "--ephemeral", "bob,scout"];
    let posted = host.json(&say);
    let told: Vec<_> =
        posted["told"].as_array().unwrap().iter().map(|t| t["member"].clone()).collect();
    assert_eq!(told, [json!("bob"), json!("scout")]);
    // The operator runs the room, and is not named.
    let why = host.run(&["why", posted["event_id"].as_str().unwrap(), "--json"]);
    assert!(why.out.contains("NOT_FOUND"), "{}", why.out);
    let nobody = host.run(&["post", "#ops", "psst", "--as", "alice", "--ephemeral", "--json"]);
    assert!(nobody.out.contains("VALIDATION_ERROR"), "{}", nobody.out);
}

// covers: ATT-192
#[test]
fn pending_approvals_are_listed_and_decided() {
    let host = Host::with_room(&["scout"]);
    let refused = |arguments: &[&str], code: &str| {
        let ran = host.run(&[arguments, &["--json"]].concat());
        let said = format!("{}{}", ran.out, ran.err);
        assert!(ran.code != 0 && said.contains(code), "{said}");
    };
    assert_eq!(host.run(&["approve"]).ok().out.trim(), "nothing waits for a person");
    let pair = host.json(&["channel", "create", "pair", "scout", "--kind", "dm"]);
    let asked = host.json(&["post", pair["id"].as_str().unwrap(), "tell them that it is off"]);
    let event = asked["event_id"].as_str().unwrap();
    let say = ["post", "#ops", "it is off", "--as", "scout", "--reply-to", event, "--key", "k1"];
    refused(&say, "APPROVAL_REQUIRED");
    let list = host.run(&["approve"]).ok().out;
    assert!(list.contains("scout") && list.contains("it is off"), "{list}");
    let id = host.json(&["approve"])["approvals"][0]["id"].as_str().unwrap().to_owned();
    refused(&["approve", &id, "--as", "bob"], "NOT_FOUND");
    refused(&["approve", &id, "--as", "scout"], "INSUFFICIENT_AUTHORITY");
    let said = host.json(&["approve", &id]);
    assert_eq!(said["state"], "approved");
    assert_eq!(host.json(&say)["event_id"], said["event_id"]);
    refused(&["approve", &id, "--deny", "--reason", "late"], "CONFLICT");
}

// covers: OPS-130, OPS-137
#[test]
fn a_channel_is_kept_for_days_and_archived_and_taken_up_again() {
    let host = Host::with_room(&["scout"]);
    let set = |name: &str, value: &str| host.run(&["channel", "set", "ops", name, value, "--json"]);
    let json = |name: &str, value: &str| host.json(&["channel", "set", "ops", name, value]);
    assert_eq!(json("--keep", "90d")["keep"], "90d");
    assert!(host.run(&["channel", "show", "ops"]).ok().out.contains("kept: 90d"));
    assert_eq!(host.json(&["channel", "list"])["channels"][0]["keep"], "90d");
    for bad in ["0d", "90", "-1d", "12h", "soon", ""] {
        let ran = set("--keep", bad);
        let said = format!("{}{}", ran.out, ran.err);
        assert!(ran.code != 0 && said.contains("VALIDATION_ERROR"), "{bad}: {said}");
    }
    assert_eq!(host.json(&["channel", "show", "ops"])["keep"], "90d");
    assert_eq!(json("--keep", "all")["keep"], "all");
    assert_eq!(json("--keep", "default").get("keep"), None);

    assert_eq!(json("--archived", "true")["archived"], true);
    let ran = host.run(&["post", "ops", "more", "--json"]);
    let said = format!("{}{}", ran.out, ran.err);
    assert!(
        ran.code != 0 && said.contains("CONFLICT") && said.contains("archived: false"),
        "{said}"
    );
    assert_eq!(json("--archived", "false")["archived"], false);
    host.json(&["post", "ops", "more"]);
}

// covers: ATT-140, ATT-143, ATT-155
#[test]
fn a_lead_is_set_an_agent_leaves_and_what_is_owed_or_digested_is_listed() {
    let host = Host::with_room(&["scout", "builder"]);
    let refused = |arguments: &[&str], code: &str| {
        let ran = host.run(&[arguments, &["--json"]].concat());
        let said = format!("{}{}", ran.out, ran.err);
        assert!(ran.code != 0 && said.contains(code), "{said}");
    };
    assert_eq!(host.json(&["channel", "set", "#ops", "--lead", "@bob"])["lead"], "bob");
    assert_eq!(host.json(&["channel", "set", "#ops", "--no-lead"])["lead"], Value::Null);
    refused(&["channel", "set", "#ops", "--lead", "nobody"], "NOT_FOUND");

    host.json(&["channel", "leave", "#ops", "scout"]);
    let told = |text: &str| {
        let posted = host.json(&["post", "#ops", text, "--as", "alice"]);
        posted["told"].as_array().unwrap().iter().any(|t| t["member"] == "scout")
    };
    assert!(!told("does anybody know?"));
    assert!(told("@scout do you?"), "named again");
    refused(&["channel", "leave", "#ops", "nobody"], "NOT_FOUND");

    assert_eq!(host.json(&["owed"])["overdue"], json!([]));
    refused(&["owed", "--member", "nobody"], "NOT_FOUND");
    assert_eq!(host.json(&["digest", "#ops"])["digests"], json!([]));
    assert!(host.run(&["digest"]).ok().out.contains("always_listen"));
    refused(&["digest", "#nowhere"], "NOT_FOUND");
}

// covers: ATT-365, ATT-368
#[test]
fn a_name_that_fits_nobody_is_printed_and_so_are_the_bounds_of_a_guess() {
    let host = Host::with_room(&["scout"]);
    let say = ["post", "#ops", "@scot is the build green?", "--as", "alice"];
    let complaint = "nobody here is called @scot; did you mean @scout?";
    for text in [host.run(&[&say[..], &["--preview"]].concat()), host.run(&say)] {
        let text = text.ok().out;
        assert!(text.lines().any(|line| line.trim() == complaint), "{text}");
    }
    host.json(&["post", "#ops", "@scout is the build green?", "--as", "alice"]);
    host.json(&["post", "#ops", "it is red since noon", "--as", "scout"]);
    let guessed =
        host.json(&["post", "#ops", "and do you know which test it is?", "--as", "alice"]);
    let why = host.run(&["why", guessed["event_id"].as_str().unwrap()]).ok().out;
    let bounds =
        "an agent must answer from 70 % on, is shown it from 40 %, and is told of it from 25 %";
    assert!(why.lines().any(|line| line == bounds), "{why}");
}

// covers: ATT-404
#[test]
fn a_person_is_not_joined_to_a_runtime() {
    let host = Host::with_room(&["scout"]);
    let joined = host.run(&["join", "--agent", "alice", "--runtime", "cmd:cat"]);
    assert!(
        joined.err.contains("alice is a person") && joined.err.contains("--agent"),
        "{}",
        joined.err
    );
}
