//! The workspaces beside the host's own.

use chorus_wire::rest::workspaces::{
    CreatedWorkspace, ListWorkspaces, MovedWorkspace, NewWorkspace, Workspace, WorkspaceList,
    WorkspacePiece, WorkspaceQuota, WorkspaceReceived,
};
use reqwest::Method;

use crate::http::with_query;
use crate::{Client, Result};

impl Client {
    /// `GET /v1/workspaces`
    pub async fn workspaces(&self, after: &str, limit: u32) -> Result<WorkspaceList> {
        let query = ListWorkspaces { after: Some(after.to_owned()), limit: Some(limit) };
        self.get(with_query(self.path("v1/workspaces"), &query)).await
    }

    /// `POST /v1/workspaces`
    pub async fn create_workspace(&self, new: &NewWorkspace) -> Result<CreatedWorkspace> {
        self.send(Method::POST, self.path("v1/workspaces"), new).await
    }

    /// `POST /v1/workspaces/{name}/sign-in-link`
    pub async fn workspace_link(&self, name: &str) -> Result<CreatedWorkspace> {
        let url = self.url(&["v1", "workspaces", name, "sign-in-link"]);
        self.json(self.request(Method::POST, url)).await
    }

    /// `POST /v1/workspaces/{name}/suspend` or `resume`
    pub async fn suspend_workspace(&self, name: &str, suspended: bool) -> Result<Workspace> {
        let act = if suspended { "suspend" } else { "resume" };
        let url = self.url(&["v1", "workspaces", name, act]);
        self.json(self.request(Method::POST, url)).await
    }

    /// `PUT /v1/workspaces/{name}/quota`
    pub async fn set_workspace_quota(
        &self,
        name: &str,
        quota: &WorkspaceQuota,
    ) -> Result<Workspace> {
        self.send(Method::PUT, self.url(&["v1", "workspaces", name, "quota"]), quota).await
    }

    /// `POST /v1/workspaces/{name}/copy`. `each` is given the file in order; says how many bytes there were.
    pub async fn copy_workspace<E>(
        &self,
        name: &str,
        each: impl FnMut(&[u8]) -> std::result::Result<(), E>,
    ) -> Result<std::result::Result<u64, E>> {
        self.copy(Method::POST, self.url(&["v1", "workspaces", name, "copy"]), each).await
    }

    /// `PUT /v1/workspaces/{name}/copy`
    pub async fn send_workspace(
        &self,
        name: &str,
        offset: u64,
        piece: Vec<u8>,
    ) -> Result<WorkspaceReceived> {
        let url = self.url(&["v1", "workspaces", name, "copy"]);
        let request = self.request(Method::PUT, with_query(url, &WorkspacePiece { offset }));
        self.json(request.body(piece)).await
    }

    /// `POST /v1/workspaces/{name}/take-in`
    pub async fn take_workspace_in(&self, name: &str) -> Result<Workspace> {
        let url = self.url(&["v1", "workspaces", name, "take-in"]);
        self.made(self.request(Method::POST, url)).await
    }

    /// `POST /v1/workspaces/{name}/moved`
    pub async fn workspace_moved(&self, name: &str, to: &str) -> Result<Workspace> {
        let url = self.url(&["v1", "workspaces", name, "moved"]);
        self.send(Method::POST, url, &MovedWorkspace { to: to.to_owned() }).await
    }

    /// `DELETE /v1/workspaces/{name}`
    pub async fn delete_workspace(&self, name: &str) -> Result<Workspace> {
        let url = self.url(&["v1", "workspaces", name]);
        self.json(self.request(Method::DELETE, url)).await
    }
}
