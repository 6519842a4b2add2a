//! The log: which lines there are, and how they get out.
//!
//! Logging never panics and never blocks. A line goes into a queue of a fixed size, from which a thread of its own writes
//! it; what does not fit is dropped and counted, and what cannot be written is gone. No level brings the text of a
//! message into a line: what holds somebody's words does not print them (spec/operations.md, "What a log may say").

use std::io::{self, Write};
use std::sync::{Arc, OnceLock};

use tracing::subscriber::SetGlobalDefaultError;
use tracing_appender::non_blocking::{ErrorCounter, NonBlocking, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::ParseError;

use crate::config::telemetry::LogFormat;
use crate::redact::{Lines, Redactor};

/// The target of what agents write into the log themselves.
pub const AGENT: &str = "agent";

/// Lines that wait to be written: a few MiB.
const QUEUED: usize = 8_192;
/// What is said at the level that is set; libraries stay at warnings, unless one is named.
const OURS: [&str; 2] = ["chorus", AGENT];
/// Libraries that log what they carry, tokens and texts and all, once they are asked for details.
const TALKATIVE: [&str; 9] = [
    "tungstenite",
    "tokio_tungstenite",
    "hyper",
    "hyper_util",
    "reqwest",
    "h2",
    "rustls",
    "tokio_postgres",
    "axum",
];
/// It warns of each client that goes away while it waits for news, which is how most of them end, and its other lines
/// have whole calls in them.
const SILENT: &str = "rmcp=off";

static LOST: OnceLock<ErrorCounter> = OnceLock::new();

/// Lines that were dropped since this process began to log.
pub fn lost() -> usize {
    LOST.get().map_or(0, ErrorCounter::dropped_lines)
}

/// Writes what is queued before it is dropped, as far as that takes no time.
#[must_use = "lines are written as long as this is kept"]
pub struct Log(#[allow(dead_code, reason = "it is kept to be dropped")] WorkerGuard);

/// Logs to `to` from here on, without secrets. An error says that this process logs already.
pub fn begin(
    level: &str,
    format: LogFormat,
    ansi: bool,
    redactor: Arc<Redactor>,
    to: impl Write + Send + 'static,
) -> Result<Log, SetGlobalDefaultError> {
    let (queue, guard) = queue(to);
    let filter = filter(level).unwrap_or_else(|_| EnvFilter::new("warn"));
    let built = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(ansi)
        // What it would say of a line that it could not write, it says on standard error, and panics where it cannot.
        .log_internal_errors(false)
        .with_writer(move || Lines::new(redactor.clone(), queue.clone()));
    match format {
        LogFormat::Text => tracing::subscriber::set_global_default(built.finish())?,
        LogFormat::Json => {
            tracing::subscriber::set_global_default(built.json().flatten_event(true).finish())?;
        }
    }
    Ok(Log(guard))
}

fn queue(to: impl Write + Send + 'static) -> (NonBlocking, WorkerGuard) {
    let (queue, guard) = NonBlockingBuilder::default()
        .lossy(true)
        .buffered_lines_limit(QUEUED)
        .thread_name("chorus-log")
        .finish(Careless(to));
    let _ = LOST.set(queue.error_counter());
    (queue, guard)
}

/// What a setting like `debug` or `warn,chorus_server=info` means.
pub fn filter(level: &str) -> Result<EnvFilter, ParseError> {
    // It is understood as it stands, before it is taken apart.
    EnvFilter::try_new(level)?;
    let mut directives = vec!["warn".to_owned()];
    for directive in level.split(',').map(str::trim).filter(|directive| !directive.is_empty()) {
        if directive.contains(['=', '[']) || !is_level(directive) {
            directives.push(directive.to_owned());
            continue;
        }
        // Of all: at that level ours, and others no further than warnings.
        if ["off", "error"].contains(&directive.to_ascii_lowercase().as_str()) {
            directives[0] = directive.to_owned();
        }
        directives.extend(OURS.map(|target| format!("{target}={directive}")));
    }
    let others = directives[0].clone();
    directives.extend(TALKATIVE.map(|library| format!("{library}={others}")));
    directives.push(SILENT.to_owned());
    let mut filter = EnvFilter::default();
    for directive in &directives {
        filter = filter.add_directive(directive.parse()?);
    }
    Ok(filter)
}

fn is_level(directive: &str) -> bool {
    directive.parse::<tracing_subscriber::filter::LevelFilter>().is_ok()
}

/// A place for lines where errors are nobody's: a full disk and a closed pipe end nothing.
struct Careless<W>(W);

impl<W: Write> Write for Careless<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _ = self.0.write_all(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let _ = self.0.flush();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    // covers: OPS-442
    #[test]
    fn a_level_is_of_ours_and_libraries_stay_at_warnings() {
        let shown = |level: &str| {
            let filter = filter(level).unwrap().to_string();
            let mut all: Vec<_> = filter.split(',').map(str::to_owned).collect();
            all.sort();
            all
        };
        let debug = shown("debug");
        for expected in ["warn", "chorus=debug", "agent=debug", "hyper=warn", "rmcp=off"] {
            assert!(debug.iter().any(|d| d == expected), "{expected}: {debug:?}");
        }
        assert!(!debug.iter().any(|d| d == "debug"), "{debug:?}");
        let one = shown("warn,chorus_server=info");
        assert!(one.iter().any(|d| d == "chorus_server=info"), "{one:?}");
        let none = shown("off");
        for expected in ["off", "chorus=off", "hyper=off"] {
            assert!(none.iter().any(|d| d == expected), "{expected}: {none:?}");
        }
        assert!(filter("chorus=loud").is_err());
    }

    // covers: OPS-443
    #[test]
    fn a_writer_that_is_stuck_or_fails_keeps_nobody_waiting() {
        struct Stuck(std::sync::mpsc::Receiver<()>);
        impl Write for Stuck {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                let _ = self.0.recv();
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Err(io::ErrorKind::StorageFull.into())
            }
        }
        let (go_on, stuck) = std::sync::mpsc::channel();
        let (mut queue, guard) = queue(Stuck(stuck));
        for _ in 0..2 * QUEUED {
            queue.write_all(b"a line\n").unwrap();
        }
        assert!(queue.error_counter().dropped_lines() >= QUEUED - 1);
        drop(go_on);
        drop(guard);
    }
}
