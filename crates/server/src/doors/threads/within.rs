//! The endpoint of one channel, `/mcp/{channel_id}`: whatever a call names must be of that channel, and a call
//! that names no place means it.

use std::sync::Arc;

use chorus_core::error::{Code, Refusal};
use chorus_core::ids::{Prefix, Uid};
use chorus_wire::attention::descriptors::Tool;
use chorus_wire::threads::descriptors::Method;
use rmcp::model::JsonObject;
use serde_json::Value;

use crate::app::App;

/// Arguments that name a conversation, a thread, or an event.
const CONVERSATIONS: [&str; 2] = ["conversation", "channel_id"];
const THREADS: [&str; 3] = ["thread_id", "threadId", "thread"];
const EVENTS: [&str; 4] = ["eventId", "inReplyTo", "in_reply_to", "root_message_id"];

/// The arguments, when everything that they name is of the channel. What names nothing that there is, is left to
/// the tool to refuse.
pub(super) async fn confined(
    app: &Arc<App>,
    channel: Uid,
    name: &str,
    mut arguments: JsonObject,
) -> Result<JsonObject, Refusal> {
    check(app, channel, &arguments).await?;
    if let Some(Value::Object(target)) = arguments.get("target") {
        check(app, channel, target).await?;
    }
    let here = || Value::String(channel.show(Prefix::Conversation));
    match Tool::from_name(name) {
        Some(Tool::Threads(Method::CreateThread)) => {
            arguments.entry("channel_id").or_insert_with(here);
        }
        // A stream has threads of many channels.
        Some(Tool::ListEvents) if !arguments.contains_key("stream") => {
            arguments.entry("conversation").or_insert_with(here);
        }
        Some(Tool::ListEvents) => return Err(elsewhere()),
        _ => {}
    }
    Ok(arguments)
}

async fn check(app: &Arc<App>, channel: Uid, fields: &JsonObject) -> Result<(), Refusal> {
    let texts = |names: &'static [&str]| {
        names.iter().filter_map(|name| fields.get(*name)).filter_map(Value::as_str)
    };
    for id in texts(&CONVERSATIONS) {
        if Uid::read(Prefix::Conversation, id).is_some_and(|uid| uid != channel) {
            return Err(elsewhere());
        }
    }
    for id in texts(&THREADS) {
        must_be(app.home_of_thread(id).await, channel)?;
    }
    for id in texts(&EVENTS) {
        must_be(app.home_of_event(id).await, channel)?;
    }
    Ok(())
}

fn must_be(home: Result<Uid, Refusal>, channel: Uid) -> Result<(), Refusal> {
    match home {
        Ok(home) if home != channel => Err(elsewhere()),
        Err(refusal) if refusal.code != Code::NotFound => Err(refusal),
        _ => Ok(()),
    }
}

fn elsewhere() -> Refusal {
    Refusal::new(Code::Forbidden, "this address is for one channel; use /v1/mcp for the others")
}
