//! `initialize`: the version, what both sides can, the session, and the glyphs (C2A "Initialization").

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::ws::{Message, WebSocket};
use chorus_core::model::error::Refusal;
use chorus_core::model::ids::{Prefix, Uid};
use chorus_core::model::limits;
use chorus_core::model::member::Session;
use chorus_core::model::reaction::Signal;
use chorus_wire::attention::initialize::{
    Capabilities, Glyphs, InitializeParams, InitializeResult, Limits, MemberCard, Peer, SessionRef,
    WorkspaceRef,
};
use chorus_wire::attention::{PROTOCOL_VERSION, method};
use chorus_wire::jsonrpc::{self, Incoming};
use chorus_wire::tool::Names;
use futures_util::stream::SplitStream;
use futures_util::{SinkExt, StreamExt};
use serde_json::value::RawValue;

use super::dispatch::{self, Context};
use super::sink::{Out, json};
use crate::auth::Caller;
use crate::services::App;
use crate::transport::refused::request_id;

/// Longest glyph in bytes: an emoji of several parts, or a short name of one.
const GLYPH_BYTES: usize = 64;

/// Waits for `initialize` and answers it. Other requests are told that it comes first.
pub(super) async fn greet(
    app: &Arc<App>,
    caller: Caller,
    names: Names,
    out: &mut Out,
    frames: &mut SplitStream<WebSocket>,
) -> Option<(Context, Arc<Session>)> {
    loop {
        let text = match frames.next().await?.ok()? {
            Message::Text(text) => text,
            Message::Close(_) => return None,
            _ => continue,
        };
        let answer = match Incoming::parse(&text) {
            Ok(Incoming::Request { id, method, params }) if method == method::INITIALIZE => {
                match begin(app, &caller, names, params).await {
                    Ok((context, session, result)) => {
                        let answer = dispatch::result(&id, &result);
                        out.send(Message::text(answer)).await.ok()?;
                        return Some((context, session));
                    }
                    Err(refusal) => dispatch::misread(&id, &refusal),
                }
            }
            Ok(Incoming::Request { id, .. }) => {
                dispatch::refused(&id, &Refusal::invalid("initialize comes first"))
            }
            Ok(_) => continue,
            Err(error) => json(&error.response(request_id())),
        };
        out.send(Message::text(answer)).await.ok()?;
    }
}

type Begun = (Context, Arc<Session>, InitializeResult);

async fn begin(
    app: &Arc<App>,
    caller: &Caller,
    names: Names,
    params: Option<&RawValue>,
) -> Result<Begun, Refusal> {
    let params: InitializeParams = jsonrpc::params(params).map_err(Refusal::invalid)?;
    let glyphs = glyphs(params.glyphs.as_ref())?;
    let session = app.sessions.open_session(caller, params.session.as_ref()).await?;
    let mut caller = caller.clone();
    caller.by.session = Some(session.key);
    caller.session = Some(session.uid);
    let result = answer(app, &caller, &params, session.uid, &glyphs);
    let context = Context {
        app: app.clone(),
        caller,
        names,
        glyphs: Some(Arc::new(glyphs)),
        can: Some(result.capabilities),
        under_way: Default::default(),
        lived: Default::default(),
    };
    Ok((context, session, result))
}

/// The glyphs of a connection: the defaults, with those it wants instead. Signals that we do not have are
/// ignored, since a newer harness may have more.
pub(super) fn glyphs(wanted: Option<&Glyphs>) -> Result<Glyphs, Refusal> {
    let mut glyphs: Glyphs = Signal::ALL
        .into_iter()
        .map(|s| (s.name().to_owned(), s.default_glyph().to_owned()))
        .collect::<BTreeMap<_, _>>();
    for (name, glyph) in wanted.into_iter().flatten() {
        let bad =
            glyph.is_empty() || glyph.len() > GLYPH_BYTES || glyph.chars().any(char::is_control);
        if bad {
            return Err(Refusal::invalid(format!(
                "a glyph has 1 to {GLYPH_BYTES} bytes and one line"
            )));
        }
        if let Some(known) = glyphs.get_mut(name) {
            *known = glyph.clone();
        }
    }
    Ok(glyphs)
}

/// The answer. An unknown version is answered with our own; the harness decides whether it goes on.
pub(super) fn answer(
    app: &App,
    caller: &Caller,
    params: &InitializeParams,
    session: Uid,
    glyphs: &Glyphs,
) -> InitializeResult {
    InitializeResult {
        protocol_version: PROTOCOL_VERSION.to_owned(),
        server_info: Peer {
            name: "chorus".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        },
        capabilities: Capabilities::all().and(params.capabilities),
        session: SessionRef { id: session.show(Prefix::Session) },
        member: MemberCard {
            id: caller.member.id.to_string(),
            handle: caller.member.handle.to_string(),
            display_name: caller.member.display_name.to_string(),
            kind: caller.member.kind.into(),
        },
        workspace: WorkspaceRef { id: app.shared.workspace_id.to_string() },
        glyphs: glyphs.clone(),
        limits: Limits { unacked: limits::UNACKED_PER_CONNECTION as u32 },
        turn_url: format!("{}/v1/c2a", app.shared.public_url),
        mcp_url: Some(format!("{}/v1/mcp", app.shared.public_url)),
    }
}
