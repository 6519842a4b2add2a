//! `tools/call`: the seven chat tools (C2A "Chat tools"). A refusal is a tool error with the envelope, so that
//! the model reads the same code everywhere.

use chorus_core::error::{Code, Refusal};
use chorus_wire::attention::descriptors::Tool;
use chorus_wire::attention::tools::{CallParams, CallResult};
use chorus_wire::error::ErrorBody;
use chorus_wire::jsonrpc;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::dispatch::Context;
use crate::app::claims::Held;
use crate::auth::disagreement;
use crate::doors::refused::{log, request_id};

pub(super) async fn call(context: &Context, call: CallParams) -> CallResult {
    // A tool call shows that the run lives.
    context.app.life(context.caller.by);
    match run(context, call).await {
        Ok(result) => result,
        Err(refusal) => {
            let request_id = request_id();
            log(&refusal, &request_id);
            context.app.metrics.refused(refusal.code);
            CallResult::refused(ErrorBody::of(&refusal, request_id))
        }
    }
}

async fn run(context: &Context, call: CallParams) -> Result<CallResult, Refusal> {
    let Some(tool) = Tool::from_name(&call.name) else {
        let shown: String = call.name.chars().take(64).collect();
        return Err(Refusal::new(Code::NotFound, format!("no such tool: {shown:?}")));
    };
    let (app, caller) = (&context.app, &context.caller);
    let raw = call.arguments.as_deref();
    let glyphs = context.glyphs.as_deref();
    Ok(match tool {
        Tool::SendMessage => {
            CallResult::ok(&app.send_message(caller, arguments(context, raw)?).await?)
        }
        Tool::React => CallResult::ok(&app.react_tool(caller, arguments(context, raw)?).await?),
        Tool::Claim => match app.claim_tool(caller, arguments(context, raw)?).await? {
            Held::Claimed(claimed) => CallResult::ok(&claimed),
            Held::Released(released) => CallResult::ok(&released),
        },
        Tool::Defer => CallResult::ok(&app.defer(caller, arguments(context, raw)?).await?),
        Tool::Resolve => CallResult::ok(&app.resolve(caller, arguments(context, raw)?).await?),
        Tool::ListEvents => {
            CallResult::ok(&app.list_events(caller, arguments(context, raw)?, glyphs).await?)
        }
        Tool::ReadThread => {
            CallResult::ok(&app.read_thread(caller, arguments(context, raw)?, glyphs).await?)
        }
    })
}

fn arguments<T: DeserializeOwned>(context: &Context, raw: Option<&RawValue>) -> Result<T, Refusal> {
    jsonrpc::params(raw).map_err(|why| {
        let text = raw.map_or("{}", RawValue::get);
        let disagrees = disagreement(&context.caller, &context.app.workspace_id, text);
        disagrees.unwrap_or_else(|| Refusal::invalid(format!("the arguments: {why}")))
    })
}
