//! Why, preview, and the event log.

use chorus_wire::rest::attention::{Preview, Why};
use chorus_wire::rest::events::{Events, ListEvents};
use chorus_wire::rest::messages::NewMessage;
use reqwest::Method;

use crate::http::{body, with_query};
use crate::sse::EventStream;
use crate::{Client, Result};

impl Client {
    /// `GET /v1/events/{id}/attention`
    pub async fn why(&self, event: &str) -> Result<Why> {
        self.get(self.url(&["v1", "events", event, "attention"])).await
    }

    /// `POST /v1/attention/preview`
    pub async fn preview(&self, message: &NewMessage) -> Result<Preview> {
        self.send(Method::POST, self.path("v1/attention/preview"), message).await
    }

    /// `GET /v1/events` as JSON
    pub async fn events(&self, query: &ListEvents) -> Result<Events> {
        self.get(with_query(self.path("v1/events"), query)).await
    }

    /// `GET /v1/events` as server-sent events: what is there after `after`, then what comes.
    pub async fn events_stream(
        &self,
        conversation: &str,
        after: Option<u64>,
    ) -> Result<EventStream> {
        self.stream_of(conversation, after, false).await
    }

    /// The same with what is in no log: progress, typing, receipts, and what agents do.
    pub async fn activity_stream(
        &self,
        conversation: &str,
        after: Option<u64>,
    ) -> Result<EventStream> {
        self.stream_of(conversation, after, true).await
    }

    async fn stream_of(
        &self,
        conversation: &str,
        after: Option<u64>,
        activity: bool,
    ) -> Result<EventStream> {
        let query = ListEvents { conversation: conversation.to_owned(), after, limit: None };
        let mut url = with_query(self.path("v1/events"), &query);
        if activity {
            url.query_pairs_mut().append_pair("activity", "true");
        }
        let request = self.request(Method::GET, url).header("accept", "text/event-stream");
        let answer = self.open(request).await?;
        if !answer.status().is_success() {
            return match body(answer).await {
                Err(error) => Err(error),
                Ok(_) => Err(crate::Error::Protocol("no stream".to_owned())),
            };
        }
        EventStream::new(answer)
    }
}
