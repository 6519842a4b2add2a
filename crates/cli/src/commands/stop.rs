//! `chorus stop`: ends a runner of this machine and its program, and the token of its session.

use chorus_harness::runner::home;
use serde_json::json;

use super::Context;
use crate::ended::{self, Ended};
use crate::failure::{Failure, Result};
use crate::print::line;
use crate::runners;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The agent [default: the only one on this machine]
    agent: Option<String>,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    let folder = runners::find(args.agent.as_deref())?;
    let wrong = |e: home::Error| Failure::here("cannot read what the runner left", e);
    let saved = home::saved(&folder).map_err(wrong)?;
    if let Some(holder) = home::holder(&folder)
        && !home::end(&folder, holder.pid).await
    {
        let why = format!("process {} does not end", holder.pid);
        return Err(Failure::here("cannot stop the runner", why));
    }
    let token = match &saved {
        Some(saved) if !saved.token_given => Some(ended::end(&saved.url, &saved.token).await),
        _ => None,
    };
    std::fs::remove_dir_all(&folder)
        .map_err(|e| Failure::here(&format!("cannot remove {}", folder.display()), e))?;
    let agent = saved.map(|saved| saved.agent).unwrap_or_default();
    context.print.show(&json!({"stopped": agent, "token": token}), |_| {
        let stopped = format!("{} has stopped; nothing wakes it any more", line(&agent));
        match &token {
            Some(Ended::Unknown { why }) => format!(
                "{stopped}\nits token may still be valid, because {}; see: chorus token list",
                line(why)
            ),
            _ => stopped,
        }
    })
}
