//! Jobs by the tools of MCP and C2A, whose arguments are fewer than those of the routes.

use chorus_core::model::error::Refusal;
use chorus_core::model::ids::Prefix;
use chorus_wire::registry::{
    DeliverJob, GetJob, Job, JobQuery, JobRequest, JobResult, RequestJob, ResultTaken,
};

use super::jobs::JobService;
use crate::auth::Caller;
use crate::services::ids;

impl JobService {
    pub(crate) async fn request_by_tool(
        &self,
        caller: &Caller,
        asked: RequestJob,
    ) -> Result<Job, Refusal> {
        let wait = asked.wait_ms;
        let request = JobRequest {
            job_id: asked.job_id,
            agent_id: Some(asked.hire),
            skill_name: asked.skill_name,
            input_data: asked.input_data,
            budget: asked.budget,
            timeout_ms: asked.timeout_ms,
            thread_id: asked.thread_id,
            orchestrator_id: asked.orchestrator_id,
            callback_url: asked.callback_url,
            payment_identifier: asked.payment_identifier,
            evaluator: asked.evaluator,
            evaluation_ms: asked.evaluation_ms,
            payment: asked.payment,
            currency: None,
            timestamp_utc: None,
            version: None,
        };
        let asked = self.request(caller, request).await?;
        match wait {
            None => Ok(asked),
            Some(_) => self.job(caller, &asked.job_id, JobQuery { wait_ms: wait }).await,
        }
    }

    pub(crate) async fn get_by_tool(&self, caller: &Caller, asked: GetJob) -> Result<Job, Refusal> {
        self.job(caller, &asked.job_id, JobQuery { wait_ms: asked.wait_ms }).await
    }

    pub(crate) async fn deliver_by_tool(
        &self,
        caller: &Caller,
        asked: DeliverJob,
    ) -> Result<ResultTaken, Refusal> {
        let uid = ids::uuid(&asked.job_id, "job_id")?;
        let agent = self.seen(caller, uid).await?.agent.show(Prefix::Uuid);
        let stated = JobResult {
            job_id: asked.job_id.clone(),
            agent_id: agent,
            status: asked.status,
            output_data: asked.output_data,
            execution_cost: asked.execution_cost,
            execution_time_ms: 0,
            error_message: asked.error_message,
            timestamp_utc: None,
        };
        self.deliver(caller, &asked.job_id, stated).await
    }
}
