//! Agents that are reached by a connection string.

use chorus_wire::rest::endpoints::{
    Added, Endpoint, EndpointPatch, Endpoints, NewEndpoint, RotateEndpoint, Tested,
};
use reqwest::Method;
use serde_json::json;

use crate::{Client, Result};

impl Client {
    /// `GET /v1/endpoints`
    pub async fn endpoints(&self) -> Result<Endpoints> {
        self.get(self.url(&["v1", "endpoints"])).await
    }

    /// `POST /v1/endpoints`
    pub async fn add_endpoint(&self, new: &NewEndpoint) -> Result<Added> {
        self.send(Method::POST, self.url(&["v1", "endpoints"]), new).await
    }

    /// `GET /v1/endpoints/{member}`
    pub async fn endpoint(&self, member: &str) -> Result<Endpoint> {
        self.get(self.url(&["v1", "endpoints", member])).await
    }

    /// `PATCH /v1/endpoints/{member}`
    pub async fn change_endpoint(&self, member: &str, patch: &EndpointPatch) -> Result<Endpoint> {
        self.send(Method::PATCH, self.url(&["v1", "endpoints", member]), patch).await
    }

    /// `DELETE /v1/endpoints/{member}`
    pub async fn remove_endpoint(&self, member: &str) -> Result<()> {
        self.act(Method::DELETE, self.url(&["v1", "endpoints", member])).await
    }

    /// `POST /v1/endpoints/{member}/rotate`
    pub async fn rotate_endpoint(&self, member: &str, new: &RotateEndpoint) -> Result<Added> {
        self.send(Method::POST, self.url(&["v1", "endpoints", member, "rotate"]), new).await
    }

    /// `POST /v1/endpoints/{member}/test`
    pub async fn test_endpoint(&self, member: &str) -> Result<Tested> {
        let url = self.url(&["v1", "endpoints", member, "test"]);
        self.send(Method::POST, url, &json!({})).await
    }
}
