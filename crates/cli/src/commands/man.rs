//! `chorus man`: the manual page, made from the command line itself: `chorus man | man -l -`.

use clap::CommandFactory;
use serde_json::json;

use super::Context;
use crate::args::Cli;
use crate::failure::{Failure, Result};
use crate::help::described;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The page of one command: post, or token issue
    command: Vec<String>,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    let mut command = described(Cli::command());
    command.build();
    for name in &args.command {
        let found = command.find_subcommand(name).cloned();
        let next = "chorus --help lists the commands";
        command = found
            .ok_or_else(|| Failure::usage(format!("there is no command {name:?}")).next(next))?;
    }
    let mut page = Vec::new();
    let man = clap_mangen::Man::new(command);
    man.render(&mut page).map_err(|e| Failure::here("no page was made", e))?;
    let page = String::from_utf8_lossy(&page).into_owned();
    context.print.show(&json!({ "page": page }), |_| page.clone())
}
