//! `chorus serve`: the host on a lasting folder, until Ctrl-C or SIGTERM.

use std::io::IsTerminal;
use std::net::SocketAddr;
use std::path::PathBuf;

use chorus_server::{Config, Host, Running, Sync};
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::EnvFilter;

use super::Context;
use crate::failure::{Failure, Result};
use crate::host::given;
use crate::print::Printer;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Address and port [default: 127.0.0.1:7600]
    #[arg(long, env = "CHORUS_LISTEN", value_name = "ADDR")]
    listen: Option<String>,
    /// How others reach the host: https://chorus.example
    #[arg(long, env = "CHORUS_PUBLIC_URL", value_name = "URL")]
    public_url: Option<String>,
    /// Where the keys are, when not in the data folder
    #[arg(long, env = "CHORUS_KEYS", value_name = "DIR")]
    keys: Option<PathBuf>,
    /// Answer before the disk has it: a power cut loses answered posts
    #[arg(long)]
    dangerous_sync_normal: bool,
    /// One transaction a command, to compare with
    #[arg(long)]
    dangerous_no_batching: bool,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    if given(&context.target.url).is_some() {
        let usage = Failure::usage("serve runs on a data folder and has no --url");
        return Err(usage.next("did you mean --listen or --public-url?"));
    }
    log_to_stderr();
    let config = config(args, context)?;
    let data = config.data.clone();
    let running = Host::start(config).await.map_err(|e| Failure::here("cannot serve", e))?;
    greet(&context.print, &running, &data)?;
    stopped().await?;
    tracing::info!("stopping");
    running.stop().await;
    Ok(())
}

/// Flags and `CHORUS_*` first, then `chorus.toml`, then the defaults.
fn config(args: Args, context: &Context) -> Result<Config> {
    let file = context.target.file()?;
    let mut config = Config::on(context.target.data()?);
    if let Some(listen) = given(&args.listen).or(file.listen.as_deref()) {
        config.listen = address(listen)?;
    }
    config.public_url = given(&args.public_url).map(str::to_owned).or(file.public_url);
    config.keys = args.keys.filter(|keys| !keys.as_os_str().is_empty());
    if args.dangerous_sync_normal {
        config.sync = Sync::DangerousNormal;
    }
    config.dangerous_no_batching = args.dangerous_no_batching;
    Ok(config)
}

fn address(text: &str) -> Result<SocketAddr> {
    let text = text.replacen("localhost:", "127.0.0.1:", 1);
    text.parse().map_err(|_| {
        Failure::usage(format!("{text:?} is no address to listen on"))
            .next("write it as 127.0.0.1:7600")
    })
}

/// The one line: where the host is, and how its operator gets in.
fn greet(print: &Printer, running: &Running, data: &std::path::Path) -> Result {
    let (url, link) = (&running.url, &running.operator_link);
    if print.json {
        return print.json(&json!({
            "url": url,
            "sign_in": link,
            "data": data,
            "pid": std::process::id(),
        }));
    }
    print.text(&format!("Chorus is at {url} - sign in once, within ten minutes: {link}"))
}

/// Ctrl-C or SIGTERM.
pub(crate) async fn stopped() -> Result {
    let failed = |e| Failure::here("cannot listen for signals", e);
    let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    Ok(())
}

/// Libraries that log what they carry, tokens and all, once they are asked for details.
const TALKATIVE: [&str; 7] =
    ["tungstenite", "tokio_tungstenite", "hyper", "hyper_util", "reqwest", "h2", "rustls"];

/// Logs go to standard error, so that standard output stays an answer. `CHORUS_LOG` chooses what is logged;
/// no choice brings secrets into it.
pub(crate) fn log_to_stderr() {
    let mut filter =
        EnvFilter::try_from_env("CHORUS_LOG").unwrap_or_else(|_| EnvFilter::new("warn"));
    for library in TALKATIVE {
        if let Ok(quieter) = format!("{library}=warn").parse() {
            filter = filter.add_directive(quieter);
        }
    }
    let built = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    // Already set when the demo runs a host in this process.
    let _ = built.try_init();
}
