//! PostgreSQL as it comes (fsync and synchronous_commit on): a post as one function call, and a post as
//! statements in a transaction. Its own pgbench makes the load, over a Unix socket, with prepared statements.

use std::fs;
use std::time::Duration;

use chorus_cluster::{Cluster, Durability, checked};

const SCHEMA: &str = include_str!("postgres.sql");

/// A running cluster of its own, with a connection limit above what any measurement needs.
pub(crate) struct Postgres(Cluster);

impl Postgres {
    /// Makes and starts one, or says why there is none.
    pub(crate) fn start() -> Result<Self, String> {
        let sizes = ["-c", "shared_buffers=256MB", "-c", "max_wal_size=4GB"];
        let peer = Self(Cluster::start(Durability::Durable, &sizes)?);
        peer.0.tool("pgbench")?;
        peer.prepare()?;
        Ok(peer)
    }

    /// Posts a second as one function call each, with `clients` connections over 100 rooms.
    pub(crate) fn function(&self, window: Duration, clients: usize) -> Result<f64, String> {
        self.measure("function", window, clients)
    }

    /// Posts a second as statements in a transaction.
    pub(crate) fn statements(&self, window: Duration, clients: usize) -> Result<f64, String> {
        self.measure("statements", window, clients)
    }

    fn prepare(&self) -> Result<(), String> {
        let text = "x".repeat(300);
        let draw = "\\set room random(1, 100)\n\\set key random(1, 9000000000000000000)\n";
        let function = format!("{draw}SELECT post(:room, :client_id, :key, '{text}');\n");
        let statements = format!(
            "{draw}BEGIN;\nSELECT seq FROM known WHERE key = :key;\n\
             UPDATE head SET seq = seq + 1 WHERE room = :room RETURNING seq \\gset\n\
             INSERT INTO event VALUES (:room, :seq, :client_id, now(), NULL, '{text}');\n\
             INSERT INTO known VALUES (:key, :room, :seq);\n\
             INSERT INTO delivery VALUES (:room, :seq, 1, 0), (:room, :seq, 2, 0), (:room, :seq, 3, 0);\n\
             COMMIT;\n"
        );
        for (name, text) in [("function", &function), ("statements", &statements)] {
            let file = self.0.socket().join(name);
            fs::write(file, text).map_err(|e| format!("postgres: {e}"))?;
        }
        self.0.sql("postgres", SCHEMA).map(drop)
    }

    fn measure(&self, script: &str, window: Duration, clients: usize) -> Result<f64, String> {
        // pgbench counts in whole seconds.
        let seconds = window.as_secs_f64().ceil().max(1.0).to_string();
        let mut bench = self.0.tool("pgbench")?;
        bench.args(["-n", "-M", "prepared", "-T", &seconds]);
        bench.args(["-c", &clients.to_string(), "-j", "1", "-f", script, "postgres"]);
        let output = checked(&mut bench)?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines()
            .find_map(|line| line.strip_prefix("tps = ")?.split(' ').next()?.parse().ok())
            .ok_or_else(|| format!("pgbench said no rate: {text}"))
    }
}
