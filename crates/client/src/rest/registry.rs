//! The registry: agents for hire, jobs, credits. Its paths are those of the protocol, without
//! `/v1`.

use chorus_wire::registry::{
    Account, Accounts, Agent, AgentQuery, Agents, Contest, DecideDispute, Discover, Discovered,
    EvaluateJob, HeartbeatTaken, Job, JobQuery, JobRequest, JobResult, Jobs, JobsQuery, LedgerPage,
    ListingHeartbeat, Mint, NewPipeline, PageQuery, Pipeline, Receipts, Register, Registered,
    ReputationHistory, ResultTaken, SkillTotals, SpendingLimit, Statement, Transfer, Transferred,
};
use reqwest::Method;

use crate::http::with_query;
use crate::{Client, Result};

impl Client {
    /// `POST /register`
    pub async fn register_agent(&self, asked: &Register) -> Result<Registered> {
        self.send(Method::POST, self.path("register"), asked).await
    }

    /// `POST /heartbeat`
    pub async fn heartbeat(&self, beat: &ListingHeartbeat) -> Result<HeartbeatTaken> {
        self.send(Method::POST, self.path("heartbeat"), beat).await
    }

    /// `GET /discover`
    pub async fn discover(&self, asked: &Discover) -> Result<Discovered> {
        self.get(with_query(self.path("discover"), asked)).await
    }

    /// `GET /agents`
    pub async fn agents_for_hire(&self, query: &AgentQuery) -> Result<Agents> {
        self.get(with_query(self.path("agents"), query)).await
    }

    /// `GET /agents/{agent}`
    pub async fn agent_for_hire(&self, agent: &str) -> Result<Agent> {
        self.get(self.url(&["agents", agent])).await
    }

    /// `DELETE /agents/{agent}`
    pub async fn unregister_agent(&self, agent: &str) -> Result<()> {
        self.act(Method::DELETE, self.url(&["agents", agent])).await
    }

    /// `GET /agents/{agent}/reputation`
    pub async fn reputation(&self, agent: &str, query: &PageQuery) -> Result<ReputationHistory> {
        self.get(with_query(self.url(&["agents", agent, "reputation"]), query)).await
    }

    /// `POST /agents/{agent}/challenge/{token}`
    pub async fn answer_challenge(
        &self,
        agent: &str,
        token: &str,
        answer: &JobResult,
    ) -> Result<()> {
        let url = self.url(&["agents", agent, "challenge", token]);
        self.tell(Method::POST, url, answer).await
    }

    /// `GET /skills`
    pub async fn skills(&self, query: &PageQuery) -> Result<SkillTotals> {
        self.get(with_query(self.path("skills"), query)).await
    }

    /// `POST /jobs`
    pub async fn request_job(&self, asked: &JobRequest) -> Result<Job> {
        self.send(Method::POST, self.path("jobs"), asked).await
    }

    /// `GET /jobs`
    pub async fn jobs(&self, query: &JobsQuery) -> Result<Jobs> {
        self.get(with_query(self.path("jobs"), query)).await
    }

    /// `GET /jobs/{job}`. A wait in the query has to end before this client gives up, after 30 s.
    pub async fn job(&self, job: &str, query: &JobQuery) -> Result<Job> {
        self.get(with_query(self.url(&["jobs", job]), query)).await
    }

    /// `DELETE /jobs/{job}`
    pub async fn cancel_job(&self, job: &str) -> Result<Job> {
        self.json(self.request(Method::DELETE, self.url(&["jobs", job]))).await
    }

    /// `POST /jobs/{job}/result`
    pub async fn deliver_job(&self, job: &str, result: &JobResult) -> Result<ResultTaken> {
        self.send(Method::POST, self.url(&["jobs", job, "result"]), result).await
    }

    /// `POST /jobs/{job}/result/{token}`
    pub async fn deliver_job_by_token(
        &self,
        job: &str,
        token: &str,
        result: &JobResult,
    ) -> Result<ResultTaken> {
        self.send(Method::POST, self.url(&["jobs", job, "result", token]), result).await
    }

    /// `POST /jobs/{job}/evaluation`
    pub async fn evaluate_job(&self, job: &str, accept: bool) -> Result<Job> {
        let decision = EvaluateJob { accept };
        self.send(Method::POST, self.url(&["jobs", job, "evaluation"]), &decision).await
    }

    /// `POST /jobs/{job}/dispute`
    pub async fn dispute_job(&self, job: &str, reason: &str) -> Result<Job> {
        let contest = Contest { reason: reason.to_owned() };
        self.send(Method::POST, self.url(&["jobs", job, "dispute"]), &contest).await
    }

    /// `POST /jobs/{job}/dispute/decision`
    pub async fn decide_dispute(&self, job: &str, decision: &DecideDispute) -> Result<Job> {
        self.send(Method::POST, self.url(&["jobs", job, "dispute", "decision"]), decision).await
    }

    /// `GET /jobs/{job}/receipts`
    pub async fn receipts(&self, job: &str) -> Result<Receipts> {
        self.get(self.url(&["jobs", job, "receipts"])).await
    }

    /// `POST /pipelines`
    pub async fn start_pipeline(&self, asked: &NewPipeline) -> Result<Pipeline> {
        self.send(Method::POST, self.path("pipelines"), asked).await
    }

    /// `GET /pipelines/{pipeline}`
    pub async fn pipeline(&self, pipeline: &str) -> Result<Pipeline> {
        self.get(self.url(&["pipelines", pipeline])).await
    }

    /// `POST /transfer`
    pub async fn transfer(&self, asked: &Transfer) -> Result<Transferred> {
        self.send(Method::POST, self.path("transfer"), asked).await
    }

    /// `GET /accounts`
    pub async fn accounts(&self, query: &PageQuery) -> Result<Accounts> {
        self.get(with_query(self.path("accounts"), query)).await
    }

    /// `GET /accounts/{owner}`; `me` is the caller's own owner.
    pub async fn account(&self, owner: &str) -> Result<Account> {
        self.get(self.url(&["accounts", owner])).await
    }

    /// `GET /accounts/{owner}/statement`
    pub async fn statement(&self, owner: &str, query: &PageQuery) -> Result<Statement> {
        self.get(with_query(self.url(&["accounts", owner, "statement"]), query)).await
    }

    /// `POST /accounts/{owner}/mint`
    pub async fn mint(&self, owner: &str, asked: &Mint) -> Result<Account> {
        self.send(Method::POST, self.url(&["accounts", owner, "mint"]), asked).await
    }

    /// `GET /spending/{member}`
    pub async fn spending_limit(&self, member: &str) -> Result<SpendingLimit> {
        self.get(self.url(&["spending", member])).await
    }

    /// `PUT /spending/{member}`
    pub async fn limit_spending(
        &self,
        member: &str,
        limit: &SpendingLimit,
    ) -> Result<SpendingLimit> {
        self.send(Method::PUT, self.url(&["spending", member]), limit).await
    }

    /// `GET /audit`
    pub async fn ledger(&self, query: &PageQuery) -> Result<LedgerPage> {
        self.get(with_query(self.path("audit"), query)).await
    }
}
