//! The workspaces beside the host's own, for whoever runs the host.

use std::sync::Arc;

use chorus_core::model::audit::Action;
use chorus_core::model::caller::Authority;
use chorus_core::model::error::{Code, Refusal};
use chorus_wire::rest::workspaces::{CreatedWorkspace, NewWorkspace, Workspace, WorkspaceList};

use super::audit::AuditService;
use crate::auth::Caller;
use crate::workspaces::{PREFIX, Told, Workspaces};

/// How many are listed, unless another number is asked for, and at most.
const PAGE: usize = 100;
const LARGEST_PAGE: usize = 1_000;

pub(crate) struct WorkspaceService {
    pub(super) audit: Arc<AuditService>,
    pub(super) public_url: Arc<str>,
    pub(super) workspaces: Option<Arc<Workspaces>>,
}

impl WorkspaceService {
    /// The workspaces, for the operator of the host's own. Nobody in another one is told of any.
    fn of(&self, caller: &Caller) -> Result<&Arc<Workspaces>, Refusal> {
        if caller.authority() < Authority::Operator {
            let why = "only an operator of the host's own workspace may run the others";
            return Err(Refusal::new(Code::InsufficientAuthority, why));
        }
        caller.must_not_be_a_turn()?;
        self.workspaces.as_ref().ok_or_else(|| {
            let why = "workspaces are made and run at the host's own one, and this is another";
            Refusal::new(Code::Conflict, why)
        })
    }

    /// The same for who changes something, whose refusal is kept.
    fn to_change(
        &self,
        caller: &Caller,
        act: Action,
        name: &str,
    ) -> Result<&Arc<Workspaces>, Refusal> {
        let all = self.of(caller);
        self.audit.keep_refusal(
            caller,
            act,
            name,
            all.as_ref().map(|_| ()).map_err(Clone::clone),
        )?;
        all
    }

    /// Keeps what was done.
    async fn done(&self, caller: &Caller, act: Action, told: Told) -> Result<Workspace, Refusal> {
        self.audit.note(caller.by, act, &told.entry.name, None).await?;
        Ok(self.shown(told))
    }

    /// `GET /v1/workspaces`.
    pub(crate) async fn list(
        &self,
        caller: &Caller,
        after: &str,
        limit: Option<u32>,
    ) -> Result<WorkspaceList, Refusal> {
        let all = self.of(caller)?;
        let limit = limit.map_or(PAGE, |limit| limit as usize);
        if !(1..=LARGEST_PAGE).contains(&limit) {
            return Err(Refusal::invalid(format!("limit is from 1 to {LARGEST_PAGE}")));
        }
        let mut told = all.list(after, limit + 1).await?;
        let has_more = told.len() > limit;
        told.truncate(limit);
        let workspaces = told.into_iter().map(|told| self.shown(told)).collect();
        Ok(WorkspaceList { workspaces, has_more })
    }

    /// `POST /v1/workspaces`.
    pub(crate) async fn create(
        &self,
        caller: &Caller,
        new: &NewWorkspace,
    ) -> Result<CreatedWorkspace, Refusal> {
        let act = Action::CreateWorkspace;
        let (told, access) = self.to_change(caller, act, &new.name)?.create(&new.name).await?;
        let workspace = self.done(caller, act, told).await?;
        Ok(CreatedWorkspace { workspace, sign_in_url: access.link })
    }

    /// `POST /v1/workspaces/{name}/sign-in-link`.
    pub(crate) async fn sign_in_link(
        &self,
        caller: &Caller,
        name: &str,
    ) -> Result<CreatedWorkspace, Refusal> {
        let act = Action::LinkToWorkspace;
        let (told, access) = self.to_change(caller, act, name)?.access(name).await?;
        let workspace = self.done(caller, act, told).await?;
        Ok(CreatedWorkspace { workspace, sign_in_url: access.link })
    }

    /// `POST /v1/workspaces/{name}/suspend`.
    pub(crate) async fn suspend(&self, caller: &Caller, name: &str) -> Result<Workspace, Refusal> {
        let act = Action::SuspendWorkspace;
        let told = self.to_change(caller, act, name)?.suspend(name).await?;
        self.done(caller, act, told).await
    }

    /// `POST /v1/workspaces/{name}/resume`.
    pub(crate) async fn resume(&self, caller: &Caller, name: &str) -> Result<Workspace, Refusal> {
        let act = Action::ResumeWorkspace;
        let told = self.to_change(caller, act, name)?.resume(name).await?;
        self.done(caller, act, told).await
    }

    /// `DELETE /v1/workspaces/{name}`.
    pub(crate) async fn delete(&self, caller: &Caller, name: &str) -> Result<Workspace, Refusal> {
        let act = Action::DeleteWorkspace;
        let told = self.to_change(caller, act, name)?.delete(name).await?;
        self.done(caller, act, told).await
    }

    fn shown(&self, Told { entry, is_open, trouble, host }: Told) -> Workspace {
        Workspace {
            url: format!("{}{PREFIX}{}", self.public_url, entry.name),
            name: entry.name.to_string(),
            state: entry.state.name().to_owned(),
            created_at: entry.created_at.into(),
            removed_at: entry.removal_at.map(Into::into),
            open: is_open,
            trouble,
            host,
        }
    }
}
