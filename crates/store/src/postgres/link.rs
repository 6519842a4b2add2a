//! One connection during its lifetime: how it is made and configured, and its prepared statements.

use std::cell::RefCell;
use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

use tokio_postgres::config::SslMode;
use tokio_postgres::{Client, NoTls, Statement};

use super::address::Address;
use super::thread::{handle, wait};
use super::{fault, tls};
use crate::db::{Error, Result, RowChange, Sync, TRACE};

/// The purpose of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// An exclusive writer.
    Write(Sync),
    /// Interactive reads.
    Read,
    /// Reads of everything, for a doctor or an export.
    Examine,
}

/// Statement and lock timeout of batches and reads.
const STATEMENT: Duration = Duration::from_secs(30);
/// Longest time that a read of everything, or a migration, may take to answer.
const LONG: Duration = Duration::from_secs(3_600);
/// How much longer than the server this program waits for an answer.
const GRACE: Duration = Duration::from_secs(5);
/// Oldest version that is known to have all features used (`pg_current_xact_id`, HOT pruning of
/// dead rows).
const VERSION: i32 = 13;

pub(super) struct Link {
    pub(super) client: Client,
    prepared: RefCell<HashMap<String, Statement>>,
    /// Prepared statements that change many rows of a table.
    pub(super) arrays: RefCell<HashMap<(&'static str, RowChange), Statement>>,
    /// How long an answer may take.
    limit: Duration,
    /// The server process of this connection and its start time. Together they identify it, so that
    /// it can be terminated and no other.
    pub(super) backend: (i32, String),
}

/// How long a writer waits for reconnecting, during which everybody waits.
const MOMENT: Duration = Duration::from_millis(250);

/// A connection that is being made.
pub(super) struct Dialing(Receiver<Result<Link>>);

impl Dialing {
    pub(super) fn begin(address: Arc<Address>, what: Use) -> Result<Self> {
        let (made, wanted) = mpsc::channel();
        let thread = std::thread::Builder::new().name("postgres dial".to_owned());
        // If nobody wants it any more, it is closed.
        let dial = move || drop(made.send(Link::open(&address, what)));
        let begun = thread.spawn(dial);
        begun.map_err(|why| Error::Lost(format!("no thread for a connection: {why}")))?;
        Ok(Self(wanted))
    }

    /// The outcome; none if it is not available within a moment.
    pub(super) fn take(&self) -> Option<Result<Link>> {
        match self.0.recv_timeout(MOMENT) {
            Ok(made) => Some(made),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                Some(Err(Error::Lost("connecting was given up".to_owned())))
            }
        }
    }
}

impl Link {
    pub(super) fn open(address: &Address, what: Use) -> Result<Self> {
        let mut config = address.config.clone();
        if config.get_application_name().is_none() {
            config.application_name(match what {
                Use::Write(_) => "chorus writer",
                Use::Read => "chorus reader",
                Use::Examine => "chorus",
            });
        }
        let patience = config.get_connect_timeout().copied().unwrap_or_default() + GRACE;
        let encrypted = match config.get_ssl_mode() {
            SslMode::Disable => None,
            _ => Some(tls::connector(&address.tls)?),
        };
        let connected = handle()?.spawn(async move {
            Ok::<_, tokio_postgres::Error>(match encrypted {
                None => {
                    let (client, connection) = config.connect(NoTls).await?;
                    tokio::spawn(connection);
                    client
                }
                Some(tls) => {
                    let (client, connection) = config.connect(tls).await?;
                    tokio::spawn(connection);
                    client
                }
            })
        });
        let client = match wait(connected, patience) {
            None => return Err(Error::Lost("it does not answer".to_owned())),
            Some(Err(_)) => return Err(Error::Lost("connecting was given up".to_owned())),
            Some(Ok(Err(why))) => return Err(fault::connecting(&why, address)),
            Some(Ok(Ok(client))) => client,
        };
        let limit = if what == Use::Examine { LONG } else { STATEMENT } + GRACE;
        let backend = (0, String::new());
        let (prepared, arrays) = (RefCell::default(), RefCell::default());
        let mut link = Self { client, prepared, arrays, limit, backend };
        link.run(&settings(what))?;
        link.look()?;
        Ok(link)
    }

    /// Waits for an answer. If there is none in time, the connection counts as lost.
    pub(super) fn wait<T>(
        &self,
        answer: impl Future<Output = std::result::Result<T, tokio_postgres::Error>>,
    ) -> Result<T> {
        match wait(answer, self.limit) {
            Some(answer) => answer.map_err(|why| fault::statement(&why)),
            None => Err(Error::Lost("it does not answer".to_owned())),
        }
    }

    /// Runs statements without parameters and results.
    pub(super) fn run(&self, sql: &str) -> Result<()> {
        self.wait(self.client.batch_execute(sql))
    }

    /// The prepared statement of this text.
    pub(super) fn prepare(&self, sql: &str) -> Result<Statement> {
        if let Some(known) = self.prepared.borrow().get(sql) {
            return Ok(known.clone());
        }
        tracing::trace!(target: TRACE, sql);
        let statement = self.wait(self.client.prepare(sql))?;
        self.prepared.borrow_mut().insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }

    /// Whether this server is supported.
    fn look(&mut self) -> Result<()> {
        let sql = "SELECT current_setting('server_encoding'), current_setting('server_version_num')::int,
            pg_backend_pid(), (SELECT backend_start::text FROM pg_stat_activity WHERE pid = pg_backend_pid())";
        let row = self.wait(self.client.query_one(sql, &[]))?;
        let read = |why: tokio_postgres::Error| fault::statement(&why);
        let encoding: String = row.try_get(0).map_err(read)?;
        let version: i32 = row.try_get::<_, i32>(1).map_err(read)? / 10_000;
        self.backend = (row.try_get(2).map_err(read)?, row.try_get(3).map_err(read)?);
        if encoding != "UTF8" {
            return Err(Error::Engine(format!(
                "its encoding is {encoding} and must be UTF8; make one with createdb -E UTF8 -T template0"
            )));
        }
        if version < VERSION {
            return Err(Error::Engine(format!(
                "it is PostgreSQL {version} and must be {VERSION} or newer"
            )));
        }
        Ok(())
    }
}

/// Every statement reaches its rows by a key, so the right plan is known without statistics.
/// Alternatives that a planner might choose because of outdated statistics are disabled.
fn settings(what: Use) -> String {
    let mut settings = "SET client_min_messages = warning; SET jit = off; SET enable_seqscan = off;
        SET enable_bitmapscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;
        SET plan_cache_mode = force_generic_plan;"
        .to_owned();
    if what != Use::Examine {
        let ms = STATEMENT.as_millis();
        settings.push_str(&format!("SET statement_timeout = {ms}; SET lock_timeout = {ms};"));
    }
    let idle = match what {
        Use::Write(_) | Use::Read => Some(STATEMENT * 2),
        Use::Examine => None,
    };
    if let Some(idle) = idle.map(|idle| idle.as_millis()) {
        settings.push_str(&format!("SET idle_in_transaction_session_timeout = {idle};"));
    }
    if matches!(what, Use::Write(_)) {
        // The lock of a machine that disappeared is released after this time.
        settings.push_str(
            "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3;",
        );
    }
    match what {
        // A server may be configured to answer before syncing.
        Use::Write(how) if how != Sync::DangerousNormal => settings.push_str(
            "SELECT set_config('synchronous_commit', 'on', false)
                WHERE current_setting('synchronous_commit') = 'off';",
        ),
        Use::Write(_) => settings.push_str("SET synchronous_commit = off;"),
        Use::Read | Use::Examine => {}
    }
    settings
}
