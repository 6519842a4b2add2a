//! The Agent Client Protocol: an agent without a terminal, over its standard streams (`gemini --acp`).
//!
//! Invariants: only the prompt's own response says how a turn ended, since a loaded session's history may come later than
//! the answer to `session/load`. A prompt that shows no sign of life is cancelled, and an agent that does not even cancel
//! is ended; so this lane never leaves open whether a prompt will still run. The tools of Chorus run unasked; for
//! everything else nobody is there to be asked, and it is refused.

use std::process::Stdio;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use tokio::process::Command;
use tokio::time::timeout;

use super::acp_agent::{Agent, Failure};
use super::context::LaneContext;
use super::outcome::{Kind, Outcome, Reason, Turn, TurnEnd, WakeInput, Why};
use super::seats::AcpSeat;

/// Gemini takes 1 to 4 s to start.
const START: Duration = Duration::from_secs(30);
/// A model's first sign takes seconds; a prompt without one for so long is taken back.
const SIGN: Duration = Duration::from_secs(60);
const CANCEL: Duration = Duration::from_secs(3);

impl AcpSeat {
    /// Waits for the end of the prompt that runs.
    pub(super) async fn watch_end(&self) -> TurnEnd {
        let mut seat = self.0.lock().await;
        let Some(agent) = seat.as_mut() else { return TurnEnd::broken("no agent runs") };
        let end = agent.prompt_ended().await;
        if !agent.runs() {
            *seat = None;
        }
        match end {
            Ok((reason, last)) if reason == "end_turn" => TurnEnd::completed("end_turn", &last),
            Ok((reason, last)) => TurnEnd { last, ..TurnEnd::broken(reason) },
            Err(failure) => TurnEnd::broken(failure),
        }
    }
}

pub(super) async fn wake<T>(input: &WakeInput<'_>, context: &LaneContext<'_, T>) -> Outcome {
    let busy = || Outcome::failed(Reason::TurnRunning, "the agent is answering another prompt");
    let Ok(mut seat) = context.seats.acp.0.try_lock() else { return busy() };
    if !seat.as_mut().is_some_and(Agent::runs) {
        *seat = None;
        match timeout(START, begin(context)).await {
            Ok(Ok(agent)) => *seat = Some(agent),
            Ok(Err(why)) => return Outcome::Failed { why },
            Err(_) => return Outcome::failed(Reason::NoAnswer, "the agent did not start in time"),
        }
    }
    let Some(agent) = seat.as_mut() else {
        return Outcome::Failed { why: Reason::NotStarted.into() };
    };
    if agent.is_busy() {
        return busy();
    }
    let opening = if agent.is_new() { input.opening() } else { input.prompt.to_owned() };
    let turn = Turn {
        id: None,
        session: Some(agent.session().to_owned()),
        since: Some(SystemTime::now()),
    };
    if let Err(failure) = agent.prompt(&opening).await {
        *seat = None;
        return Outcome::failed(Reason::NoAnswer, failure);
    }
    let failure = match timeout(SIGN, agent.sign()).await {
        Ok(Ok(evidence)) => return Outcome::Confirmed { evidence, turn },
        Ok(Err(failure @ Failure::Refused { .. })) => {
            return Outcome::failed(Reason::Refused, failure);
        }
        Ok(Err(failure)) => failure,
        Err(_) => {
            let _ = agent.notify("session/cancel", json!({"sessionId": agent.session()})).await;
            if timeout(CANCEL, agent.prompt_ended()).await.is_ok() {
                return Outcome::failed(
                    Reason::NoProof,
                    "the agent did not begin, and has cancelled",
                );
            }
            Failure::Gone("it did not even cancel".to_owned())
        }
    };
    *seat = None;
    Outcome::failed(Reason::NoAnswer, failure)
}

/// Starts the agent, and loads or makes its session.
async fn begin<T>(context: &LaneContext<'_, T>) -> Result<Agent, Why> {
    let launch = &context.launch;
    let mut command = Command::new(launch.program);
    if launch.kind == Kind::Gemini {
        command.arg("--acp");
        // The session is what `session/load` names; the user's other options stay.
        command.args(launch.arguments.iter().filter(|argument| KEPT.contains(&argument.as_str())));
    } else {
        command.args(launch.arguments);
    }
    command.current_dir(context.folder).env(launch.token_variable, context.token);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let not_started = |why: &dyn std::fmt::Display| Why::new(Reason::NotStarted, why);
    let mut agent = Agent::start(command).map_err(|e| not_started(&e))?;

    let us = json!({"name": "chorus", "version": env!("CARGO_PKG_VERSION")});
    let files = json!({"readTextFile": false, "writeTextFile": false});
    let hello = json!({
        "protocolVersion": 1, "clientInfo": us,
        "clientCapabilities": {"fs": files, "terminal": false},
    });
    let able = agent.call("initialize", hello).await.map_err(|e| not_started(&e))?;
    if able["protocolVersion"] != 1 {
        let version = &able["protocolVersion"];
        return Err(Why::new(
            Reason::SchemaChanged,
            format_args!("it speaks ACP version {version}"),
        ));
    }
    let able = &able["agentCapabilities"];
    let mut params = json!({"cwd": context.folder, "mcpServers": servers(able, context)});
    let failed = |failure: Failure| Why::new(Reason::Refused, failure);
    match context.session.filter(|_| able["loadSession"] == true) {
        Some(session) => {
            params["sessionId"] = session.into();
            match agent.call("session/load", params.clone()).await {
                Ok(_) => agent.enter(session, false),
                // It does not have the session any more: a new one, which is told the summary.
                Err(Failure::Refused { .. }) => {
                    let made = agent.call("session/new", without_session(params)).await;
                    agent.enter(session_id(&made.map_err(failed)?)?, true);
                }
                Err(failure) => return Err(Why::new(Reason::NoAnswer, failure)),
            }
        }
        None => {
            let made = agent.call("session/new", params).await.map_err(failed)?;
            agent.enter(session_id(&made)?, true);
        }
    }
    Ok(agent)
}

/// Options of Gemini's that hold for every session.
const KEPT: [&str; 3] = ["--yolo", "-y", "--skip-trust"];

fn without_session(mut params: Value) -> Value {
    if let Some(params) = params.as_object_mut() {
        params.remove("sessionId");
    }
    params
}

fn session_id(made: &Value) -> Result<&str, Why> {
    let strange = || Why::new(Reason::SchemaChanged, "session/new is answered without a session");
    made["sessionId"].as_str().ok_or_else(strange)
}

/// Our MCP server, for agents that take one over HTTP.
fn servers<T>(able: &Value, context: &LaneContext<'_, T>) -> Value {
    if able["mcpCapabilities"]["http"] != true {
        return json!([]);
    }
    let bearer = json!({"name": "Authorization", "value": format!("Bearer {}", context.token)});
    json!([{"type": "http", "name": "chorus", "url": context.launch.url, "headers": [bearer]}])
}

#[cfg(test)]
mod tests;
