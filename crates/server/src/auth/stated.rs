//! Identity that a payload states, though it comes from the token alone: it is compared, never believed.

use chorus_core::error::{Code, Refusal};
use chorus_core::ids::Prefix;
use serde_json::Value;

use super::Caller;

/// Fields in which callers have been seen to state who they are.
const MEMBER: [&str; 6] = ["agent_id", "agentId", "author", "author_id", "authorId", "sender"];
const WORKSPACE: [&str; 2] = ["workspace_id", "workspaceId"];
const SESSION: [&str; 2] = ["session_id", "sessionId"];

/// The refusal of a payload that was not understood, when it states another identity than the token's.
pub(crate) fn disagreement(caller: &Caller, workspace: &str, payload: &str) -> Option<Refusal> {
    let Ok(Value::Object(fields)) = serde_json::from_str(payload) else { return None };
    let states_other = |names: &[&str], own: Option<&str>| {
        let stated = names.iter().filter_map(|name| fields.get(*name)).filter_map(Value::as_str);
        stated.into_iter().any(|text| Some(text) != own)
    };
    if states_other(&WORKSPACE, Some(workspace)) {
        return Some(Refusal::new(
            Code::OutOfScopeWorkspace,
            "the payload names another workspace than the token",
        ));
    }
    let session = caller.session.map(|s| s.show(Prefix::Session));
    let other = states_other(&MEMBER, Some(&caller.member.id))
        || states_other(&SESSION, session.as_deref());
    other.then(|| {
        Refusal::new(Code::ClaimMismatch, "the payload states another identity than the token")
    })
}
