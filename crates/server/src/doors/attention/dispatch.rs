//! What a harness may ask, the same by WebSocket and by POST: a method's name to its use case, and the
//! use case's answer or refusal to JSON-RPC.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use chorus_core::error::Refusal;
use chorus_core::ids::Uid;
use chorus_wire::attention::descriptors::{Names, list_tools};
use chorus_wire::attention::initialize::Glyphs;
use chorus_wire::attention::method;
use chorus_wire::attention::notifications::{Level, LogMessage, Progress, Typing};
use chorus_wire::attention::tools::CallParams;
use chorus_wire::jsonrpc::{self, ErrorObject, Id, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use serde_json::value::RawValue;

use crate::app::App;
use crate::auth::{Caller, disagreement};
use crate::couriers::stands::Stands;
use crate::doors::refused::{log, request_id};
use crate::doors::tools::{self, Asking, Given};

/// On whose behalf, and how it wants its answers.
pub(super) struct Context {
    pub app: Arc<App>,
    pub caller: Caller,
    pub names: Names,
    pub glyphs: Option<Arc<Glyphs>>,
    /// Where the events stand that this connection was offered.
    pub stands: Option<Arc<Stands>>,
    /// When its runs were last said to live, in milliseconds.
    pub lived: AtomicI64,
}

/// Signs of life within so long are one: a claim lives for 90 s without any.
const LIFE_EVERY_MS: i64 = 5_000;

impl Context {
    /// Its runs show life: a call, progress, a ping.
    pub(super) fn lives(&self) {
        let now = self.app.now().0;
        let last = self.lived.load(Ordering::Relaxed);
        if now.saturating_sub(last) >= LIFE_EVERY_MS {
            self.lived.store(now, Ordering::Relaxed);
            self.app.life(self.caller.by);
        }
    }

    /// Where an event stands that was offered on this connection.
    fn standing(&self, event_id: &str) -> Option<Arc<chorus_core::conversation::Conversation>> {
        let hex = event_id.strip_prefix("evt_")?;
        let uid: Uid = hex.parse().ok()?;
        self.stands.as_ref()?.get(uid).map(|(conversation, _)| conversation)
    }
}

/// Answers a request.
pub(super) async fn requested(
    context: &Context,
    id: &Id,
    method: &str,
    params: Option<&RawValue>,
) -> String {
    match method {
        method::TOOLS_LIST => result(id, &list_tools(context.names)),
        method::PING => {
            context.lives();
            result(id, &json!({}))
        }
        method::TOOLS_CALL => match read(context, params) {
            Ok(call) => match run(context, &call).await {
                Ok(given) => result(id, &given),
                Err(refusal) => refused(id, &refusal),
            },
            Err(refusal) => refused(id, &refusal),
        },
        method::DISPOSITION => match read(context, params) {
            Ok(params) => match context.app.dispose(&context.caller, params).await {
                Ok(done) => result(id, &done),
                Err(refusal) => refused(id, &refusal),
            },
            Err(refusal) => refused(id, &refusal),
        },
        method::INITIALIZE => refused(
            id,
            &Refusal::invalid(
                "initialize is the first message of a WebSocket connection, and sent once",
            ),
        ),
        _ => {
            let request_id = request_id();
            tracing::debug!(request_id, method, "an unknown method");
            error(id, ErrorObject::method_not_found(method, request_id))
        }
    }
}

async fn run(context: &Context, call: &CallParams) -> Result<Given, Refusal> {
    // A tool call shows that the run lives.
    context.lives();
    let Context { app, caller, glyphs, .. } = context;
    let asking = Asking { app, caller, glyphs: glyphs.as_deref() };
    tools::call(&asking, &call.name, call.arguments.as_deref()).await
}

/// Takes a notification. Nobody waits for an answer; what is wrong with one is in the log.
pub(super) async fn notified(context: &Context, method: &str, params: Option<&RawValue>) {
    let done = match method {
        method::PROGRESS => read(context, params).map(|progress: Progress| {
            context.lives();
            let at = progress.event_id.as_deref().and_then(|id| context.standing(id));
            context.app.progress(&context.caller, at.as_deref(), &progress);
        }),
        method::TYPING => match read(context, params) {
            Ok(typing) => type_on(context, &typing).await,
            Err(refusal) => Err(refusal),
        },
        method::MESSAGE => read(context, params).map(|message| note(context, &message)),
        // A call that was answered cannot be called back; one that was not is answered soon.
        method::CANCELLED | method::INITIALIZED => Ok(()),
        _ => Err(Refusal::invalid("an unknown notification")),
    };
    if let Err(refusal) = done {
        log(&refusal, &request_id());
    }
}

async fn type_on(context: &Context, typing: &Typing) -> Result<(), Refusal> {
    let own = &context.caller.member.id;
    if typing.author.as_deref().is_some_and(|author| author != &**own) {
        return Err(Refusal::new(
            chorus_core::error::Code::ClaimMismatch,
            "the token types for its own member",
        ));
    }
    context.app.typing(&context.caller, typing).await
}

/// A line of the harness's for our log: data, not a format of ours.
fn note(context: &Context, message: &LogMessage) {
    let member = &*context.caller.member.id;
    let logger = message.logger.as_deref().unwrap_or_default();
    let data: String = message.data.to_string().chars().take(2_000).collect();
    if message.level >= Level::Warning {
        tracing::warn!(member, logger, data, "a harness says");
    } else {
        tracing::debug!(member, logger, data, "a harness says");
    }
}

fn read<T: DeserializeOwned>(context: &Context, params: Option<&RawValue>) -> Result<T, Refusal> {
    jsonrpc::params(params).map_err(|why| {
        let text = params.map_or("{}", RawValue::get);
        let disagrees = disagreement(&context.caller, &context.app.workspace_id, text);
        disagrees.unwrap_or_else(|| Refusal::invalid(why))
    })
}

pub(super) fn result<T: Serialize>(id: &Id, value: &T) -> String {
    serde_json::to_string(&Response::result(id, value)).unwrap_or_else(|e| {
        let refusal =
            Refusal::new(chorus_core::error::Code::Internal, format!("an answer is no JSON: {e}"));
        refused(id, &refusal)
    })
}

pub(super) fn refused(id: &Id, refusal: &Refusal) -> String {
    let request_id = request_id();
    log(refusal, &request_id);
    error(id, ErrorObject::of(refusal, request_id))
}

fn error(id: &Id, error: ErrorObject) -> String {
    serde_json::to_string(&Response::error(Some(id), error)).unwrap_or_default()
}
