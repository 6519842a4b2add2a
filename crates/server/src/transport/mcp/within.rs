//! The endpoint of one channel, `/mcp/{channel_id}`: whatever a call names must be of that channel, and a call
//! that names no place means it.

use std::sync::Arc;

use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::{Prefix, Uid};
use chorus_wire::tool::Reach;
use chorus_wire::tool_list;
use rmcp::model::JsonObject;
use serde_json::Value;

use crate::auth::Caller;
use crate::services::App;
use crate::transport::named;

/// Arguments that name a conversation, a thread, or an event.
const CONVERSATIONS: [&str; 2] = ["conversation", "channel_id"];
const THREADS: [&str; 3] = ["thread_id", "threadId", "thread"];
const EVENTS: [&str; 5] = ["eventId", "inReplyTo", "in_reply_to", "message_id", "root_message_id"];

/// The arguments, when everything that they name is of the channel. What names nothing that there is, is left to
/// the tool to refuse.
pub(super) async fn confined(
    app: &Arc<App>,
    caller: &Caller,
    channel: Uid,
    name: &str,
    arguments: JsonObject,
) -> Result<JsonObject, Refusal> {
    let mut arguments = named::object_with_ids(app, caller, arguments).await?;
    check(app, caller, channel, &arguments).await?;
    if let Some(Value::Object(target)) = arguments.get("target") {
        check(app, caller, channel, target).await?;
    }
    let here = || Value::String(channel.show(Prefix::Conversation));
    if let Some(Reach::All { narrowed_by, widened_by }) = tool_list::find(name).map(|t| t.reach) {
        if widened_by.is_some_and(|name| arguments.contains_key(name)) {
            return Err(elsewhere());
        }
        arguments.entry(narrowed_by).or_insert_with(here);
    }
    Ok(arguments)
}

async fn check(
    app: &Arc<App>,
    caller: &Caller,
    channel: Uid,
    fields: &JsonObject,
) -> Result<(), Refusal> {
    let texts = |names: &'static [&str]| {
        names.iter().filter_map(|name| fields.get(*name)).filter_map(Value::as_str)
    };
    let mut homes = Vec::new();
    homes.extend(texts(&CONVERSATIONS).filter_map(|id| Uid::read(Prefix::Conversation, id)));
    for id in texts(&THREADS) {
        homes.extend(there(app.methods.home_of_thread(id).await)?);
    }
    for id in texts(&EVENTS) {
        homes.extend(there(app.methods.home_of_event(id).await)?);
    }
    for home in homes.into_iter().filter(|home| *home != channel) {
        // What the caller may not see is as unknown here as anywhere.
        let id = home.show(Prefix::Conversation);
        if there(app.methods.seen(caller, &id).await)?.is_some() {
            return Err(elsewhere());
        }
    }
    Ok(())
}

fn there(found: Result<Uid, Refusal>) -> Result<Option<Uid>, Refusal> {
    match found {
        Ok(uid) => Ok(Some(uid)),
        Err(refusal) if refusal.code == Code::NotFound => Ok(None),
        Err(refusal) => Err(refusal),
    }
}

fn elsewhere() -> Refusal {
    Refusal::new(Code::Forbidden, "this address is for one channel; use /v1/mcp for the others")
}
