//! Identity that a payload states, though it comes from the token alone: it is compared, never believed.

use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::Prefix;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

use super::Caller;

/// Fields in which callers have been seen to state who they are.
const MEMBER: [&str; 8] = [
    "agent_id",
    "agentId",
    "author",
    "author_id",
    "authorId",
    "created_by",
    "sender",
    "sender_agent_id",
];
const WORKSPACE: [&str; 2] = ["workspace_id", "workspaceId"];
const SESSION: [&str; 3] = ["session_id", "sessionId", "sender_session_id"];

/// The workspace that a payload may state: by its id, or by its name, as people write it into settings.
#[derive(Clone, Copy)]
pub(crate) struct Workspace<'a> {
    pub id: &'a str,
    pub name: &'a str,
}

/// The refusal of a payload that was not understood, when it states another identity than the token's.
pub(crate) fn disagreement(
    caller: &Caller,
    workspace: Workspace<'_>,
    payload: &str,
) -> Option<Refusal> {
    let Ok(Value::Object(fields)) = serde_json::from_str(payload) else { return None };
    differs(caller, workspace, &fields)
}

/// Arguments without the fields that state who calls, when there were any and they agree with the token. What is
/// no object is left as it is: whoever reads it says so.
pub(crate) fn without_identity(
    caller: &Caller,
    workspace: Workspace<'_>,
    arguments: Option<&RawValue>,
) -> Result<Option<Box<RawValue>>, Refusal> {
    let Some(Ok(mut fields)) = arguments.map(|raw| serde_json::from_str(raw.get())) else {
        return Ok(None);
    };
    if let Some(refusal) = differs(caller, workspace, &fields) {
        return Err(refusal);
    }
    let before = fields.len();
    for name in MEMBER.iter().chain(&WORKSPACE).chain(&SESSION) {
        // One that is no text states nothing, and is as unknown as any other.
        if fields.get(*name).is_some_and(Value::is_string) {
            fields.remove(*name);
        }
    }
    if fields.len() == before {
        return Ok(None);
    }
    to_raw_value(&fields).map(Some).map_err(|e| Refusal::invalid(format!("the arguments: {e}")))
}

fn differs(
    caller: &Caller,
    workspace: Workspace<'_>,
    fields: &Map<String, Value>,
) -> Option<Refusal> {
    let states_other = |names: &[&str], own: &[Option<&str>]| {
        let mut stated =
            names.iter().filter_map(|name| fields.get(*name)).filter_map(Value::as_str);
        stated.any(|text| !own.contains(&Some(text)))
    };
    if states_other(&WORKSPACE, &[Some(workspace.id), Some(workspace.name)]) {
        return Some(Refusal::new(
            Code::OutOfScopeWorkspace,
            "the payload names another workspace than the token",
        ));
    }
    let session = caller.session.map(|s| s.show(Prefix::Session));
    let other = states_other(&MEMBER, &[Some(&caller.member.id)])
        || states_other(&SESSION, &[session.as_deref()]);
    other.then(|| {
        Refusal::new(Code::ClaimMismatch, "the payload states another identity than the token")
    })
}
