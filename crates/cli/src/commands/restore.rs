//! `chorus restore`: a data folder out of a backup, for a host to be started on.

use std::path::PathBuf;

use chorus_server::backup;

use super::{Context, backup as taken};
use crate::failure::{Failure, Result};
use crate::host::given;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// What `chorus backup` made
    #[arg(value_name = "FILE")]
    from: PathBuf,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    if given(&context.target.url).is_some() {
        let usage = Failure::usage("restore makes a data folder and has no --url");
        return Err(usage.next("give the new folder with --data DIR"));
    }
    let data = context.target.data()?;
    let restored = backup::restore(&args.from, &data).map_err(|error| {
        let folder = matches!(error, backup::BackupError::Folder(_));
        let failure = taken::failure(error);
        if folder { failure.next("name a new folder with --data DIR") } else { failure }
    })?;
    let shown = taken::as_json(&data, &restored);
    context.print.show(&shown, |_| taken::as_text("restored to", &data, &restored))
}
