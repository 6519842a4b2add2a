//! The registry over its own paths: the examples of its spec, and everything that must not happen.

mod agents;
mod asked;
mod bad_input;
mod copies;
mod jobs;
mod ledger;
mod pipelines;
mod tools;

use chorus_core::model::ids::Timestamp;
use chorus_testing::eventually;
use reqwest::Method;
use serde_json::{Value, json};

use crate::test_host::{Answer, START, TestHost};
use crate::webhook::{Post, Remote};

/// The ids of the spec's examples.
pub(crate) const AGENT: &str = "a3b8d1b6-0b3b-4b1a-9c1a-1a2b3c4d5e6f";
pub(crate) const JOB: &str = "f81d4fae-7dec-11d0-a765-00a0c91e6bf6";
const TRANSFER: &str = "0b3ba3b8-7dec-11d0-a765-1a2b3c4d5e6f";

/// A host on which `seller` has registered an agent that analyses text, and `buyer` has credits.
pub(crate) struct Market {
    pub(crate) host: TestHost,
    pub(crate) agent: Remote,
    pub(crate) seller: String,
    pub(crate) buyer: String,
    pub(crate) operator: String,
}

impl Market {
    pub(crate) async fn open() -> Self {
        Self::open_in(TestHost::open().await).await
    }

    pub(crate) async fn open_in(host: TestHost) -> Self {
        let agent = Remote::open().await;
        let (seller, buyer) = (host.token("seller").await, host.token("buyer").await);
        let operator = host.operator();
        let market = Self { host, agent, seller, buyer, operator };
        let made = market.host.post(&market.seller, "/register", market.registration()).await.ok();
        assert_eq!(made["status"], "registered");
        market.mint("buyer", 10.0).await;
        market
    }

    /// The registration of the spec.
    pub(crate) fn registration(&self) -> Value {
        json!({
            "agent_id": AGENT,
            "agent_name": "Text-Analyst-3000",
            "owner_id": "seller",
            "api_endpoint": self.agent.at("/jobs"),
            "skills": [{
                "skill_name": "analyze_text",
                "description": "Extracts structured data from unstructured text",
                "cost_per_call": 0.10,
                "input_schema": {"text": "string"},
                "output_schema": {"entities": "list"}
            }],
            "version": "0.1",
            "timestamp_utc": "2026-02-11T14:15:09Z"
        })
    }

    /// The job request of the spec, through the host.
    pub(crate) fn request(&self) -> Value {
        json!({
            "job_id": JOB,
            "agent_id": AGENT,
            "skill_name": "analyze_text",
            "input_data": {"text": "Revenue for Q3 was $42,000..."},
            "budget": 0.15,
            "currency": "chorus_credits_v1",
            "timestamp_utc": "2026-02-11T14:15:09Z"
        })
    }

    pub(crate) async fn hire(&self) -> Value {
        let answer = self.host.post(&self.buyer, "/jobs", self.request()).await;
        assert_eq!(answer.status, 202, "{answer:?}");
        answer.ok()
    }

    pub(crate) async fn mint(&self, owner: &str, amount: f64) {
        let path = format!("/accounts/{owner}/mint");
        self.host.post(&self.operator, &path, json!({"amount": amount})).await.ok();
    }

    pub(crate) async fn balance(&self, owner: &str) -> f64 {
        let account = self.host.get(&self.operator, &format!("/accounts/{owner}")).await;
        if account.status == 404 { 0.0 } else { account.ok()["balance"].as_f64().unwrap() }
    }

    pub(crate) async fn reputation(&self) -> f64 {
        let agent = self.host.get(&self.buyer, &format!("/agents/{AGENT}")).await.ok();
        agent["reputation_score"].as_f64().unwrap()
    }

    pub(crate) async fn job(&self) -> Value {
        self.host.get(&self.buyer, &format!("/jobs/{JOB}")).await.ok()
    }

    /// The next job that is posted to the agent; challenges are passed over.
    pub(crate) async fn posted(&mut self) -> Post {
        loop {
            let post = self.agent.post().await;
            if post.json()["skill_name"] != "chorus.verify" {
                return post;
            }
        }
    }

    /// Posts to a URL that the host has named, without a token.
    pub(crate) async fn call_back(&self, url: &Value, body: Value) -> Answer {
        let url = url.as_str().unwrap();
        let path = &url[url.find("/jobs/").or_else(|| url.find("/agents/")).unwrap()..];
        TestHost::answer(self.host.request(Method::POST, path).json(&body)).await
    }

    /// All that the doctor says of the folder, once the host has stopped.
    pub(crate) async fn stop(self) -> (tempfile::TempDir, Timestamp) {
        let now = self.host.clock_now();
        let TestHost { running, folder, .. } = self.host;
        running.stop().await;
        assert_eq!(crate::test_host::verify(folder.path()).problems, []);
        (folder, now)
    }
}

/// The result of the spec.
pub(crate) fn result() -> Value {
    json!({
        "job_id": JOB,
        "agent_id": AGENT,
        "status": "SUCCESS",
        "output_data": {"entities": [{"type": "revenue", "value": 42000, "period": "Q3"}]},
        "execution_cost": 0.10,
        "execution_time_ms": 1250,
        "error_message": null,
        "timestamp_utc": "2026-02-11T14:15:09Z"
    })
}

pub(crate) fn failure(why: &str) -> Value {
    json!({"job_id": JOB, "agent_id": AGENT, "status": "FAILURE", "output_data": null,
        "execution_cost": 0.0, "execution_time_ms": 5, "error_message": why})
}

pub(crate) fn result_path() -> String {
    format!("/jobs/{JOB}/result")
}
