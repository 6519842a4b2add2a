//! The address of a database: a URL, completed from the `PG*` variables and the password file, as
//! in every PostgreSQL program.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, ToSocketAddrs, UdpSocket};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};

/// How long connecting may take, if the URL does not say.
const CONNECT: Duration = Duration::from_secs(10);
/// A network that is silent for this long counts as broken.
const SILENT: Duration = Duration::from_secs(30);

/// The address of a database. Its `Debug` output omits the password.
#[derive(Clone, PartialEq, Eq)]
pub struct Address {
    pub(super) config: Config,
    pub(super) tls: Tls,
    pub(super) written: Written,
}

/// How many rows this process has written there.
#[derive(Clone, Default)]
pub(super) struct Written(Arc<AtomicU64>);

impl Written {
    /// Counts more of them; how many there were before and are now.
    pub(super) fn add(&self, more: usize) -> Range<u64> {
        let before = self.0.fetch_add(more as u64, Ordering::Relaxed);
        before..before + more as u64
    }
}

impl PartialEq for Written {
    /// They say nothing of where an address leads.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Written {}

/// What TLS must prove (`sslmode`), and against which roots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tls {
    pub(super) proof: Proof,
    /// `sslrootcert`; if unset, the roots that browsers trust.
    pub(super) roots: Option<PathBuf>,
    /// `sslcert` and `sslkey`.
    pub(super) own: Option<(PathBuf, PathBuf)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Proof {
    /// `disable`, `prefer` and `require`: any server.
    Nothing,
    /// `verify-ca`: a server whose certificate the roots confirm.
    Root,
    /// `verify-full`: the server with the requested host name.
    Name,
}

/// Why an address cannot be used, as text without its password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressError(String);

impl fmt::Display for AddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for AddressError {}

fn wrong<T>(why: impl Into<String>) -> Result<T, AddressError> {
    Err(AddressError(why.into()))
}

impl Address {
    /// Reads a URL with this process's variables and its user's password file.
    pub fn read(url: &str) -> Result<Self, AddressError> {
        Self::of(url, &|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
    }

    /// Reads a URL; `variable` returns environment variables.
    pub fn of(url: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<Self, AddressError> {
        let schemes = ["postgres://", "postgresql://"];
        if !schemes.iter().any(|scheme| url.starts_with(scheme)) {
            return wrong("a database is given as postgres://USER@HOST/NAME");
        }
        let (plain, mut ssl) = without_ssl(url)?;
        let port = variable("PGPORT").map(|port| port.parse::<u16>()).transpose();
        let port = port.map_err(|_| AddressError("PGPORT is no port".to_owned()))?;
        let plain = port.map_or(plain.clone(), |port| with_port(&plain, port));
        let config = Config::from_str(&plain);
        let mut config = config
            .map_err(|why| AddressError(format!("the database's URL is wrong: {}", cause(&why))))?;
        if config.get_hosts().is_empty() {
            let host = variable("PGHOST").unwrap_or_else(default_host);
            config.host(host);
        }
        if config.get_ports().is_empty()
            && let Some(port) = port
        {
            config.port(port);
        }
        let user = config.get_user().map(str::to_owned).or_else(|| variable("PGUSER"));
        let user = user.or_else(|| variable("USER")).or_else(|| variable("LOGNAME"));
        let Some(user) = user else { return wrong("the database's URL names no user") };
        config.user(user.as_str());
        let name = config.get_dbname().filter(|name| !name.is_empty()).map(str::to_owned);
        let name = name.or_else(|| variable("PGDATABASE")).unwrap_or_else(|| user.clone());
        config.dbname(&name);
        if config.get_options().is_none()
            && let Some(options) = variable("PGOPTIONS")
        {
            config.options(options);
        }
        if config.get_connect_timeout().is_none() {
            let seconds = variable("PGCONNECT_TIMEOUT").and_then(|s| s.parse().ok());
            config.connect_timeout(seconds.map_or(CONNECT, Duration::from_secs));
        }
        config.keepalives_idle(SILENT).tcp_user_timeout(SILENT);
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        if config.get_password().is_none() {
            let from_file = || super::passfile::find(&config, variable);
            if let Some(password) = variable("PGPASSWORD").or_else(from_file) {
                config.password(password);
            }
        }
        for (name, in_environment) in SSL {
            if !ssl.iter().any(|(known, _)| known == name)
                && let Some(value) = variable(in_environment)
            {
                ssl.push((name.to_owned(), value));
            }
        }
        let tls = tls(&mut config, &ssl, variable)?;
        Ok(Self { config, tls, written: Written::default() })
    }
}

impl Address {
    /// The address of this machine from which it reaches the database, where others that use the
    /// database reach it most likely. Nothing is sent to find it.
    pub fn nearest_ip(&self) -> IpAddr {
        let local = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let ports = self.config.get_ports();
        let port = ports.first().copied().unwrap_or(5432);
        let Some(Host::Tcp(name)) = self.config.get_hosts().first() else { return local };
        let connected = || {
            let at = (name.as_str(), port).to_socket_addrs().ok()?.next()?;
            let any: IpAddr = match at.is_ipv4() {
                true => Ipv4Addr::UNSPECIFIED.into(),
                false => Ipv6Addr::UNSPECIFIED.into(),
            };
            let socket = UdpSocket::bind((any, 0)).ok()?;
            socket.connect(at).ok()?;
            Some(socket.local_addr().ok()?.ip())
        };
        connected().unwrap_or(local)
    }
}

/// Parameters that this program handles itself, and the variables for them.
const SSL: [(&str, &str); 4] = [
    ("sslmode", "PGSSLMODE"),
    ("sslrootcert", "PGSSLROOTCERT"),
    ("sslcert", "PGSSLCERT"),
    ("sslkey", "PGSSLKEY"),
];

type Pairs = Vec<(String, String)>;

/// Splits the TLS parameters from the URL.
fn without_ssl(url: &str) -> Result<(String, Pairs), AddressError> {
    let Some((before, query)) = url.split_once('?') else {
        return Ok((url.to_owned(), Vec::new()));
    };
    let (mut kept, mut ssl) = (Vec::new(), Vec::new());
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        if !SSL.iter().any(|(known, _)| *known == name) {
            kept.push(pair);
            continue;
        }
        let Some(value) = decoded(value) else { return wrong(format!("{name} is no text")) };
        ssl.push((name.to_owned(), value));
    }
    let plain =
        if kept.is_empty() { before.to_owned() } else { format!("{before}?{}", kept.join("&")) };
    Ok((plain, ssl))
}

/// Adds the port to each host in the URL that has none.
fn with_port(url: &str, port: u16) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let (user, hosts) = authority.split_at(authority.rfind('@').map_or(0, |at| at + 1));
    let has_one =
        |host: &str| host.is_empty() || host.rsplit(']').next().is_some_and(|h| h.contains(':'));
    let hosts = hosts.split(',').map(|host| match has_one(host) {
        true => host.to_owned(),
        false => format!("{host}:{port}"),
    });
    format!("{scheme}://{user}{}{path}", hosts.collect::<Vec<_>>().join(","))
}

fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let hex = [rest.next()?, rest.next()?];
        bytes.push(u8::from_str_radix(std::str::from_utf8(&hex).ok()?, 16).ok()?);
    }
    String::from_utf8(bytes).ok()
}

fn tls(
    config: &mut Config,
    ssl: &[(String, String)],
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Tls, AddressError> {
    let get =
        |name: &str| ssl.iter().rev().find(|(n, _)| n == name).map(|(_, value)| value.as_str());
    let home = |file: &str| {
        let path = Path::new(&variable("HOME")?).join(".postgresql").join(file);
        path.is_file().then_some(path)
    };
    let roots = match get("sslrootcert") {
        Some("system") => None,
        Some(path) => Some(PathBuf::from(path)),
        None => home("root.crt"),
    };
    let (mode, proof) = match get("sslmode") {
        Some("disable") => (SslMode::Disable, Proof::Nothing),
        None | Some("prefer") => (SslMode::Prefer, Proof::Nothing),
        // As in libpq: if there is a root certificate, it is used.
        Some("require") if roots.is_some() => (SslMode::Require, Proof::Root),
        Some("require") => (SslMode::Require, Proof::Nothing),
        Some("verify-ca") => (SslMode::Require, Proof::Root),
        Some("verify-full") => (SslMode::Require, Proof::Name),
        Some(other) => {
            return wrong(format!(
                "sslmode is disable, prefer, require, verify-ca or verify-full, not {other:?}"
            ));
        }
    };
    // A Unix socket has no network connection to protect.
    let local = config.get_hosts().iter().all(|host| matches!(host, Host::Unix(_)));
    config.ssl_mode(if local { SslMode::Disable } else { mode });
    let own = match (get("sslcert"), get("sslkey")) {
        (Some(cert), Some(key)) => Some((cert.into(), key.into())),
        (None, None) => home("postgresql.crt").zip(home("postgresql.key")),
        _ => return wrong("sslcert and sslkey go together"),
    };
    Ok(Tls { proof, roots, own })
}

/// The first default directory with a server's socket, Debian's before PostgreSQL's own; otherwise
/// `localhost`.
fn default_host() -> String {
    let folders = ["/var/run/postgresql", "/tmp"];
    let listens = |folder: &&str| Path::new(folder).join(".s.PGSQL.5432").exists();
    folders.iter().find(|f| listens(f)).map_or_else(|| "localhost".to_owned(), |f| (*f).to_owned())
}

/// The innermost cause, because the outer messages may contain the URL.
fn cause(error: &dyn std::error::Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { config, .. } = self;
        write!(f, "postgres://{}@", config.get_user().unwrap_or_default())?;
        for (n, host) in config.get_hosts().iter().enumerate() {
            let comma = if n > 0 { "," } else { "" };
            match host {
                Host::Tcp(name) if name.contains(':') => write!(f, "{comma}[{name}]")?,
                Host::Tcp(name) => write!(f, "{comma}{name}")?,
                Host::Unix(path) => write!(f, "{comma}{}", path.display())?,
            }
            let ports = config.get_ports();
            if let Some(port) = ports.get(n).or_else(|| ports.first()).filter(|p| **p != 5432) {
                write!(f, ":{port}")?;
            }
        }
        write!(f, "/{}", config.get_dbname().unwrap_or_default())
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
