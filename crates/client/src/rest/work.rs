//! Claims and deliveries.

use chorus_wire::rest::claims::{Claim, Claims, NewClaim};
use chorus_wire::rest::deliveries::{Deliveries, ListDeliveries};
use chorus_wire::rest::digests::{Digests, ListDigests};
use reqwest::Method;

use crate::http::with_query;
use crate::{Client, Result};

impl Client {
    /// `GET /v1/claims`
    pub async fn claims(&self) -> Result<Claims> {
        self.get(self.path("v1/claims")).await
    }

    /// `POST /v1/claims`
    pub async fn claim(&self, event: &str) -> Result<Claim> {
        let claim = NewClaim { event: event.to_owned() };
        self.send(Method::POST, self.path("v1/claims"), &claim).await
    }

    /// `DELETE /v1/claims/{event}`
    pub async fn release(&self, event: &str) -> Result<()> {
        self.act(Method::DELETE, self.url(&["v1", "claims", event])).await
    }

    /// `GET /v1/deliveries`
    pub async fn deliveries(&self, query: &ListDeliveries) -> Result<Deliveries> {
        self.get(with_query(self.path("v1/deliveries"), query)).await
    }

    /// `GET /v1/digests`
    pub async fn digests(&self, query: &ListDigests) -> Result<Digests> {
        self.get(with_query(self.path("v1/digests"), query)).await
    }

    /// `POST /v1/deliveries/{id}/end`
    pub async fn end_delivery(&self, id: &str) -> Result<()> {
        self.act(Method::POST, self.url(&["v1", "deliveries", id, "end"])).await
    }

    /// `POST /v1/deliveries/{id}/redeliver`
    pub async fn redeliver(&self, id: &str) -> Result<()> {
        self.act(Method::POST, self.url(&["v1", "deliveries", id, "redeliver"])).await
    }
}
