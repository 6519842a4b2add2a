//! `tools/call`, the same on every transport: a tool's name to its use case. A refusal is a tool error with the
//! envelope, so that the model reads the same code everywhere.

use std::sync::Arc;
use std::time::Instant;

use chorus_core::model::error::{Code, Refusal};
use chorus_wire::attention::descriptors::Tool;
use chorus_wire::attention::initialize::Glyphs;
use chorus_wire::channels::{self, CreateChannelStimulus};
use chorus_wire::error::Envelope;
use chorus_wire::jsonrpc;
use chorus_wire::threads::descriptors::Method;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde::ser::{SerializeStruct, Serializer};
use serde_json::value::{RawValue, to_raw_value};

use super::named;
use super::refused::{log, request_id};
use crate::auth::{Caller, disagreement, without_identity};
use crate::services::App;
use crate::services::claims::Held;

/// On whose behalf a tool is called.
pub(super) struct Asking<'a> {
    pub app: &'a Arc<App>,
    pub caller: &'a Caller,
    /// How it wants signals shown.
    pub glyphs: Option<&'a Glyphs>,
}

/// What a tool gave or why it refused, MCP-shaped: the same JSON as text and as structured content, written
/// once.
pub(super) struct Given {
    pub json: Box<RawValue>,
    pub is_error: bool,
}

impl Given {
    pub(super) fn of<T: Serialize>(value: &T, is_error: bool) -> Result<Self, Refusal> {
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

/// Whether there is such a tool.
pub(super) fn is_one(name: &str) -> bool {
    Tool::from_name(name).is_some()
}

/// Whether a turn's token reaches a tool: it speaks and reads, and manages nothing.
pub(super) fn is_for_turns(name: &str) -> bool {
    let manages = |tool| {
        matches!(
            tool,
            Tool::Threads(Method::CreateThread | Method::AckRead | Method::UpdateThreadStatus)
        )
    };
    Tool::from_name(name).is_some_and(|tool| !manages(tool))
}

pub(super) async fn call(
    asking: &Asking<'_>,
    name: &str,
    arguments: Option<&RawValue>,
) -> Result<Given, Refusal> {
    let tool = Tool::from_name(name).ok_or_else(|| {
        let shown: String = name.chars().take(64).collect();
        Refusal::new(Code::NotFound, format!("no such tool: {shown:?}"))
    });
    // What is no tool's name may be anything, and is not kept.
    let known = tool.as_ref().map_or("unknown", |tool| tool.name());
    let begun = Instant::now();
    let ran = match tool {
        Ok(tool) => run(asking, tool, arguments).await,
        Err(refusal) => Err(refusal),
    };
    let code = ran.as_ref().err().map(|refusal| refusal.code);
    asking.app.audit.note_tool(asking.caller, known, code, begun.elapsed());
    match ran {
        Ok(given) => Ok(given),
        Err(refusal) => refused(asking.app, &refusal),
    }
}

/// A refusal as a tool's answer.
pub(super) fn refused(app: &App, refusal: &Refusal) -> Result<Given, Refusal> {
    let request_id = request_id();
    log(refusal, &request_id);
    app.shared.metrics.refused(refusal.code);
    Given::of(&Envelope::of(refusal, request_id), true)
}

async fn run(
    asking: &Asking<'_>,
    tool: Tool,
    arguments: Option<&RawValue>,
) -> Result<Given, Refusal> {
    let Asking { app, caller, glyphs } = *asking;
    let stripped;
    let raw = match tool {
        // Fields that state who calls are in none of these tools' types.
        Tool::Threads(_) => {
            stripped = without_identity(caller, app.identity.workspace(), arguments)?;
            stripped.as_deref().or(arguments)
        }
        _ => arguments,
    };
    let resolved = named::with_ids(app, caller, raw).await?;
    let raw = resolved.as_deref().or(raw);
    app.approvals.may_call(caller, tool, raw).await?;
    match tool {
        Tool::Threads(method) => run_method(asking, method, raw).await,
        Tool::Channels(channels::Tool::EmitOutput) => {
            given(&app.runs.emit_output(caller, read(asking, raw)?).await?)
        }
        Tool::Channels(channels::Tool::SetChannelReaction) => {
            given(&app.runs.set_channel_reaction(caller, read(asking, raw)?).await?)
        }
        Tool::Channels(channels::Tool::ReadChannelThread) => {
            given(&app.runs.read_channel_thread(caller, read(asking, raw)?, glyphs).await?)
        }
        Tool::Channels(channels::Tool::CreateChannelStimulus) => {
            let (channel, turn, new) = read::<CreateChannelStimulus>(asking, raw)?.parts();
            let caller = app.identity.in_turn(caller, turn.as_deref())?;
            given(&app.stimuli.add_stimulus(&caller, &channel, new).await?)
        }
        Tool::ListChannels => given(&app.channels.list_channels(caller, read(asking, raw)?).await?),
        Tool::ListMembers => {
            given(&app.members.list_members(caller, &app.names, read(asking, raw)?).await?)
        }
        Tool::SendMessage => given(&app.posts.send_message(caller, read(asking, raw)?).await?),
        Tool::React => given(&app.reactions.react_tool(caller, read(asking, raw)?).await?),
        Tool::Claim => match app.claims.claim_tool(caller, read(asking, raw)?).await? {
            Held::Claimed(claimed) => given(&claimed),
            Held::Released(released) => given(&released),
        },
        Tool::Defer => given(&app.dispositions.defer(caller, read(asking, raw)?).await?),
        Tool::Resolve => given(&app.dispositions.resolve(caller, read(asking, raw)?).await?),
        Tool::ListEvents => given(&app.mail.list_events(caller, read(asking, raw)?, glyphs).await?),
        Tool::ReadAsset => given(&app.asset_reads.read_asset(caller, read(asking, raw)?).await?),
        Tool::ReadThread => given(&app.mail.read_thread(caller, read(asking, raw)?, glyphs).await?),
    }
}

/// The tools of the threads protocol (`spec/threads.md`).
async fn run_method(
    asking: &Asking<'_>,
    method: Method,
    raw: Option<&RawValue>,
) -> Result<Given, Refusal> {
    let Asking { app, caller, .. } = *asking;
    match method {
        Method::CreateThread => {
            given(&app.methods.create_thread(caller, read(asking, raw)?).await?)
        }
        Method::GetThread => given(&app.methods.get_thread(caller, read(asking, raw)?).await?),
        Method::PostMessage => given(&app.methods.post_message(caller, read(asking, raw)?).await?),
        Method::ReadMessages => {
            given(&app.methods.read_messages(caller, read(asking, raw)?).await?)
        }
        Method::AckRead => given(&app.methods.ack_read(caller, read(asking, raw)?).await?),
        Method::UpdateThreadStatus => {
            given(&app.methods.update_thread_status(caller, read(asking, raw)?).await?)
        }
        Method::SummarizeThread => {
            given(&app.methods.summarize_thread(caller, read(asking, raw)?).await?)
        }
    }
}

fn given<T: Serialize>(value: &T) -> Result<Given, Refusal> {
    Given::of(value, false)
}

fn read<T: DeserializeOwned>(asking: &Asking<'_>, raw: Option<&RawValue>) -> Result<T, Refusal> {
    jsonrpc::params(raw).map_err(|why| {
        let text = raw.map_or("{}", RawValue::get);
        let disagrees = disagreement(asking.caller, asking.app.identity.workspace(), text);
        disagrees.unwrap_or_else(|| Refusal::invalid(format!("the arguments: {why}")))
    })
}
