//! Addresses that a stranger names: this machine is not for them.

use serde_json::json;

use super::{deliver, minimal, with_inbox};
use crate::test_host::{START, TestHost};
use crate::webhook::Remote;

/// Ways to write this machine.
fn here(port: u16) -> Vec<String> {
    let hosts = ["127.0.0.1", "localhost", "[::1]", "127.1", "0x7f000001", "[::ffff:127.0.0.1]"];
    hosts.iter().map(|host| format!("http://{host}:{port}/cb/tok_1")).collect()
}

async fn open(public_url: Option<&str>) -> TestHost {
    let public_url = public_url.map(str::to_owned);
    TestHost::open_with(tempfile::tempdir().unwrap(), START, |config| {
        config.settings.webhook.allow.clear();
        config.public_url = public_url;
    })
    .await
}

/// It is reached at its address, whatever it says of itself.
fn at_its_address(host: &mut TestHost) {
    host.running.url = format!("http://{}", host.running.addr);
}

// covers: WHK-407
#[tokio::test]
async fn no_service_has_this_host_post_to_its_own_machine() {
    for public_url in [None, Some("https://chorus.example.com")] {
        let mut host = open(public_url).await;
        at_its_address(&mut host);
        let op = host.operator();
        host.post(&op, "/v1/members", json!({"id": "bot", "kind": "agent"})).await.ok();
        let made = host.post(&op, "/v1/inboxes", json!({"agent": "bot"})).await.ok();
        let url = made["url"].as_str().unwrap();
        let path = url[url.find("/inbox/").unwrap()..].to_owned();
        for port in [host.running.addr.port(), 9] {
            for callback in here(port) {
                let refused = deliver(&host, &path, &minimal(&callback)).await;
                assert_eq!(refused.refused(422), "ADDRESS_REFUSED", "{callback}");
            }
        }
        // Behind a proxy not even an operator has it post there, and nowhere an agent that orchestrates.
        let remote = Remote::open().await;
        let new = json!({"member": "weather", "url": remote.url()});
        let boss = host.token_of("bot", "orchestrator").await;
        let refused = host.post(&boss, "/v1/endpoints", new.clone()).await;
        assert_eq!(refused.refused(422), "ADDRESS_REFUSED");
        let typed = host.post(&op, "/v1/endpoints", new).await;
        match public_url {
            None => drop(typed.ok()),
            Some(_) => assert_eq!(typed.refused(422), "ADDRESS_REFUSED"),
        }
    }
}

// covers: WHK-407
#[tokio::test]
async fn allowed_networks_apply_to_services_too() {
    let host = TestHost::open().await;
    let (path, _) = with_inbox(&host, json!({})).await;
    let remote = Remote::open().await;
    deliver(&host, &path, &minimal(&remote.at("/cb/tok_1"))).await.ok();
}
