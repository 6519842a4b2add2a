//! `chorus config`: what is wrong with the settings, and what is in force.

use serde_json::Value;

use crate::cli::{chorus, run};

fn row<'a>(shown: &'a Value, setting: &str) -> &'a Value {
    let rows = shown["settings"].as_array().unwrap();
    rows.iter().find(|row| row["setting"] == setting).unwrap()
}

// covers: OPS-60
#[test]
fn a_check_names_every_mistake_and_serve_refuses_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let text = "lisen = \"127.0.0.1:1\"\n\n[telemetry]\nlog_format = \"xml\"\n";
    std::fs::write(folder.path().join("chorus.toml"), text).unwrap();
    let mut check = chorus();
    check.current_dir(folder.path()).args(["config", "check"]);
    check.env("CHORUS_DRAIN_SECONDS", "-1").env("CHORUS_WORKSPCE", "x");
    let told = run(&mut check);
    assert_eq!(told.code, 2);
    assert_eq!(
        told.out.lines().collect::<Vec<_>>(),
        [
            "chorus.toml:1: lisen is no setting; the nearest is listen",
            "chorus.toml:4: telemetry.log_format = \"xml\": allowed is text or json",
            "CHORUS_DRAIN_SECONDS: drain_seconds = \"-1\": allowed is a whole number, from 0 to 600",
            "warning: CHORUS_WORKSPCE sets nothing; the nearest is CHORUS_WORKSPACE",
        ]
    );
    let told = run(check.arg("--json")).json();
    assert_eq!(told["ok"], false);
    assert_eq!(told["mistakes"][0]["setting"], "lisen");
    let refused = run(chorus().current_dir(folder.path()).args(["serve", "--json"]));
    assert_eq!(refused.code, 2);
    let error = refused.json();
    assert_eq!(error["error"]["code"], "VALIDATION_ERROR");
    let message = error["error"]["message"].as_str().unwrap();
    assert!(message.contains("chorus.toml:1") && message.contains("chorus.toml:4"), "{message}");
    assert!(!folder.path().join("chorus-data").exists(), "nothing was begun");
}

// covers: OPS-430
#[test]
fn a_host_with_two_issuers_for_the_same_members_does_not_start() {
    let folder = tempfile::tempdir().unwrap();
    let issuer = |name: &str| {
        format!(
            "[issuers.{name}]\nissuer = \"https://{name}/\"\njwks_url = \"https://{name}/jwks\"\n"
        )
    };
    std::fs::write(folder.path().join("chorus.toml"), issuer("a") + &issuer("b")).unwrap();
    let refused = run(chorus().current_dir(folder.path()).args(["serve", "--json"]));
    assert_eq!(refused.code, 2);
    let message = refused.json()["error"]["message"].to_string();
    assert!(message.contains("issuers.b.members"), "{message}");
    assert!(!folder.path().join("chorus-data").exists(), "nothing was begun");
}

// covers: OPS-62
#[test]
fn show_says_what_is_in_force_and_where_it_came_from() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("other.toml"),
        "workspace = \"ours\"\nlisten = \"localhost:1\"",
    )
    .unwrap();
    let mut show = chorus();
    show.current_dir(folder.path()).env("CHORUS_LISTEN", "127.0.0.1:2");
    show.args(["config", "show", "--json", "--config", "other.toml", "--set", "drain_seconds=3"]);
    let shown = run(&mut show).ok().json();
    for (setting, value, from) in [
        ("workspace", "\"ours\"", "other.toml:1"),
        ("listen", "\"127.0.0.1:2\"", "CHORUS_LISTEN"),
        ("drain_seconds", "3", "--set drain_seconds"),
        ("telemetry.log_format", "\"text\"", "default"),
    ] {
        assert_eq!(row(&shown, setting)["value"], value, "{setting}");
        assert_eq!(row(&shown, setting)["from"], from, "{setting}");
    }
    let wrong = run(chorus().args(["config", "show", "--config", "nowhere.toml"]));
    assert_eq!(wrong.code, 2);
    let wrong = run(chorus().args(["serve", "--set", "nonsense"]));
    assert_eq!(wrong.code, 2);
}
