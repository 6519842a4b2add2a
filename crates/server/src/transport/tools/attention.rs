//! The chat tools (C2A "Chat tools").

use chorus_wire::attention::files::ReadAsset;
use chorus_wire::attention::listing::{ListChannels, ListMembers};
use chorus_wire::attention::tools::{
    Claim, Defer, ListEvents, React, ReadThread, Resolve, SendMessage,
};
use chorus_wire::channels::SetChannelReaction;
use chorus_wire::threads::UpdateThreadStatus;
use chorus_wire::tool::Arguments;

use super::handlers::{Asking, Handlers};
use crate::services::alike::{NO_TOOL, READS, like};

pub(super) fn handlers() -> Handlers {
    Handlers::default()
        .tool::<ListChannels>(NO_TOOL, |Asking { app, caller, .. }, arguments| {
            Box::pin(app.channels.list_channels(caller, arguments))
        })
        .tool::<ListMembers>(NO_TOOL, |Asking { app, caller, .. }, arguments| {
            Box::pin(app.members.list_members(caller, &app.names, arguments))
        })
        .tool::<ListEvents>(READS, |Asking { app, caller, glyphs }, arguments| {
            Box::pin(app.mail.list_events(caller, arguments, glyphs))
        })
        .tool::<ReadThread>(READS, |Asking { app, caller, glyphs }, arguments| {
            Box::pin(app.mail.read_thread(caller, arguments, glyphs))
        })
        .tool::<ReadAsset>(NO_TOOL, |Asking { app, caller, .. }, arguments| {
            Box::pin(app.asset_reads.read_asset(caller, arguments))
        })
        .tool::<SendMessage>(NO_TOOL, |Asking { app, caller, .. }, arguments| {
            Box::pin(app.posts.send_message(caller, arguments))
        })
        .tool::<React>(
            [like(SetChannelReaction::TOOL, |a| Some(a.called("inReplyTo", "message_id")))],
            |Asking { app, caller, .. }, arguments| {
                Box::pin(app.reactions.react_tool(caller, arguments))
            },
        )
        .tool::<Claim>(NO_TOOL, |Asking { app, caller, .. }, arguments| {
            Box::pin(app.claims.claim_tool(caller, arguments))
        })
        .tool::<Defer>(NO_TOOL, |Asking { app, caller, .. }, arguments| {
            Box::pin(app.dispositions.defer(caller, arguments))
        })
        .tool::<Resolve>(
            // Where it is a thread that is resolved.
            [like(UpdateThreadStatus::TOOL, |a| {
                let is_thread = a.0.contains_key("threadId");
                let asked = a.called("threadId", "thread_id").called("note", "reason");
                is_thread.then(|| asked.with("status", "resolved"))
            })],
            |Asking { app, caller, .. }, arguments| {
                Box::pin(app.dispositions.resolve(caller, arguments))
            },
        )
}
