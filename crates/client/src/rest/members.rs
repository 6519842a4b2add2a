//! Members, roles, streams, sessions, tokens.

use chorus_wire::rest::members::{Agents, Member, MemberPatch, Members, NewMember, Whoami};
use chorus_wire::rest::roles::{NewRole, Role, Roles};
use chorus_wire::rest::sessions::Sessions;
use chorus_wire::rest::streams::{NewStream, Stream, Streams};
use chorus_wire::rest::tokens::{ListTokens, NewToken, RevokedTokens, RotatedKey, Token, Tokens};
use reqwest::Method;

use crate::http::with_query;
use crate::{Client, Result};

impl Client {
    /// `GET /v1/whoami`
    pub async fn whoami(&self) -> Result<Whoami> {
        self.get(self.path("v1/whoami")).await
    }

    /// `GET /v1/members`
    pub async fn members(&self) -> Result<Members> {
        self.get(self.path("v1/members")).await
    }

    /// `POST /v1/members`
    pub async fn add_member(&self, member: &NewMember) -> Result<Member> {
        self.send(Method::POST, self.path("v1/members"), member).await
    }

    /// `GET /v1/members/{id}`
    pub async fn member(&self, id: &str) -> Result<Member> {
        self.get(self.url(&["v1", "members", id])).await
    }

    /// `PATCH /v1/members/{id}`
    pub async fn change_member(&self, id: &str, patch: &MemberPatch) -> Result<Member> {
        self.send(Method::PATCH, self.url(&["v1", "members", id]), patch).await
    }

    /// `DELETE /v1/members/{id}`
    pub async fn remove_member(&self, id: &str) -> Result<()> {
        self.act(Method::DELETE, self.url(&["v1", "members", id])).await
    }

    /// `POST /v1/members/{id}/pause`
    pub async fn pause_agent(&self, id: &str) -> Result<Member> {
        self.send(Method::POST, self.url(&["v1", "members", id, "pause"]), &serde_json::json!({}))
            .await
    }

    /// `POST /v1/members/{id}/continue`
    pub async fn continue_agent(&self, id: &str) -> Result<Member> {
        self.send(
            Method::POST,
            self.url(&["v1", "members", id, "continue"]),
            &serde_json::json!({}),
        )
        .await
    }

    /// `GET /v1/agents`
    pub async fn agents(&self) -> Result<Agents> {
        self.get(self.path("v1/agents")).await
    }

    /// `GET /v1/roles`
    pub async fn roles(&self) -> Result<Roles> {
        self.get(self.path("v1/roles")).await
    }

    /// `POST /v1/roles`
    pub async fn add_role(&self, name: &str) -> Result<Role> {
        let role = NewRole { name: name.to_owned() };
        self.send(Method::POST, self.path("v1/roles"), &role).await
    }

    /// `DELETE /v1/roles/{name}`
    pub async fn remove_role(&self, name: &str) -> Result<()> {
        self.act(Method::DELETE, self.url(&["v1", "roles", name])).await
    }

    /// `PUT /v1/roles/{name}/members/{id}`
    pub async fn add_to_role(&self, name: &str, member: &str) -> Result<()> {
        self.act(Method::PUT, self.url(&["v1", "roles", name, "members", member])).await
    }

    /// `DELETE /v1/roles/{name}/members/{id}`
    pub async fn remove_from_role(&self, name: &str, member: &str) -> Result<()> {
        self.act(Method::DELETE, self.url(&["v1", "roles", name, "members", member])).await
    }

    /// `GET /v1/streams`
    pub async fn streams(&self) -> Result<Streams> {
        self.get(self.path("v1/streams")).await
    }

    /// `POST /v1/streams`
    pub async fn add_stream(&self, stream: &NewStream) -> Result<Stream> {
        self.send(Method::POST, self.path("v1/streams"), stream).await
    }

    /// `GET /v1/sessions`
    pub async fn sessions(&self) -> Result<Sessions> {
        self.get(self.path("v1/sessions")).await
    }

    /// `POST /v1/tokens`
    pub async fn issue_token(&self, token: &NewToken) -> Result<Token> {
        self.send(Method::POST, self.path("v1/tokens"), token).await
    }

    /// `GET /v1/tokens`
    pub async fn tokens(&self, member: Option<&str>) -> Result<Tokens> {
        let query = ListTokens { member: member.map(str::to_owned) };
        self.get(with_query(self.path("v1/tokens"), &query)).await
    }

    /// `DELETE /v1/members/{id}/tokens`
    pub async fn revoke_tokens(&self, member: &str) -> Result<RevokedTokens> {
        let url = self.url(&["v1", "members", member, "tokens"]);
        self.json(self.request(Method::DELETE, url)).await
    }

    /// `POST /v1/tokens/rotate`
    pub async fn rotate_key(&self) -> Result<RotatedKey> {
        self.json(self.request(Method::POST, self.path("v1/tokens/rotate"))).await
    }

    /// `DELETE /v1/tokens/{jti}`
    pub async fn revoke_token(&self, jti: &str) -> Result<()> {
        self.act(Method::DELETE, self.url(&["v1", "tokens", jti])).await
    }
}
