//! `chorus attach`: shows the program of a detached runner here, to see and to type into.

use chorus_harness::runner::{self, home};
use chorus_harness::terminal;

use super::{Context, run};
use crate::failure::{Failure, Result};
use crate::runners;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The agent [default: the only one on this machine]
    agent: Option<String>,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    let folder = runners::find(args.agent.as_deref())?;
    if home::holder(&folder).is_none() {
        run::detach(&folder, false)?;
    }
    let socket = runner::socket(&folder);
    todo!()
}
