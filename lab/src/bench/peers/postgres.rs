//! PostgreSQL as it comes (fsync and synchronous_commit on): a post as one function call, and a post as
//! statements in a transaction. Its own pgbench makes the load, over a Unix socket, with prepared statements.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use super::Server;

const SCHEMA: &str = include_str!("postgres.sql");

/// A running cluster of its own, with a connection limit above what any measurement needs.
pub(crate) struct Postgres {
    server: Server,
    user: Option<(u32, u32)>,
    pgbench: PathBuf,
}

impl Postgres {
    /// Makes and starts one, or says why there is none.
    pub(crate) fn start() -> Result<Self, String> {
        let find = |name: &str| {
            super::program(name).ok_or_else(|| format!("{name} is not on this machine"))
        };
        let (initdb, postgres, pgbench) = (find("initdb")?, find("postgres")?, find("pgbench")?);
        let user = unprivileged()?;
        let folder = super::folder("bench-postgres")?;
        if let Some((uid, gid)) = user {
            std::os::unix::fs::chown(folder.path(), Some(uid), Some(gid))
                .map_err(|e| format!("chown: {e}"))?;
        }
        let data = folder.path().join("data");
        let mut init = command(&initdb, user, folder.path());
        init.args(["--auth=trust", "--username=bench", "--encoding=UTF8", "--no-locale", "-D"]);
        checked(init.arg(&data))?;
        let child = command(&postgres, user, folder.path())
            .arg("-D")
            .arg(&data)
            .arg("-k")
            .arg(folder.path())
            .args(["-c", "listen_addresses=", "-c", "max_connections=300"])
            .args(["-c", "shared_buffers=256MB", "-c", "max_wal_size=4GB"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| format!("postgres: {e}"))?;
        let peer = Self { server: Server { child, folder }, user, pgbench };
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
        let folder = self.server.folder.path();
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
        for (name, text) in
            [("schema", SCHEMA), ("function", &function), ("statements", &statements)]
        {
            fs::write(folder.join(name), text).map_err(|e| format!("postgres: {e}"))?;
        }
        let psql = super::program("psql").ok_or("psql is not on this machine")?;
        let started = Instant::now();
        loop {
            let mut load = command(&psql, self.user, folder);
            load.args(["-h"]).arg(folder).args(["-U", "bench", "-d", "postgres", "-q", "-1"]);
            let loaded = checked(load.args(["-v", "ON_ERROR_STOP=1", "-f", "schema"]));
            match loaded {
                Ok(_) => return Ok(()),
                Err(why) if started.elapsed() > Duration::from_secs(15) => return Err(why),
                Err(_) => std::thread::sleep(Duration::from_millis(50)),
            }
        }
    }

    fn measure(&self, script: &str, window: Duration, clients: usize) -> Result<f64, String> {
        let folder = self.server.folder.path();
        // pgbench counts in whole seconds.
        let seconds = window.as_secs_f64().ceil().max(1.0).to_string();
        let mut bench = command(&self.pgbench, self.user, folder);
        bench.arg("-h").arg(folder).args(["-U", "bench", "-n", "-M", "prepared", "-T", &seconds]);
        bench.args(["-c", &clients.to_string(), "-j", "1", "-f", script, "postgres"]);
        let output = checked(&mut bench)?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines()
            .find_map(|line| line.strip_prefix("tps = ")?.split(' ').next()?.parse().ok())
            .ok_or_else(|| format!("pgbench said no rate: {text}"))
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // SIGQUIT ends the cluster and all its processes at once; a kill would leave them behind.
        let pid = nix::unistd::Pid::from_raw(self.server.child.id().cast_signed());
        let _ = nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGQUIT);
        let _ = self.server.child.wait();
    }
}

/// PostgreSQL refuses to run as root; then it runs as the user its package made.
fn unprivileged() -> Result<Option<(u32, u32)>, String> {
    // Whose process this is can be read off its folder in /proc.
    let me = fs::metadata("/proc/self").map_err(|e| format!("/proc/self: {e}"))?;
    if me.uid() != 0 {
        return Ok(None);
    }
    let users = fs::read_to_string("/etc/passwd").map_err(|e| format!("/etc/passwd: {e}"))?;
    let fields = users
        .lines()
        .map(|line| line.split(':').collect::<Vec<_>>())
        .find(|fields| fields.first() == Some(&"postgres") && fields.len() > 3)
        .ok_or("running as root, and there is no user postgres to run it as")?;
    match (fields[2].parse(), fields[3].parse()) {
        (Ok(uid), Ok(gid)) => Ok(Some((uid, gid))),
        _ => Err("the user postgres has no number".to_owned()),
    }
}

fn command(program: &Path, user: Option<(u32, u32)>, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder).env("LC_ALL", "C");
    if let Some((uid, gid)) = user {
        command.uid(uid).gid(gid);
    }
    command
}

fn checked(command: &mut Command) -> Result<Output, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output().map_err(|e| format!("{name}: {e}"))?;
    if output.status.success() {
        return Ok(output);
    }
    Err(format!("{name}: {}", String::from_utf8_lossy(&output.stderr).trim()))
}
