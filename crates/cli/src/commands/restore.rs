//! `chorus restore`: a data folder out of a backup, for a host to be started on; or, of a database that was put
//! back by its own means, that its turns are void.

use std::path::PathBuf;
use std::sync::Arc;

use chorus_server::{Address, backup};
use serde_json::json;

use super::{Context, backup as taken};
use crate::failure::{Failure, Result};
use crate::host::given;
use crate::print::line;
use crate::progress::Progress;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// What `chorus backup` made: a file, or the folder of `--all`
    #[arg(value_name = "FILE", required_unless_present = "database")]
    from: Option<PathBuf>,
    /// A PostgreSQL database that was put back to an earlier time: ends the turns it had granted
    #[arg(long, value_name = "URL", conflicts_with = "from")]
    database: Option<String>,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    if given(&context.target.url).is_some() {
        let usage = Failure::usage("restore makes a data folder and has no --url");
        return Err(usage.next("give the new folder with --data DIR"));
    }
    let from = match (args.from, args.database) {
        (Some(from), _) => from,
        (None, url) => return put_back(url.as_deref().unwrap_or_default(), context),
    };
    let data = context.target.data()?;
    if from.is_dir() {
        return taken::all::restore(&from, &data, context);
    }
    let progress = Progress::begin(context.print, "restoring", None);
    let restored = backup::restore(&from, &data).map_err(|error| {
        let folder = matches!(error, backup::BackupError::Folder(_));
        let failure = taken::failure(error);
        if folder { failure.next("name a new folder with --data DIR") } else { failure }
    })?;
    drop(progress);
    let shown = taken::as_json(&data, &restored);
    context.print.show(&shown, |_| taken::as_text("restored to", &data, &restored))
}

fn put_back(url: &str, context: &Context) -> Result {
    let address = Address::read(url).map_err(|e| Failure::usage(e.to_string()))?;
    let shown = address.to_string();
    let id = backup::put_back(&Arc::new(address)).map_err(taken::failure)?;
    context.print.show(&json!({ "database": shown, "workspace_id": id }), |_| {
        line(&format!(
            "{shown}: the turns that {id} had granted are void; a host can be started on it"
        ))
    })
}
