//! Inboxes.

use chorus_wire::rest::inboxes::{Inbox, InboxPatch, InboxString, Inboxes, NewInbox};
use reqwest::Method;

use crate::{Client, Result};

impl Client {
    /// `GET /v1/inboxes`
    pub async fn inboxes(&self) -> Result<Inboxes> {
        self.get(self.path("v1/inboxes")).await
    }

    /// `POST /v1/inboxes`
    pub async fn add_inbox(&self, new: &NewInbox) -> Result<InboxString> {
        self.send(Method::POST, self.path("v1/inboxes"), new).await
    }

    /// `GET /v1/inboxes/{id}`
    pub async fn inbox(&self, id: &str) -> Result<Inbox> {
        self.get(self.url(&["v1", "inboxes", id])).await
    }

    /// `PATCH /v1/inboxes/{id}`
    pub async fn change_inbox(&self, id: &str, patch: &InboxPatch) -> Result<Inbox> {
        self.send(Method::PATCH, self.url(&["v1", "inboxes", id]), patch).await
    }

    /// `POST /v1/inboxes/{id}/rotate`
    pub async fn rotate_inbox(&self, id: &str) -> Result<InboxString> {
        self.send(Method::POST, self.url(&["v1", "inboxes", id, "rotate"]), &serde_json::json!({}))
            .await
    }

    /// `DELETE /v1/inboxes/{id}`
    pub async fn remove_inbox(&self, id: &str) -> Result<()> {
        self.act(Method::DELETE, self.url(&["v1", "inboxes", id])).await
    }
}
