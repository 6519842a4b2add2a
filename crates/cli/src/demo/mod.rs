//! `chorus demo`: a host on a temporary folder, people, scripted agents in processes of their own, and a
//! short conversation that shows who answers what.
//!
//! `--check` plays the same and fails when anything differs from what must be. Whatever happens, no process
//! outlives the demo and its folder is removed.

mod agent;
mod expect;
mod host;
mod room;
mod script;
pub(crate) mod scripted;
mod second;
mod show;
mod stage;

use std::path::Path;
use std::time::Instant;

use chorus_core::model::error::Code;
use show::{Show, Step};
use stage::Stage;

use crate::commands::{Context, serve};
use crate::failure::{Failure, Result};
use crate::printer::{Printer, Shade};

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Play the script, and fail when anything differs from what must be
    #[arg(long)]
    check: bool,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    let _log = serve::log_to_stderr();
    let show = Show { print: context.print };
    let began = Instant::now();
    show.line("Starting a host with #ops and #random, alice and bob, and the agents scout, builder and critic.")?;
    let mut stage = tokio::select! {
        stage = Stage::set(show) => stage?,
        stopped = serve::stopped() => return stopped,
    };
    if !args.check {
        let page = page(&stage).await?;
        show.line(&format!("Watch it in a browser as well: {page}"))?;
    }
    let played = tokio::select! {
        steps = script::play(&mut stage) => conclude(steps, &stage, began),
        stopped = serve::stopped() => stopped,
    };
    let outcome = match played {
        Ok(()) if !args.check => stay(&stage, &context.print).await,
        other => other,
    };
    let struck = stage.strike().await;
    outcome.and(struck)
}

/// Says how it went; an error when anything differed.
fn conclude(steps: Result<Vec<Step>>, stage: &Stage, began: Instant) -> Result {
    let steps = steps?;
    let good = steps.iter().filter(|step| step.ok()).count();
    let seconds = began.elapsed().as_secs_f32();
    let all = good == steps.len();
    let shade = if all { Shade::Green } else { Shade::Red };
    let summary = format!("{good} of {} as they must be, in {seconds:.1} s.", steps.len());
    stage.show.line(&format!("\n{}", stage.show.print.shade(shade, &summary)))?;
    if all {
        return Ok(());
    }
    eprintln!("--- the host logged:\n{}", stage.host.last_words());
    for agent in &stage.agents {
        let words = agent.last_words();
        if !words.is_empty() {
            eprintln!("--- {} logged:\n{words}", agent.plan.id);
        }
    }
    let differ = steps.iter().filter(|step| !step.ok());
    let differ: Vec<_> = differ.map(|step| format!("{} ({})", step.number, step.title)).collect();
    Err(Failure::new(Code::Internal, format!("the demo differs in step {}", differ.join(", "))))
}

/// A link that signs in to the page of the demo's host, once.
async fn page(stage: &Stage) -> Result<String> {
    Ok(stage.operator.sign_in_link().await?.url)
}

/// Keeps the room open for another terminal, until Ctrl-C.
async fn stay(stage: &Stage, print: &Printer) -> Result {
    let program = std::env::args().next().unwrap_or_else(|| "chorus".to_owned());
    let data = stage.host.data();
    let data = data.display();
    // A new one, since the host that gave the first was killed.
    let page = page(stage).await?;
    let lines = [
        format!("The room stays open. In a browser: {page}"),
        String::new(),
        "From another terminal:".to_owned(),
        String::new(),
        format!("  {program} tail --verbose --data {data}"),
        format!(
            "  {program} post '#ops' '@scout what is the deploy status?' --as alice --data {data}"
        ),
        format!("  {program} post '#ops' 'hello everybody' --as bob --preview --data {data}"),
        format!("  {program} agents --data {data}"),
        String::new(),
        "Ctrl-C stops it and removes the folder.".to_owned(),
    ];
    if print.json {
        print.json(&serde_json::json!({
            "url": stage.url(), "page": page, "data": Path::new(&data.to_string()),
        }))?;
    }
    stage.show.line(&format!("\n{}\n", lines.join("\n")))?;
    serve::stopped().await
}
