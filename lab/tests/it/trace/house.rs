//! The host in this process, restarted on its folder, and calls of its REST transport.

use std::sync::Arc;
use std::time::Instant;

use chorus_core::model::caller::By;
use chorus_core::model::ids::{Timestamp, Uid};
use chorus_core::model::seed::CommandSeed;
use chorus_core::queries;
use chorus_server::{Config, Host, Running};
use chorus_store::ManualClock;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::agent::{Agents, Memory};
use super::people::People;

const START: Timestamp = Timestamp(1_790_000_000_000);
/// The longest step of time, so that timers fire one after the other as they would.
const STEP_MS: u64 = 30_000;

pub(crate) struct House {
    running: Running,
    clock: Arc<ManualClock>,
    folder: TempDir,
    http: reqwest::Client,
}

impl House {
    pub(crate) async fn open() -> Self {
        let folder = tempfile::Builder::new().prefix("chorus-trace").tempdir().unwrap();
        Self::start(folder, Arc::new(ManualClock::new(START))).await
    }

    async fn start(folder: TempDir, clock: Arc<ManualClock>) -> Self {
        let config = Config {
            listen: "127.0.0.1:0".parse().unwrap(),
            clock: clock.clone(),
            ..Config::on(folder.path())
        };
        let running = Host::start(config).await.unwrap();
        Self { running, clock, folder, http: reqwest::Client::new() }
    }

    /// Stops it and starts it again; the connections end.
    pub(crate) async fn restart(self) -> Self {
        let Self { running, clock, folder, .. } = self;
        running.stop().await;
        clock.advance(2_000);
        Self::start(folder, clock).await
    }

    /// The last stop: then everything that is kept is looked at.
    pub(crate) async fn stop_and_examine(self) {
        let Self { running, folder, .. } = self;
        running.stop().await;
        let began = Instant::now();
        let report = chorus_store::doctor(&chorus_store::Place::folder(folder.path())).unwrap();
        assert!(report.is_clean(), "{:#?}", report.problems);
        println!(
            "doctor: {} events in {} conversations, nothing wrong, {:.1} s",
            report.events,
            report.conversations,
            began.elapsed().as_secs_f64()
        );
    }

    pub(crate) fn addr(&self) -> std::net::SocketAddr {
        self.running.addr
    }

    pub(crate) fn operator(&self) -> &str {
        &self.running.operator_token
    }

    /// Moves time on, in steps.
    pub(crate) async fn pass(&self, ms: u64) {
        let mut left = ms;
        while left > 0 {
            let step = left.min(STEP_MS);
            self.clock.advance(step as i64);
            self.running.tick();
            left -= step;
            self.timers_have_fired().await;
        }
    }

    /// The answer to a command, any command, comes after the timers of its batch.
    async fn timers_have_fired(&self) {
        let (answer, answered) = tokio::sync::oneshot::channel();
        let command = queries::Standing { event: Uid::default() };
        self.running.serving().unwrap().writer.submit(
            By::host(),
            command,
            CommandSeed::default(),
            move |_| {
                // Whoever waits is below.
                let _ = answer.send(());
            },
        );
        answered.await.unwrap();
    }

    pub(crate) async fn ask(
        &self,
        token: &str,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> (u16, Value) {
        loop {
            let url = format!("{}{path}", self.running.url);
            let mut request = self.http.request(method.parse().unwrap(), url).bearer_auth(token);
            if let Some(body) = body {
                request = request.json(body);
            }
            let answer = request.send().await.unwrap();
            let status = answer.status().as_u16();
            let bytes = answer.bytes().await.unwrap();
            let body: Value = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
            if body["error"]["code"] == "RATE_LIMITED" {
                // Too much at once, in the team's time: let some of it pass.
                self.clock.advance(1_000);
                self.running.tick();
                continue;
            }
            return (status, body);
        }
    }

    /// A call that must be a success.
    pub(crate) async fn must(
        &self,
        token: &str,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> Value {
        let (status, answer) = self.ask(token, method, path, body).await;
        assert!((200..300).contains(&status), "{method} {path}: {status}: {answer}");
        answer
    }

    pub(crate) async fn token(&self, member: &str) -> String {
        self.token_of(member, "worker").await
    }

    pub(crate) async fn token_of(&self, member: &str, role: &str) -> String {
        let new = json!({"agent": member, "role": role, "ttl_s": 60 * 24 * 3_600});
        let made = self.must(self.operator(), "POST", "/v1/tokens", Some(&new)).await;
        made["token"].as_str().unwrap().to_owned()
    }

    /// Connects the agents, who remember nothing yet.
    pub(crate) async fn wake(&self, people: &People, seed: u64, diligent: bool) -> Agents {
        let memories = people.agents().iter().map(|_| Memory::default()).collect();
        self.wake_with(people, seed, diligent, memories).await
    }

    pub(crate) async fn wake_with(
        &self,
        people: &People,
        seed: u64,
        diligent: bool,
        memories: Vec<Memory>,
    ) -> Agents {
        Agents::connect(self.addr(), people.agents(), memories, seed, diligent).await
    }
}
