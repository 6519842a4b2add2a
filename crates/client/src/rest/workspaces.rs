//! The workspaces beside the host's own.

use chorus_wire::rest::workspaces::{
    CreatedWorkspace, ListWorkspaces, NewWorkspace, Workspace, WorkspaceList,
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

    /// `DELETE /v1/workspaces/{name}`
    pub async fn delete_workspace(&self, name: &str) -> Result<Workspace> {
        let url = self.url(&["v1", "workspaces", name]);
        self.json(self.request(Method::DELETE, url)).await
    }
}
