//! `chorus serve`: the host on a lasting folder, until Ctrl-C or SIGTERM.

use std::io::{ErrorKind, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use chorus_core::model::error::Code;
use chorus_server::config::Settings;
use chorus_server::config::redaction::Redaction;
use chorus_server::config::telemetry::Telemetry;
use chorus_server::logging::{self, Log};
use chorus_server::objects::Objects;
use chorus_server::{Address, Config, Host, Place, Running, StartError, files};
use nix::unistd::getppid;
use sd_notify::NotifyState;
use serde_json::json;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::Context;
use crate::failure::{Failure, Result};
use crate::host::{given, mistaken, must_be_open, running_at};
use crate::port;
use crate::printer::Printer;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Address and port [env: CHORUS_LISTEN] [default: 127.0.0.1:7600]
    #[arg(long, value_name = "ADDR")]
    listen: Option<String>,
    #[command(flatten)]
    database: Database,
    /// How others reach the host: https://chorus.example [env: CHORUS_PUBLIC_URL]
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    /// Where the keys are, when not in the data folder [env: CHORUS_KEYS]
    #[arg(long, value_name = "DIR")]
    keys: Option<PathBuf>,
    #[command(flatten)]
    set: Set,
    /// Answer before the disk has it: a power cut loses answered posts
    #[arg(long)]
    dangerous_sync_normal: bool,
    /// One transaction a command, to compare with
    #[arg(long)]
    dangerous_no_batching: bool,
    /// Do not open the sign-in link in the browser of this desktop
    #[arg(long)]
    no_open: bool,
    /// End when the process that started this has ended
    #[arg(long, hide = true)]
    while_parent_lives: bool,
    /// Milliseconds that each commit takes longer, to compare with a slow disk
    #[arg(long, default_value_t = 0, value_name = "MS", hide_default_value = true)]
    dangerous_slow_sync_ms: u64,
}

/// Where the workspace is kept, when not in the data folder.
#[derive(clap::Args, Debug, Default)]
pub(crate) struct Database {
    /// A PostgreSQL database: postgres://USER@HOST/NAME [env: CHORUS_DATABASE_URL]
    #[arg(long, value_name = "URL")]
    database: Option<String>,
}

impl Database {
    /// What the flag, else the settings say; and the data folder.
    pub(crate) fn place(&self, context: &Context) -> Result<(Place, PathBuf)> {
        self.place_and_keys(context).map(|(place, data, _)| (place, data))
    }

    /// The object store of the settings, for what reads all files.
    pub(crate) fn objects(&self, context: &Context) -> Result<Option<Arc<Objects>>> {
        let settings = context.target.settings(Vec::new())?.map_err(mistaken)?.settings;
        let objects = Objects::open(&settings.files);
        objects.map_err(|why| Failure::usage(format!("files.store: {why}")))
    }

    /// And the folder of keys, if that is another.
    pub(crate) fn place_and_keys(
        &self,
        context: &Context,
    ) -> Result<(Place, PathBuf, Option<PathBuf>)> {
        let flags = self.flag().into_iter().collect();
        let settings = context.target.settings(flags)?.map_err(mistaken)?.settings;
        let (data, keys) = (settings.basics.data, settings.basics.keys);
        let place = match settings.database.url {
            None => Place::folder(&data),
            Some(url) => {
                let address = Address::read(&url.0).map_err(|e| Failure::usage(e.to_string()))?;
                Place::Postgres(Arc::new(address))
            }
        };
        Ok((place, data, keys))
    }

    /// As the settings take it.
    fn flag(&self) -> Option<(String, String, String)> {
        let url = self.database.clone().filter(|url| !url.is_empty())?;
        Some(("database.url".to_owned(), url, "--database".to_owned()))
    }
}

/// Any setting as a flag.
#[derive(clap::Args, Debug, Default)]
pub(crate) struct Set {
    /// A setting by its path in chorus.toml: telemetry.log_format=json
    #[arg(long = "set", value_name = "PATH=VALUE", value_parser = assignment)]
    set: Vec<(String, String)>,
}

impl Set {
    /// Path, value, and how it was written.
    pub(crate) fn flags(&self) -> Vec<(String, String, String)> {
        let all = self.set.iter().cloned();
        all.map(|(path, value)| (path.clone(), value, format!("--set {path}"))).collect()
    }
}

fn assignment(text: &str) -> std::result::Result<(String, String), String> {
    let (path, value) = text.split_once('=').ok_or("write it as PATH=VALUE")?;
    Ok((path.trim().to_owned(), value.trim().to_owned()))
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    if given(&context.target.url).is_some() {
        let usage = Failure::usage("serve runs on a data folder and has no --url");
        return Err(usage.next("did you mean --listen or --public-url?"));
    }
    let mut config = Config::of(settings(&args, context)?);
    #[cfg(feature = "otlp")]
    if config.settings.otlp.endpoint.is_none() {
        let usual = std::env::var("OTEL_EXPORTER_OTLP_ENDPOINT").ok();
        config.settings.otlp.endpoint = usual.filter(|endpoint| !endpoint.is_empty());
    }
    config.dangerous_slow_sync = Duration::from_millis(args.dangerous_slow_sync_ms);
    let _log = log_as(&config.settings.telemetry, &config.settings.redaction);
    let files = files::raise();
    tracing::info!(before = files.before, now = files.now, "open files");
    let data = config.data.clone();
    must_be_open(&data)?;
    let _too_large = heed_file_sizes()?;
    // Before anybody is told that it is up: whoever was told may stop it.
    let mut signals = Signals::listen()?;
    let exposed = exposed(&config);
    let running = Host::start(config).await.map_err(|error| not_started(error, &data))?;
    let greeting = greet(context.print, &running, data)?;
    if exposed {
        context.print.note(
            "warning: others on the network can read what is said and take tokens: give a certificate \
             ([tls] in chorus.toml), or listen on 127.0.0.1 behind a proxy with --public-url \
             (docs/run-a-host.md)",
        );
    }
    if !args.no_open {
        open_browser(&running.operator_link);
    }
    tell_the_manager(&[NotifyState::Ready]);
    let broken = tokio::select! {
        () = signals.heard() => None,
        () = orphaned(args.while_parent_lives) => None,
        why = running.broken() => Some(why),
    };
    if let Some(why) = &broken {
        tracing::error!(why, "the host can write no more, and ends");
    }
    tell_the_manager(&[NotifyState::Stopping]);
    // A second signal ends it at once; what was acknowledged is on the disk.
    tokio::select! {
        () = running.stop() => {}
        () = signals.heard() => tracing::warn!("a second signal: stopping at once"),
    }
    // Whoever keeps the process running starts it anew, and it reads what is on the disk.
    broken.map_or(Ok(()), |why| match greeting.is_finished() {
        true => Err(Failure::here("the host can write no more", why)),
        // Standard output takes nothing, and the log has it.
        false => Err(Failure::told()),
    })
}

/// Whether others can listen in: it listens beyond this machine, and neither it nor a proxy has a certificate.
fn exposed(config: &Config) -> bool {
    let is_https = |url: &String| url.starts_with("https://");
    !config.listen.ip().is_loopback()
        && config.settings.tls.cert.is_none()
        && !config.public_url.as_ref().is_some_and(is_https)
}

fn not_started(error: StartError, data: &Path) -> Failure {
    let is_taken = match &error {
        StartError::Listen { why, .. } => why.kind() == ErrorKind::AddrInUse,
        StartError::Store(_) => true,
        _ => false,
    };
    if is_taken && let Ok(Some(url)) = running_at(data, true) {
        let why = format!("the host of {} runs already, at {url}", data.display());
        return Failure::new(Code::Conflict, why).next("see: chorus status");
    }
    match error {
        StartError::Listen { addr, .. } if is_taken => port::taken(addr),
        error => Failure::here("cannot serve", error),
    }
}

/// Opens the link where a person sits at a desktop and watches.
fn open_browser(link: &str) {
    let given = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_desktop = given("DISPLAY") || given("WAYLAND_DISPLAY");
    if link.is_empty() || !is_desktop || !std::io::stdout().is_terminal() {
        return;
    }
    let mut opener = std::process::Command::new("xdg-open");
    let quiet = std::process::Stdio::null;
    let opener = opener.arg(link).stdin(quiet()).stdout(quiet()).stderr(quiet());
    // The link is printed too.
    let _ = opener.spawn();
}

/// Says how it goes to a service manager that asked for it (systemd's `Type=notify`).
fn tell_the_manager(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(false, states) {
        tracing::warn!(%error, "the service manager could not be told");
    }
}

/// `chorus.toml`, then `CHORUS_*`, then flags.
fn settings(args: &Args, context: &Context) -> Result<Settings> {
    let mut flags = args.set.flags();
    flags.extend(args.database.flag());
    let keys = args.keys.as_ref().map(|keys| keys.display().to_string());
    let truth = |given: bool| given.then(|| "true".to_owned());
    for (path, flag, value) in [
        ("listen", "--listen", args.listen.clone()),
        ("public_url", "--public-url", args.public_url.clone()),
        ("keys", "--keys", keys),
        ("dangerous_sync_normal", "--dangerous-sync-normal", truth(args.dangerous_sync_normal)),
        ("dangerous_no_batching", "--dangerous-no-batching", truth(args.dangerous_no_batching)),
    ] {
        let value = value.filter(|value| !value.is_empty());
        flags.extend(value.map(|value| (path.to_owned(), value, flag.to_owned())));
    }
    Ok(context.target.settings(flags)?.map_err(mistaken)?.settings)
}

/// The one line: where the host is, and how its operator gets in. It is written by a thread of its own: whatever becomes of
/// standard output, the host serves and can be stopped.
fn greet(print: Printer, running: &Running, data: PathBuf) -> Result<JoinHandle<()>> {
    let (url, link) = (running.url.clone(), running.operator_link.clone());
    let served_by = running.served_by.clone();
    let say = move || {
        if print.json {
            return print.json(&json!({
                "url": url,
                "sign_in": link,
                "served_by": served_by,
                "data": data,
                "pid": std::process::id(),
            }));
        }
        if let Some(owner) = served_by {
            return print.text(&format!(
                "Chorus is at {url} - the host at {owner} serves the workspace, and this one passes requests on to it; \
                 see: chorus hosts"
            ));
        }
        if link.is_empty() {
            return print.text(&format!(
                "Chorus is at {url} - its member 'operator' was removed, and nobody can run it: stop it, run `chorus \
                 doctor --repair`, and start it again"
            ));
        }
        print.text(&format!("Chorus is at {url} - sign in once, within ten minutes: {link}"))?;
        print.note(
            "for a colleague: chorus invite NAME; for an agent: chorus join --agent ID --runtime …",
        );
        Ok(())
    };
    let say = move || {
        if say().is_err() {
            tracing::warn!(
                "standard output cannot be written to: nobody is told where the host is"
            );
        }
    };
    let thread = std::thread::Builder::new().name("greeting".to_owned());
    thread.spawn(say).map_err(|e| Failure::here("cannot start a thread", e))
}

/// Ctrl-C or SIGTERM.
pub(crate) async fn stopped() -> Result {
    Signals::listen()?.heard().await;
    Ok(())
}

/// The end of the process that started this one, where that is watched.
pub(crate) async fn orphaned(watch: bool) {
    let parent = getppid();
    while !watch || getppid() == parent {
        tokio::time::sleep(ORPHAN_CHECK).await;
    }
}

const ORPHAN_CHECK: Duration = Duration::from_millis(250);

/// A write past the limit of a file's size is an error like that of a full disk, and ends the process no more.
fn heed_file_sizes() -> Result<Signal> {
    let kind = SignalKind::from_raw(nix::sys::signal::Signal::SIGXFSZ as i32);
    signal(kind).map_err(|e| Failure::here("cannot listen for signals", e))
}

/// The signals that mean: stop.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    /// From here on they no longer end the process by themselves.
    fn listen() -> Result<Self> {
        let failed = |e| Failure::here("cannot listen for signals", e);
        let interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
        let terminate = signal(SignalKind::terminate()).map_err(failed)?;
        Ok(Self { interrupt, terminate })
    }

    async fn heard(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// Logs go to standard error, so that standard output stays an answer. `CHORUS_LOG` chooses what is logged;
/// no choice brings secrets into it. It is logged as long as what is given is kept.
pub(crate) fn log_to_stderr() -> Option<Log> {
    let log = std::env::var("CHORUS_LOG").ok().filter(|log| !log.is_empty());
    let log = log.unwrap_or_else(|| "warn".to_owned());
    log_as(&Telemetry { log, ..Telemetry::default() }, &Redaction::default())
}

/// As [`log_to_stderr`], by the settings. A panic is a line of the log too, under the id of the request in which it
/// was made. None where this process logs already, as when the demo runs a host in it.
fn log_as(telemetry: &Telemetry, redaction: &Redaction) -> Option<Log> {
    let redactor = Arc::new(redaction.redactor());
    let stderr = std::io::stderr();
    let ansi = stderr.is_terminal();
    let log = logging::begin(&telemetry.log, telemetry.log_format, ansi, redactor, stderr).ok()?;
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        // What it says could quote a message; the place is enough to find it.
        tracing::error!(place, "the program made a mistake");
    }));
    Some(log)
}
