//! `tools/call`, the same on every transport: a tool's name to its use case. A refusal is a tool error with the
//! envelope, so that the model reads the same code everywhere.
//!
//! A tool is declared in [`chorus_wire`], beside the type of its arguments. Here each protocol has a file in which its
//! tools get their handlers.

mod attention;
mod channels;
mod handlers;
mod registry;
mod threads;

use std::sync::LazyLock;
use std::time::Instant;

use chorus_core::model::error::{Code, Refusal};
use chorus_wire::error::Envelope;
use chorus_wire::tool::Tool;
use chorus_wire::tool_list;
use handlers::Handlers;
pub(super) use handlers::{Asking, Given};
use serde_json::value::RawValue;

use super::named;
use super::refused::{log, request_id};
use crate::auth::without_identity;
use crate::services::App;

/// What runs when a tool is called, for every tool there is.
static HANDLERS: LazyLock<Handlers> = LazyLock::new(|| {
    let talk = threads::handlers().merge(channels::handlers()).merge(attention::handlers());
    talk.merge(registry::handlers())
});

/// Whether there is such a tool.
pub(super) fn is_one(name: &str) -> bool {
    tool_list::find(name).is_some()
}

/// Whether a turn's token reaches a tool.
pub(super) fn is_for_turns(name: &str) -> bool {
    tool_list::find(name).is_some_and(|tool| tool.for_turns)
}

pub(super) async fn call(
    asking: &Asking<'_>,
    name: &str,
    arguments: Option<&RawValue>,
) -> Result<Given, Refusal> {
    let tool = tool_list::find(name).ok_or_else(|| {
        let shown: String = name.chars().take(64).collect();
        Refusal::new(Code::NotFound, format!("no such tool: {shown:?}"))
    });
    // What is no tool's name may be anything, and is not kept.
    let known = tool.as_ref().map_or("unknown", |tool| tool.name);
    let begun = Instant::now();
    let ran = match tool {
        Ok(tool) => asking.app.reads.answered(run(asking, tool, arguments)).await.flatten(),
        Err(refusal) => Err(refusal),
    };
    let code = ran.as_ref().err().map(|refusal| refusal.code);
    asking.app.audit.note_tool(asking.caller, known, code, begun.elapsed());
    match ran {
        Ok(given) => Ok(given),
        Err(refusal) => refused(asking.app, &refusal),
    }
}

/// A refusal as a tool's answer.
pub(super) fn refused(app: &App, refusal: &Refusal) -> Result<Given, Refusal> {
    let request_id = request_id();
    log(refusal, &request_id);
    app.shared.metrics.refused(refusal.code);
    Given::of(&Envelope::of(refusal, request_id), true)
}

async fn run(
    asking: &Asking<'_>,
    tool: &'static Tool,
    arguments: Option<&RawValue>,
) -> Result<Given, Refusal> {
    let Asking { app, caller, .. } = *asking;
    let stripped = match tool.caller_fields {
        Some(_) => without_identity(caller, app.identity.workspace(), arguments)?,
        None => None,
    };
    let raw = stripped.as_deref().or(arguments);
    let resolved = named::with_ids(app, caller, raw).await?;
    let raw = resolved.as_deref().or(raw);
    let handler = HANDLERS.of(tool)?;
    app.approvals.may_call(caller, tool, &handler.same, raw).await?;
    (handler.run)(*asking, raw).await
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use chorus_wire::tool_list;

    use super::HANDLERS;

    #[test]
    fn every_tool_has_a_handler_and_every_handler_a_tool() {
        let listed: BTreeSet<&str> = tool_list::all().map(|tool| tool.name).collect();
        assert_eq!(HANDLERS.names().collect::<BTreeSet<_>>(), listed);
    }
}
