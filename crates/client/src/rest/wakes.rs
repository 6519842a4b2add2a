//! Wakes.

use chorus_wire::rest::wakes::{ListWakes, NewWake, OpenedWake, Wakes};
use reqwest::Method;

use crate::http::with_query;
use crate::{Client, Result};

impl Client {
    /// `GET /v1/wakes`
    pub async fn wakes(&self, query: &ListWakes) -> Result<Wakes> {
        self.get(with_query(self.path("v1/wakes"), query)).await
    }

    /// `POST /v1/wakes`
    pub async fn wake(&self, new: &NewWake) -> Result<OpenedWake> {
        self.send(Method::POST, self.path("v1/wakes"), new).await
    }
}
