//! `/v1/projects`.

use std::sync::Arc;

use axum::extract::State;
use chorus_core::model::error::Code;
use chorus_wire::rest::projects::{
    Link, LinkPut, Links, ListTasks, NewProject, NewTask, Project, ProjectMember, ProjectMemberPut,
    ProjectMembers, ProjectPatch, Projects, Task, TaskPatch, Tasks,
};

use crate::services::App;
use crate::services::alike::NO_TOOL;
use crate::transport::extract::{Bearer, Created, Done, Json, Path, Query, Reply};
use crate::transport::openapi::{Doc, Routes};
use crate::transport::refused::Refused;

type Host = State<Arc<App>>;

pub(super) fn routes() -> Routes {
    Routes::of("projects", include_str!("examples/projects.json"))
        .name("id", "The project: `prj_…`.", "prj_0192f0c1a2b37c4d8e5f60718293a4b5")
        .name("member_id", "The member's id within the project.", "reviewer")
        .name("task", "The task: `task_…`.", "task_0192f0c1a2b37c4d8e5f60718293a4b7")
        .get(
            "/v1/projects",
            list,
            Doc::new("list_projects", "The projects that the caller may see.", NO_TOOL),
        )
        .post(
            "/v1/projects",
            add,
            Doc::new("create_project", "Makes a project, with its members and channels.", NO_TOOL)
                .refuses(&[Code::Conflict, Code::InsufficientAuthority, Code::NotFound]),
        )
        .get(
            "/v1/projects/{id}",
            one,
            Doc::new("get_project", "One project.", NO_TOOL).refuses(&[Code::NotFound]),
        )
        .patch(
            "/v1/projects/{id}",
            change,
            Doc::new("change_project", "Changes a project; absent fields stay.", NO_TOOL)
                .refuses(&[Code::InsufficientAuthority, Code::NotFound]),
        )
        .delete(
            "/v1/projects/{id}",
            remove,
            Doc::new(
                "remove_project",
                "Removes a project whose tasks are finished and whose members are mirrored nowhere.",
                NO_TOOL,
            )
            .refuses(&[Code::Conflict, Code::InsufficientAuthority, Code::NotFound]),
        )
        .get(
            "/v1/projects/{id}/members",
            members,
            Doc::new("list_project_members", "Who is in a project.", NO_TOOL)
                .refuses(&[Code::NotFound]),
        )
        .put(
            "/v1/projects/{id}/members/{member_id}",
            set_member,
            Doc::new(
                "set_project_member",
                "Takes a member into a project, or changes what it is there.",
                NO_TOOL,
            )
            .refuses(&[Code::Conflict, Code::InsufficientAuthority, Code::NotFound]),
        )
        .delete(
            "/v1/projects/{id}/members/{member_id}",
            remove_member,
            Doc::new("remove_project_member", "Takes a member out of a project.", NO_TOOL)
                .refuses(&[Code::Conflict, Code::InsufficientAuthority, Code::NotFound]),
        )
        .get(
            "/v1/projects/{id}/channels",
            channels,
            Doc::new("list_project_channels", "The channels of a project.", NO_TOOL)
                .refuses(&[Code::NotFound]),
        )
        .put(
            "/v1/projects/{id}/channels/{channel_id}",
            link,
            Doc::new(
                "link_channel",
                "Links a channel to a project, or changes how it is linked.",
                NO_TOOL,
            )
            .refuses(&[
                Code::Conflict,
                Code::Forbidden,
                Code::InsufficientAuthority,
                Code::NotFound,
            ]),
        )
        .delete(
            "/v1/projects/{id}/channels/{channel_id}",
            unlink,
            Doc::new("unlink_channel", "Ends the link of a channel to a project.", NO_TOOL)
                .refuses(&[Code::Conflict, Code::InsufficientAuthority, Code::NotFound]),
        )
        .get(
            "/v1/projects/{id}/tasks",
            tasks,
            Doc::new("list_tasks", "The tasks of a project, oldest first.", NO_TOOL)
                .refuses(&[Code::NotFound]),
        )
        .post(
            "/v1/projects/{id}/tasks",
            add_task,
            Doc::new("create_task", "Adds a task to a project.", NO_TOOL)
                .refuses(&[Code::Conflict, Code::NotFound]),
        )
        .get(
            "/v1/projects/{id}/tasks/{task}",
            task,
            Doc::new("get_task", "One task.", NO_TOOL).refuses(&[Code::NotFound]),
        )
        .patch(
            "/v1/projects/{id}/tasks/{task}",
            change_task,
            Doc::new(
                "change_task",
                "Changes a task; absent fields stay. Done, it makes the stimulus task_completed.",
                NO_TOOL,
            )
            .refuses(&[Code::Conflict, Code::NotFound]),
        )
        .delete(
            "/v1/projects/{id}/tasks/{task}",
            remove_task,
            Doc::new("remove_task", "Removes a finished task on which no other depends.", NO_TOOL)
                .refuses(&[Code::Conflict, Code::NotFound]),
        )
}

async fn list(State(app): Host, Bearer(caller): Bearer) -> Reply<Projects> {
    Ok(Json(app.projects.projects(&caller).await?))
}

async fn add(
    State(app): Host,
    Bearer(caller): Bearer,
    Json(new): Json<NewProject>,
) -> Result<Created<Project>, Refused> {
    Ok(Created(app.projects.add_project(&caller, new).await?))
}

async fn one(State(app): Host, Bearer(caller): Bearer, Path(id): Path<String>) -> Reply<Project> {
    Ok(Json(app.projects.project(&caller, &id).await?))
}

async fn change(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(id): Path<String>,
    Json(patch): Json<ProjectPatch>,
) -> Reply<Project> {
    Ok(Json(app.projects.change_project(&caller, &id, patch).await?))
}

async fn remove(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(id): Path<String>,
) -> Result<Done, Refused> {
    app.projects.remove_project(&caller, &id).await?;
    Ok(Done)
}

async fn members(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(id): Path<String>,
) -> Reply<ProjectMembers> {
    Ok(Json(app.projects.project_members(&caller, &id).await?))
}

async fn set_member(
    State(app): Host,
    Bearer(caller): Bearer,
    Path((id, member)): Path<(String, String)>,
    Json(put): Json<ProjectMemberPut>,
) -> Reply<ProjectMember> {
    Ok(Json(app.projects.set_project_member(&caller, &id, &member, put).await?))
}

async fn remove_member(
    State(app): Host,
    Bearer(caller): Bearer,
    Path((id, member)): Path<(String, String)>,
) -> Result<Done, Refused> {
    app.projects.remove_project_member(&caller, &id, &member).await?;
    Ok(Done)
}

async fn channels(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(id): Path<String>,
) -> Reply<Links> {
    Ok(Json(app.projects.project_channels(&caller, &id).await?))
}

async fn link(
    State(app): Host,
    Bearer(caller): Bearer,
    Path((id, channel)): Path<(String, String)>,
    Json(put): Json<LinkPut>,
) -> Reply<Link> {
    Ok(Json(app.projects.link_channel(&caller, &id, &channel, put).await?))
}

async fn unlink(
    State(app): Host,
    Bearer(caller): Bearer,
    Path((id, channel)): Path<(String, String)>,
) -> Result<Done, Refused> {
    app.projects.unlink_channel(&caller, &id, &channel).await?;
    Ok(Done)
}

async fn tasks(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(id): Path<String>,
    Query(query): Query<ListTasks>,
) -> Reply<Tasks> {
    Ok(Json(app.projects.tasks(&caller, &id, &query).await?))
}

async fn add_task(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(id): Path<String>,
    Json(new): Json<NewTask>,
) -> Result<Created<Task>, Refused> {
    Ok(Created(app.projects.add_task(&caller, &id, new).await?))
}

async fn task(
    State(app): Host,
    Bearer(caller): Bearer,
    Path((id, task)): Path<(String, String)>,
) -> Reply<Task> {
    Ok(Json(app.projects.task(&caller, &id, &task).await?))
}

async fn change_task(
    State(app): Host,
    Bearer(caller): Bearer,
    Path((id, task)): Path<(String, String)>,
    Json(patch): Json<TaskPatch>,
) -> Reply<Task> {
    Ok(Json(app.projects.change_task(&caller, &id, &task, patch).await?))
}

async fn remove_task(
    State(app): Host,
    Bearer(caller): Bearer,
    Path((id, task)): Path<(String, String)>,
) -> Result<Done, Refused> {
    app.projects.remove_task(&caller, &id, &task).await?;
    Ok(Done)
}
