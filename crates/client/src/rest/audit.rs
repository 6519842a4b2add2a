//! The audit log.

use chorus_wire::rest::audit::{Audit, ListAudit, SignedHeads};

use crate::http::with_query;
use crate::{Client, Result};

impl Client {
    /// `GET /v1/audit`
    pub async fn audit(&self, query: &ListAudit) -> Result<Audit> {
        self.get(with_query(self.path("v1/audit"), query)).await
    }

    /// `GET /v1/audit/heads`
    pub async fn heads(&self) -> Result<SignedHeads> {
        self.get(self.path("v1/audit/heads")).await
    }
}
