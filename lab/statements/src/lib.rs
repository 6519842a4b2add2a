//! Watches the statements that tests send to a database, of which none may cross a workspace, and the lines that hosts
//! log meanwhile, of which none may repeat what somebody said ([`said`]).
//!
//! The store says each statement as a trace event just before the engine has it, so that what is looked at is
//! what is sent, by every test, on both engines. A statement that reaches rows of a table without saying of which
//! workspace ends the process, and so its test. What is said here is checked with a parser of SQL, not by its words.

mod check;
mod portable;
mod words;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

pub use check::crosses;
pub use portable::beyond;
use words::{Line, STATEMENTS, is_logged};
pub use words::{lines, said, statements};

/// The target of the store's trace events.
const TARGET: &str = "chorus_store::sql";

/// Watches from here on, in this process; more calls change nothing.
///
/// Without a word about it where tests have a subscriber of their own, which then sees the statements instead.
pub fn watch() {
    // An error says that somebody watches already.
    let _ = tracing::subscriber::set_global_default(Watch::default());
}

/// Ends the process with the first statement that crosses a workspace.
#[derive(Default)]
struct Watch {
    /// Statements that were looked at: each is sent many times.
    seen: Mutex<BTreeSet<String>>,
}

impl Watch {
    fn look(&self, sql: &str) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.contains(sql) {
            return;
        }
        if let Some(why) = crosses(sql) {
            eprintln!("a statement crosses workspaces: {why}\n{sql}");
            // A panic would be caught by whoever keeps the writer alive.
            std::process::abort();
        }
        if let Some(why) = beyond(sql).filter(|_| is_of_postgres()) {
            eprintln!(
                "a statement does not run on every database that speaks PostgreSQL: {why}\n{sql}"
            );
            std::process::abort();
        }
        seen.insert(sql.to_owned());
    }
}

/// Whether tests run on a database that others run. Its statements are not SQLite's.
fn is_of_postgres() -> bool {
    std::env::var("CHORUS_TEST_ENGINE").is_ok_and(|engine| engine == "postgres")
}

impl Subscriber for Watch {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        is_logged(metadata)
    }

    fn event(&self, event: &Event<'_>) {
        let metadata = event.metadata();
        if metadata.target() == TARGET {
            STATEMENTS.fetch_add(1, Ordering::Relaxed);
            event.record(&mut Sql(self));
            return;
        }
        let mut line = Line::of(metadata);
        event.record(&mut line);
        line.end(metadata);
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut line = Line::of(span.metadata());
        span.record(&mut line);
        line.end(span.metadata());
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// The field `sql` of an event.
struct Sql<'a>(&'a Watch);

impl Visit for Sql<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "sql" {
            self.0.look(value);
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn fmt::Debug) {}
}
