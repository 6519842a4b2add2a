//! Searching what was said, and ids.

use chorus_wire::rest::ids::Ids;
use chorus_wire::rest::search::{Found, Search};

use crate::http::with_query;
use crate::{Client, Result};

impl Client {
    /// `GET /v1/ids/{short}`
    pub async fn ids(&self, short: &str) -> Result<Ids> {
        self.get(self.url(&["v1", "ids", short])).await
    }

    /// `GET /v1/search`
    pub async fn search(&self, query: &Search) -> Result<Found> {
        self.get(with_query(self.path("v1/search"), query)).await
    }
}
