//! The workspaces beside the host's own, for whoever runs the host.

use std::sync::Arc;

use chorus_core::model::caller::Authority;
use chorus_core::model::error::{Code, Refusal};
use chorus_wire::rest::workspaces::{CreatedWorkspace, NewWorkspace, Workspace, WorkspaceList};

use crate::auth::Caller;
use crate::workspaces::{PREFIX, Told, Workspaces};

/// How many are listed, unless another number is asked for, and at most.
const PAGE: usize = 100;
const LARGEST_PAGE: usize = 1_000;

pub(crate) struct WorkspaceService {
    pub(super) public_url: Arc<str>,
    pub(super) workspaces: Option<Arc<Workspaces>>,
}

impl WorkspaceService {
    /// The workspaces, for the operator of the host's own. Nobody in another one is told of any.
    fn of(&self, caller: &Caller) -> Result<&Workspaces, Refusal> {
        if caller.authority() < Authority::Operator {
            let why = "only an operator of the host's own workspace may run the others";
            return Err(Refusal::new(Code::InsufficientAuthority, why));
        }
        caller.must_not_be_a_turn()?;
        self.workspaces.as_deref().ok_or_else(|| {
            let why = "workspaces are made and run at the host's own one, and this is another";
            Refusal::new(Code::Conflict, why)
        })
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
        let (told, access) = self.of(caller)?.create(&new.name).await?;
        Ok(CreatedWorkspace { workspace: self.shown(told), sign_in_url: access.link })
    }

    /// `POST /v1/workspaces/{name}/sign-in-link`.
    pub(crate) async fn sign_in_link(
        &self,
        caller: &Caller,
        name: &str,
    ) -> Result<CreatedWorkspace, Refusal> {
        let (told, access) = self.of(caller)?.access(name).await?;
        Ok(CreatedWorkspace { workspace: self.shown(told), sign_in_url: access.link })
    }

    /// `POST /v1/workspaces/{name}/suspend`.
    pub(crate) async fn suspend(&self, caller: &Caller, name: &str) -> Result<Workspace, Refusal> {
        Ok(self.shown(self.of(caller)?.suspend(name).await?))
    }

    /// `POST /v1/workspaces/{name}/resume`.
    pub(crate) async fn resume(&self, caller: &Caller, name: &str) -> Result<Workspace, Refusal> {
        Ok(self.shown(self.of(caller)?.resume(name).await?))
    }

    /// `DELETE /v1/workspaces/{name}`.
    pub(crate) async fn delete(&self, caller: &Caller, name: &str) -> Result<Workspace, Refusal> {
        Ok(self.shown(self.of(caller)?.delete(name).await?))
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
