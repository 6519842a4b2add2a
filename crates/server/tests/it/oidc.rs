//! Tokens of a real OpenID provider (npm `oidc-provider`), which `cargo xtask test` installs and names in
//! `CHORUS_TEST_OIDC`. Without it there is nothing to try here; `issuers` has every case.

use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStdout, Command, Stdio};

use chorus_core::model::ids::Timestamp;
use chorus_server::config::issuers::Issuer;
use serde_json::{Value, json};

use crate::test_host::TestHost;

fn now() -> Timestamp {
    let since = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
    Timestamp(i64::try_from(since.as_millis()).unwrap())
}

/// A provider in a process of its own, with keys of its own.
struct Provider {
    process: Child,
    issuer: String,
    /// It says more than its address, and ends when nobody listens.
    _output: Lines<BufReader<ChildStdout>>,
}

impl Provider {
    fn start(script: &str, port: u16) -> Self {
        let mut command = Command::new("node");
        command.args([script, &port.to_string()]).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let issuer = lines.next().expect("its address").unwrap();
        Self { process, issuer, _output: lines }
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
    let now = now();
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

/// What a browser does of which the host sees nothing: it keeps cookies, follows, and fills in forms.
struct Browser {
    http: reqwest::Client,
    cookies: std::collections::BTreeMap<String, String>,
}

impl Browser {
    fn new() -> Self {
        let none = reqwest::redirect::Policy::none();
        let http = reqwest::Client::builder().redirect(none).build().unwrap();
        Self { http, cookies: Default::default() }
    }

    async fn ask(
        &mut self,
        method: reqwest::Method,
        url: &str,
        form: Option<&str>,
    ) -> reqwest::Response {
        let cookies: Vec<_> =
            self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let mut request = self.http.request(method, url).header("cookie", cookies.join("; "));
        if let Some(form) = form {
            let kind = "application/x-www-form-urlencoded";
            request = request.header("content-type", kind).body(form.to_owned());
        }
        let answer = request.send().await.unwrap();
        for cookie in answer.headers().get_all("set-cookie") {
            let pair = cookie.to_str().unwrap().split(';').next().unwrap();
            let (name, value) = pair.split_once('=').unwrap();
            self.cookies.insert(name.to_owned(), value.to_owned());
        }
        answer
    }

    /// Signs in with the provider under a name, and gives the address that it is sent back to.
    async fn signs_in(&mut self, url: &str, issuer: &str, name: &str) -> String {
        let (mut url, mut form) = (url.to_owned(), None::<String>);
        for _ in 0..12 {
            let method = if form.is_some() { reqwest::Method::POST } else { reqwest::Method::GET };
            let answer = self.ask(method, &url, form.take().as_deref()).await;
            if let Some(to) = answer.headers().get("location") {
                let to = to.to_str().unwrap();
                url = if to.starts_with('/') { format!("{issuer}{to}") } else { to.to_owned() };
                if url.contains("/signin/back?") {
                    return url;
                }
                continue;
            }
            let status = answer.status();
            let page = answer.text().await.unwrap();
            assert!(page.contains("<form"), "{status} {page}");
            form = Some(match page.contains("name=\"login\"") {
                true => format!("prompt=login&login={name}&password=x"),
                false => "prompt=consent".to_owned(),
            });
        }
        panic!("it never came back");
    }
}

// covers: OPS-660, OPS-661, OPS-662
#[tokio::test]
async fn somebody_signs_in_through_a_real_provider_and_nobody_else_does() {
    let Ok(script) = std::env::var("CHORUS_TEST_OIDC") else { return };
    let provider = Provider::start(&script, 0);
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("secret");
    std::fs::write(&secret, "of the page & more\n").unwrap();
    let issuer = Issuer {
        issuer: provider.issuer.clone(),
        jwks_url: format!("{}/jwks", provider.issuer),
        client_id: Some("page".to_owned()),
        client_secret_file: Some(secret),
        ..Issuer::default()
    };
    let host = TestHost::open_with(tempfile::tempdir().unwrap(), now(), |config| {
        config.settings.issuers.insert("corp".to_owned(), issuer);
    })
    .await;
    host.room(&["bot"]).await;
    let ways = host.request(reqwest::Method::GET, "/signin").send().await.unwrap();
    assert!(ways.text().await.unwrap().contains("href=\"/signin/with/corp\""));
    let none = host.request(reqwest::Method::GET, "/signin/with/other").send().await.unwrap();
    assert_eq!(none.status(), 404);

    let come_back = async |browser: &mut Browser, name: &str| {
        let out = browser.ask(reqwest::Method::GET, &host.url("/signin/with/corp"), None).await;
        assert_eq!(out.status(), 303);
        let url = out.headers()["location"].to_str().unwrap().to_owned();
        browser.signs_in(&url, &provider.issuer, name).await
    };
    let mut browser = Browser::new();
    let back = come_back(&mut browser, "ann").await;
    // Another browser with the same address has not begun it, and a code counts once.
    let stolen = Browser::new().ask(reqwest::Method::GET, &back, None).await;
    assert_eq!(stolen.status(), 401);
    let answer = browser.ask(reqwest::Method::GET, &back, None).await;
    assert_eq!(
        (answer.status().as_u16(), &answer.headers()["location"]),
        (303, &"/app/".parse().unwrap())
    );
    let session = browser.cookies["chorus_session"].clone();
    let me = host.request(reqwest::Method::GET, "/v1/whoami").header("x-chorus-page", "1");
    let me = me.header("cookie", format!("chorus_session={session}")).send().await.unwrap();
    let me: Value = me.json().await.unwrap();
    assert_eq!((&me["member"]["id"], &me["role"]), (&json!("ann"), &json!("worker")));
    let again = browser.ask(reqwest::Method::GET, &back, None).await;
    assert_eq!(again.status(), 401);
    // Whom the provider knows and the host does not is nobody, and an agent has no session.
    for (name, status) in [("zoe", 403), ("bot", 409)] {
        let mut browser = Browser::new();
        let back = come_back(&mut browser, name).await;
        let answer = browser.ask(reqwest::Method::GET, &back, None).await;
        assert_eq!(answer.status(), status, "{name}");
        assert!(!browser.cookies.contains_key("chorus_session"), "{name}");
    }
    // The provider's own refusal is said.
    let mut browser = Browser::new();
    browser.ask(reqwest::Method::GET, &host.url("/signin/with/corp"), None).await;
    let state = browser.cookies["chorus_signin"].clone();
    let refused =
        format!("/signin/back?state={state}&error=access_denied&error_description=no%20way");
    let answer = browser.ask(reqwest::Method::GET, &host.url(&refused), None).await;
    assert_eq!(answer.status(), 401);
    assert!(answer.text().await.unwrap().contains("no way"));
}
