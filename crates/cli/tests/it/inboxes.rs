//! Connection strings from the command line.

use crate::host::Host;

// covers: WHK-60
#[test]
fn an_inbox_is_kept_from_the_command_line() {
    let host = Host::with_room(&["scout"]);
    let printed = host.run(&["inbox", "create", "--agent", "@scout", "--allow", "127.0.0.1"]).out;
    let url = printed.trim_end();
    let secret = url.split_once("/inbox/sk_").map(|(_, secret)| secret).expect(url);
    assert!(secret.len() == 43 && !secret.contains(char::is_whitespace), "the string and no more");
    let all = host.json(&["inbox", "list"]);
    let inbox = &all["inboxes"][0];
    let id = inbox["id"].as_str().unwrap();
    assert_eq!((&inbox["agent"], &inbox["allow"][0]), (&"scout".into(), &"127.0.0.1/32".into()));
    let listed = host.run(&["inbox", "list"]).out;
    assert!(listed.contains(id) && !listed.contains("sk_"), "{listed}");
    let set = host.json(&["inbox", "set", id, "--name", "Slack", "--allow-all"]);
    assert_eq!((&set["name"], &set["allow"]), (&"Slack".into(), &serde_json::json!([])));
    assert!(host.run(&["inbox", "show", id]).out.contains("Slack for scout, 0 channels"));
    let other = host.run(&["inbox", "rotate", id]).out;
    assert!(other.contains("/inbox/sk_") && other.trim_end() != url, "{other}");
    let missing = host.run(&["inbox", "set", id, "--signing-secret", "/nowhere"]);
    assert!(missing.err.contains("/nowhere"), "{}", missing.err);
    host.run(&["inbox", "remove", id]);
    assert!(host.run(&["inbox", "show", id]).err.contains("no such inbox"));
}
