//! `tools/call`: the seven chat tools (C2A "Chat tools"). A refusal is a tool error with the envelope, so that
//! the model reads the same code everywhere.

use std::time::Instant;

use chorus_core::error::{Code, Refusal};
use chorus_wire::attention::descriptors::Tool;
use chorus_wire::attention::tools::CallParams;
use chorus_wire::error::Envelope;
use chorus_wire::jsonrpc;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde::ser::{SerializeStruct, Serializer};
use serde_json::value::{RawValue, to_raw_value};

use super::dispatch::Context;
use crate::app::claims::Held;
use crate::auth::disagreement;
use crate::doors::refused::{log, request_id};

/// What a tool gave or why it refused, MCP-shaped: the same JSON as text and as structured content, written
/// once.
pub(super) struct Given {
    json: Box<RawValue>,
    is_error: bool,
}

impl Given {
    fn of<T: Serialize>(value: &T, is_error: bool) -> Result<Self, Refusal> {
        let json = to_raw_value(value)
            .map_err(|e| Refusal::new(Code::Internal, format!("an answer is no JSON: {e}")))?;
        Ok(Self { json, is_error })
    }
}

impl Serialize for Given {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Text<'a> {
            r#type: &'static str,
            text: &'a str,
        }
        let text = [Text { r#type: "text", text: self.json.get() }];
        let mut given = out.serialize_struct("CallResult", 3)?;
        given.serialize_field("content", &text)?;
        given.serialize_field("structuredContent", &*self.json)?;
        given.serialize_field("isError", &self.is_error)?;
        given.end()
    }
}

pub(super) async fn call(context: &Context, call: CallParams) -> Result<Given, Refusal> {
    // A tool call shows that the run lives.
    context.lives();
    // What is no tool's name may be anything, and is not kept.
    let name = Tool::from_name(&call.name).map_or("unknown", Tool::name);
    let begun = Instant::now();
    let ran = run(context, call).await;
    let refused = ran.as_ref().err().map(|refusal| refusal.code);
    context.app.note_tool(&context.caller, name, refused, begun.elapsed());
    match ran {
        Ok(given) => Ok(given),
        Err(refusal) => {
            let request_id = request_id();
            log(&refusal, &request_id);
            context.app.metrics.refused(refusal.code);
            Given::of(&Envelope::of(&refusal, request_id), true)
        }
    }
}

async fn run(context: &Context, call: CallParams) -> Result<Given, Refusal> {
    let Some(tool) = Tool::from_name(&call.name) else {
        let shown: String = call.name.chars().take(64).collect();
        return Err(Refusal::new(Code::NotFound, format!("no such tool: {shown:?}")));
    };
    let (app, caller) = (&context.app, &context.caller);
    let raw = call.arguments.as_deref();
    app.may_call(caller, tool, raw).await?;
    let glyphs = context.glyphs.as_deref();
    match tool {
        Tool::SendMessage => given(&app.send_message(caller, arguments(context, raw)?).await?),
        Tool::React => given(&app.react_tool(caller, arguments(context, raw)?).await?),
        Tool::Claim => match app.claim_tool(caller, arguments(context, raw)?).await? {
            Held::Claimed(claimed) => given(&claimed),
            Held::Released(released) => given(&released),
        },
        Tool::Defer => given(&app.defer(caller, arguments(context, raw)?).await?),
        Tool::Resolve => given(&app.resolve(caller, arguments(context, raw)?).await?),
        Tool::ListEvents => {
            given(&app.list_events(caller, arguments(context, raw)?, glyphs).await?)
        }
        Tool::ReadThread => {
            given(&app.read_thread(caller, arguments(context, raw)?, glyphs).await?)
        }
    }
}

fn given<T: Serialize>(value: &T) -> Result<Given, Refusal> {
    Given::of(value, false)
}

fn arguments<T: DeserializeOwned>(context: &Context, raw: Option<&RawValue>) -> Result<T, Refusal> {
    jsonrpc::params(raw).map_err(|why| {
        let text = raw.map_or("{}", RawValue::get);
        let disagrees = disagreement(&context.caller, &context.app.workspace_id, text);
        disagrees.unwrap_or_else(|| Refusal::invalid(format!("the arguments: {why}")))
    })
}
