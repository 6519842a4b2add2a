//! Ending a token that was kept somewhere, as whose it is.

use chorus_client::{Client, Error};
use chorus_core::model::error::Code;
use serde::Serialize;

/// What became of a token.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Ended {
    /// It was revoked now.
    Revoked { jti: String },
    /// It had ended already, or was never one of this host.
    Over,
    /// The host could not be asked.
    Unknown { why: String },
}

/// Revokes a token, as the member whose it is.
pub(crate) async fn end(url: &str, token: &str) -> Ended {
    let revoked = async {
        let client = Client::new(url, token)?;
        let jti = client.whoami().await?.jti;
        if let Some(jti) = &jti {
            client.revoke_token(jti).await?;
        }
        Ok::<_, Error>(jti)
    };
    match revoked.await {
        Ok(Some(jti)) => Ended::Revoked { jti },
        Ok(None) => Ended::Over,
        Err(error) if error.code() == Some(Code::Unauthorized) => Ended::Over,
        Err(error) => Ended::Unknown { why: error.to_string() },
    }
}
