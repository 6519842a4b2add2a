//! Secrets are written where they belong and nowhere else.

use std::fs::{File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use chorus_testing::eventually_blocking;
use serde_json::Value;

use crate::cli::{Going, chorus, run};

// covers: ATT-135
#[test]
fn no_log_holds_a_token_or_a_sign_in_secret() {
    let folder = tempfile::tempdir().unwrap();
    let (data, log) = (folder.path().join("data"), folder.path().join("log"));
    let written = File::create(&log).unwrap();
    let mut command = chorus();
    command.env("CHORUS_LOG", "trace").args([
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--json",
        "--data",
    ]);
    let serving = Going::start(command.arg(&data).stderr(written.try_clone().unwrap()));
    let said = serving.wait(|line| serde_json::from_str::<Value>(line).ok());
    let secret = said["sign_in"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();

    let beside =
        |arguments: &[&str]| run(chorus().args(arguments).arg("--data").arg(&data)).ok().out;
    let worker = beside(&["token", "issue", "--agent", "scout", "--role", "worker"]);
    let operator = std::fs::read_to_string(data.join("operator.token")).unwrap();
    let link = said["sign_in"].as_str().unwrap();
    let home = tempfile::tempdir().unwrap();
    let mut login = chorus();
    login.env("XDG_CONFIG_HOME", home.path()).args(["login", link]);
    run(&mut login).ok();
    let kept = std::fs::read_to_string(home.path().join("chorus/profiles.toml")).unwrap();
    let shown = kept.split_once("token = \"").unwrap().1.split('"').next().unwrap();
    let harness_log = File::create(folder.path().join("harness")).unwrap();
    let mut join = chorus();
    join.env("CHORUS_LOG", "trace").env("CHORUS_TOKEN", worker.trim());
    join.args([
        "join",
        "--agent",
        "scout",
        "--quiet-ms",
        "50",
        "--url",
        said["url"].as_str().unwrap(),
    ]);
    join.args(["--runtime", "cmd:echo $CHORUS_TURN_TOKEN | sha256sum", "--state-dir"]);
    let _joined = Going::start(join.arg(folder.path().join("state")).stderr(harness_log));
    beside(&["channel", "create", "ops", "scout"]);
    let asked = beside(&["post", "ops", "@scout what is the status?"]);
    let event = asked.split_whitespace().next().unwrap();
    eventually_blocking("the question is answered", || {
        beside(&["why", event]).contains("responded after")
    });

    for file in [&log, &folder.path().join("harness")] {
        let text = std::fs::read_to_string(file).unwrap();
        assert!(!text.is_empty(), "nothing was logged at all");
        for secret in [secret.as_str(), shown, worker.trim(), operator.trim(), "turn_"] {
            assert!(!text.contains(secret), "{secret} stands in {}:\n{text}", file.display());
        }
    }
}

#[test]
fn the_keys_and_the_operators_token_are_its_owners_alone() {
    let host = crate::host::Host::start();
    let mode = |path: &Path| mode_of(std::fs::metadata(path).unwrap().permissions());
    let data = host.data();
    assert_eq!(mode(&data.join("operator.token")), 0o600);
    for entry in std::fs::read_dir(data.join("keys")).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

/// What a browser is given.
fn mode_of(permissions: Permissions) -> u32 {
    permissions.mode() & 0o777
}
