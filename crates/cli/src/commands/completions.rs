//! `chorus completions`: a script for the shell. `source <(chorus completions bash)` completes at once.

use clap::CommandFactory;
use clap_complete::{Shell, generate};
use serde_json::json;

use super::Context;
use crate::args::Cli;
use crate::failure::Result;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// bash, zsh or fish
    #[arg(value_parser = shell)]
    shell: Shell,
}

fn shell(text: &str) -> std::result::Result<Shell, String> {
    match text {
        "bash" => Ok(Shell::Bash),
        "zsh" => Ok(Shell::Zsh),
        "fish" => Ok(Shell::Fish),
        _ => Err("there are scripts for bash, zsh and fish".to_owned()),
    }
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    let mut command = Cli::command();
    let mut script = Vec::new();
    generate(args.shell, &mut command, "chorus", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    context.print.show(&json!({ "script": script }), |_| script.clone())
}
