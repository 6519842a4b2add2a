//! PostgreSQL as it comes (fsync and synchronous_commit on): a post as one function call, and a post as
//! statements in a transaction. Its own pgbench makes the load, over a Unix socket, with prepared statements.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use chorus_cluster::{Cluster, Durability, checked, program, sql_at};

const SCHEMA: &str = include_str!("postgres.sql");
const TRANSFERS: &str = include_str!("transfers.sql");

/// A server in which measurements are taken: one of our own, gone with the last that uses it, or another's.
#[derive(Clone)]
pub(crate) struct Base {
    url: String,
    _cluster: Option<Arc<Cluster>>,
}

impl Base {
    /// Makes and starts one, with a connection limit above what any measurement needs; or says why there is none.
    pub(crate) fn start() -> Result<Self, String> {
        let sizes = ["-c", "shared_buffers=256MB", "-c", "max_wal_size=4GB"];
        let cluster = Cluster::start(Durability::Durable, &sizes)?;
        Ok(Self { url: cluster.url("postgres"), _cluster: Some(Arc::new(cluster)) })
    }

    /// A database of somebody's, in which we may make schemas.
    pub(crate) fn at(url: &str) -> Self {
        Self { url: url.to_owned(), _cluster: None }
    }

    /// An empty place in it.
    pub(crate) fn schema(&self) -> Result<Schema, String> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let (process, next) = (std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let name = format!("bench_{process}_{next}");
        sql_at(&self.url, &format!("CREATE SCHEMA {name}"))?;
        let more = if self.url.contains('?') { '&' } else { '?' };
        let url = format!("{}{more}options=-c%20search_path%3D{name}", self.url);
        Ok(Schema { url, name, base: self.clone() })
    }
}

/// A place of its own in a database, gone with the value.
pub(crate) struct Schema {
    pub(crate) url: String,
    name: String,
    base: Base,
}

impl Drop for Schema {
    fn drop(&mut self) {
        // A server of ours is gone with all of it.
        if self.base._cluster.is_none()
            && let Err(why) = sql_at(&self.base.url, &format!("DROP SCHEMA {} CASCADE", self.name))
        {
            eprintln!("{} is left behind: {why}", self.name);
        }
    }
}

/// The peer: its tables in a schema, and the scripts that pgbench runs.
pub(crate) struct Postgres {
    schema: Schema,
    scripts: tempfile::TempDir,
}

impl Postgres {
    /// Makes it ready, or says why there is none.
    pub(crate) fn on(base: &Base) -> Result<Self, String> {
        program("pgbench")?;
        let peer = Self { schema: base.schema()?, scripts: super::folder("bench-pgbench")? };
        let text = "x".repeat(300);
        let key = "\\set key random(1, 9000000000000000000)\n";
        let draw = format!("\\set room random(1, 100)\n{key}");
        let function = |room: &str| format!("SELECT post({room}, :client_id, :key, '{text}');\n");
        let statements = format!(
            "{draw}BEGIN;\nSELECT seq FROM known WHERE key = :key;\n\
             UPDATE head SET seq = seq + 1 WHERE room = :room RETURNING seq \\gset\n\
             INSERT INTO event VALUES (:room, :seq, :client_id, now(), NULL, '{text}');\n\
             INSERT INTO known VALUES (:key, :room, :seq);\n\
             INSERT INTO delivery VALUES (:room, :seq, 1, 0), (:room, :seq, 2, 0), (:room, :seq, 3, 0);\n\
             COMMIT;\n"
        );
        for (name, text) in [
            ("function", format!("{draw}{}", function(":room"))),
            ("function.hot", format!("{key}{}", function("1"))),
            ("statements", statements),
        ] {
            fs::write(peer.scripts.path().join(name), text)
                .map_err(|e| format!("postgres: {e}"))?;
        }
        sql_at(&peer.schema.url, SCHEMA)?;
        Ok(peer)
    }

    /// Posts a second as one function call each, with `clients` connections over 100 rooms.
    pub(crate) fn function(&self, window: Duration, clients: usize) -> Result<f64, String> {
        self.measure("function", window, clients)
    }

    /// Posts a second as one function call each, all of them to one room.
    pub(crate) fn function_hot(&self, window: Duration, clients: usize) -> Result<f64, String> {
        self.measure("function.hot", window, clients)
    }

    /// Posts a second as statements in a transaction.
    pub(crate) fn statements(&self, window: Duration, clients: usize) -> Result<f64, String> {
        self.measure("statements", window, clients)
    }

    fn measure(&self, script: &str, window: Duration, clients: usize) -> Result<f64, String> {
        pgbench(&self.schema, &self.scripts.path().join(script), window, clients)
    }
}

/// The same peer as a ledger: a transfer as one function call.
pub(crate) struct Transfers {
    schema: Schema,
    scripts: tempfile::TempDir,
}

impl Transfers {
    /// Makes it ready, or says why there is none.
    pub(crate) fn on(base: &Base) -> Result<Self, String> {
        program("pgbench")?;
        let peer = Self { schema: base.schema()?, scripts: super::folder("bench-pgbench")? };
        let script = "\\set key random(1, 9000000000000000000)\n\
                      \\set payee (:client_id + random(1, 99)) % 100\n\
                      SELECT transfer(:key, :client_id, :payee, 5);\n";
        fs::write(peer.scripts.path().join("transfer"), script)
            .map_err(|e| format!("postgres: {e}"))?;
        sql_at(&peer.schema.url, TRANSFERS)?;
        Ok(peer)
    }

    /// Transfers a second, each client from an account of its own.
    pub(crate) fn function(&self, window: Duration, clients: usize) -> Result<f64, String> {
        pgbench(&self.schema, &self.scripts.path().join("transfer"), window, clients)
    }
}

/// Runs a script again and again on so many connections; how often a second.
fn pgbench(
    schema: &Schema,
    script: &Path,
    window: Duration,
    clients: usize,
) -> Result<f64, String> {
    // pgbench counts in whole seconds.
    let seconds = window.as_secs_f64().ceil().max(1.0).to_string();
    let mut bench = Command::new(program("pgbench")?);
    bench.args(["-n", "-M", "prepared", "-T", &seconds, "-c", &clients.to_string(), "-j", "1"]);
    bench.arg("-f").arg(script).arg(&schema.url);
    let output = checked(&mut bench)?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines()
        .find_map(|line| line.strip_prefix("tps = ")?.split(' ').next()?.parse().ok())
        .ok_or_else(|| format!("pgbench said no rate: {text}"))
}
