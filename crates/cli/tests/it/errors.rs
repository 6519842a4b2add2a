//! What goes wrong says what to do next, on one line; with `--json`, in the envelope.

use crate::cli::{chorus, run, words};
use crate::host::Host;

#[test]
fn without_a_host_a_command_says_how_to_start_one() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("none");
    let ran = run(chorus().args(["agents", "--data"]).arg(&data));
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    let expect = format!("start one with: chorus serve --data {}\n", data.display());
    assert!(
        ran.err.starts_with("error: no host runs on ") && ran.err.ends_with(&expect),
        "{}",
        ran.err
    );
    assert_eq!(ran.err.lines().count(), 1);
}

#[test]
fn a_host_that_was_killed_is_not_taken_for_running() {
    let mut host = Host::start();
    host.kill();
    let ran = host.run(&["agents", "--json"]);
    assert_eq!(ran.code, 1);
    assert_eq!(ran.json()["error"]["code"], "UNAVAILABLE");
}

#[test]
fn a_command_written_wrongly_is_code_2_and_changes_nothing() {
    let host = Host::start();
    let wrong: [&[&str]; 6] = [
        &["token", "issue", "--agent", "x", "--role", "boss"],
        &["token", "issue", "--agent", "x", "--role", "worker", "--ttl", "soon"],
        &["post"],
        &["react", "evt_0", "thumbsup"],
        &["join", "--agent", "x", "--runtime", "llm"],
        &["nonsense"],
    ];
    for arguments in wrong {
        let ran = run(chorus().args(words(arguments)).arg("--data").arg(host.data()));
        assert_eq!(ran.code, 2, "{arguments:?}: {}", ran.err);
        let ran = run(chorus().args(words(arguments)).arg("--json").arg("--data").arg(host.data()));
        assert_eq!(ran.code, 2, "{arguments:?}");
        assert_eq!(ran.json()["error"]["code"], "VALIDATION_ERROR", "{arguments:?}");
    }
    assert_eq!(host.json(&["agents"])["agents"].as_array().unwrap().len(), 0);
}

// covers: ATT-129, OPS-485
#[test]
fn refusals_name_their_code_and_the_next_step() {
    let host = Host::with_room(&["scout"]);
    let check = |arguments: &[&str], code: &str, next: &str| {
        let ran = host.run(&[arguments, &["--verbose"]].concat());
        assert_eq!(ran.code, 1, "{arguments:?}: {}", ran.out);
        assert!(ran.err.starts_with(&format!("error: {code}: ")), "{arguments:?}: {}", ran.err);
        assert!(ran.err.contains(next), "{arguments:?}: {}", ran.err);
        assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
        let ran = host.run(&[arguments, &["--json"]].concat());
        assert_eq!(ran.json()["error"]["code"], code, "{arguments:?}");
    };
    check(&["post", "#opps", "hello"], "NOT_FOUND", "did you mean #ops?");
    check(&["post", "#ops", "hello", "--as", "nobody"], "NOT_FOUND", "");
    check(&["why", "evt_00000000000000000000000000000000"], "NOT_FOUND", "");
    check(&["why", "something"], "NOT_FOUND", "");
    check(&["member", "create", "alice"], "CONFLICT", "");
    check(&["agents", "--token", "nonsense"], "UNAUTHORIZED", "chorus token issue");
    check(
        &["agents", "--url", "http://127.0.0.1:1", "--token", "x"],
        "UNAVAILABLE",
        "chorus serve",
    );

    let issue = ["token", "issue", "--agent", "scout", "--role", "worker"];
    let worker = host.run(&issue).ok().out;
    let worker = worker.trim();
    let own = ["member", "create", "eve", "--token", worker];
    check(&own, "INSUFFICIENT_AUTHORITY", "operator's token");

    host.json(&["channel", "create", "twin"]);
    check(&["channel", "create", "twin"], "CONFLICT", "already");
    check(&["channel", "create", "#Twin"], "CONFLICT", "already");
    check(&["post", "zzz", "hello"], "NOT_FOUND", "see: chorus channel list");
}

// covers: ATT-8
#[test]
fn a_token_ends_when_it_is_revoked() {
    let host = Host::start();
    let issued = host.json(&["token", "issue", "--agent", "scout", "--role", "worker"]);
    let token = issued["token"].as_str().unwrap();
    host.run(&["agents", "--token", token]).ok();
    host.json(&["token", "revoke", issued["jti"].as_str().unwrap()]);
    let ran = host.run(&["agents", "--token", token, "--json"]);
    assert_eq!(ran.json()["error"]["code"], "UNAUTHORIZED");
}
