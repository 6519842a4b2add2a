//! `chorus doctor`: replays every log and compares, walks the chains, and checks what must always hold.
//! It reads the folder itself, so that it works beside a running host and without one. `--repair` mends what can be made
//! again from the logs, and needs the folder for itself.

use std::path::PathBuf;

use chorus_core::model::error::Code;
use chorus_server::{Place, Repair, Report, repair, verify};
use serde_json::{Value, json};

use super::Context;
use super::serve::Database;
use crate::failure::{Failure, Result};
use crate::host::must_be_open;
use crate::print::line;
use crate::progress::Progress;

#[derive(clap::Args, Debug, Default)]
pub(crate) struct Args {
    #[command(flatten)]
    database: Database,
    /// Mend what does not fit the logs; no host may run there
    #[arg(long)]
    repair: bool,
    /// Where the keys are, when not in the data folder
    #[arg(long, env = "CHORUS_KEYS", value_name = "DIR")]
    keys: Option<PathBuf>,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    let (place, data, keys) = args.database.place_and_keys(context)?;
    let keys = args.keys.or(keys);
    must_be_open(&data)?;
    if matches!(place, Place::Folder { .. }) && !data.is_dir() {
        let none =
            Failure::new(Code::NotFound, format!("there is no data folder {}", data.display()));
        return Err(none.next("name one with --data DIR"));
    }
    if matches!(place, Place::Folder { .. }) && !data.join("chorus.db").is_file() {
        let none =
            Failure::new(Code::NotFound, format!("there is no workspace in {}", data.display()));
        return Err(
            none.next("name the folder of a host with --data, or its database with --database")
        );
    }
    let progress = Progress::begin(context.print, "examining", None);
    let repairs = match args.repair {
        true => Some(repair(&place, &data).map_err(|e| Failure::here("cannot repair", e))?),
        false => None,
    };
    let report =
        verify(&place, &data, keys.as_deref()).map_err(|e| Failure::here("cannot examine", e))?;
    drop(progress);
    if context.print.json {
        context.print.json(&as_json(&report, repairs.as_deref()))?;
    } else {
        context.print.text(&as_text(&report, repairs.as_deref(), &place))?;
    }
    match report.problems.len() {
        0 => Ok(()),
        // The problems are the answer; they are told already.
        _ => Err(Failure::told()),
    }
}

fn as_json(report: &Report, repairs: Option<&[Repair]>) -> Value {
    let problems = report.problems.iter().map(|problem| {
        let (conversation, event) = report.ids_of(problem);
        json!({
            "conversation_id": conversation,
            "event_id": event,
            "conversation": problem.conversation.map(|key| key.0),
            "seq": problem.seq.map(|seq| seq.0),
            "what": problem.what,
        })
    });
    let mut shown = json!({
        "ok": report.is_clean(),
        "conversations": report.conversations,
        "events": report.events,
        "problems": problems.collect::<Vec<_>>(),
    });
    if let Some(repairs) = repairs {
        let repaired = repairs.iter().map(|repair| {
            json!({
                "part": repair.part.name(),
                "conversation": repair.conversation.map(|key| key.0),
                "seq": repair.seq.map(|seq| seq.0),
                "what": repair.what,
            })
        });
        shown["repaired"] = repaired.collect();
    }
    shown
}

fn as_text(report: &Report, repairs: Option<&[Repair]>, place: &Place) -> String {
    let mut mended: String = repairs
        .into_iter()
        .flatten()
        .map(|repair| format!("mended: {}\n", line(&repair.to_string())))
        .collect();
    if repairs.is_some_and(<[Repair]>::is_empty) {
        mended.push_str("nothing to mend\n");
    }
    let looked = format!(
        "{mended}{place}: {} conversation(s), {} event(s)",
        report.conversations, report.events
    );
    match report.problems.len() {
        0 => format!("{looked}: all is well"),
        n => {
            let problems: Vec<_> =
                report.problems.iter().map(|problem| line(&report.line(problem))).collect();
            format!("{looked}: {n} problems\n{}", problems.join("\n"))
        }
    }
}
