//! Conversations and their rosters.

use chorus_wire::rest::channels::{
    Channel, ChannelPatch, Channels, Leave, ListChannels, NewChannel, Seat, SeatPut,
};
use chorus_wire::rest::cursors::{Cursor, CursorPut};
use chorus_wire::rest::index::{Index, ListIndex};
use chorus_wire::rest::search::Scope;
use reqwest::Method;

use crate::http::with_query;
use crate::{Client, Result};

impl Client {
    /// `GET /v1/channels`
    pub async fn channels(&self) -> Result<Channels> {
        self.get(self.path("v1/channels")).await
    }

    /// `GET /v1/index`
    pub async fn index(&self, query: &ListIndex) -> Result<Index> {
        self.get(with_query(self.path("v1/index"), query)).await
    }

    /// `GET /v1/channels` of that scope
    pub async fn channels_of(&self, scope: Scope) -> Result<Channels> {
        let query = ListChannels { scope: Some(scope) };
        self.get(with_query(self.path("v1/channels"), &query)).await
    }

    /// `POST /v1/channels`
    pub async fn create_channel(&self, channel: &NewChannel) -> Result<Channel> {
        self.send(Method::POST, self.path("v1/channels"), channel).await
    }

    /// `GET /v1/channels/{id}`
    pub async fn channel(&self, id: &str) -> Result<Channel> {
        self.get(self.url(&["v1", "channels", id])).await
    }

    /// `PATCH /v1/channels/{id}`
    pub async fn change_channel(&self, id: &str, patch: &ChannelPatch) -> Result<Channel> {
        self.send(Method::PATCH, self.url(&["v1", "channels", id]), patch).await
    }

    /// `PUT /v1/channels/{id}/members/{member}`
    pub async fn seat(&self, id: &str, member: &str, put: &SeatPut) -> Result<Seat> {
        let url = self.url(&["v1", "channels", id, "members", member]);
        self.send(Method::PUT, url, put).await
    }

    /// `DELETE /v1/channels/{id}/members/{member}`
    pub async fn unseat(&self, id: &str, member: &str) -> Result<()> {
        self.act(Method::DELETE, self.url(&["v1", "channels", id, "members", member])).await
    }

    /// `POST /v1/channels/{id}/leave`
    pub async fn leave(&self, id: &str, ask: &Leave) -> Result<()> {
        self.tell(Method::POST, self.url(&["v1", "channels", id, "leave"]), ask).await
    }

    /// `GET /v1/cursors/{conversation}`
    pub async fn cursor(&self, conversation: &str) -> Result<Cursor> {
        self.get(self.url(&["v1", "cursors", conversation])).await
    }

    /// `PUT /v1/cursors/{conversation}`
    pub async fn set_cursor(&self, conversation: &str, last_read_seq: u64) -> Result<Cursor> {
        let url = self.url(&["v1", "cursors", conversation]);
        self.send(Method::PUT, url, &CursorPut { last_read_seq }).await
    }
}
