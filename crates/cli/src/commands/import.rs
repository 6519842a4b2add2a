//! `chorus import`: a data folder or a database out of an export, for a host to be started on. Ids stay; tokens, keys and
//! what was owed are not in it.

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;

use chorus_core::model::error::Code;
use chorus_core::model::ids::Timestamp;
use chorus_server::Place;
use chorus_server::history::{self, Imported, Wrong};
use serde_json::json;

use super::Context;
use super::backup::{at, failure};
use super::serve::Database;
use crate::failure::{Failure, Result};
use crate::host::given;
use crate::print::line;
use crate::progress::Progress;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// What `chorus export` made
    #[arg(value_name = "FILE")]
    from: PathBuf,
    /// Only when it was signed by this key, as `chorus export` printed it
    #[arg(long, value_name = "KEY")]
    signed_by: Option<String>,
    #[command(flatten)]
    database: Database,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    if given(&context.target.url).is_some() {
        let usage = Failure::usage("import makes a data folder and has no --url");
        return Err(usage.next("give the new folder with --data DIR"));
    }
    let (place, _) = args.database.place(context)?;
    let file = File::open(&args.from).map_err(|e| at(&args.from, e))?;
    let length = file.metadata().ok().filter(|about| about.is_file()).map(|about| about.len());
    let progress = Progress::begin(context.print, "importing", length);
    let mut from = BufReader::with_capacity(1024 * 1024, progress.bytes.wrap_read(file));
    let now = Timestamp(jiff::Timestamp::now().as_millisecond());
    let imported = history::import(&mut from, &place, args.signed_by.as_deref(), now);
    drop(progress);
    let imported = imported.map_err(|wrong| match wrong {
        Wrong::Line { .. } => {
            let message = format!("{}, {wrong}", args.from.display());
            Failure::new(Code::ValidationError, message).next("nothing was imported")
        }
        Wrong::Store(error) => failure(error).next(match place {
            Place::Folder { .. } => "name a new folder with --data DIR",
            Place::Postgres(_) => "name an empty database with --database URL",
        }),
        Wrong::Read(error) => at(&args.from, error),
    })?;
    let Imported { workspace_id, exported_at, counts, key } = &imported;
    let (kind, where_to) = match &place {
        Place::Folder { data, .. } => ("path", data.display().to_string()),
        Place::Postgres(address) => ("database", address.to_string()),
    };
    let shown = json!({
        kind: where_to,
        "workspace_id": workspace_id,
        "exported_at": exported_at,
        "key": key,
        "members": counts.members,
        "conversations": counts.conversations,
        "events": counts.events,
    });
    context.print.show(&shown, |_| {
        line(&format!(
            "imported to {}: {} member(s), {} conversation(s), {} event(s), of {exported_at}, \
             signed by {key}",
            place, counts.members, counts.conversations, counts.events,
        ))
    })
}
