//! `initialize`: the version, what both sides can, the session, and the glyphs (C2A "Initialization").

use std::collections::BTreeMap;

use chorus_core::error::Refusal;
use chorus_core::ids::{Prefix, Uid};
use chorus_core::limits;
use chorus_core::reaction::Signal;
use chorus_wire::attention::PROTOCOL_VERSION;
use chorus_wire::attention::initialize::{
    Capabilities, Glyphs, InitializeParams, InitializeResult, Limits, MemberCard, Peer, SessionRef,
    WorkspaceRef,
};

use crate::app::App;
use crate::auth::Caller;

/// Longest glyph in bytes: an emoji of several parts, or a short name of one.
const GLYPH_BYTES: usize = 64;

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
            kind: caller.member.kind,
        },
        workspace: WorkspaceRef { id: app.workspace_id.to_string() },
        glyphs: glyphs.clone(),
        limits: Limits { unacked: limits::UNACKED_PER_CONNECTION as u32 },
        turn_url: format!("{}/v1/c2a", app.public_url),
    }
}
