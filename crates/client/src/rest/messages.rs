//! Messages and reactions.

use chorus_core::model::event::Reason;
use chorus_core::model::reaction::Signal;
use chorus_wire::rest::messages::{
    Erasure, ListMessages, Message, MessagePatch, Messages, NewMessage, Posted, ReactionAnswer,
    ReactionPut,
};
use reqwest::Method;

use crate::http::with_query;
use crate::{Client, Result};

impl Client {
    /// `POST /v1/messages`
    pub async fn post(&self, message: &NewMessage) -> Result<Posted> {
        self.send(Method::POST, self.path("v1/messages"), message).await
    }

    /// `GET /v1/messages`
    pub async fn messages(&self, query: &ListMessages) -> Result<Messages> {
        self.get(with_query(self.path("v1/messages"), query)).await
    }

    /// `GET /v1/messages/{id}`
    pub async fn message(&self, id: &str) -> Result<Message> {
        self.get(self.url(&["v1", "messages", id])).await
    }

    /// `PATCH /v1/messages/{id}`
    pub async fn edit_message(&self, id: &str, patch: &MessagePatch) -> Result<Message> {
        self.send(Method::PATCH, self.url(&["v1", "messages", id]), patch).await
    }

    /// `DELETE /v1/messages/{id}`
    pub async fn delete_message(&self, id: &str) -> Result<()> {
        self.act(Method::DELETE, self.url(&["v1", "messages", id])).await
    }

    /// `POST /v1/messages/{id}/erase`
    pub async fn erase_message(&self, id: &str, reason: Reason) -> Result<Message> {
        let url = self.url(&["v1", "messages", id, "erase"]);
        self.send(Method::POST, url, &Erasure { reason: reason.into() }).await
    }

    /// `PUT /v1/messages/{id}/reactions/{signal}`
    pub async fn react(
        &self,
        id: &str,
        signal: Signal,
        eta: Option<String>,
    ) -> Result<ReactionAnswer> {
        let url = self.url(&["v1", "messages", id, "reactions", signal.name()]);
        self.send(Method::PUT, url, &ReactionPut { eta }).await
    }

    /// `DELETE /v1/messages/{id}/reactions/{signal}`
    pub async fn unreact(&self, id: &str, signal: Signal) -> Result<()> {
        let url = self.url(&["v1", "messages", id, "reactions", signal.name()]);
        self.act(Method::DELETE, url).await
    }
}
