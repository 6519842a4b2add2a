//! `/v1/workspaces`: the workspaces beside the host's own.

use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::extract::State;
use axum::response::Response;
use chorus_core::model::error::{Code, Refusal};
use chorus_wire::rest::workspaces::{
    CreatedWorkspace, ListWorkspaces, MovedWorkspace, NewWorkspace, Workspace, WorkspaceList,
    WorkspacePiece, WorkspaceQuota, WorkspaceReceived,
};
use serde_json::json;

use super::copies;
use crate::services::App;
use crate::services::alike::NO_TOOL;
use crate::transport::extract::{Bearer, Created, Json, Path, Query, Reply};
use crate::transport::openapi::{Doc, Routes};
use crate::transport::refused::Refused;
use crate::workspaces::PIECE;

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
        .put(
            "/v1/workspaces/{name}/quota",
            set_quota,
            Doc::new(
                "set_workspace_quota",
                "Says what a workspace may take. Whoever is connected to it connects anew.",
                NO_TOOL,
            )
            .refuses(&OF_ONE),
        )
        .post(
            "/v1/workspaces/{name}/copy",
            copy,
            Doc::new(
                "copy_workspace",
                "A suspended workspace as one file, with its keys, to be brought to another host.",
                NO_TOOL,
            )
            .refuses(&OF_ONE)
            .with(|draft| {
                let kind = "application/vnd.sqlite3";
                let file = json!({"type": "string", "contentMediaType": kind});
                draft.answer(200, kind, Some(file));
            }),
        )
        .put(
            "/v1/workspaces/{name}/copy",
            take_piece,
            Doc::new(
                "send_workspace",
                "Takes a piece of at most 8 MiB of a workspace that comes from another host.",
                NO_TOOL,
            )
            .refuses(&OPERATORS)
            .with(|draft| {
                let kind = "application/octet-stream";
                draft.any_body(json!({"type": "string", "contentMediaType": kind}));
            }),
        )
        .post(
            "/v1/workspaces/{name}/take-in",
            take_in,
            Doc::new(
                "take_workspace_in",
                "Makes a workspace of what has come from another host. It is suspended at first.",
                NO_TOOL,
            )
            .refuses(&OPERATORS),
        )
        .post(
            "/v1/workspaces/{name}/moved",
            moved,
            Doc::new(
                "move_workspace",
                "Lets a suspended workspace go that is at another host from here on. It can be resumed \
                 until its grace is over.",
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

async fn set_quota(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(name): Path<String>,
    Json(quota): Json<WorkspaceQuota>,
) -> Reply<Workspace> {
    Ok(Json(app.workspaces.set_quota(&caller, &name, quota).await?))
}

async fn copy(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(name): Path<String>,
) -> Result<Response, Refused> {
    Ok(copies::sent(app.workspaces.copy(&caller, &name).await?)?)
}

async fn take_piece(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(name): Path<String>,
    Query(piece): Query<WorkspacePiece>,
    body: Body,
) -> Reply<WorkspaceReceived> {
    let bytes = to_bytes(body, PIECE).await;
    let bytes =
        bytes.map_err(|_| Refusal::invalid("a piece has at most 8 MiB, and comes whole"))?;
    Ok(Json(app.workspaces.take_piece(&caller, &name, piece.offset, bytes).await?))
}

async fn take_in(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(name): Path<String>,
) -> Reply<Workspace> {
    Ok(Json(app.workspaces.take_in(&caller, &name).await?))
}

async fn moved(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(name): Path<String>,
    Json(moved): Json<MovedWorkspace>,
) -> Reply<Workspace> {
    Ok(Json(app.workspaces.moved(&caller, &name, &moved.to).await?))
}
