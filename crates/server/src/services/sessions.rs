//! Sessions: live runs of agents and connections of people (threads spec section 2.4).

use std::sync::Arc;

use arc_swap::ArcSwap;
use chorus_core::commands::directory::SessionName;
use chorus_core::commands::{directory, wakes};
use chorus_core::model::caller::{Authority, By};
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::{Prefix, SessionKey};
use chorus_core::model::member::{Session, SessionStatus};
use chorus_core::model::offer::Offer;
use chorus_core::queries;
use chorus_core::state::directory::Directory;
use chorus_wire::attention::initialize::SessionHello;
use chorus_wire::rest::sessions::Sessions;
use chorus_wire::threads::{HeartbeatSession, Recorded};

use super::clock::HostClock;
use super::commands::Commands;
use super::ids;
use crate::auth::Caller;
use crate::view::members;

/// Sessions of agents.
pub(crate) struct SessionService {
    pub(super) commands: Arc<Commands>,
    pub(super) clock: Arc<HostClock>,
    pub(super) directory: Arc<ArcSwap<Directory>>,
    pub(super) workspace_id: Arc<str>,
    pub(super) workspace_name: Arc<str>,
}

impl SessionService {
    pub(crate) fn sessions(&self, caller: &Caller) -> Result<Sessions, Refusal> {
        caller.must_not_be_a_turn()?;
        let directory = self.directory.load();
        let now = self.clock.now();
        let shown = directory.sessions.values().map(|session| {
            let mut shown = members::session(&directory, session, now);
            let is_private =
                session.member != caller.by.member && caller.by.authority < Authority::Orchestrator;
            if is_private {
                // Where it runs, and how it is resumed there, concerns its own machine.
                (shown.folder, shown.resume_id) = (None, None);
            }
            shown
        });
        Ok(Sessions { sessions: shown.collect() })
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
            runner: hello.and_then(|h| h.runner).unwrap_or(false),
            folder: hello.and_then(|h| h.folder.as_deref().map(Into::into)),
            resume_id: hello.and_then(|h| h.resume_id.as_deref().map(Into::into)),
        };
        self.commands.change(caller.by, command).await
    }

    /// `heartbeat_session`: a program says that its session is there.
    pub(crate) async fn heartbeat(
        &self,
        caller: &Caller,
        args: HeartbeatSession,
    ) -> Result<Recorded, Refusal> {
        caller.must_not_be_a_turn()?;
        let own = [&*self.workspace_id, &*self.workspace_name];
        if args.workspace_id.as_deref().is_some_and(|id| !own.contains(&id)) {
            let why = "workspace_id: the token is for another workspace";
            return Err(Refusal::new(Code::OutOfScopeWorkspace, why));
        }
        let named = args.session_id.as_deref();
        let own = caller.session.map(|uid| uid.show(Prefix::Session));
        let name = named.or(own.as_deref()).ok_or_else(|| {
            Refusal::invalid("session_id: say which session; your token names none")
        })?;
        let command = directory::Heartbeat {
            member: args.agent_id,
            session: SessionName::read(name),
            runtime: args.runtime.unwrap_or_default(),
            resumable: args.resumable,
            status: args.status.map_or(SessionStatus::Idle, |status| status.0),
        };
        let session = self.commands.change(caller.by, command).await?;
        Ok(Recorded {
            ok: true,
            recorded_at: self.clock.now().into(),
            session_id: session.uid.show(Prefix::Session),
        })
    }

    /// The session's connection takes notifications from now on.
    pub(crate) fn listens(&self, by: By, session: &Session) {
        if session.runner {
            self.commands.hand(by, wakes::RunnerListens { session: session.key });
        }
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
