//! `/v1/channels/{id}/schedules`.

use std::sync::Arc;

use axum::extract::State;
use chorus_core::model::error::Code;
use chorus_wire::rest::schedules::{NewSchedule, Schedule, SchedulePatch, Schedules};

use crate::services::App;
use crate::services::alike::{NO_TOOL, STIMULATES};
use crate::transport::extract::{Bearer, Created, Done, Json, Path, Reply};
use crate::transport::openapi::{Doc, Routes};
use crate::transport::refused::Refused;

type Host = State<Arc<App>>;

pub(super) fn routes() -> Routes {
    const CHANGED: [Code; 3] = [Code::Conflict, Code::InsufficientAuthority, Code::NotFound];
    Routes::of("schedules", include_str!("examples/schedules.json"))
        .name("schedule", "The schedule: `sch_…`.", "sch_0192f0c1a2b37c4d8e5f60718293a4c1")
        .get(
            "/v1/channels/{id}/schedules",
            list,
            Doc::new("list_schedules", "What a channel is asked again and again.", NO_TOOL)
                .refuses(&[Code::NotFound]),
        )
        .post(
            "/v1/channels/{id}/schedules",
            add,
            Doc::new(
                "create_schedule",
                "Asks for a word in public at the times of a cron expression, or every so often.",
                STIMULATES,
            )
            .refuses(&CHANGED),
        )
        .get(
            "/v1/channels/{id}/schedules/{schedule}",
            one,
            Doc::new(
                "get_schedule",
                "One schedule, when it fires next, and how its last firing ended.",
                NO_TOOL,
            )
            .refuses(&[Code::NotFound]),
        )
        .patch(
            "/v1/channels/{id}/schedules/{schedule}",
            change,
            Doc::new(
                "change_schedule",
                "Changes a schedule, pauses it, or lets it go on.",
                STIMULATES,
            )
            .refuses(&CHANGED),
        )
        .delete(
            "/v1/channels/{id}/schedules/{schedule}",
            remove,
            Doc::new(
                "remove_schedule",
                "Removes a schedule; what it has put into the queue stays.",
                NO_TOOL,
            )
            .refuses(&CHANGED),
        )
}

async fn list(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(id): Path<String>,
) -> Reply<Schedules> {
    Ok(Json(app.schedules.schedules(&caller, &id).await?))
}

async fn add(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(id): Path<String>,
    Json(new): Json<NewSchedule>,
) -> Result<Created<Schedule>, Refused> {
    Ok(Created(app.schedules.add_schedule(&caller, &id, new).await?))
}

async fn one(
    State(app): Host,
    Bearer(caller): Bearer,
    Path((id, schedule)): Path<(String, String)>,
) -> Reply<Schedule> {
    Ok(Json(app.schedules.schedule(&caller, &id, &schedule).await?))
}

async fn change(
    State(app): Host,
    Bearer(caller): Bearer,
    Path((id, schedule)): Path<(String, String)>,
    Json(patch): Json<SchedulePatch>,
) -> Reply<Schedule> {
    Ok(Json(app.schedules.change_schedule(&caller, &id, &schedule, patch).await?))
}

async fn remove(
    State(app): Host,
    Bearer(caller): Bearer,
    Path((id, schedule)): Path<(String, String)>,
) -> Result<Done, Refused> {
    app.schedules.remove_schedule(&caller, &id, &schedule).await?;
    Ok(Done)
}
