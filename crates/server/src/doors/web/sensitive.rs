//! What is done over REST and a tool does too: an agent that may not call the tool unasked may not do it here either, and
//! the same by both is the same request.

use chorus_core::error::Refusal;
use chorus_wire::attention::descriptors::Tool;
use chorus_wire::channels;
use chorus_wire::rest::messages::ListMessages;
use chorus_wire::rest::stimuli::NewStimulus;
use chorus_wire::rest::threads::{NewThread, ThreadPatch};
use chorus_wire::threads::descriptors::Method;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::app::App;
use crate::auth::Caller;

const STIMULATE: Tool = Tool::Channels(channels::Tool::CreateChannelStimulus);
const REACT_IN_CHANNEL: Tool = Tool::Channels(channels::Tool::SetChannelReaction);
const READ_CHANNEL: Tool = Tool::Channels(channels::Tool::ReadChannelThread);

/// `create_thread`.
pub(super) async fn thread(app: &App, caller: &Caller, new: &NewThread) -> Result<(), Refusal> {
    let tool = Tool::Threads(Method::CreateThread);
    app.may_do(caller, tool, || {
        let mut fields = fields(new);
        rename(&mut fields, "conversation", "channel_id");
        rename(&mut fields, "root", "root_message_id");
        fields
    })
    .await
}

/// `update_thread_status`.
pub(super) async fn status(
    app: &App,
    caller: &Caller,
    id: &str,
    patch: &ThreadPatch,
) -> Result<(), Refusal> {
    let tool = Tool::Threads(Method::UpdateThreadStatus);
    app.may_do(caller, tool, || with(fields(patch), "thread_id", id)).await
}

/// `chat.react` and `set_channel_reaction`.
pub(super) async fn reaction(
    app: &App,
    caller: &Caller,
    message: &str,
    signal: &str,
    eta: Option<&str>,
    remove: bool,
) -> Result<(), Refusal> {
    let asked = |name: &str| {
        let mut fields = with(Map::new(), name, message);
        fields.insert("signal".to_owned(), json!(signal));
        if let Some(eta) = eta {
            fields.insert("eta".to_owned(), json!(eta));
        }
        if remove {
            fields.insert("remove".to_owned(), json!(true));
        }
        fields
    };
    app.may_do(caller, Tool::React, || asked("inReplyTo")).await?;
    app.may_do(caller, REACT_IN_CHANNEL, || asked("message_id")).await
}

/// `create_channel_stimulus`.
pub(super) async fn stimulus(
    app: &App,
    caller: &Caller,
    channel: &str,
    new: &NewStimulus,
) -> Result<(), Refusal> {
    app.may_do(caller, STIMULATE, || {
        let mut fields = fields(new);
        // As a tool's caller leaves them away.
        fields.retain(|name, value| {
            !(name == "scope" && value == "channel" || name == "visibility" && value == "public")
        });
        with(fields, "channel_id", channel)
    })
    .await
}

/// `get_thread`.
pub(super) async fn look(app: &App, caller: &Caller, id: &str) -> Result<(), Refusal> {
    let tool = Tool::Threads(Method::GetThread);
    app.may_do(caller, tool, || with(Map::new(), "thread_id", id)).await
}

/// `chat.read_thread`, `read_messages`, `read_channel_thread` and `chat.list_events`.
pub(super) async fn read(app: &App, caller: &Caller, query: &ListMessages) -> Result<(), Refusal> {
    let tools =
        [Tool::ReadThread, Tool::Threads(Method::ReadMessages), READ_CHANNEL, Tool::ListEvents];
    for tool in tools {
        app.may_do(caller, tool, || fields(query)).await?;
    }
    Ok(())
}

/// `chat.read_asset`.
pub(super) async fn asset(app: &App, caller: &Caller, id: &str) -> Result<(), Refusal> {
    app.may_do(caller, Tool::ReadAsset, || with(Map::new(), "assetId", id)).await
}

fn fields(form: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(form) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

fn with(mut fields: Map<String, Value>, name: &str, id: &str) -> Map<String, Value> {
    fields.insert(name.to_owned(), json!(id));
    fields
}

fn rename(fields: &mut Map<String, Value>, old: &str, new: &str) {
    if let Some(value) = fields.remove(old) {
        fields.insert(new.to_owned(), value);
    }
}
