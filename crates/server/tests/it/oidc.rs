//! Tokens of a real OpenID provider (npm `oidc-provider`), which `cargo xtask test` installs and names in
//! `CHORUS_TEST_OIDC`. Without it there is nothing to try here; `issuers` has every case.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use chorus_core::model::ids::Timestamp;
use chorus_server::config::issuers::Issuer;
use serde_json::{Value, json};

use crate::test_host::TestHost;

/// A provider in a process of its own, with keys of its own.
struct Provider {
    process: Child,
    issuer: String,
}

impl Provider {
    fn start(script: &str, port: u16) -> Self {
        let mut command = Command::new("node");
        command.args([script, &port.to_string()]).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let issuer = lines.next().expect("its address").unwrap();
        Self { process, issuer }
    }

    fn port(&self) -> u16 {
        self.issuer.rsplit(':').next().unwrap().parse().unwrap()
    }

    /// A token for the client's credentials.
    async fn token(&self, more: &str) -> String {
        let request = reqwest::Client::new().post(format!("{}/token", self.issuer));
        let request = request.basic_auth("bot", Some("of-the-test"));
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        let body = format!("grant_type=client_credentials{more}");
        let answer: Value = request.body(body).send().await.unwrap().json().await.unwrap();
        answer["access_token"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

// covers: OPS-72, OPS-74
#[tokio::test]
async fn a_real_providers_tokens_are_honoured_and_its_new_keys_found() {
    let Ok(script) = std::env::var("CHORUS_TEST_OIDC") else { return };
    let provider = Provider::start(&script, 0);
    let port = provider.port();
    let since = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
    let now = Timestamp(i64::try_from(since.as_millis()).unwrap());
    let issuer = Issuer {
        issuer: provider.issuer.clone(),
        jwks_url: format!("{}/jwks", provider.issuer),
        ..Issuer::default()
    };
    let host = TestHost::open_with(tempfile::tempdir().unwrap(), now, |config| {
        config.settings.issuers.insert("corp".to_owned(), issuer);
    })
    .await;
    let room = host.room(&["bot"]).await;
    let token = provider.token("").await;
    let me = host.get(&token, "/v1/whoami").await.ok();
    assert_eq!((&me["member"]["id"], &me["role"]), (&json!("bot"), &json!("worker")));
    host.say(&token, &room, "signed elsewhere").await;
    let more = provider.token("&role=orchestrator").await;
    assert_eq!(host.get(&more, "/v1/whoami").await.refused(403), "INSUFFICIENT_AUTHORITY");

    // The provider comes back with other keys.
    drop(provider);
    let again = Provider::start(&script, port);
    let renewed = again.token("").await;
    host.clock.advance(30_000);
    host.get(&renewed, "/v1/whoami").await.ok();
    drop(again);
    host.get(&renewed, "/v1/whoami").await.ok();
}
