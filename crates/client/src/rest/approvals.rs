//! What waits for a person.

use chorus_wire::rest::approvals::{Approval, Approvals, Decision, ListApprovals};
use reqwest::Method;

use crate::http::with_query;
use crate::{Client, Result};

impl Client {
    /// `GET /v1/approvals`
    pub async fn approvals(&self, query: &ListApprovals) -> Result<Approvals> {
        self.get(with_query(self.path("v1/approvals"), query)).await
    }

    /// `POST /v1/approvals/{id}`
    pub async fn decide_approval(&self, id: &str, decision: &Decision) -> Result<Approval> {
        self.send(Method::POST, self.url(&["v1", "approvals", id]), decision).await
    }
}
