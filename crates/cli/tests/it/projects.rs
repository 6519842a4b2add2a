//! Projects and tasks from the command line.

use serde_json::json;

use crate::host::Host;

// covers: CHN-187
#[test]
fn a_project_is_run_from_the_command_line() {
    let host = Host::with_room(&["scout", "reviewer"]);
    let made = host.json(&[
        "project",
        "create",
        "Move",
        "@scout",
        "--channel",
        "#ops",
        "--mirror",
        "--kickoff",
        "We begin.",
    ]);
    assert_eq!(made["channels"][0]["mirror_members"], true);
    assert!(host.run(&["project", "list"]).out.contains("Move"));
    let added = host.json(&["project", "add", "Move", "reviewer", "--title", "reads it"]);
    assert_eq!(added["members"].as_array().unwrap().len(), 3);
    let first = host.json(&["task", "add", "Move", "Copy the data", "--for", "scout"]);
    let after = ["task", "add", "Move", "Switch over", "--after", "Copy the data"];
    assert_eq!(host.json(&after)["waits_for"], json!([first["id"]]));
    assert!(host.run(&["task", "list", "Move"]).out.contains("Copy the data"));
    let early = host.run(&["task", "start", "Move", "Switch over"]);
    assert!(early.err.contains(first["id"].as_str().unwrap()), "{}", early.err);
    assert_eq!(host.json(&["task", "done", "Move", "Copy the data"])["state"], "done");
    let set = ["task", "set", "Move", "Switch over", "--for", "reviewer", "--state", "in_progress"];
    assert_eq!(host.json(&set)["assignee"], "reviewer");
    let mine = host.json(&["task", "list", "Move", "--for", "reviewer"]);
    assert_eq!(mine["tasks"].as_array().unwrap().len(), 1);
    let shown = host.run(&["project", "show", "Move"]).out;
    assert!(shown.contains("1 done, 1 in progress") && shown.contains("reads it"), "{shown}");
    assert!(host.run(&["project", "delete", "Move"]).err.contains("not finished"));
    assert!(host.run(&["project", "show", "Nothing"]).err.contains("no project is called"));
    assert!(host.run(&["task", "show", "Move", "Nothing"]).err.contains("no task is called"));
    host.json(&["task", "set", "Move", "Switch over", "--state", "cancelled"]);
    host.json(&["project", "link", "Move", "ops", "--mirror", "false"]);
    assert_eq!(host.json(&["project", "delete", "Move"])["deleted"], true);
}
