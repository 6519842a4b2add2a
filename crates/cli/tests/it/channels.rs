//! What channels carry, from the command line: found again, counted, and brought along; also by way of an export.

use serde_json::json;

use crate::cli::{chorus, run};
use crate::host::Host;

// covers: CHN-148
#[test]
fn messages_and_files_are_found_by_search() {
    let mut host = Host::with_room(&["scout"]);
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("failure.log");
    std::fs::write(&log, "step 3 failed\n").unwrap();
    let log = log.to_str().unwrap();
    host.json(&[
        "post",
        "#ops",
        "the staging deploy failed, see the log",
        "--as",
        "alice",
        "--attach",
        log,
    ]);
    host.json(&["post", "#ops", "and again, without a log", "--as", "alice"]);

    // What was posted a moment ago is found as soon as it was read.
    let words =
        ["search", "\"deploy failed\"", "--author", "@alice", "--in", "ops", "--since", "1h"];
    let found = (0..100).map(|_| host.json(&words)).find(|found| found["hits"] != json!([]));
    let found = found.expect("it is found");
    assert_eq!(found["hits"].as_array().unwrap().len(), 1);
    assert!(host.run(&["search", "deploy"]).out.contains("the staging deploy failed"));
    assert!(host.run(&["search", "nowhere"]).out.contains("nothing found"));
    assert!(host.run(&["search", "deploy", "--author", "nobody"]).err.contains("nobody"));

    let index = host.json(&["channel", "index", "--unread"]);
    assert_eq!(index["channels"][0]["title"], "ops");
    assert_eq!(index["channels"][0]["unread"], 2);
    assert!(host.run(&["channel", "index"]).out.contains("#ops"));
    host.json(&["channel", "create", "pair", "scout", "--kind", "dm"]);
    assert_eq!(host.json(&["channel", "list"])["channels"].as_array().unwrap().len(), 1);
    assert_eq!(host.json(&["channel", "list", "--mail"])["channels"][0]["title"], "pair");

    let asset = host.json(&["asset", "add", log, "--name", "again.log"]);
    assert_eq!(
        (&asset["media_type"], &asset["bytes"]),
        (&json!("text/plain; charset=utf-8"), &json!(14))
    );
    let kept = folder.path().join("kept.log");
    let kept = kept.to_str().unwrap();
    host.json(&["asset", "get", asset["asset_id"].as_str().unwrap(), kept]);
    assert_eq!(std::fs::read(kept).unwrap(), b"step 3 failed\n");
    assert!(
        host.run(&["asset", "get", asset["asset_id"].as_str().unwrap(), kept])
            .err
            .contains("cannot write")
    );
    assert!(host.run(&["asset", "add", log, "--name", "../x"]).err.contains("no path"));

    // An export has the files in it, and what they are referred to by.
    let export = folder.path().join("all.jsonl");
    let export = export.to_str().unwrap();
    host.json(&["export", export]);
    host.stop();
    let lines = std::fs::read_to_string(export).unwrap();
    assert_eq!(lines.lines().filter(|line| line.starts_with("{\"asset\"")).count(), 2);
    let data = folder.path().join("imported");
    run(chorus().args(["import", export, "--data"]).arg(&data)).ok();
    run(chorus().args(["doctor", "--data"]).arg(&data)).ok();
    // The same files again.
    let again = folder.path().join("again.jsonl");
    run(chorus().args(["export"]).arg(&again).arg("--data").arg(&data)).ok();
    let files = |text: &str| -> Vec<String> {
        text.lines().filter(|line| line.starts_with("{\"asset\"")).map(str::to_owned).collect()
    };
    assert_eq!(files(&std::fs::read_to_string(again).unwrap()), files(&lines));
}

// covers: CHN-150
#[test]
fn silence_is_waited_for_as_long_as_one_says() {
    let host = Host::with_room(&["scout"]);
    let set = |value| host.json(&["channel", "set", "#ops", "--idle-followup", value]);
    assert_eq!(set("36h")["stimuli"]["idle_followup_ms"], 36 * 3_600_000);
    assert!(host.run(&["channel", "show", "#ops"]).out.contains("asked after: 36 h"));
    assert!(set("never")["stimuli"].get("idle_followup_ms").is_none());
    assert!(host.run(&["channel", "set", "#ops", "--idle-followup", "1s"]).err.contains("60000"));
    assert!(host.run(&["channel", "set", "#ops", "--idle-followup", "soon"]).err.contains("span"));
}

// covers: CHN-220, CHN-221
#[test]
fn an_agent_is_called_in_a_channel_what_one_says() {
    let host = Host::with_room(&["scout"]);
    host.json(&["channel", "add", "#ops", "scout", "--participation", "prefer_selected"]);
    let set = |flags: &[&str]| host.json(&[&["channel", "seat", "#ops", "@scout"], flags].concat());
    let seat = |shown: &serde_json::Value| {
        let seats = shown["members"].as_array().unwrap().iter();
        seats.clone().find(|seat| seat["member"] == "scout").unwrap().clone()
    };
    let named = seat(&set(&["--name", "Night watch"]));
    assert_eq!((&named["display"], &named["kind"]), (&json!("manual"), &json!("session")));
    assert_eq!(named["participation"], "prefer_selected", "how it takes part stays");
    let shown = host.run(&["channel", "show", "#ops"]).out;
    assert!(shown.contains("scout (prefer_selected, called \"Night watch\")"), "{shown}");
    assert_eq!(seat(&set(&["--follow-name"]))["display"], "follow_agent");
    assert!(
        host.run(&["channel", "seat", "#ops", "scout", "--session", "x"]).err.contains("sess_")
    );
    assert_eq!(seat(&set(&["--any-session"])).get("session_id"), None);
}

// covers: CHN-230
#[test]
fn files_stand_at_the_top_of_a_channel() {
    let host = Host::with_room(&["scout"]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rules.txt");
    std::fs::write(&file, "be kind").unwrap();
    let kept = host.json(&["asset", "add", file.to_str().unwrap(), "--name", "plan.txt"]);
    let id = kept["asset_id"].as_str().unwrap();
    let pinned = host.json(&["channel", "pin", "#ops", file.to_str().unwrap(), id]);
    let names: Vec<_> =
        pinned["pinned_assets"].as_array().unwrap().iter().map(|pin| pin["name"].clone()).collect();
    assert_eq!(names, ["rules.txt", "plan.txt"]);
    assert!(
        host.run(&["channel", "show", "#ops"]).out.contains(&format!("pinned: plan.txt ({id})"))
    );
    let left = host.json(&["channel", "unpin", "#ops", id]);
    assert_eq!(left["pinned_assets"].as_array().unwrap().len(), 1);
    assert!(host.run(&["channel", "pin", "#ops", "ast_1"]).err.contains("asset"));
    assert!(host.run(&["channel", "pin", "#ops", "/nowhere/x"]).err.contains("cannot read"));
}
