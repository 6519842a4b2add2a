//! What is said when the port of a host is taken: by whom, and which one is free.

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;

use chorus_core::model::error::Code;
use serde_json::Value;

use crate::failure::Failure;
use crate::host::HOST_FILE;

/// How many ports after the taken one are tried.
const TRIED: u16 = 20;

pub(crate) fn taken(addr: SocketAddr) -> Failure {
    let port = addr.port();
    let by = match folder_of(port) {
        Some(data) => format!(" by a Chorus with its data in {}", data.display()),
        None => String::new(),
    };
    let failure = Failure::new(Code::Conflict, format!("port {port} is taken{by}"));
    let free = (1..=TRIED)
        .filter_map(|more| port.checked_add(more))
        .find(|port| TcpListener::bind(SocketAddr::new(addr.ip(), *port)).is_ok());
    match free {
        Some(free) => failure.next(format!("try --listen {}", SocketAddr::new(addr.ip(), free))),
        None => failure.next("choose another with --listen"),
    }
}

/// The data folder of the host on that port, as far as it is a process of this user: the folder of the database that it has
/// open.
fn folder_of(port: u16) -> Option<PathBuf> {
    let processes = std::fs::read_dir("/proc").ok()?.flatten();
    let files = processes.filter_map(|process| std::fs::read_dir(process.path().join("fd")).ok());
    let files = files.flatten().flatten().filter_map(|file| std::fs::read_link(file.path()).ok());
    let mut databases = files.filter(|file| file.ends_with("chorus.db"));
    databases.find_map(|database| {
        let data = database.parent()?;
        let host = std::fs::read_to_string(data.join(HOST_FILE)).ok()?;
        let host: Value = serde_json::from_str(&host).ok()?;
        host["url"].as_str()?.ends_with(&format!(":{port}")).then(|| data.to_owned())
    })
}
