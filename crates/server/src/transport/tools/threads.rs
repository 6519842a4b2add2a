//! The tools of the threads protocol (`spec/threads.md`).

use chorus_wire::attention::tools::Resolve;
use chorus_wire::threads::{
    AckRead, CreateThread, GetThread, HeartbeatSession, PostMessage, ReadMessages, SummarizeThread,
    TriggerParticipant, UpdateThreadStatus,
};
use chorus_wire::tool::Arguments;

use super::handlers::{Asking, Handlers};
use crate::services::alike::{NO_TOOL, READS, like};

pub(super) fn handlers() -> Handlers {
    Handlers::default()
        .tool::<CreateThread>(NO_TOOL, |Asking { app, caller, .. }, arguments| {
            Box::pin(app.methods.create_thread(caller, arguments))
        })
        .tool::<GetThread>(NO_TOOL, |Asking { app, caller, .. }, arguments| {
            Box::pin(app.methods.get_thread(caller, arguments))
        })
        .tool::<PostMessage>(NO_TOOL, |Asking { app, caller, .. }, arguments| {
            Box::pin(app.methods.post_message(caller, arguments))
        })
        .tool::<ReadMessages>(READS, |Asking { app, caller, .. }, arguments| {
            Box::pin(app.methods.read_messages(caller, arguments))
        })
        .tool::<AckRead>(NO_TOOL, |Asking { app, caller, .. }, arguments| {
            Box::pin(app.methods.ack_read(caller, arguments))
        })
        .tool::<UpdateThreadStatus>(
            [like(Resolve::TOOL, |a| {
                let resolved = a.where_it_is("status", "resolved")?;
                Some(resolved.called("thread_id", "threadId").called("reason", "note"))
            })],
            |Asking { app, caller, .. }, arguments| {
                Box::pin(app.methods.update_thread_status(caller, arguments))
            },
        )
        .tool::<SummarizeThread>(READS, |Asking { app, caller, .. }, arguments| {
            Box::pin(app.methods.summarize_thread(caller, arguments))
        })
        .tool::<HeartbeatSession>(NO_TOOL, |Asking { app, caller, .. }, arguments| {
            Box::pin(app.sessions.heartbeat(caller, arguments))
        })
        .tool::<TriggerParticipant>(NO_TOOL, |Asking { app, caller, .. }, arguments| {
            Box::pin(app.wakes.trigger(caller, arguments))
        })
}
