//! Threads.

use chorus_wire::rest::feed::{Feed, ReadFeed};
use chorus_wire::rest::moderation::{AskModeration, Moderation};
use chorus_wire::rest::pauses::{Continued, Pauses};
use chorus_wire::rest::schedules::{NewSchedule, Schedule, SchedulePatch, Schedules};
use chorus_wire::rest::stimuli::{ListStimuli, NewStimulus, Stimuli, Stimulus};
use chorus_wire::rest::thread_work::{Promote, WorkPatch};
use chorus_wire::rest::threads::{ListThreads, NewThread, Thread, ThreadPatch, Threads};
use chorus_wire::rest::turns::Turns;
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

    /// `PATCH /v1/threads/{id}/work`
    pub async fn change_work(&self, id: &str, patch: &WorkPatch) -> Result<Thread> {
        self.send(Method::PATCH, self.url(&["v1", "threads", id, "work"]), patch).await
    }

    /// `POST /v1/messages/{id}/promote`
    pub async fn promote(&self, message: &str, promote: &Promote) -> Result<Thread> {
        self.send(Method::POST, self.url(&["v1", "messages", message, "promote"]), promote).await
    }

    /// `GET /v1/channels/{id}/feed`
    pub async fn feed(&self, channel: &str, query: &ReadFeed) -> Result<Feed> {
        self.get(with_query(self.url(&["v1", "channels", channel, "feed"]), query)).await
    }

    /// `GET /v1/channels/{id}/turns`
    pub async fn turns(&self, channel: &str) -> Result<Turns> {
        self.get(self.url(&["v1", "channels", channel, "turns"])).await
    }

    /// `GET /v1/channels/{id}/moderation`
    pub async fn moderation(&self, channel: &str, query: &AskModeration) -> Result<Moderation> {
        self.get(with_query(self.url(&["v1", "channels", channel, "moderation"]), query)).await
    }

    /// `DELETE /v1/channels/{id}/turns/{subject}/{member}`
    pub async fn break_turn(&self, channel: &str, subject: &str, member: &str) -> Result<()> {
        self.act(Method::DELETE, self.url(&["v1", "channels", channel, "turns", subject, member]))
            .await
    }

    /// `GET /v1/channels/{id}/schedules`
    pub async fn schedules(&self, channel: &str) -> Result<Schedules> {
        self.get(self.url(&["v1", "channels", channel, "schedules"])).await
    }

    /// `POST /v1/channels/{id}/schedules`
    pub async fn add_schedule(&self, channel: &str, new: &NewSchedule) -> Result<Schedule> {
        self.send(Method::POST, self.url(&["v1", "channels", channel, "schedules"]), new).await
    }

    /// `PATCH /v1/channels/{id}/schedules/{schedule}`
    pub async fn change_schedule(
        &self,
        channel: &str,
        id: &str,
        patch: &SchedulePatch,
    ) -> Result<Schedule> {
        let url = self.url(&["v1", "channels", channel, "schedules", id]);
        self.send(Method::PATCH, url, patch).await
    }

    /// `DELETE /v1/channels/{id}/schedules/{schedule}`
    pub async fn remove_schedule(&self, channel: &str, id: &str) -> Result<()> {
        self.act(Method::DELETE, self.url(&["v1", "channels", channel, "schedules", id])).await
    }

    /// `GET /v1/channels/{id}/stimuli`
    pub async fn stimuli(&self, channel: &str, query: &ListStimuli) -> Result<Stimuli> {
        self.get(with_query(self.url(&["v1", "channels", channel, "stimuli"]), query)).await
    }

    /// `POST /v1/channels/{id}/stimuli`
    pub async fn add_stimulus(&self, channel: &str, new: &NewStimulus) -> Result<Stimulus> {
        self.send(Method::POST, self.url(&["v1", "channels", channel, "stimuli"]), new).await
    }

    /// `POST /v1/channels/{id}/stimuli/{stimulus}/cancel`, or `retry`.
    pub async fn steer_stimulus(&self, channel: &str, id: &str, how: &str) -> Result<Stimulus> {
        let url = self.url(&["v1", "channels", channel, "stimuli", id, how]);
        self.send(Method::POST, url, &serde_json::json!({})).await
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
