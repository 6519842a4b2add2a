//! `chorus asset`: files that messages refer to.

use std::path::{Path, PathBuf};

use clap::Subcommand;
use serde::Serialize;

use super::Context;
use crate::failure::{Failure, Result};
use crate::print::line;

#[derive(Debug, Subcommand)]
pub(crate) enum Args {
    /// Keep a file, to be referred to within a day; `chorus post --attach` does both
    Add {
        file: PathBuf,
        /// What it is called [default: the file's name]
        #[arg(long)]
        name: Option<String>,
    },
    /// Write a file here
    Get {
        /// ast_… id
        id: String,
        /// Where to; must not be there yet
        file: PathBuf,
        /// A small picture of it instead
        #[arg(long)]
        thumbnail: bool,
    },
}

/// A file that was written.
#[derive(Debug, Serialize)]
struct Written {
    file: PathBuf,
    bytes: usize,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    let client = context.target.client()?;
    match args {
        Args::Add { file, name } => {
            let (name, data) = read(&file, name)?;
            let asset = client.add_asset(&name, data).await?;
            context.print.show(&asset, |asset| {
                format!(
                    "{} {} {} bytes {}",
                    asset.asset_id,
                    asset.media_type,
                    asset.bytes,
                    line(&asset.name)
                )
            })
        }
        Args::Get { id, file, thumbnail } => {
            let data = client.asset(&id, thumbnail).await?;
            let failed = |e| Failure::here(&format!("cannot write {}", file.display()), e);
            let mut new = std::fs::File::create_new(&file).map_err(failed)?;
            std::io::Write::write_all(&mut new, &data).map_err(failed)?;
            let written = Written { file: file.clone(), bytes: data.len() };
            context.print.show(&written, |w| format!("{} bytes in {}", w.bytes, w.file.display()))
        }
    }
}

/// A file's name and bytes.
pub(crate) fn read(file: &Path, name: Option<String>) -> Result<(String, Vec<u8>)> {
    let failed = |e| Failure::here(&format!("cannot read {}", file.display()), e);
    let data = std::fs::read(file).map_err(failed)?;
    let own = || file.file_name().map(|name| name.to_string_lossy().into_owned());
    Ok((name.or_else(own).unwrap_or_default(), data))
}
