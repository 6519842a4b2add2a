//! Reactions: signals, which may end a delivery without a turn (C2A "Reaction signals").

use chorus_core::commands::messages::{React, Reacted};
use chorus_core::model::error::Refusal;
use chorus_core::model::ids::Prefix;
use chorus_core::model::limits;
use chorus_core::model::reaction::Signal;
use chorus_wire::attention::tools;
use chorus_wire::rest::messages::ReactionAnswer;

use super::{App, ids};
use crate::auth::Caller;

impl App {
    /// Sets a signal on a message, or takes it back.
    pub(crate) async fn react(
        &self,
        caller: &Caller,
        message: &str,
        signal: Signal,
        detail: Option<String>,
        on: bool,
    ) -> Result<ReactionAnswer, Refusal> {
        if let Some(detail) = &detail
            && (detail.len() > limits::TITLE_BYTES || detail.chars().any(char::is_control))
        {
            let max = limits::TITLE_BYTES;
            return Err(Refusal::invalid(format!("an eta is one line of at most {max} bytes")));
        }
        let message = ids::event(message)?;
        let detail = detail.map(Into::into);
        let Reacted { entry, disposition } =
            self.submit(caller.by, React { message, signal, detail, on }).await?;
        Ok(ReactionAnswer {
            event_id: entry.map(|e| e.event.uid.show(Prefix::Event)),
            disposition: disposition.map(Into::into),
        })
    }

    /// `chat.react`.
    pub(crate) async fn react_tool(
        &self,
        caller: &Caller,
        args: tools::React,
    ) -> Result<tools::Reacted, Refusal> {
        let caller = self.in_turn(caller, args.turn.as_deref())?;
        let answer =
            self.react(&caller, &args.in_reply_to, args.signal.0, args.eta, !args.remove).await?;
        Ok(tools::Reacted { event_id: answer.event_id, disposition: answer.disposition })
    }
}
