//! A command that decides about the result of a job for whoever asked for it.

use std::io::Write;
use std::os::fd::AsFd;
use std::process::{Command, ExitStatus, Stdio};

use chorus_client::Client;
use chorus_core::model::error::Code;
use chorus_wire::registry::{Job, Transfer};

use super::job::due;
use crate::data::new_uuid;
use crate::failure::{Failure, Result};
use crate::print::line;

/// What the shell exits with when it cannot run a command, or does not find it.
const NOT_RUN: [i32; 2] = [126, 127];

/// A line for `sh -c`: the result is on its standard input, and exit code 0 accepts it.
#[derive(Debug)]
pub(super) struct Check {
    line: String,
}

impl Check {
    pub(super) fn by(line: String) -> Self {
        Self { line }
    }

    /// Accepts the result of a job, or refuses it; a direct job is accepted by being paid. A result
    /// that the command could not look at stays undecided.
    pub(super) async fn decide(&self, client: &Client, job: Job) -> Result<Job> {
        let output = job.output_data.as_ref().map_or("null", |output| output.get()).to_owned();
        let shell = self.line.clone();
        let ran = tokio::task::spawn_blocking(move || run(&shell, &output)).await;
        let ran = ran.map_err(|e| Failure::here("cannot wait for the check", e))?;
        let accept = match ran {
            Ok(status) if status.success() => true,
            Ok(status) if status.code().is_some_and(|code| !NOT_RUN.contains(&code)) => false,
            Ok(status) => return Err(undecided(&job, &format!("it ended with {status}"))),
            Err(why) => return Err(undecided(&job, &why.to_string())),
        };
        if accept && job.payment == "direct" {
            client.transfer(&payment(&job)?).await?;
            return Ok(client.job(&job.job_id, &Default::default()).await?);
        }
        Ok(client.evaluate_job(&job.job_id, accept).await?)
    }
}

fn payment(job: &Job) -> Result<Transfer> {
    Ok(Transfer {
        transfer_id: new_uuid()?,
        from_owner: job.hirer_owner.clone(),
        to_owner: job.agent_owner.clone(),
        amount: due(job),
        job_id: Some(job.job_id.clone()),
        currency: None,
        timestamp_utc: None,
        version: None,
        memo: None,
    })
}

fn undecided(job: &Job, why: &str) -> Failure {
    let id = line(&job.job_id);
    let message = format!("the command could not check the result: {why}");
    let next = format!("decide yourself: chorus job accept {id}, or chorus job reject {id}");
    Failure::new(Code::Unavailable, message).next(next)
}

/// Runs the command; what it prints goes to standard error, beside what is said of the job.
fn run(shell: &str, output: &str) -> std::io::Result<ExitStatus> {
    let said = std::io::stderr().as_fd().try_clone_to_owned()?;
    let mut command = Command::new("sh");
    command.arg("-c").arg(shell).stdin(Stdio::piped()).stdout(said);
    let mut child = command.spawn()?;
    if let Some(mut input) = child.stdin.take() {
        // One that has seen enough closes it.
        let _ = input.write_all(output.as_bytes());
    }
    child.wait()
}
