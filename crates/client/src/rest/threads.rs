//! Threads.

use chorus_wire::rest::pauses::{Continued, Pauses};
use chorus_wire::rest::threads::{ListThreads, NewThread, Thread, ThreadPatch, Threads};
use reqwest::Method;

use crate::http::with_query;
use crate::{Client, Result};

impl Client {
    /// `GET /v1/threads`
    pub async fn threads(&self, query: &ListThreads) -> Result<Threads> {
        self.get(with_query(self.path("v1/threads"), query)).await
    }

    /// `POST /v1/threads`
    pub async fn open_thread(&self, thread: &NewThread) -> Result<Thread> {
        self.send(Method::POST, self.path("v1/threads"), thread).await
    }

    /// `GET /v1/threads/{id}`
    pub async fn thread(&self, id: &str) -> Result<Thread> {
        self.get(self.url(&["v1", "threads", id])).await
    }

    /// `PATCH /v1/threads/{id}`
    pub async fn change_thread(&self, id: &str, patch: &ThreadPatch) -> Result<Thread> {
        self.send(Method::PATCH, self.url(&["v1", "threads", id]), patch).await
    }

    /// `GET /v1/pauses`
    pub async fn pauses(&self) -> Result<Pauses> {
        self.get(self.path("v1/pauses")).await
    }

    /// `POST /v1/channels/{id}/continue`
    pub async fn go_on(&self, conversation: &str) -> Result<Continued> {
        let url = self.url(&["v1", "channels", conversation, "continue"]);
        self.send(Method::POST, url, &serde_json::json!({})).await
    }

    /// `POST /v1/threads/{id}/continue`
    pub async fn thread_goes_on(&self, thread: &str) -> Result<Continued> {
        let url = self.url(&["v1", "threads", thread, "continue"]);
        self.send(Method::POST, url, &serde_json::json!({})).await
    }
}
