//! One connection during its lifetime: how it is made and configured, and its prepared statements.

use std::cell::RefCell;
use std::collections::HashMap;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

use futures_util::StreamExt;
use tokio_postgres::config::SslMode;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Config, NoTls, RowStream, SimpleQueryMessage, Statement};

use super::address::Address;
use super::thread::{handle, wait};
use super::{fault, tls};
use crate::db::{Error, Result, RowChange, Sync, TRACE};

/// The purpose of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// Writes of the workspace's owner.
    Write(Sync),
    /// A host's membership: short statements, each at once.
    Member,
    /// Interactive reads.
    Read,
    /// Reads of everything, for a doctor or an export.
    Examine,
}

/// Statement and lock timeout of batches and reads.
pub(super) const STATEMENT: Duration = Duration::from_secs(30);
/// Longest time that a read of everything, or a migration, may take to answer.
const LONG: Duration = Duration::from_secs(3_600);
/// Longest time that a statement of a host's membership may take: less than a lease.
const SHORT: Duration = Duration::from_secs(2);
/// Longest time that a writer may leave a transaction idle: less than a lease, so that whoever takes
/// over from a host that stands still does not wait for its locks.
const IDLE: Duration = Duration::from_secs(2);
/// How much longer than the server this program waits for an answer.
const GRACE: Duration = Duration::from_secs(5);
/// Oldest version that the tests are known to pass on.
const VERSION: i32 = 13;

pub(super) struct Link {
    pub(super) client: Client,
    what: Use,
    /// A pooler gives each transaction another connection to the server, so that nothing may be
    /// kept on one between two of them.
    pub(super) pooled: bool,
    prepared: RefCell<HashMap<String, Statement>>,
    /// Statements that change many rows of a table.
    pub(super) arrays: RefCell<HashMap<(&'static str, RowChange), String>>,
    /// The types of columns, by table.
    pub(super) types: RefCell<HashMap<String, HashMap<String, String>>>,
    /// How long an answer may take.
    limit: Duration,
}

/// A setting that reaches the server only with the connection's start. A pooler refuses or drops
/// it.
const DIRECT: &str = "-c chorus.direct=on";

/// How long a writer waits for reconnecting, during which everybody waits.
pub(super) const MOMENT: Duration = Duration::from_millis(250);

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
                Use::Member => "chorus member",
                Use::Read => "chorus reader",
                Use::Examine => "chorus",
            });
        }
        let mut direct = config.clone();
        let own = config.get_options().unwrap_or_default();
        direct.options(format!("{own} {DIRECT}").trim());
        let client = match connect(&direct, address)? {
            Err(why) if refuses_options(&why) => connect(&config, address)?,
            made => made,
        };
        let client = client.map_err(|why| fault::connecting(&why, address))?;
        let mut link = Self {
            client,
            what,
            pooled: false,
            prepared: RefCell::default(),
            arrays: RefCell::default(),
            types: RefCell::default(),
            limit: limit(what) + GRACE,
        };
        link.look()?;
        if !link.pooled {
            link.run(&settings(what, false))?;
        }
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

    /// The statement that begins a transaction, with the settings that hold for it alone.
    pub(super) fn begin(&self, how: &str) -> String {
        if self.pooled { format!("{how};{}", settings(self.what, true)) } else { how.to_owned() }
    }

    /// Runs a statement; behind a pooler without a name, which the next connection would not know.
    /// It is sent when the future is first polled.
    pub(super) fn query<'a>(
        &'a self,
        sql: &'a str,
        values: Vec<Typed<'a>>,
    ) -> Result<impl Future<Output = Answer<RowStream>> + 'a> {
        let statement = if self.pooled { None } else { Some(self.prepare(sql)?) };
        Ok(async move {
            match statement {
                Some(statement) => {
                    let values = values.into_iter().map(|(value, _)| value);
                    self.client.query_raw(&statement, values).await
                }
                None => {
                    tracing::trace!(target: TRACE, sql);
                    self.client.query_typed_raw(sql, values).await
                }
            }
        })
    }

    /// As [`Link::query`], for the number of changed rows.
    pub(super) fn execute<'a>(
        &'a self,
        sql: &'a str,
        values: Vec<Typed<'a>>,
    ) -> Result<impl Future<Output = Answer<u64>> + 'a> {
        let sent = self.query(sql, values)?;
        Ok(async move {
            let mut rows = pin!(sent.await?);
            while let Some(row) = rows.next().await {
                row?;
            }
            Ok(rows.rows_affected().unwrap_or(0))
        })
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

    /// What answers, and whether it is supported.
    fn look(&mut self) -> Result<()> {
        let sql =
            "SELECT current_setting('server_encoding'), current_setting('server_version_num'),
            current_setting('chorus.direct', true)";
        // Messages of their own, as those of a transaction are.
        let rows = self.run("BEGIN").and_then(|()| self.wait(self.client.simple_query(sql)));
        let rows = rows.and_then(|rows| self.run("COMMIT").map(|()| rows));
        let rows = rows.map_err(|why| match why.to_string() {
            words if words.contains("statement pooling") => Error::Engine(format!(
                "{words}; let the pooler pool transactions (pool_mode = transaction) or sessions"
            )),
            _ => why,
        })?;
        let row = rows.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(row),
            _ => None,
        });
        let word = |column: usize| row.and_then(|row| row.get(column)).unwrap_or_default();
        let (encoding, version) = (word(0), word(1).parse::<i32>().unwrap_or(0) / 10_000);
        self.pooled = word(2) != "on";
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

/// A parameter, with its type for a statement without a name.
pub(super) type Typed<'a> = (&'a (dyn ToSql + std::marker::Sync), Type);

pub(super) type Answer<T> = std::result::Result<T, tokio_postgres::Error>;

/// Connects, within the time that the address gives.
fn connect(config: &Config, address: &Address) -> Result<Answer<Client>> {
    let patience = config.get_connect_timeout().copied().unwrap_or_default() + GRACE;
    let encrypted = match config.get_ssl_mode() {
        SslMode::Disable => None,
        _ => Some(tls::connector(&address.tls)?),
    };
    let config = config.clone();
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
    match wait(connected, patience) {
        None => Err(Error::Lost("it does not answer".to_owned())),
        Some(Err(_)) => Err(Error::Lost("connecting was given up".to_owned())),
        Some(Ok(made)) => Ok(made),
    }
}

/// Whether a pooler refuses settings at the start of a connection.
fn refuses_options(why: &tokio_postgres::Error) -> bool {
    why.as_db_error().is_some_and(|found| found.message().contains("startup parameter"))
}

/// Longest time that a statement may take.
fn limit(what: Use) -> Duration {
    match what {
        Use::Examine => LONG,
        Use::Member => SHORT,
        Use::Write(_) | Use::Read => STATEMENT,
    }
}

/// What holds on a connection, or for one transaction on it. Every statement reaches its rows by a
/// key, so the right plan is known without statistics. Alternatives that a planner might choose
/// because of outdated statistics are disabled.
fn settings(what: Use, local: bool) -> String {
    let ms = |time: Duration| time.as_millis().to_string();
    let mut all = vec![
        ("client_min_messages", "warning".to_owned()),
        ("jit", "off".to_owned()),
        ("enable_seqscan", "off".to_owned()),
        ("enable_bitmapscan", "off".to_owned()),
        ("enable_hashjoin", "off".to_owned()),
        ("enable_mergejoin", "off".to_owned()),
        ("plan_cache_mode", "force_generic_plan".to_owned()),
    ];
    if what != Use::Examine {
        all.push(("statement_timeout", ms(limit(what))));
        all.push(("lock_timeout", ms(limit(what))));
    }
    match what {
        Use::Write(_) => all.push(("idle_in_transaction_session_timeout", ms(IDLE))),
        Use::Read | Use::Member => {
            all.push(("idle_in_transaction_session_timeout", ms(STATEMENT * 2)));
        }
        Use::Examine => {}
    }
    let set = if local { "SET LOCAL" } else { "SET" };
    let mut settings: String =
        all.into_iter().map(|(name, value)| format!("{set} {name} = {value};")).collect();
    match what {
        // A server may be configured to answer before syncing.
        Use::Write(how) if how != Sync::DangerousNormal => settings.push_str(&format!(
            "SELECT set_config('synchronous_commit', 'on', {local})
                WHERE current_setting('synchronous_commit') = 'off';"
        )),
        Use::Write(_) => settings.push_str(&format!("{set} synchronous_commit = off;")),
        Use::Member | Use::Read | Use::Examine => {}
    }
    settings
}
