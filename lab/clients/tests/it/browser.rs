//! A person with a real browser.

use chorus_clients::kit::{Kit, run};
use serde_json::Value;

use crate::house::House;

/// What Chromium shows after the button of this link, and on the front page then.
async fn signs_in(link: &str, name: &str) -> Value {
    let kit = Kit::installed().expect("cargo xtask test installs the clients");
    let mut script = kit.script("sign-in.mjs");
    script.env("LINK", link).env("NAME", name);
    script.env("CHROMIUM", std::env::var_os("CHROMIUM").unwrap_or("/usr/bin/chromium".into()));
    let output = run(script).await.unwrap();
    let complained = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {complained}"))
}

// covers: OPS-479, OPS-480
#[tokio::test]
async fn somebody_who_is_invited_or_has_a_link_is_in_after_one_click() {
    let house = House::open();
    let invitation = house.chorus(&["invite", "alice"]);
    let shown = signs_in(invitation.trim(), "Alice A.").await;
    assert!(shown["answer"].as_str().unwrap().contains("@alice"), "{shown}");
    assert!(shown["front"].as_str().unwrap().contains("@alice"), "{shown}");
    let members = house.json(&["member", "list"]);
    assert!(members.to_string().contains("Alice A."), "{members}");

    let link = house.chorus(&["signin"]);
    let shown = signs_in(link.trim(), "").await;
    assert!(shown["front"].as_str().unwrap().contains("@operator"), "{shown}");
}
