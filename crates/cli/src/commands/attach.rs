//! `chorus attach`: shows the program of a runner of this machine here, to see and to type into.

use std::time::{Duration, Instant};

use chorus_core::model::error::Code;
use chorus_harness::runner::home::{self, Holder, Life};
use chorus_harness::runner::socket;
use chorus_harness::terminal::{self, Detached};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::{Context, run};
use crate::failure::{Failure, Result};
use crate::runners;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The agent [default: the only one on this machine]
    agent: Option<String>,
}

/// How long a program that sleeps has to be there.
const STARTS: Duration = Duration::from_secs(30);
const LOOK: Duration = Duration::from_millis(50);

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    let folder = runners::find(args.agent.as_deref())?;
    match home::holder(&folder) {
        None => run::detach(&folder, true)?,
        Some(Holder { pid, life: Life::Asleep }) => {
            // The runner starts the program. One that has just gone is found out below.
            let _ = kill(Pid::from_raw(pid), Signal::SIGUSR1);
        }
        Some(Holder { life: Life::Awake, .. }) => {}
    }
    let until = Instant::now() + STARTS;
    let path = socket(&folder);
    let detached = loop {
        match terminal::attach(&path).await {
            Ok(detached) => break detached,
            Err(error) if Instant::now() >= until => {
                let log = folder.join("log");
                let next = format!("see what it says in {}", log.display());
                return Err(Failure::here("the program cannot be shown", error).next(next));
            }
            Err(_) => tokio::time::sleep(LOOK).await,
        }
    };
    match detached {
        Detached::ByKeys => {
            context.print.note("detached; the program goes on");
            Ok(())
        }
        Detached::Exited(exit) if exit.code == 0 => Ok(()),
        Detached::Exited(exit) => Err(Failure::exited(exit.code)),
        Detached::Gone => Err(Failure::new(Code::Unavailable, "the runner has ended")),
    }
}
