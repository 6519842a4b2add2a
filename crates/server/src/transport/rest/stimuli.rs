//! `/v1/channels/{id}/stimuli`.

use std::sync::Arc;

use axum::extract::State;
use chorus_core::model::error::Code;
use chorus_wire::rest::stimuli::{ListStimuli, NewStimulus, Stimuli, Stimulus};

use crate::services::App;
use crate::services::alike::{NO_TOOL, STIMULATES};
use crate::transport::extract::{Bearer, Created, Json, Path, Query, Reply};
use crate::transport::openapi::{Doc, Routes};
use crate::transport::refused::Refused;

type Host = State<Arc<App>>;

pub(super) fn routes() -> Routes {
    const STEERED: [Code; 3] = [Code::Conflict, Code::InsufficientAuthority, Code::NotFound];
    Routes::of("stimuli", include_str!("examples/stimuli.json"))
        .name("stimulus", "The stimulus: `stm_…`.", "stm_0192f0c1a2b37c4d8e5f60718293a4b5")
        .get(
            "/v1/channels/{id}/stimuli",
            list,
            Doc::new(
                "list_stimuli",
                "What waits to be said in a channel, and what was lately.",
                NO_TOOL,
            )
            .refuses(&[Code::NotFound]),
        )
        .post(
            "/v1/channels/{id}/stimuli",
            add,
            Doc::new(
                "create_stimulus",
                "Asks for a word in public without a person asking; said when the channel's budgets allow.",
                STIMULATES,
            )
            .refuses(&STEERED),
        )
        .get(
            "/v1/channels/{id}/stimuli/{stimulus}",
            one,
            Doc::new("get_stimulus", "One stimulus.", NO_TOOL).refuses(&[Code::NotFound]),
        )
        .post(
            "/v1/channels/{id}/stimuli/{stimulus}/cancel",
            cancel,
            Doc::new("cancel_stimulus", "Calls a stimulus off that was not said yet.", NO_TOOL)
                .refuses(&STEERED),
        )
        .post(
            "/v1/channels/{id}/stimuli/{stimulus}/retry",
            retry,
            Doc::new("retry_stimulus", "Asks again for one that was cancelled.", STIMULATES)
                .refuses(&STEERED),
        )
}

async fn list(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(id): Path<String>,
    Query(query): Query<ListStimuli>,
) -> Reply<Stimuli> {
    Ok(Json(app.stimuli.stimuli(&caller, &id, query).await?))
}

async fn add(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(id): Path<String>,
    Json(new): Json<NewStimulus>,
) -> Result<Created<Stimulus>, Refused> {
    Ok(Created(app.stimuli.add_stimulus(&caller, &id, new).await?))
}

async fn one(
    State(app): Host,
    Bearer(caller): Bearer,
    Path((id, stimulus)): Path<(String, String)>,
) -> Reply<Stimulus> {
    Ok(Json(app.stimuli.stimulus(&caller, &id, &stimulus).await?))
}

async fn cancel(
    State(app): Host,
    Bearer(caller): Bearer,
    Path((id, stimulus)): Path<(String, String)>,
) -> Reply<Stimulus> {
    Ok(Json(app.stimuli.steer_stimulus(&caller, &id, &stimulus, false).await?))
}

async fn retry(
    State(app): Host,
    Bearer(caller): Bearer,
    Path((id, stimulus)): Path<(String, String)>,
) -> Reply<Stimulus> {
    Ok(Json(app.stimuli.steer_stimulus(&caller, &id, &stimulus, true).await?))
}
