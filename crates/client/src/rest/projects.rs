//! Projects and their tasks.

use chorus_wire::rest::projects::{
    Link, LinkPut, ListTasks, NewProject, NewTask, Project, ProjectMember, ProjectMemberPut,
    ProjectPatch, Projects, Task, TaskPatch, Tasks,
};
use reqwest::Method;

use crate::http::with_query;
use crate::{Client, Result};

impl Client {
    /// `GET /v1/projects`
    pub async fn projects(&self) -> Result<Projects> {
        self.get(self.path("v1/projects")).await
    }

    /// `POST /v1/projects`
    pub async fn create_project(&self, project: &NewProject) -> Result<Project> {
        self.send(Method::POST, self.path("v1/projects"), project).await
    }

    /// `GET /v1/projects/{id}`
    pub async fn project(&self, id: &str) -> Result<Project> {
        self.get(self.url(&["v1", "projects", id])).await
    }

    /// `PATCH /v1/projects/{id}`
    pub async fn change_project(&self, id: &str, patch: &ProjectPatch) -> Result<Project> {
        self.send(Method::PATCH, self.url(&["v1", "projects", id]), patch).await
    }

    /// `DELETE /v1/projects/{id}`
    pub async fn remove_project(&self, id: &str) -> Result<()> {
        self.act(Method::DELETE, self.url(&["v1", "projects", id])).await
    }

    /// `PUT /v1/projects/{id}/members/{member_id}`
    pub async fn set_project_member(
        &self,
        id: &str,
        member_id: &str,
        put: &ProjectMemberPut,
    ) -> Result<ProjectMember> {
        let url = self.url(&["v1", "projects", id, "members", member_id]);
        self.send(Method::PUT, url, put).await
    }

    /// `DELETE /v1/projects/{id}/members/{member_id}`
    pub async fn remove_project_member(&self, id: &str, member_id: &str) -> Result<()> {
        let url = self.url(&["v1", "projects", id, "members", member_id]);
        self.act(Method::DELETE, url).await
    }

    /// `PUT /v1/projects/{id}/channels/{channel}`
    pub async fn link_channel(&self, id: &str, channel: &str, put: &LinkPut) -> Result<Link> {
        let url = self.url(&["v1", "projects", id, "channels", channel]);
        self.send(Method::PUT, url, put).await
    }

    /// `DELETE /v1/projects/{id}/channels/{channel}`
    pub async fn unlink_channel(&self, id: &str, channel: &str) -> Result<()> {
        let url = self.url(&["v1", "projects", id, "channels", channel]);
        self.act(Method::DELETE, url).await
    }

    /// `GET /v1/projects/{id}/tasks`
    pub async fn tasks(&self, id: &str, query: &ListTasks) -> Result<Tasks> {
        self.get(with_query(self.url(&["v1", "projects", id, "tasks"]), query)).await
    }

    /// `POST /v1/projects/{id}/tasks`
    pub async fn add_task(&self, id: &str, task: &NewTask) -> Result<Task> {
        self.send(Method::POST, self.url(&["v1", "projects", id, "tasks"]), task).await
    }

    /// `PATCH /v1/projects/{id}/tasks/{task}`
    pub async fn change_task(&self, id: &str, task: &str, patch: &TaskPatch) -> Result<Task> {
        self.send(Method::PATCH, self.url(&["v1", "projects", id, "tasks", task]), patch).await
    }

    /// `DELETE /v1/projects/{id}/tasks/{task}`
    pub async fn remove_task(&self, id: &str, task: &str) -> Result<()> {
        self.act(Method::DELETE, self.url(&["v1", "projects", id, "tasks", task])).await
    }
}
