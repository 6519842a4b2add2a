//! The hosts of the database.

use chorus_wire::rest::hosts::Hosts;

use crate::{Client, Result};

impl Client {
    /// `GET /v1/hosts`
    pub async fn hosts(&self) -> Result<Hosts> {
        self.get(self.path("v1/hosts")).await
    }
}
