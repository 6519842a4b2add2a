//! The workspaces beside the host's own, for whoever runs the host.

use std::fs::File;
use std::sync::Arc;

use axum::body::Bytes;
use chorus_core::model::audit::Action;
use chorus_core::model::caller::Authority;
use chorus_core::model::error::{Code, Refusal};
use chorus_store::catalog::Quota;
use chorus_wire::rest::workspaces::{
    CreatedWorkspace, NewWorkspace, Workspace, WorkspaceList, WorkspaceQuota, WorkspaceReceived,
};

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

    /// `PUT /v1/workspaces/{name}/quota`.
    pub(crate) async fn set_quota(
        &self,
        caller: &Caller,
        name: &str,
        quota: WorkspaceQuota,
    ) -> Result<Workspace, Refusal> {
        let act = Action::SetWorkspaceQuota;
        let all = self.to_change(caller, act, name)?;
        for (what, value, least, most) in [
            ("connections", quota.connections, 1, 10_000_000),
            ("requests_burst", quota.requests_burst, 1, 10_000_000),
            ("cpu_percent", quota.cpu_percent, 0, 100_000),
        ] {
            if value.is_some_and(|value| !(least..=most).contains(&value)) {
                return Err(Refusal::invalid(format!("{what} is from {least} to {most}")));
            }
        }
        if quota.storage_mib.is_some_and(|mib| i64::try_from(mib).is_err()) {
            return Err(Refusal::invalid("storage_mib is more than can be counted"));
        }
        let told = all.set_quota(name, of_wire(quota)).await?;
        self.done(caller, act, told).await
    }

    /// `POST /v1/workspaces/{name}/copy`.
    pub(crate) async fn copy(&self, caller: &Caller, name: &str) -> Result<File, Refusal> {
        let act = Action::CopyWorkspace;
        let (told, file) = self.to_change(caller, act, name)?.copy_out(name).await?;
        self.done(caller, act, told).await?;
        Ok(file)
    }

    /// `PUT /v1/workspaces/{name}/copy`.
    pub(crate) async fn take_piece(
        &self,
        caller: &Caller,
        name: &str,
        offset: u64,
        piece: Bytes,
    ) -> Result<WorkspaceReceived, Refusal> {
        let bytes = self.of(caller)?.take_piece(name, offset, piece).await?;
        Ok(WorkspaceReceived { bytes })
    }

    /// `POST /v1/workspaces/{name}/take-in`.
    pub(crate) async fn take_in(&self, caller: &Caller, name: &str) -> Result<Workspace, Refusal> {
        let act = Action::TakeWorkspaceIn;
        let told = self.to_change(caller, act, name)?.take_in(name).await?;
        self.done(caller, act, told).await
    }

    /// `POST /v1/workspaces/{name}/moved`.
    pub(crate) async fn moved(
        &self,
        caller: &Caller,
        name: &str,
        to: &str,
    ) -> Result<Workspace, Refusal> {
        let act = Action::MoveWorkspace;
        let all = self.to_change(caller, act, name)?;
        if !["http://", "https://"].iter().any(|scheme| to.starts_with(scheme)) || to.len() > 2_000
        {
            return Err(Refusal::invalid(
                "`to` is an address that begins with https:// or http://",
            ));
        }
        self.done(caller, act, all.moved_to(name, to).await?).await
    }

    fn shown(&self, Told { entry, is_open, trouble, host }: Told) -> Workspace {
        let quota = to_wire(entry.quota);
        let (host, why_host) = host.unzip();
        Workspace {
            moved_to: entry.moved_to,
            quota: (quota != WorkspaceQuota::default()).then_some(quota),
            url: format!("{}{PREFIX}{}", self.public_url, entry.name),
            name: entry.name.to_string(),
            state: entry.state.name().to_owned(),
            created_at: entry.created_at.into(),
            removed_at: entry.removal_at.map(Into::into),
            open: is_open,
            trouble,
            host,
            why_host,
        }
    }
}

fn of_wire(quota: WorkspaceQuota) -> Quota {
    let WorkspaceQuota {
        connections,
        requests_per_second,
        requests_burst,
        cpu_percent,
        storage_mib,
    } = quota;
    Quota { connections, requests_per_second, requests_burst, cpu_percent, storage_mib }
}

fn to_wire(quota: Quota) -> WorkspaceQuota {
    let Quota { connections, requests_per_second, requests_burst, cpu_percent, storage_mib } =
        quota;
    WorkspaceQuota { connections, requests_per_second, requests_burst, cpu_percent, storage_mib }
}
