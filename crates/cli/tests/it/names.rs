//! What a name on the command line means, and how others' words are printed.

use serde_json::Value;

use crate::host::Host;

// covers: CHN-422
#[test]
fn a_title_names_a_channel_and_never_a_direct_conversation() {
    let host = Host::with_room(&["scout", "builder"]);
    let pair = host.json(&["channel", "create", "incidents", "scout", "--kind", "dm"]);
    for name in ["incidents", "#incidents"] {
        let ran = host.run(&["post", name, "we are down", "--json"]);
        assert!(ran.code != 0 && ran.out.contains("NOT_FOUND"), "{}{}", ran.out, ran.err);
    }
    host.json(&["post", pair["id"].as_str().unwrap(), "by its id"]);
    let listed = host.run(&["channel", "list", "--mail"]).ok().out;
    assert!(listed.contains("incidents") && !listed.contains("#incidents"), "{listed}");
    // The channel that comes later is found by its name.
    let made = host.json(&["channel", "create", "incidents", "scout"]);
    let posted = host.json(&["post", "incidents", "we are down"]);
    assert_eq!(posted["conversation"], made["id"]);
}

// covers: OPS-470
#[test]
fn foreign_text_is_printed_escaped() {
    let host = Host::with_room(&["scout"]);
    let nasty = "a\u{1b}[2J\u{202e}b\u{200b}c\u{9b}d";
    let posted = host.json(&["post", "#ops", nasty, "--as", "alice"]);
    let raw = |text: &str| {
        text.chars().any(|c| matches!(c, '\u{1b}' | '\u{202e}' | '\u{200b}' | '\u{9b}'))
    };
    let why = host.run(&["why", posted["event_id"].as_str().unwrap()]).ok().out;
    assert!(why.contains("202e") && !raw(&why), "{why:?}");
    let tail = host.tail();
    let line = tail.wait(|line| line.contains("\\u202e").then(|| line.to_owned()));
    assert!(!raw(&line), "{line:?}");
    let shown: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(shown["message"]["text"], nasty);
}
