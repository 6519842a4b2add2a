//! Who is calling: the member behind a token, and what a turn's token adds to it.

use std::sync::Arc;

use arc_swap::ArcSwap;
use chorus_core::model::error::Refusal;
use chorus_core::model::ids::MemberKey;
use chorus_core::state::directory::Directory;

use super::clock::HostClock;
use crate::auth::{self, Auth, Caller, Parent, Use, Workspace};

/// Finds the caller behind a token.
pub(crate) struct Identity {
    pub(super) auth: Arc<Auth>,
    pub(super) clock: Arc<HostClock>,
    pub(super) directory: Arc<ArcSwap<Directory>>,
    pub(super) workspace_id: Arc<str>,
    pub(super) workspace_name: Arc<str>,
}

impl Identity {
    /// The caller behind a bearer token of anybody trusted.
    pub(crate) async fn identify(&self, bearer: &str) -> Result<Caller, Refusal> {
        self.auth.meet(bearer, self.clock.now()).await?;
        self.caller(bearer)
    }

    /// The caller behind a bearer token that the host signed, or that was identified lately.
    pub(crate) fn caller(&self, bearer: &str) -> Result<Caller, Refusal> {
        self.auth.verify(bearer, &self.directory.load(), self.clock.now())
    }

    /// Who is invited by an invitation.
    pub(crate) fn invited(&self, invitation: &str) -> Result<Caller, Refusal> {
        let directory = self.directory.load();
        self.auth.verify_token(invitation, Use::Invitation, &directory, self.clock.now())
    }

    /// Whose session a browser's cookie holds.
    pub(crate) fn in_browser(&self, cookie: &str) -> Result<Caller, Refusal> {
        self.auth.verify_token(cookie, Use::Browser, &self.directory.load(), self.clock.now())
    }

    /// Why a token is no more that stems from these.
    pub(super) fn ended(&self, member: MemberKey, parents: &[Parent]) -> Option<String> {
        auth::ended(parents, member, &self.directory.load(), self.clock.now())
    }

    /// Whether a caller that stays connected still may.
    pub(crate) fn still_valid(&self, caller: &Caller) -> bool {
        self.auth.still_valid(caller, &self.directory.load(), self.clock.now())
    }

    /// The caller, in the turn that an argument names.
    pub(crate) fn in_turn(&self, caller: &Caller, turn: Option<&str>) -> Result<Caller, Refusal> {
        match turn {
            Some(token) => {
                self.auth.in_turn(caller, token, &self.directory.load(), self.clock.now())
            }
            None => Ok(caller.clone()),
        }
    }

    /// As callers may name it.
    pub(crate) fn workspace(&self) -> Workspace<'_> {
        Workspace { id: &self.workspace_id, name: &self.workspace_name }
    }
}
