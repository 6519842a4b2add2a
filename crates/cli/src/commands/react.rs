//! `chorus react`: a signal on a message; it costs nobody a turn.

use chorus_core::model::reaction::Signal;
use serde_json::json;

use super::Context;
use crate::failure::Result;
use crate::short_ids;
use crate::values::word;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// msg_… or evt_… id
    message: String,
    /// seen, agree, working, queued, claimed, done, declined, blocked or unclear
    #[arg(value_parser = word::<Signal>)]
    signal: Signal,
    /// When it will be done, in words
    #[arg(long, value_name = "TEXT")]
    eta: Option<String>,
    /// Take the signal back
    #[arg(long, conflicts_with = "eta")]
    remove: bool,
    /// As this member (operators only)
    #[arg(long = "as", value_name = "MEMBER")]
    act_as: Option<String>,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    let client = context.client_as(args.act_as.as_deref()).await?;
    let signal = args.signal;
    if args.remove {
        client.unreact(&args.message, signal).await?;
        let answer = json!({ "removed": signal.name(), "message": args.message });
        return context.print.show(&answer, |_| format!("took back {}", signal.name()));
    }
    let answer = client.react(&args.message, signal, args.eta).await?;
    context.print.show(&answer, |answer| {
        let glyph = signal.default_glyph();
        match &answer.event_id {
            Some(_) => format!("{glyph} {} on {}", signal.name(), short_ids::shown(&args.message)),
            None => format!("{glyph} {} was there already", signal.name()),
        }
    })
}
