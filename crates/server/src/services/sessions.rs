//! Sessions: live runs of agents and connections of people (threads spec section 2.4).

use std::sync::Arc;

use arc_swap::ArcSwap;
use chorus_core::commands::directory;
use chorus_core::model::caller::By;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::SessionKey;
use chorus_core::model::member::Session;
use chorus_core::model::offer::Offer;
use chorus_core::queries;
use chorus_core::state::directory::Directory;
use chorus_wire::attention::initialize::SessionHello;
use chorus_wire::rest::sessions::Sessions;

use super::commands::Commands;
use super::ids;
use crate::auth::Caller;
use crate::view::members;

/// Sessions of agents.
pub(crate) struct SessionService {
    pub(super) commands: Arc<Commands>,
    pub(super) directory: Arc<ArcSwap<Directory>>,
}

impl SessionService {
    pub(crate) fn sessions(&self, caller: &Caller) -> Result<Sessions, Refusal> {
        caller.must_not_be_a_turn()?;
        let directory = self.directory.load();
        let sessions = directory.sessions.values();
        Ok(Sessions { sessions: sessions.map(|s| members::session(&directory, s)).collect() })
    }

    /// A connection begins: its session is made, or taken up again.
    pub(crate) async fn open_session(
        &self,
        caller: &Caller,
        hello: Option<&SessionHello>,
    ) -> Result<Arc<Session>, Refusal> {
        caller.must_not_be_a_turn()?;
        let stated = hello.and_then(|h| h.id.as_deref()).map(ids::session).transpose()?;
        if let (Some(mine), Some(stated)) = (caller.session, stated)
            && mine != stated
        {
            return Err(Refusal::new(Code::ClaimMismatch, "the token is for another session"));
        }
        let command = directory::OpenSession {
            uid: stated.or(caller.session),
            runtime: hello.and_then(|h| h.runtime.clone()).unwrap_or_default(),
            managed: hello.and_then(|h| h.managed).unwrap_or(false),
            resumable: hello.and_then(|h| h.resumable).unwrap_or(false),
            ..Default::default()
        };
        self.commands.change(caller.by, command).await
    }

    /// The session's connection ended.
    pub(crate) fn close_session(&self, by: By, session: SessionKey) {
        self.commands.hand(by, directory::CloseSession { session });
    }

    /// What is still to be offered to the session, oldest first; whether there is more.
    pub(crate) async fn owed(
        &self,
        by: By,
        session: SessionKey,
        limit: usize,
    ) -> Result<(Vec<Offer>, bool), Refusal> {
        let found = self.commands.submit(by, queries::Owed { session, limit }).await?;
        Ok((found.offers, found.more))
    }
}
