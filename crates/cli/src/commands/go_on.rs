//! `chorus continue`: lets agents go on that have talked for as long as they may without a person; without a
//! place, what waits for that.

use std::collections::HashMap;

use chorus_wire::rest::pauses::{Continued, Pause, Pauses};

use super::Context;
use crate::failure::Result;
use crate::print::{line, table};
use crate::{lookup, short_ids};

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// A channel or conversation, by title or id, or a thread by its id; without it, what is paused
    #[arg(value_name = "CONVERSATION|THREAD")]
    place: Option<String>,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    let client = context.target.client()?;
    let Some(place) = args.place else {
        let pauses = client.pauses().await?;
        return context.print.show(&pauses, list);
    };
    let done = if place.starts_with("th_") {
        client.thread_goes_on(&place).await?
    } else {
        client.go_on(&lookup::conversation(&client, &place).await?).await?
    };
    let titles = lookup::titles(&client).await?;
    context.print.show(&done, |done| one(done, &titles))
}

fn one(done: &Continued, titles: &HashMap<String, String>) -> String {
    let place = titles.get(&done.conversation).unwrap_or(&done.conversation);
    let place = match &done.thread_id {
        Some(thread) => format!("{} of {place}", short_ids::shown(thread)),
        None => place.clone(),
    };
    if done.was_paused {
        return format!("agents go on in {place}");
    }
    format!("agents have not paused in {place}; nothing was changed")
}

fn list(pauses: &Pauses) -> String {
    if pauses.pauses.is_empty() {
        return "agents pause nowhere".to_owned();
    }
    let rows: Vec<_> = pauses
        .pauses
        .iter()
        .map(|pause| {
            let said = format!("{} of {}", pause.unattended, pause.budget);
            vec![id(pause).to_owned(), said, title(pause)]
        })
        .collect();
    table("", &["PAUSED", "SAID", "TITLE"], &rows)
}

/// What `chorus continue` is given.
pub(crate) fn id(pause: &Pause) -> &str {
    pause.thread_id.as_ref().unwrap_or(&pause.conversation)
}

pub(crate) fn title(pause: &Pause) -> String {
    line(pause.title.as_deref().unwrap_or_default())
}
