//! The tools of the channels protocol (`spec/channels.md`, "Runs").

use chorus_wire::attention::tools::React;
use chorus_wire::channels::{
    CreateChannelStimulus, EmitOutput, ReadChannelThread, SetChannelReaction,
};
use chorus_wire::tool::Arguments;

use super::handlers::{Asking, Handlers};
use crate::services::alike::{NO_TOOL, READS, like};

pub(super) fn handlers() -> Handlers {
    Handlers::default()
        .tool::<EmitOutput>(NO_TOOL, |Asking { app, caller, .. }, arguments| {
            Box::pin(app.runs.emit_output(caller, arguments))
        })
        .tool::<SetChannelReaction>(
            [like(React::TOOL, |a| Some(a.called("message_id", "inReplyTo")))],
            |Asking { app, caller, .. }, arguments| {
                Box::pin(app.runs.set_channel_reaction(caller, arguments))
            },
        )
        .tool::<ReadChannelThread>(READS, |Asking { app, caller, glyphs }, arguments| {
            Box::pin(app.runs.read_channel_thread(caller, arguments, glyphs))
        })
        .tool::<CreateChannelStimulus>(NO_TOOL, |Asking { app, caller, .. }, arguments| {
            Box::pin(async move {
                let (channel, turn, new) = arguments.parts();
                let caller = app.identity.in_turn(caller, turn.as_deref())?;
                app.stimuli.add_stimulus(&caller, &channel, new).await
            })
        })
}
