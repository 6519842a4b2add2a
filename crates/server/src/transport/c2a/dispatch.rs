//! What a harness may ask, the same by WebSocket and by POST: a method's name to its use case, and the
//! use case's answer or refusal to JSON-RPC.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use chorus_core::model::error::{Code, Refusal};
use chorus_wire::attention::initialize::{Capabilities, Glyphs, UtilityCapabilities};
use chorus_wire::attention::method;
use chorus_wire::attention::notifications::{Cancelled, Level, LogMessage, Progress, Typing};
use chorus_wire::attention::tools::CallParams;
use chorus_wire::jsonrpc::{self, ErrorObject, Id, Response};
use chorus_wire::tool::Names;
use chorus_wire::tool_list::list_tools;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;

use super::under_way::UnderWay;
use crate::auth::{Caller, disagreement};
use crate::logging::AGENT;
use crate::services::App;
use crate::services::dispositions::{delivery_of, event_id, event_of};
use crate::transport::refused::{log, request_id, too_much};
use crate::transport::tools::{self, Asking, Given};

/// On whose behalf, and how it wants its answers.
pub(super) struct Context {
    pub app: Arc<App>,
    pub caller: Caller,
    pub names: Names,
    pub glyphs: Option<Arc<Glyphs>>,
    /// What was agreed on at `initialize`; none for a single POST.
    pub can: Option<Capabilities>,
    /// Its calls under way.
    pub under_way: UnderWay,
    /// Which of its runs were said to live a short while ago, by the turn's token, and when, in milliseconds.
    pub lived: Mutex<HashMap<Option<Box<str>>, i64>>,
}

/// Longest line of an agent's in the host's log, and longest name of who wrote it there, in bytes.
const LINE_BYTES: usize = 1_024;
const LOGGER_BYTES: usize = 64;

/// Signs of life within so long are one: a claim lives for 90 s without any.
const LIFE_EVERY_MS: i64 = 5_000;

impl Context {
    /// The run shows life whose turn a call comes with. A call without one, or a ping, says so of the only run that the
    /// session has under way.
    pub(super) fn lives(&self, turn: Option<&str>) {
        let now = self.app.now().0;
        let mut lived = self.lived.lock().unwrap_or_else(PoisonError::into_inner);
        lived.retain(|_, last| now.saturating_sub(*last) < LIFE_EVERY_MS);
        let turn: Option<Box<str>> = turn.map(Into::into);
        if lived.contains_key(&turn) {
            return;
        }
        // A token that is good for nothing is refused by the call itself.
        let Ok(caller) = self.app.identity.in_turn(&self.caller, turn.as_deref()) else { return };
        lived.insert(turn, now);
        self.app.dispositions.life(caller.by);
    }

    /// Refuses what was not agreed on at `initialize`. A single POST has agreed on nothing.
    fn must_have(
        &self,
        what: &str,
        has: impl FnOnce(&UtilityCapabilities) -> bool,
    ) -> Result<(), Refusal> {
        match &self.can {
            Some(can) if !has(&can.utilities) => Err(Refusal::invalid(format!(
                "{what} was not agreed on: state it in initialize, under capabilities.utilities"
            ))),
            _ => Ok(()),
        }
    }
}

/// What is not in the list is unknown: whoever goes through the list goes through all that there is.
fn listed(method: &str) -> &str {
    if method::OF_HARNESS.contains(&method) { method } else { "" }
}

/// Answers a request.
pub(super) async fn requested(
    context: &Context,
    id: &Id,
    method: &str,
    params: Option<&RawValue>,
) -> String {
    match listed(method) {
        method::TOOLS_LIST => result(id, &list_tools(context.names)),
        method::PING => {
            context.lives(None);
            result(id, &json!({}))
        }
        method::TOOLS_CALL => match read(context, params) {
            Ok(call) => match run(context, &call).await {
                Ok(given) => result(id, &given),
                Err(refusal) => refused(id, &refusal),
            },
            Err(refusal) => misread(id, &refusal),
        },
        method::DISPOSITION => match read(context, params) {
            Ok(params) => match context.app.dispositions.dispose(&context.caller, params).await {
                Ok(done) => result(id, &done),
                Err(refusal) => refused(id, &refusal),
            },
            Err(refusal) => misread(id, &refusal),
        },
        method::WAKE_REPORT => match read(context, params) {
            Ok(report) => match context.app.wakes.report(&context.caller, report).await {
                Ok(done) => result(id, &done),
                Err(refusal) => refused(id, &refusal),
            },
            Err(refusal) => misread(id, &refusal),
        },
        method::INITIALIZE => refused(
            id,
            &Refusal::invalid(
                "initialize is the first message of a WebSocket connection, and sent once",
            ),
        ),
        _ => {
            let request_id = request_id();
            tracing::debug!(request_id, "an unknown method");
            error(id, ErrorObject::method_not_found(method, request_id))
        }
    }
}

async fn run(context: &Context, call: &CallParams) -> Result<Given, Refusal> {
    // A tool call shows that the run lives.
    context.lives(turn_of(call.arguments.as_deref()).as_deref());
    let Context { app, caller, glyphs, .. } = context;
    let asking = Asking { app, caller, glyphs: glyphs.as_deref() };
    tools::call(&asking, &call.name, call.arguments.as_deref()).await
}

/// The turn that a tool is called in, by its token.
fn turn_of(arguments: Option<&RawValue>) -> Option<String> {
    #[derive(Deserialize)]
    struct InTurn {
        turn: Option<String>,
    }
    serde_json::from_str::<InTurn>(arguments?.get()).ok()?.turn
}

/// Takes a notification. Nobody waits for an answer, but whoever posts it learns whether it was taken.
pub(super) async fn notified(
    context: &Context,
    method: &str,
    params: Option<&RawValue>,
) -> Result<(), Refusal> {
    match listed(method) {
        method::PROGRESS => {
            context.must_have("progress", |can| can.progress)?;
            let progress: Progress = read(context, params)?;
            context.app.dispositions.progress(&context.caller, &progress).await
        }
        method::TYPING => {
            context.must_have("typing", |can| can.typing)?;
            type_on(context, &read(context, params)?).await
        }
        method::MESSAGE => {
            context.must_have("logging", |can| can.logging)?;
            if context.caller.by.turn.is_some() {
                context.app.dispositions.hold_turn(context.caller.by).await?;
            }
            note(context, &read(context, params)?)
        }
        method::CANCELLED => {
            context.must_have("cancellation", |can| can.cancellation)?;
            cancel(context, &read(context, params)?).await
        }
        method::SCREEN => context.app.screens.show(&context.caller, read(context, params)?),
        method::INITIALIZED => Ok(()),
        _ => Err(Refusal::invalid("an unknown notification")),
    }
}

/// The harness wants what it names no more: a delivery, whose run has ended there, or a call of its own, which is not
/// answered. What a call has done stays done.
async fn cancel(context: &Context, cancelled: &Cancelled) -> Result<(), Refusal> {
    let named = cancelled.event_id.as_deref().map(event_id).transpose()?;
    // The attempt that the request's id names counts, whatever stands beside it.
    let of = delivery_of(&cancelled.request_id);
    if let (Some(event), Some((of, _))) = (named, of)
        && event != of
    {
        return Err(Refusal::invalid("requestId and eventId name different events"));
    }
    if let Some(event) = named.or_else(|| event_of(&cancelled.request_id)) {
        let attempt = of.map(|(_, attempt)| attempt);
        return context.app.dispositions.cancel_delivery(context.caller.by, event, attempt).await;
    }
    match context.under_way.stop(&cancelled.request_id) {
        true => Ok(()),
        false => Err(Refusal::new(Code::NotFound, "nothing is under way with this requestId")),
    }
}

async fn type_on(context: &Context, typing: &Typing) -> Result<(), Refusal> {
    let own = &context.caller.member.id;
    if typing.author.as_deref().is_some_and(|author| author != &**own) {
        return Err(Refusal::new(Code::ClaimMismatch, "the token types for its own member"));
    }
    context.app.dispositions.typing(&context.caller, typing).await
}

/// A line of the harness's for our log: data, not a format of ours, under a target of its own. It is the agent's word for
/// itself, so that it is cut, and an agent that says much is not listened to for a while.
fn note(context: &Context, message: &LogMessage) -> Result<(), Refusal> {
    let Context { app, caller, .. } = context;
    app.shared.limits.line(caller.by.member, app.now()).map_err(too_much)?;
    let member = &*caller.member.id;
    let logger = cut(message.logger.as_deref().unwrap_or_default(), LOGGER_BYTES);
    let data = message.data.to_string();
    let data = cut(&data, LINE_BYTES);
    if message.level >= Level::Warning {
        tracing::warn!(target: AGENT, member, logger, data, "an agent says");
    } else {
        tracing::debug!(target: AGENT, member, logger, data, "an agent says");
    }
    Ok(())
}

/// The beginning of a text, of at most so many bytes.
fn cut(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

fn read<T: DeserializeOwned>(context: &Context, params: Option<&RawValue>) -> Result<T, Refusal> {
    jsonrpc::params(params).map_err(|why| {
        let text = params.map_or("{}", RawValue::get);
        let disagrees = disagreement(&context.caller, context.app.identity.workspace(), text);
        disagrees.unwrap_or_else(|| Refusal::invalid(why))
    })
}

pub(super) fn result<T: Serialize>(id: &Id, value: &T) -> String {
    serde_json::to_string(&Response::result(id, value)).unwrap_or_else(|e| {
        let refusal = Refusal::new(Code::Internal, format!("an answer is no JSON: {e}"));
        refused(id, &refusal)
    })
}

pub(super) fn refused(id: &Id, refusal: &Refusal) -> String {
    let request_id = request_id();
    log(refusal, &request_id);
    error(id, ErrorObject::of(refusal, request_id))
}

/// Answers params that do not fit the method, which JSON-RPC has a number for.
pub(super) fn misread(id: &Id, refusal: &Refusal) -> String {
    if refusal.code != Code::ValidationError {
        return refused(id, refusal);
    }
    let request_id = request_id();
    log(refusal, &request_id);
    error(id, ErrorObject::invalid_params(refusal.message.as_str(), request_id))
}

fn error(id: &Id, error: ErrorObject) -> String {
    serde_json::to_string(&Response::error(Some(id), error)).unwrap_or_default()
}
