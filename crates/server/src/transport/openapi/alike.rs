//! Which tools do what an operation does, for every operation there is; and the gate before those that a person has to
//! agree to (ATT-422). The document names the tools under `x-tools`.
//!
//! Transports of tools (MCP, C2A) have none: each call is looked at by itself. Nor has what ends something, or is
//! nobody's but a person's.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRequestParts, Query, RawPathParams, Request};
use axum::http::Method as Verb;
use axum::http::request::Parts;
use chorus_core::model::error::Refusal;
use chorus_wire::attention::files::ReadAsset;
use chorus_wire::attention::listing::{ListChannels, ListMembers};
use chorus_wire::attention::tools::{Claim, ListEvents, React, ReadThread, Resolve};
use chorus_wire::channels::{ReadChannelThread, SetChannelReaction};
use chorus_wire::threads::{AckRead, CreateThread, GetThread, ReadMessages, UpdateThreadStatus};
use chorus_wire::tool::Arguments;
use serde_json::{Map, Value};

use crate::services::App;
use crate::services::alike::{GETS_THREAD, Like, READS, SENDS, STIMULATES, like};
use crate::transport::extract;
use crate::transport::refused::Refused;

const NONE: &[Like] = &[];

const READS_ASSET: &[Like] = &[like(ReadAsset::TOOL, |a| Some(a.called("id", "assetId")))];

/// Every operation: its name, and the tools that do the same, with their arguments.
const ROWS: &[(&str, &[Like])] = &[
    // Messages.
    (
        "list_messages",
        &[
            like(ReadThread::TOOL, |a| {
                let a = a.called("thread", "threadId").called("after_seq", "afterSequence");
                Some(a.called("before_seq", "beforeSequence"))
            }),
            like(ReadMessages::TOOL, |a| {
                Some(a.called("thread", "thread_id").called("after_seq", "since_seq"))
            }),
            like(ReadChannelThread::TOOL, |a| Some(a.called("thread", "thread_id"))),
            like(ListEvents::TOOL, |a| Some(a.called("after_seq", "afterSequence"))),
        ],
    ),
    ("get_message", &READS),
    ("list_events", &READS),
    ("search", &READS),
    ("read_feed", &READS),
    ("list_digests", &READS),
    ("post_message", &SENDS),
    ("callback", &SENDS),
    ("edit_message", &SENDS),
    (
        "put_reaction",
        &[
            like(React::TOOL, |a| Some(a.called("id", "inReplyTo"))),
            like(SetChannelReaction::TOOL, |a| Some(a.called("id", "message_id"))),
        ],
    ),
    (
        "remove_reaction",
        &[
            like(React::TOOL, |a| Some(a.called("id", "inReplyTo").with("remove", true))),
            like(SetChannelReaction::TOOL, |a| {
                Some(a.called("id", "message_id").with("remove", true))
            }),
        ],
    ),
    ("get_asset", READS_ASSET),
    ("get_thumbnail", READS_ASSET),
    // Threads.
    (
        "open_thread",
        &[like(CreateThread::TOOL, |a| {
            Some(a.called("conversation", "channel_id").called("root", "root_message_id"))
        })],
    ),
    ("list_threads", &GETS_THREAD),
    ("get_thread", &[like(GetThread::TOOL, |a| Some(a.called("id", "thread_id")))]),
    (
        "change_thread",
        &[
            like(UpdateThreadStatus::TOOL, |a| Some(a.called("id", "thread_id"))),
            like(Resolve::TOOL, |a| {
                let resolved = a.where_it_is("status", "resolved")?;
                Some(resolved.called("id", "threadId").called("reason", "note"))
            }),
        ],
    ),
    ("set_cursor", &[like(AckRead::TOOL, Some)]),
    // What is owed.
    ("claim", &[like(Claim::TOOL, |a| Some(a.called("event", "eventId")))]),
    (
        "release_claim",
        &[like(Claim::TOOL, |a| Some(a.called("event", "eventId").with("release", true)))],
    ),
    // What is said without a person asking.
    ("create_stimulus", &STIMULATES),
    ("retry_stimulus", &STIMULATES),
    ("create_schedule", &STIMULATES),
    ("change_schedule", &STIMULATES),
    // What there is.
    ("list_channels", &[like(ListChannels::TOOL, Some)]),
    ("list_members", &[like(ListMembers::TOOL, Some)]),
    // What no tool does.
    ("front_page", NONE),
    ("openapi", NONE),
    ("health", NONE),
    ("ready", NONE),
    ("metrics", NONE),
    ("sign_in", NONE),
    ("use_sign_in_link", NONE),
    ("invitation", NONE),
    ("accept_invitation", NONE),
    ("create_sign_in_link", NONE),
    ("create_invitation", NONE),
    ("mcp_resource", NONE),
    ("mcp_resource_at_path", NONE),
    ("export", NONE),
    ("back_up", NONE),
    ("deliver_to_inbox", NONE),
    ("mcp_call", NONE),
    ("mcp_listen", NONE),
    ("mcp_end", NONE),
    ("mcp_channel_call", NONE),
    ("mcp_channel_listen", NONE),
    ("mcp_channel_end", NONE),
    ("c2a_connect", NONE),
    ("c2a_call", NONE),
    ("whoami", NONE),
    ("get_member", NONE),
    ("add_member", NONE),
    ("change_member", NONE),
    ("remove_member", NONE),
    ("list_agents", NONE),
    ("list_sessions", NONE),
    ("list_roles", NONE),
    ("add_role", NONE),
    ("put_in_role", NONE),
    ("take_out_of_role", NONE),
    ("remove_role", NONE),
    ("list_streams", NONE),
    ("add_stream", NONE),
    ("issue_token", NONE),
    ("list_tokens", NONE),
    ("revoke_token", NONE),
    ("revoke_tokens", NONE),
    ("rotate_signing_key", NONE),
    ("add_channel", NONE),
    ("get_channel", NONE),
    ("change_channel", NONE),
    ("put_seat", NONE),
    ("remove_seat", NONE),
    ("leave_channel", NONE),
    ("index", NONE),
    ("get_cursor", NONE),
    ("why", NONE),
    ("delete_message", NONE),
    ("erase_message", NONE),
    ("preview_attention", NONE),
    ("typing", NONE),
    ("add_asset", NONE),
    ("change_thread_work", NONE),
    ("promote_message", NONE),
    ("continue_thread", NONE),
    ("continue_channel", NONE),
    ("list_pauses", NONE),
    ("list_deliveries", NONE),
    ("redeliver", NONE),
    ("list_claims", NONE),
    ("list_turns", NONE),
    ("break_turn", NONE),
    ("moderation", NONE),
    ("list_schedules", NONE),
    ("get_schedule", NONE),
    ("remove_schedule", NONE),
    ("list_stimuli", NONE),
    ("get_stimulus", NONE),
    ("cancel_stimulus", NONE),
    ("list_projects", NONE),
    ("create_project", NONE),
    ("get_project", NONE),
    ("change_project", NONE),
    ("remove_project", NONE),
    ("list_project_channels", NONE),
    ("link_channel", NONE),
    ("unlink_channel", NONE),
    ("list_project_members", NONE),
    ("set_project_member", NONE),
    ("remove_project_member", NONE),
    ("list_tasks", NONE),
    ("create_task", NONE),
    ("get_task", NONE),
    ("change_task", NONE),
    ("remove_task", NONE),
    ("list_endpoints", NONE),
    ("add_endpoint", NONE),
    ("get_endpoint", NONE),
    ("change_endpoint", NONE),
    ("rotate_endpoint", NONE),
    ("test_endpoint", NONE),
    ("remove_endpoint", NONE),
    ("list_inboxes", NONE),
    ("create_inbox", NONE),
    ("get_inbox", NONE),
    ("change_inbox", NONE),
    ("rotate_inbox", NONE),
    ("remove_inbox", NONE),
    ("list_approvals", NONE),
    ("decide_approval", NONE),
    ("list_audit", NONE),
    ("audit_heads", NONE),
];

/// The tools that do what an operation does; none where it has no row, which a test refuses.
pub(super) fn of(operation: &str) -> Option<&'static [Like]> {
    ROWS.iter().find(|(name, _)| *name == operation).map(|(_, likes)| *likes)
}

/// Every operation that has a row.
#[cfg(test)]
pub(super) fn operations() -> impl Iterator<Item = &'static str> {
    ROWS.iter().map(|(name, _)| *name)
}

/// The request, unless it is an agent's and a person has to agree to what one of these tools does.
pub(super) async fn agreed(
    app: &Arc<App>,
    likes: &[Like],
    request: Request,
) -> Result<Request, Refused> {
    if !app.approvals.is_sensitive(likes) {
        return Ok(request);
    }
    let (mut parts, mut body) = request.into_parts();
    let caller = extract::charged(app, &parts.headers).await?;
    if caller.member.is_agent() {
        let bytes = extract::read(app, &parts.headers, body).await?;
        let asked = asked(app, &mut parts, &bytes).await?;
        app.approvals.may_do(&caller, likes, asked).await?;
        body = Body::from(bytes);
    }
    // The request counts once.
    parts.extensions.insert(caller);
    Ok(Request::from_parts(parts, body))
}

/// What is asked: the fields of the body, the query and the path. A body that cannot be read is nobody's to agree to.
async fn asked(
    app: &Arc<App>,
    parts: &mut Parts,
    body: &[u8],
) -> Result<Map<String, Value>, Refusal> {
    // A handler reads the body or the query, never both: what it does not read is not what is asked for.
    let has_body = matches!(parts.method, Verb::POST | Verb::PUT | Verb::PATCH);
    let mut asked: Map<String, Value> = match body {
        body if has_body && !body.is_empty() => serde_json::from_slice(body)
            .map_err(|e| Refusal::invalid(format!("the body is not as it should be: {e}")))?,
        _ => Map::new(),
    };
    if !has_body {
        let query = Query::<Vec<(String, String)>>::try_from_uri(&parts.uri);
        let query = query.map_err(|e| Refusal::invalid(format!("the query: {}", e.body_text())))?;
        asked.extend(query.0.into_iter().map(|(name, value)| (name, word(value))));
    }
    let path = RawPathParams::from_request_parts(parts, app).await;
    let path = path.map_err(|e| Refusal::invalid(format!("the path: {}", e.body_text())))?;
    asked.extend(path.iter().map(|(name, id)| (name.to_owned(), id.into())));
    Ok(asked)
}

/// A number of a query is one of a tool.
fn word(value: String) -> Value {
    match value.parse::<u64>() {
        Ok(number) if number.to_string() == value => number.into(),
        _ => value.into(),
    }
}
