//! Sign-in links and invitations.

use chorus_wire::rest::sign_in::{Invitation, NewInvitation, SignIn, SignInLink, SignedIn};
use reqwest::Method;

use crate::{Client, Error, Result};

impl Client {
    /// `POST /v1/sign-in-links`.
    pub async fn sign_in_link(&self) -> Result<SignInLink> {
        self.send(Method::POST, self.path("v1/sign-in-links"), &serde_json::json!({})).await
    }

    /// `POST /v1/invitations`.
    pub async fn invite(&self, new: &NewInvitation) -> Result<Invitation> {
        self.send(Method::POST, self.path("v1/invitations"), new).await
    }
}

/// Uses a sign-in link or accepts an invitation; it works once.
pub async fn sign_in(link: &str, display_name: Option<String>) -> Result<SignedIn> {
    let client = Client::new(link, "")?;
    let url = client.base_url().trim_end_matches('/').parse();
    let url = url.map_err(|_| Error::Address(format!("{link:?} is no link of a host")))?;
    client.send(Method::POST, url, &SignIn { display_name }).await
}
