//! A PostgreSQL cluster of one's own: in a temporary folder, on a Unix socket, gone with the value.
//!
//! Invariant: it also goes with the process, however that ends: a shell between the two waits for the end of
//! its input. Tests that need no cluster of their own share one, each in a schema of its own ([`schema`]).
//!
//! PostgreSQL refuses to run as root; then it runs as the user that its package made. Making a cluster takes a
//! second, so an empty one is kept in the system's temporary folder and copied.

mod pooler;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

pub use pooler::{Mode, Pooler};
use tempfile::TempDir;

/// The superuser of every cluster; no password is asked for.
const USER: &str = "chorus";
/// A cluster on a busy machine is there in a second or two.
const PATIENCE: Duration = Duration::from_secs(30);
/// Where Debian keeps programs that are not on everybody's path.
const ELSEWHERE: &str = "/usr/lib/postgresql";

/// Whether what is committed is on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// As PostgreSQL comes.
    Durable,
    /// Nothing is synced: for tests that cut no power.
    Quick,
}

/// Runs the rest of its arguments as the server, and ends it by the signal it is told; with the end of its
/// input, its folder too.
const BETWEEN: &str = r#"folder=$1; shift; "$@" & server=$!; read -r how
kill -"${how:-QUIT}" $server 2>/dev/null; wait $server; [ -n "$how" ] || rm -rf "$folder""#;

/// A running cluster.
#[derive(Debug)]
pub struct Cluster {
    server: Option<Child>,
    folder: TempDir,
    user: Option<(u32, u32)>,
    options: Vec<String>,
}

impl Cluster {
    /// Makes and starts one with further options (`-c name=value`), or says why there is none.
    pub fn start(durability: Durability, options: &[&str]) -> Result<Self, String> {
        let user = unprivileged()?;
        let folder = tempfile::Builder::new().prefix("chorus-pg-").tempdir();
        let folder = folder.map_err(|e| format!("a temporary folder: {e}"))?;
        if let Some((uid, gid)) = user {
            own(folder.path(), uid, gid)?;
        }
        let empty = template(user)?;
        let mut copy = command(Path::new("cp"), user, folder.path());
        checked(copy.arg("-a").arg(empty).arg(folder.path().join("data")))?;
        let mut options: Vec<String> = options.iter().map(|option| (*option).to_owned()).collect();
        if durability == Durability::Quick {
            let quick = ["fsync=off", "full_page_writes=off", "synchronous_commit=off"];
            options.extend(quick.iter().flat_map(|set| ["-c".to_owned(), (*set).to_owned()]));
        }
        let mut cluster = Self { server: None, folder, user, options };
        cluster.run()?;
        Ok(cluster)
    }

    /// A standby of this one, which has all that is committed here before anybody is told so.
    pub fn standby(&self) -> Result<Self, String> {
        let folder = tempfile::Builder::new().prefix("chorus-pg-").tempdir();
        let folder = folder.map_err(|e| format!("a temporary folder: {e}"))?;
        if let Some((uid, gid)) = self.user {
            own(folder.path(), uid, gid)?;
        }
        let mut copy = self.tool("pg_basebackup")?;
        copy.args(["--write-recovery-conf", "--checkpoint=fast", "--no-sync", "--pgdata"]);
        checked(copy.arg(folder.path().join("data")))?;
        let options = self.options.clone();
        let mut standby = Self { server: None, folder, user: self.user, options };
        standby.run()?;
        for set in ["synchronous_standby_names = '*'", "synchronous_commit = 'on'"] {
            self.sql("postgres", &format!("ALTER SYSTEM SET {set}"))?;
        }
        self.sql("postgres", "SELECT pg_reload_conf()")?;
        Ok(standby)
    }

    /// Ends being a standby: it takes what is written from now on.
    pub fn promote(&self) -> Result<(), String> {
        self.sql("postgres", "SELECT pg_promote()").map(drop)
    }

    /// How a database is reached that is in this cluster or in another, whichever takes what is written.
    pub fn url_of_either(&self, other: &Self, database: &str) -> String {
        let host = |of: &Self| of.socket().display().to_string().replace('/', "%2F");
        format!("postgres://{USER}@{},{}/{database}", host(self), host(other))
    }

    /// Starts the server, and again after [`Cluster::kill`] or [`Cluster::stop`].
    pub fn run(&mut self) -> Result<(), String> {
        let here = self.folder.path();
        let log = fs::File::create(here.join("log")).map_err(|e| format!("postgres: {e}"))?;
        let mut server = command(Path::new("sh"), self.user, here);
        server.args(["-c", BETWEEN, "sh"]).arg(here).arg(program("postgres")?);
        server.arg("-D").arg(here.join("data")).arg("-k").arg(here);
        server.args(["-c", "listen_addresses=", "-c", "max_connections=300"]).args(&self.options);
        let server = server.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(log).spawn();
        self.server = Some(server.map_err(|e| format!("postgres: {e}"))?);
        let started = Instant::now();
        while let Err(why) = self.sql("postgres", "SELECT 1") {
            if started.elapsed() > PATIENCE {
                let log = fs::read_to_string(here.join("log")).unwrap_or_default();
                return Err(format!("{why}\n{log}"));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// Ends all its processes at once, as a crash would.
    pub fn kill(&mut self) {
        self.signal("QUIT\n");
    }

    /// Ends its connections, and then itself, in order.
    pub fn stop(&mut self) {
        self.signal("INT\n");
    }

    fn signal(&mut self, signal: &str) {
        if let Some(mut server) = self.server.take() {
            // Closed afterwards; one that has ended by itself takes none.
            let _ = server.stdin.take().map(|mut stdin| stdin.write_all(signal.as_bytes()));
            let _ = server.wait();
        }
    }

    /// How one of its databases is reached.
    pub fn url(&self, database: &str) -> String {
        let host = self.socket().display().to_string().replace('/', "%2F");
        format!("postgres://{USER}@{host}/{database}")
    }

    /// The folder with its socket.
    pub fn socket(&self) -> &Path {
        self.folder.path()
    }

    /// Runs statements in one of its databases, and gives what they print.
    pub fn sql(&self, database: &str, sql: &str) -> Result<String, String> {
        sql_at(&self.url(database), sql)
    }

    /// A program of PostgreSQL's, to be run in this cluster's folder and as its user.
    pub fn tool(&self, name: &str) -> Result<Command, String> {
        let mut tool = command(&program(name)?, self.user, self.folder.path());
        tool.env("PGHOST", self.folder.path()).env("PGUSER", USER);
        Ok(tool)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A new schema in a database that the tests of this process share, and how it is reached: in the cluster that
/// `CHORUS_TEST_POSTGRES` names, else in one that is started.
pub fn schema() -> Result<String, String> {
    static SHARED: Mutex<Option<Cluster>> = Mutex::new(None);
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let url = match std::env::var("CHORUS_TEST_POSTGRES") {
        Ok(url) => url,
        Err(_) => {
            let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
            if shared.is_none() {
                *shared = Some(Cluster::start(Durability::Quick, &[])?);
            }
            shared.as_ref().map(|cluster| cluster.url("postgres")).unwrap_or_default()
        }
    };
    let name = format!("t_{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    sql_at(&url, &format!("CREATE SCHEMA {name}"))?;
    Ok(format!("{url}?options=-c%20search_path%3D{name}"))
}

/// Whether tests are to run on PostgreSQL: `CHORUS_TEST_ENGINE` is `postgres`.
pub fn on_postgres() -> bool {
    std::env::var("CHORUS_TEST_ENGINE").is_ok_and(|engine| engine == "postgres")
}

/// The database of a test's data folder: none when the folder holds it itself, else the same for as long as the
/// process lives.
pub fn under_test(folder: &Path) -> Result<Option<String>, String> {
    static KNOWN: Mutex<BTreeMap<PathBuf, String>> = Mutex::new(BTreeMap::new());
    if !on_postgres() {
        return Ok(None);
    }
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(url) = known.get(folder) {
        return Ok(Some(url.clone()));
    }
    let url = schema()?;
    known.insert(folder.to_owned(), url.clone());
    Ok(Some(url))
}

/// Runs statements at a URL with psql, and gives what they print; all of them or none.
pub fn sql_at(url: &str, sql: &str) -> Result<String, String> {
    let mut psql = command(&program("psql")?, None, Path::new("/"));
    psql.args(["-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-d", url, "-c", sql]);
    Ok(String::from_utf8_lossy(&checked(&mut psql)?.stdout).trim().to_owned())
}

/// Where a program is, on the path or where Debian keeps it.
pub fn program(name: &str) -> Result<PathBuf, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let versions = fs::read_dir(ELSEWHERE).into_iter().flatten().flatten();
    let mut versions: Vec<_> = versions.map(|entry| entry.path().join("bin")).collect();
    versions.sort();
    let elsewhere = versions.into_iter().rev().chain([PathBuf::from("/usr/sbin")]);
    let mut folders = std::env::split_paths(&path).chain(elsewhere);
    let found = folders.find(|folder| folder.join(name).is_file());
    found.map(|folder| folder.join(name)).ok_or_else(|| {
        let package = if name == "pgbouncer" { name } else { "postgresql" };
        format!("{name} is not on this machine (Debian's package is {package})")
    })
}

/// An empty cluster to be copied, made by whoever needs it first.
fn template(user: Option<(u32, u32)>) -> Result<PathBuf, String> {
    let initdb = program("initdb")?;
    let version = checked(Command::new(&initdb).arg("--version"))?;
    let version =
        String::from_utf8_lossy(&version.stdout).trim().replace([' ', '(', ')', '/'], "-");
    let me = fs::metadata("/proc/self").map_or(0, |m| m.uid());
    let kept = std::env::temp_dir().join(format!("chorus-cluster-{me}-{version}"));
    if kept.is_dir() {
        return Ok(kept);
    }
    let folder = tempfile::Builder::new().prefix("chorus-initdb-").tempdir();
    let folder = folder.map_err(|e| format!("a temporary folder: {e}"))?;
    if let Some((uid, gid)) = user {
        own(folder.path(), uid, gid)?;
    }
    let made = folder.path().join("data");
    let mut init = command(&initdb, user, folder.path());
    init.args(["--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync", "--username", USER]);
    checked(init.arg("-D").arg(&made))?;
    // Whoever was first has made the same.
    match fs::rename(&made, &kept) {
        Err(why) if !kept.is_dir() => Err(format!("{}: {why}", kept.display())),
        _ => Ok(kept),
    }
}

fn own(folder: &Path, uid: u32, gid: u32) -> Result<(), String> {
    std::os::unix::fs::chown(folder, Some(uid), Some(gid)).map_err(|e| format!("chown: {e}"))?;
    // Whoever started it reaches its socket.
    let open = fs::Permissions::from_mode(0o755);
    fs::set_permissions(folder, open).map_err(|e| format!("chmod: {e}"))
}

/// The user to run as, when this is root.
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
    command.current_dir(folder).env("LC_ALL", "C").stdin(Stdio::null());
    if let Some((uid, gid)) = user {
        command.uid(uid).gid(gid);
    }
    command
}

/// Runs a command to its end; its words when it fails.
pub fn checked(command: &mut Command) -> Result<Output, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|e| format!("{name}: {e}"))?;
    if output.status.success() {
        return Ok(output);
    }
    Err(format!("{name}: {}", String::from_utf8_lossy(&output.stderr).trim()))
}
