//! The agents: HTTP servers on ports of their own, which take what is posted and answer by the callback. They are in no process that is
//! killed, and remember all that came.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};

use super::check::{Answered, Arrived, Fate, Manner};
use crate::crash::chance::Chance;

/// Longest that an answer is tried again: a host that does not come back is found elsewhere.
const TRIES: usize = 3_000;
/// Longest wait of an agent for the answer to its answer.
const ANSWER: Duration = Duration::from_secs(30);

pub(super) struct Agents {
    /// Where each is reached.
    pub(super) strings: Vec<String>,
    seen: Arc<Mutex<Seen>>,
    _runtime: Runtime,
}

/// What all of them have seen.
#[derive(Clone, Default)]
pub(super) struct Seen {
    pub(super) arrived: Vec<Arrived>,
    pub(super) answered: Vec<Answered>,
    pub(super) wrong: Vec<String>,
    /// Answers that are not at their end.
    pub(super) busy: usize,
}

struct Agent {
    name: String,
    manner: Manner,
    client: reqwest::Client,
    seen: Arc<Mutex<Seen>>,
    chance: Mutex<Chance>,
}

impl Agents {
    pub(super) fn start(
        names: &[&str],
        manner: Manner,
        chance: &mut Chance,
    ) -> Result<Self, String> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(|e| format!("agents: {e}"))?;
        let client = reqwest::Client::builder().no_proxy().timeout(ANSWER).build();
        let client = client.map_err(|e| format!("agents: {e}"))?;
        let (mut strings, seen) = (Vec::new(), Arc::new(Mutex::new(Seen::default())));
        for name in names {
            let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"));
            let listener = listener.map_err(|e| format!("{name}: {e}"))?;
            let addr: SocketAddr = listener.local_addr().map_err(|e| format!("{name}: {e}"))?;
            strings.push(format!("http://{addr}/inbox/sk_{name}"));
            let agent = Arc::new(Agent {
                name: (*name).to_owned(),
                manner,
                client: client.clone(),
                seen: seen.clone(),
                chance: Mutex::new(chance.split()),
            });
            let router = Router::new().fallback(take).with_state(agent);
            runtime.spawn(async move { axum::serve(listener, router).await });
        }
        Ok(Self { strings, seen, _runtime: runtime })
    }

    pub(super) fn seen(&self) -> Seen {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many deliveries have come, repetitions too.
    pub(super) fn arrived(&self) -> usize {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).arrived.len()
    }
}

/// Takes a delivery a while after it came, and answers it in the meantime or afterwards.
async fn take(State(agent): State<Arc<Agent>>, body: Bytes) -> StatusCode {
    let Ok(delivery) = serde_json::from_slice::<Value>(&body) else {
        agent.note(|seen| seen.wrong.push("a delivery is no JSON".to_owned()));
        return StatusCode::BAD_REQUEST;
    };
    // It asks how far the answer is to a message that was delivered before: it brings none, and owes none.
    if delivery["message"].is_null() {
        return StatusCode::OK;
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let arrived = Arrived {
        agent: agent.name.clone(),
        event: text(&delivery["message"]["id"]),
        attempt: delivery["chorus"]["attempt"].as_u64().unwrap_or_default(),
    };
    let callback = text(&delivery["callback"]);
    let (mut takes, mut thinks) = (Duration::ZERO, Duration::ZERO);
    agent.draw(|chance| (takes, thinks) = (chance.millis(5..40), chance.millis(0..60)));
    agent.note(|seen| {
        seen.arrived.push(arrived.clone());
        seen.busy += 1;
    });
    let answering = agent.clone();
    tokio::spawn(async move {
        tokio::time::sleep(thinks).await;
        answering.answer(&arrived, &callback).await;
        answering.note(|seen| seen.busy -= 1);
    });
    tokio::time::sleep(takes).await;
    StatusCode::OK
}

impl Agent {
    fn note(&self, note: impl FnOnce(&mut Seen)) {
        note(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn draw(&self, draw: impl FnOnce(&mut Chance)) {
        draw(&mut self.chance.lock().unwrap_or_else(PoisonError::into_inner));
    }

    async fn answer(&self, to: &Arrived, callback: &str) {
        let Arrived { agent, event, attempt } = to.clone();
        for tried in 1..=TRIES {
            let text = match self.manner {
                Manner::WithIds => format!("{agent} has seen {event}"),
                Manner::WithoutIds => format!("{agent} has seen {event} ({attempt}, {tried})"),
            };
            let said = match self.manner {
                Manner::WithIds => json!({"type": "message", "content": text, "id": "answer"}),
                Manner::WithoutIds => json!({"type": "message", "content": text}),
            };
            let fate = self.post(callback, &said).await;
            // The host that could not do it now has not done it, which is looked at in the end.
            let over = match &fate {
                Fate::Lost => false,
                Fate::Refused(code) => code != "UNAVAILABLE",
                Fate::Taken => true,
            };
            let (agent, event) = (agent.clone(), event.clone());
            self.note(|seen| seen.answered.push(Answered { agent, event, attempt, text, fate }));
            if over {
                return;
            }
            let mut wait = Duration::ZERO;
            self.draw(|chance| wait = chance.millis(10..80));
            tokio::time::sleep(wait).await;
        }
        self.note(|seen| seen.wrong.push(format!("{agent} could not answer {event}")));
    }

    async fn post(&self, callback: &str, said: &Value) -> Fate {
        let Ok(answer) = self.client.post(callback).json(said).send().await else {
            return Fate::Lost;
        };
        let status = answer.status();
        let Ok(body) = answer.bytes().await else { return Fate::Lost };
        if status.is_success() {
            return Fate::Taken;
        }
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        match body["error"]["code"].as_str() {
            Some("OUTCOME_UNKNOWN") => Fate::Lost,
            code => Fate::Refused(code.unwrap_or("no code").to_owned()),
        }
    }
}
