//! The arguments of a tool with ids in the place of names: whatever takes a conversation takes a channel's name too, and
//! whatever takes a member takes `@handle`.
//!
//! It is done here for every tool and every transport, before anything looks at the arguments. What holds no name is
//! handed on as it came, and so is what cannot be read: the tool says what is wrong with it.

use std::collections::BTreeMap;

use chorus_core::model::error::Refusal;
use rmcp::model::JsonObject;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::{RawValue, to_raw_value};

use crate::auth::Caller;
use crate::services::App;

/// Arguments that name a conversation. `target` has one inside.
const CONVERSATIONS: [&str; 2] = ["conversation", "channel_id"];
/// Arguments that name a member, and those that name several.
const MEMBERS: [&str; 3] = ["recipient", "source", "author"];
const MEMBER_LISTS: [&str; 4] = ["mentions", "only", "participants", "targets"];

type Fields<'a> = BTreeMap<String, &'a RawValue>;

/// The arguments with ids, where there was a name among them.
pub(super) async fn with_ids(
    app: &App,
    caller: &Caller,
    arguments: Option<&RawValue>,
) -> Result<Option<Box<RawValue>>, Refusal> {
    let Some(mut fields) = arguments.and_then(fields) else { return Ok(None) };
    let mut changed: Vec<(&str, Box<RawValue>)> = Vec::new();
    for name in CONVERSATIONS {
        if let Some(id) = conversation(app, caller, &fields, name).await? {
            changed.push((name, raw(&id)?));
        }
    }
    if let Some(mut target) = fields.get("target").and_then(|target| self::fields(target))
        && let Some(id) = conversation(app, caller, &target, "conversation").await?
    {
        let id = raw(&id)?;
        target.insert("conversation".to_owned(), &id);
        changed.push(("target", raw(&target)?));
    }
    for name in MEMBERS {
        if let Some(member) = read::<String>(&fields, name)
            && !app.names.is_member_id(caller, &member)
        {
            changed.push((name, raw(&app.names.member_id(caller, &member).await?)?));
        }
    }
    for name in MEMBER_LISTS {
        let Some(mut members) = read::<Vec<String>>(&fields, name) else { continue };
        if members.iter().all(|member| app.names.is_member_id(caller, member)) {
            continue;
        }
        for member in &mut members {
            *member = app.names.member_id(caller, member).await?;
        }
        changed.push((name, raw(&members)?));
    }
    if changed.is_empty() {
        return Ok(None);
    }
    fields.extend(changed.iter().map(|(name, value)| ((*name).to_owned(), &**value)));
    raw(&fields).map(Some)
}

/// The same of an object.
pub(super) async fn object_with_ids(
    app: &App,
    caller: &Caller,
    arguments: JsonObject,
) -> Result<JsonObject, Refusal> {
    let resolved = with_ids(app, caller, Some(&*raw(&arguments)?)).await?;
    match resolved {
        Some(resolved) => serde_json::from_str(resolved.get()).map_err(unreadable),
        None => Ok(arguments),
    }
}

async fn conversation(
    app: &App,
    caller: &Caller,
    fields: &Fields<'_>,
    name: &str,
) -> Result<Option<String>, Refusal> {
    let Some(given) = read::<String>(fields, name) else { return Ok(None) };
    let id = app.names.conversation_id(caller, &given).await?;
    Ok(Some(id).filter(|id| *id != given))
}

fn fields(object: &RawValue) -> Option<Fields<'_>> {
    serde_json::from_str(object.get()).ok()
}

fn read<T: DeserializeOwned>(fields: &Fields<'_>, name: &str) -> Option<T> {
    serde_json::from_str(fields.get(name)?.get()).ok()
}

fn raw<T: Serialize>(value: &T) -> Result<Box<RawValue>, Refusal> {
    to_raw_value(value).map_err(unreadable)
}

fn unreadable(why: serde_json::Error) -> Refusal {
    Refusal::invalid(format!("the arguments: {why}"))
}
