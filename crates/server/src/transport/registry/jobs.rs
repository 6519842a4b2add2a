//! `/jobs`.

use std::sync::Arc;

use axum::extract::State;
use chorus_core::model::error::Code;
use chorus_wire::registry::{
    Contest, DecideDispute, DeliverJob, EvaluateJob, GetJob, Job, JobQuery, JobRequest, JobResult,
    Jobs, JobsQuery, NewPipeline, Pipeline, Receipts, RequestJob, ResultTaken,
};
use chorus_wire::tool::Arguments;

use super::agents::AGENT;
use crate::services::App;
use crate::services::alike::{NO_TOOL, like};
use crate::transport::extract::{Accepted, Bearer, Json, Path, Query, Reply};
use crate::transport::openapi::{Doc, Routes};
use crate::transport::refused::Refused;

type Host = State<Arc<App>>;

pub(super) fn routes() -> Routes {
    const ASKED: [Code; 10] = [
        Code::AddressRefused,
        Code::AgentOffline,
        Code::ApprovalRequired,
        Code::BudgetInsufficient,
        Code::ClaimMismatch,
        Code::Conflict,
        Code::Forbidden,
        Code::NotFound,
        Code::SkillMismatch,
        Code::TransferFailed,
    ];
    const MOVED: [Code; 3] = [Code::Conflict, Code::Forbidden, Code::NotFound];
    const DELIVERED: [Code; 5] = [
        Code::ApprovalRequired,
        Code::ClaimMismatch,
        Code::Conflict,
        Code::Forbidden,
        Code::NotFound,
    ];
    Routes::of("registry", include_str!("jobs.json"))
        .name("agent", "The agent: its UUID, or a member as `@handle`.", AGENT)
        .name("pipeline", "The pipeline's UUID.", "f81d4fae-7dec-11d0-a765-00a0c91e6b00")
        .name("job", "The job's UUID.", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6")
        .name("token", "The token of the callback, as its URL has it.", "tok_xyz789")
        .post(
            "/jobs",
            request,
            Doc::new(
                "request_job",
                "Hires an agent for a job, and holds its budget until it ends.",
                [like(RequestJob::TOOL, |a| Some(a.called("agent_id", "hire")))],
            )
            .refuses(&ASKED),
        )
        .post(
            "/agents/{agent}/jobs",
            request_directly,
            Doc::new(
                "request_direct_job",
                "Asks an agent for a job that is paid by a transfer.",
                [like(RequestJob::TOOL, |a| Some(a.called("agent", "hire")))],
            )
            .refuses(&ASKED),
        )
        .get("/jobs", list, Doc::new("list_jobs", "Lists jobs, newest first.", NO_TOOL))
        .get(
            "/jobs/{job}",
            one,
            Doc::new(
                "get_job",
                "Shows a job; at once, or when it has ended.",
                [like(GetJob::TOOL, |a| Some(a.called("job", "job_id")))],
            )
            .refuses(&[Code::NotFound]),
        )
        .delete(
            "/jobs/{job}",
            cancel,
            Doc::new("cancel_job", "Takes a job back before its result is in.", NO_TOOL)
                .refuses(&MOVED),
        )
        .post(
            "/jobs/{job}/result",
            deliver,
            Doc::new(
                "deliver_job",
                "Delivers the result of a job, or says how far it is.",
                [like(DeliverJob::TOOL, |a| Some(a.called("job", "job_id")))],
            )
            .refuses(&DELIVERED),
        )
        .post(
            "/jobs/{job}/result/{token}",
            deliver_by_token,
            Doc::new(
                "job_callback",
                "The callback of a job, to which its agent posts the result.",
                NO_TOOL,
            )
            .refuses(&[
                Code::ClaimMismatch,
                Code::Conflict,
                Code::NotFound,
                Code::Unauthorized,
            ]),
        )
        .post(
            "/pipelines",
            start_pipeline,
            Doc::new("start_pipeline", "Hires agents one after the other.", NO_TOOL)
                .refuses(&ASKED),
        )
        .get(
            "/pipelines/{pipeline}",
            pipeline,
            Doc::new("get_pipeline", "Shows a pipeline as far as it has come.", NO_TOOL)
                .refuses(&[Code::NotFound]),
        )
        .post(
            "/jobs/{job}/evaluation",
            evaluate,
            Doc::new("evaluate_job", "Accepts a result, or refuses it.", NO_TOOL).refuses(&MOVED),
        )
        .post(
            "/jobs/{job}/dispute",
            contest,
            Doc::new("dispute_job", "Contests a job that was paid.", NO_TOOL).refuses(&MOVED),
        )
        .post(
            "/jobs/{job}/dispute/decision",
            decide,
            Doc::new("decide_dispute", "Decides about a contested job.", NO_TOOL).refuses(&[
                Code::Conflict,
                Code::InsufficientAuthority,
                Code::NotFound,
            ]),
        )
        .get(
            "/jobs/{job}/receipts",
            receipts,
            Doc::new("get_receipts", "What the host signs about a job.", NO_TOOL)
                .refuses(&[Code::NotFound]),
        )
}

async fn request(
    State(app): Host,
    Bearer(caller): Bearer,
    Json(asked): Json<JobRequest>,
) -> Result<Accepted<Job>, Refused> {
    Ok(Accepted(app.jobs.request(&caller, asked).await?))
}

async fn request_directly(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(agent): Path<String>,
    Json(asked): Json<JobRequest>,
) -> Result<Accepted<Job>, Refused> {
    Ok(Accepted(app.jobs.request_directly(&caller, agent, asked).await?))
}

async fn list(
    State(app): Host,
    Bearer(caller): Bearer,
    Query(query): Query<JobsQuery>,
) -> Reply<Jobs> {
    Ok(Json(app.jobs.jobs(&caller, query).await?))
}

async fn one(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(job): Path<String>,
    Query(query): Query<JobQuery>,
) -> Reply<Job> {
    Ok(Json(app.jobs.job(&caller, &job, query).await?))
}

async fn cancel(State(app): Host, Bearer(caller): Bearer, Path(job): Path<String>) -> Reply<Job> {
    Ok(Json(app.jobs.cancel(&caller, &job).await?))
}

async fn deliver(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(job): Path<String>,
    Json(result): Json<JobResult>,
) -> Reply<ResultTaken> {
    Ok(Json(app.jobs.deliver(&caller, &job, result).await?))
}

async fn deliver_by_token(
    State(app): Host,
    Path((job, token)): Path<(String, String)>,
    Json(result): Json<JobResult>,
) -> Reply<ResultTaken> {
    Ok(Json(app.jobs.deliver_by_token(&job, &token, result).await?))
}

async fn start_pipeline(
    State(app): Host,
    Bearer(caller): Bearer,
    Json(asked): Json<NewPipeline>,
) -> Result<Accepted<Pipeline>, Refused> {
    Ok(Accepted(app.pipelines.start(&caller, asked).await?))
}

async fn pipeline(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(pipeline): Path<String>,
) -> Reply<Pipeline> {
    Ok(Json(app.pipelines.pipeline(&caller, &pipeline).await?))
}

async fn evaluate(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(job): Path<String>,
    Json(asked): Json<EvaluateJob>,
) -> Reply<Job> {
    Ok(Json(app.jobs.evaluate(&caller, &job, asked.accept).await?))
}

async fn contest(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(job): Path<String>,
    Json(asked): Json<Contest>,
) -> Reply<Job> {
    Ok(Json(app.jobs.contest(&caller, &job, asked).await?))
}

async fn decide(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(job): Path<String>,
    Json(asked): Json<DecideDispute>,
) -> Reply<Job> {
    Ok(Json(app.jobs.decide_dispute(&caller, &job, asked).await?))
}

async fn receipts(
    State(app): Host,
    Bearer(caller): Bearer,
    Path(job): Path<String>,
) -> Reply<Receipts> {
    Ok(Json(app.jobs.receipts(&caller, &job).await?))
}
