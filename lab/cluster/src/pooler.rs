//! A PgBouncer in front of a cluster, gone with the value and with the process.

use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::{BETWEEN, Cluster, PATIENCE, USER, command, own, program, sql_at, unprivileged};

/// What a client keeps a connection to the server for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Session,
    Transaction,
    Statement,
}

/// A running pooler.
#[derive(Debug)]
pub struct Pooler {
    server: Option<Child>,
    _folder: TempDir,
    url: String,
}

impl Pooler {
    /// Starts one for a cluster's database `postgres`, with as many connections to it.
    pub fn start(cluster: &Cluster, mode: Mode, connections: usize) -> Result<Self, String> {
        let user = unprivileged()?;
        let folder = tempfile::Builder::new().prefix("chorus-pool-").tempdir();
        let folder = folder.map_err(|e| format!("a temporary folder: {e}"))?;
        let here = folder.path();
        if let Some((uid, gid)) = user {
            own(here, uid, gid)?;
        }
        let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let port = free.map_err(|e| format!("a free port: {e}"))?.port();
        let mode = match mode {
            Mode::Session => "session",
            Mode::Transaction => "transaction",
            Mode::Statement => "statement",
        };
        let socket = cluster.socket().display();
        let settings = format!(
            "[databases]\npostgres = host={socket} user={USER}\n[pgbouncer]\nlisten_addr = 127.0.0.1\n\
             listen_port = {port}\nunix_socket_dir =\nauth_type = any\npool_mode = {mode}\n\
             default_pool_size = {connections}\nmax_client_conn = 500\n"
        );
        let file = here.join("pgbouncer.ini");
        fs::write(&file, settings).map_err(|e| format!("pgbouncer.ini: {e}"))?;
        let log = fs::File::create(here.join("log")).map_err(|e| format!("pgbouncer: {e}"))?;
        let mut server = command(Path::new("sh"), user, here);
        server.args(["-c", BETWEEN, "sh"]).arg(here).arg(program("pgbouncer")?).arg(&file);
        let server = server.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(log).spawn();
        let server = Some(server.map_err(|e| format!("pgbouncer: {e}"))?);
        let url = format!("postgres://{USER}@127.0.0.1:{port}/postgres");
        let pooler = Self { server, _folder: folder, url };
        let started = Instant::now();
        while let Err(why) = sql_at(&pooler.url, "SELECT 1") {
            if started.elapsed() > PATIENCE || mode == "statement" && why.contains("pooling") {
                return Err(why);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(pooler)
    }

    /// How the database is reached through it.
    pub fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        if let Some(mut server) = self.server.take() {
            // Closed afterwards; one that has ended by itself takes none.
            let _ = server.stdin.take().map(|mut stdin| stdin.write_all(b"INT\n"));
            let _ = server.wait();
        }
    }
}
