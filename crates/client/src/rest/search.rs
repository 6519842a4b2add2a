//! Searching what was said.

use chorus_wire::rest::search::{Found, Search};

use crate::http::with_query;
use crate::{Client, Result};

impl Client {
    /// `GET /v1/search`
    pub async fn search(&self, query: &Search) -> Result<Found> {
        self.get(with_query(self.path("v1/search"), query)).await
    }
}
