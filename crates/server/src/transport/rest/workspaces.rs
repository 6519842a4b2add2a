//! `/v1/workspaces`: the workspaces beside the host's own.

use std::sync::Arc;

use axum::extract::State;
use chorus_core::model::error::Code;
use chorus_wire::rest::workspaces::{
    CreatedWorkspace, ListWorkspaces, NewWorkspace, Workspace, WorkspaceList,
};

use crate::services::App;
use crate::services::alike::NO_TOOL;
use crate::transport::extract::{Bearer, Created, Json, Path, Query, Reply};
use crate::transport::openapi::{Doc, Routes};
use crate::transport::refused::Refused;

type Host = State<Arc<App>>;

const OPERATORS: [Code; 3] = [Code::Conflict, Code::Forbidden, Code::InsufficientAuthority];
const OF_ONE: [Code; 4] =
    [Code::Conflict, Code::Forbidden, Code::InsufficientAuthority, Code::NotFound];

pub(super) fn routes() -> Routes {
    Routes::of("workspaces", include_str!("examples/workspaces.json"))
        .name("name", "The workspace.", "acme")
        .get(
            "/v1/workspaces",
            list,
            Doc::new(
                "list_workspaces",
                "The workspaces beside the host's own, in the order of their names.",
                NO_TOOL,
            )
            .refuses(&OPERATORS),
        )
        .post(
            "/v1/workspaces",
            create,
            Doc::new(
                "create_workspace",
                "Makes a workspace beside the host's own, and a link that signs its operator in.",
                NO_TOOL,
            )
            .refuses(&OPERATORS),
        )
        .post(
            "/v1/workspaces/{name}/sign-in-link",
            sign_in_link,
            Doc::new(
                "sign_in_to_workspace",
                "Another link that signs the operator of a workspace in.",
                NO_TOOL,
            )
            .refuses(&OF_ONE),
        )
        .post(
            "/v1/workspaces/{name}/suspend",
            suspend,
            Doc::new(
                "suspend_workspace",
                "Keeps everybody out of a workspace, which stays as it is.",
                NO_TOOL,
            )
            .refuses(&OF_ONE),
        )
        .post(
            "/v1/workspaces/{name}/resume",
            resume,
            Doc::new(
                "resume_workspace",
                "Lets everybody in again, also into one that was deleted and is not removed yet.",
                NO_TOOL,
            )
            .refuses(&OF_ONE),
        )
        .delete(
            "/v1/workspaces/{name}",
            delete,
            Doc::new(
                "delete_workspace",
                "Keeps everybody out, and removes the workspace for good when its grace is over.",
                NO_TOOL,
            )
            .refuses(&OF_ONE),
        )
}

async fn list(
    State(app): Host,
    Bearer(caller): Bearer,
    Query(asked): Query<ListWorkspaces>,
) -> Reply<WorkspaceList> {
    let after = asked.after.unwrap_or_default();
    Ok(Json(app.workspaces.list(&caller, &after, asked.limit).await?))
}

async fn create(
    State(app): Host,
    Bearer(caller): Bearer,
    Json(new): Json<NewWorkspace>,
) -> Result<Created<CreatedWorkspace>, Refused> {
    Ok(Created(app.workspaces.create(&caller, &new).await?))
}

async fn sign_in_link(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(name): Path<String>,
) -> Reply<CreatedWorkspace> {
    Ok(Json(app.workspaces.sign_in_link(&caller, &name).await?))
}

async fn suspend(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(name): Path<String>,
) -> Reply<Workspace> {
    Ok(Json(app.workspaces.suspend(&caller, &name).await?))
}

async fn resume(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(name): Path<String>,
) -> Reply<Workspace> {
    Ok(Json(app.workspaces.resume(&caller, &name).await?))
}

async fn delete(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(name): Path<String>,
) -> Reply<Workspace> {
    Ok(Json(app.workspaces.delete(&caller, &name).await?))
}
