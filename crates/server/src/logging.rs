//! The log: which lines there are, and how they get out.
//!
//! Logging never panics and never blocks. A line goes into a queue of a fixed size, from which a thread of its own writes
//! it; what does not fit is dropped and counted, and what cannot be written is gone. No level brings the text of a
//! message into a line: what holds somebody's words does not print them (spec/operations.md, "What a log may say").

pub(crate) mod filter;

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

pub(crate) use filter::AGENT;
pub use filter::filter;
use tracing::subscriber::{SetGlobalDefaultError, set_global_default};
use tracing::{Event, Subscriber};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::{JsonFields, Writer};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, MakeWriter};
use tracing_subscriber::registry::LookupSpan;

use crate::config::telemetry::LogFormat;
use crate::redact::{Lines, Redactor};
use crate::request;

/// Lines that wait to be written: a few MiB.
const QUEUED: usize = 8_192;
/// How long the end of the process waits for what is queued. Nobody may be reading it.
const PATIENCE: Duration = Duration::from_secs(1);

static LOST: AtomicUsize = AtomicUsize::new(0);

/// Lines that were dropped since this process began to log.
pub fn lost() -> usize {
    LOST.load(Ordering::Relaxed)
}

/// Waits for what is queued to be written when it is dropped, for [`PATIENCE`] at most.
#[must_use = "it waits for the last lines when it is dropped"]
pub struct Log(Queue);

impl Drop for Log {
    fn drop(&mut self) {
        self.0.written(PATIENCE);
    }
}

/// Logs to `to` from here on, without secrets. An error says that this process logs already.
pub fn begin(
    level: &str,
    format: LogFormat,
    ansi: bool,
    redactor: Arc<Redactor>,
    to: impl Write + Send + 'static,
) -> Result<Log, SetGlobalDefaultError> {
    let queue = Queue::to(to);
    let log = Log(queue.clone());
    let filter = filter(level).unwrap_or_else(|_| EnvFilter::new("warn"));
    let writer = move || Lines::new(redactor.clone(), queue.clone());
    set_global_default(subscriber(filter, format, ansi, writer))?;
    Ok(log)
}

fn subscriber(
    filter: EnvFilter,
    format: LogFormat,
    ansi: bool,
    writer: impl for<'w> MakeWriter<'w> + Send + Sync + 'static,
) -> Box<dyn Subscriber + Send + Sync> {
    let built = tracing_subscriber::fmt()
        .with_env_filter(filter)
        // What it would say of a line that it could not write, it says on standard error, and panics where it cannot.
        .log_internal_errors(false)
        .with_writer(writer);
    let line = tracing_subscriber::fmt::format().with_ansi(ansi);
    match format {
        LogFormat::Text => {
            let line = OfRequest { line, add: |line, id| line.push_str(&format!(" {NAME}={id}")) };
            Box::new(built.event_format(line).finish())
        }
        LogFormat::Json => {
            let add: Add = |line, id| {
                line.pop();
                line.push_str(&format!(r#","{NAME}":"{id}"}}"#));
            };
            let line = OfRequest { line: line.json().flatten_event(true), add };
            Box::new(built.fmt_fields(JsonFields::new()).event_format(line).finish())
        }
    }
}

/// The field in which a line names its request.
const NAME: &str = "request_id";

/// Adds the name of a request to a line.
type Add = fn(&mut String, &str);

/// Lines that name the request at work. It is looked up when there is a line: a span would be made for every request, and few
/// of them log anything.
struct OfRequest<F> {
    line: F,
    add: Add,
}

impl<S, N, F> FormatEvent<S, N> for OfRequest<F>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
    F: FormatEvent<S, N>,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let is_named = event.metadata().fields().field(NAME).is_some();
        let Some(id) = request::current().filter(|_| !is_named) else {
            return self.line.format_event(context, writer, event);
        };
        let mut line = String::new();
        self.line.format_event(context, Writer::new(&mut line), event)?;
        line.truncate(line.trim_end().len());
        (self.add)(&mut line, &id);
        writeln!(writer, "{line}")
    }
}

/// Lines on their way to the thread that writes them.
#[derive(Clone)]
struct Queue(Arc<Waiting>);

struct Waiting {
    lines: Mutex<VecDeque<Vec<u8>>>,
    /// There is a line.
    some: Condvar,
    /// There is none any more.
    none: Condvar,
}

impl Queue {
    /// Starts the thread. Where none can be started, lines are lost.
    fn to(mut to: impl Write + Send + 'static) -> Self {
        let waiting = Waiting {
            lines: Mutex::new(VecDeque::new()),
            some: Condvar::new(),
            none: Condvar::new(),
        };
        let queue = Self(Arc::new(waiting));
        let lines = queue.clone();
        let write = move || {
            loop {
                let line = lines.first();
                // A full disk and a closed pipe end nothing.
                if to.write_all(&line).and_then(|()| to.flush()).is_err() {
                    LOST.fetch_add(1, Ordering::Relaxed);
                }
                lines.done();
            }
        };
        drop(thread::Builder::new().name("chorus-log".to_owned()).spawn(write));
        queue
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Vec<u8>>> {
        self.0.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The oldest line, which stays where it is until it is written.
    fn first(&self) -> Vec<u8> {
        let empty = |lines: &mut VecDeque<_>| lines.is_empty();
        let lines = self.0.some.wait_while(self.lock(), empty);
        let mut lines = lines.unwrap_or_else(PoisonError::into_inner);
        lines.front_mut().map(std::mem::take).unwrap_or_default()
    }

    fn done(&self) {
        let mut lines = self.lock();
        lines.pop_front();
        if lines.is_empty() {
            self.0.none.notify_all();
        }
    }

    /// Waits until all of it is written, for so long at most.
    fn written(&self, timeouts: Duration) {
        let some = |lines: &mut VecDeque<_>| !lines.is_empty();
        drop(self.0.none.wait_timeout_while(self.lock(), timeouts, some));
    }
}

impl Write for Queue {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut lines = self.lock();
        if lines.len() < QUEUED {
            lines.push_back(line.to_owned());
            self.0.some.notify_one();
        } else {
            LOST.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Kept {
        fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// What is let through of these targets, each at `trace` and at `warn`.
    fn shown(level: &str) -> Vec<String> {
        macro_rules! say {
            ($($target:literal),*) => {$(
                tracing::warn!(target: $target, "<{} warns>", $target);
                tracing::trace!(target: $target, "<{}>", $target);
            )*};
        }
        let kept = Kept::default();
        let writer = kept.clone();
        let logs = tracing_subscriber::fmt()
            .with_env_filter(filter(level).unwrap())
            .with_writer(move || writer.clone())
            .finish();
        tracing::subscriber::with_default(logs, || {
            let _request = tracing::error_span!(target: "chorus_server", "request").entered();
            say!("chorus_server", "agent", "hyper", "tungstenite::protocol", "rmcp::service");
        });
        let text = kept.text();
        let ends = text.match_indices('<').map(|(at, _)| &text[at + 1..]);
        ends.filter_map(|rest| Some(rest.split_once('>')?.0.to_owned())).collect()
    }

    // covers: OPS-442
    #[test]
    fn a_level_is_of_ours_and_libraries_stay_at_warnings() {
        let warnings =
            ["chorus_server warns", "agent warns", "hyper warns", "tungstenite::protocol warns"];
        let [ours, agents, hyper, tungstenite] = warnings;
        let all = [ours, "chorus_server", agents, "agent", hyper, tungstenite];
        let rows: [(&str, &[&str]); 14] = [
            ("warn", &warnings),
            ("trace", &all),
            ("off", &[]),
            ("warn,agent=off", &[ours, hyper, tungstenite]),
            ("warn,chorus_server=trace", &[ours, "chorus_server", agents, hyper, tungstenite]),
            ("warn,hyper=off", &[ours, agents, tungstenite]),
            ("warn,hyper=trace", &warnings),
            ("warn,tungstenite::protocol=trace", &warnings),
            ("warn,tungstenite::protocol", &warnings),
            ("warn,rmcp::service=debug", &warnings),
            ("warn,rmcp::service=warn", &warnings),
            ("warn,[request]=trace", &warnings),
            ("warn,[request]", &warnings),
            ("warn,hyper[request]=trace", &warnings),
        ];
        for (level, expected) in rows {
            assert_eq!(shown(level), expected, "{level}");
        }
        assert!(filter("chorus=loud").is_err());
    }

    #[test]
    fn a_line_names_the_request_that_it_is_of() {
        let lines = |format| {
            let kept = Kept::default();
            let writer = kept.clone();
            let logs = subscriber(EnvFilter::new("warn"), format, false, move || writer.clone());
            tracing::subscriber::with_default(logs, || {
                let work = request::scoped(async {
                    tracing::warn!(n = 7, "in a request");
                    tracing::warn!(request_id = "req_own", "named already");
                    request::current().unwrap()
                });
                let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
                let id = runtime.block_on(work);
                tracing::warn!("in none");
                (id, kept.text())
            })
        };
        let (id, text) = lines(LogFormat::Text);
        let text: Vec<_> = text.lines().collect();
        assert!(text[0].ends_with(&format!("in a request n=7 request_id={id}")), "{text:?}");
        assert!(text[1].contains("req_own") && !text[1].contains(&id), "{text:?}");
        assert!(text[2].ends_with("in none"), "{text:?}");
        let (id, text) = lines(LogFormat::Json);
        let ids = text.lines().map(|line| {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            line["request_id"].as_str().map(str::to_owned)
        });
        assert_eq!(ids.collect::<Vec<_>>(), [Some(id), Some("req_own".to_owned()), None]);
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
        let mut queue = Queue::to(Stuck(stuck));
        let before = lost();
        for _ in 0..2 * QUEUED {
            queue.write_all(b"a line\n").unwrap();
        }
        assert!(lost() - before >= QUEUED);
        assert_eq!(queue.lock().len(), QUEUED);
        // The end of the process waits for it, and not for long.
        drop(Log(queue.clone()));
        drop(go_on);
        queue.written(Duration::from_secs(60));
        assert!(queue.lock().is_empty());
    }

    // covers: OPS-443
    #[test]
    fn the_last_lines_are_written_before_the_end() {
        let (from, to) = io::pipe().unwrap();
        let log = Log(Queue::to(to));
        let mut queue = log.0.clone();
        (0..100).for_each(|n| writeln!(queue, "line {n}").unwrap());
        drop(log);
        let mut lines = io::BufRead::lines(io::BufReader::new(from));
        assert_eq!(lines.nth(99).unwrap().unwrap(), "line 99");
    }
}
