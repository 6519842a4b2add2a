//! A host under a service manager: signals, logs, the unit.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use chorus_testing::eventually_blocking;
use nix::sys::signal::{Signal, kill};
use serde_json::Value;

use crate::cli::{Going, chorus, run};

// covers: OPS-66, OPS-500
#[test]
fn a_second_signal_ends_the_host_at_once() {
    let host = crate::host::Host::with_room(&[]);
    let mut stuck = TcpStream::connect(host.url().trim_start_matches("http://")).unwrap();
    stuck
        .write_all(b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer x\r\nContent-Length: 9\r\n\r\n")
        .unwrap();
    let operator = std::fs::read_to_string(host.data().join("operator.token")).unwrap();
    let mut under_way = TcpStream::connect(host.url().trim_start_matches("http://")).unwrap();
    let head = format!(
        "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {operator}\r\nContent-Type: application/json\r\nContent-Length: 99\r\nExpect: 100-continue\r\n\r\n"
    );
    under_way.write_all(head.as_bytes()).unwrap();
    // It has been taken in once the host asks for its body.
    let mut go_on = [0; 12];
    under_way.read_exact(&mut go_on).unwrap();
    assert_eq!(&go_on, b"HTTP/1.1 100");
    let pid = host.pid();
    kill(pid, Signal::SIGTERM).unwrap();
    eventually_blocking("the host says that it drains", || ready(&host.url()).contains("draining"));
    let unhealthy = run(chorus().args(["health", "--url", &host.url()]));
    assert_eq!(unhealthy.code, 1);
    assert!(
        unhealthy.err.contains("is not ready") && unhealthy.err.contains("draining"),
        "{}",
        unhealthy.err
    );
    let asked = Instant::now();
    kill(pid, Signal::SIGTERM).unwrap();
    eventually_blocking("the host ends", || kill(pid, None).is_err() || host.has_ended());
    assert!(asked.elapsed() < Duration::from_secs(5), "{:?}", asked.elapsed());
}

// covers: OPS-500
#[test]
fn health_is_an_exit_code_that_needs_no_token() {
    let mut host = crate::host::Host::start();
    let beside = host.run(&["health"]).ok();
    assert_eq!(beside.out, format!("{} is ready\n", host.url()));
    std::fs::remove_file(host.data().join("operator.token")).unwrap();
    host.run(&["health"]).ok();
    let elsewhere = run(chorus().args(["health", "--json", "--url", &host.url()])).ok().json();
    assert_eq!(elsewhere["ready"], true);
    host.stop();
    assert_eq!(host.run(&["health"]).code, 1);
    assert_eq!(run(chorus().args(["health", "--url", &host.url()])).code, 1);
}

fn ready(url: &str) -> String {
    let address = url.trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET /readyz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut page = String::new();
    stream.read_to_string(&mut page).unwrap();
    page
}

// covers: OPS-67
#[test]
fn a_refusal_and_its_line_in_the_log_have_the_same_id() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let mut command = chorus();
    command
        .current_dir(folder.path())
        .env("CHORUS_TELEMETRY_LOG_FORMAT", "json")
        .env("CHORUS_LOG", "debug");
    command
        .args(["serve", "--json", "--listen", "127.0.0.1:0"])
        .stderr(std::fs::File::create(&log).unwrap());
    let serving = Going::start(&mut command);
    serving.wait(|line| serde_json::from_str::<Value>(line).ok());
    let mut refused = chorus();
    refused.current_dir(folder.path()).args([
        "channel",
        "show",
        "ch_00000000000000000000000000000001",
        "--json",
    ]);
    let refused = run(&mut refused).json();
    let id = refused["error"]["request_id"].as_str().unwrap().to_owned();
    assert!(id.starts_with("req_"));
    // Lines are written by a thread of their own.
    let lines = eventually_blocking("the log has a line with the id", || {
        let lines = std::fs::read_to_string(&log).unwrap();
        lines.split_inclusive('\n').any(|l| l.contains(&id) && l.ends_with('\n')).then_some(lines)
    });
    let lines: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    let told =
        lines.iter().find(|line| line["request_id"] == id.as_str()).expect("a line with the id");
    assert_eq!(told["code"], refused["error"]["code"]);
}

// covers: OPS-71
#[test]
fn the_service_manager_is_told_when_the_host_is_up_and_when_it_stops() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notify");
    let socket = UnixDatagram::bind(&path).unwrap();
    socket.set_read_timeout(Some(crate::cli::PATIENCE)).unwrap();
    let mut command = chorus();
    command.current_dir(folder.path()).env("NOTIFY_SOCKET", &path);
    let serving = Going::start(command.args(["serve", "--json", "--listen", "127.0.0.1:0"]));
    let heard = || {
        let mut bytes = [0; 256];
        let n = socket.recv(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes[..n]).trim().to_owned()
    };
    assert_eq!(heard(), "READY=1");
    kill(serving.pid(), Signal::SIGTERM).unwrap();
    assert_eq!(heard(), "STOPPING=1");
}

// covers: OPS-71
#[test]
fn the_sample_units_are_ones_that_systemd_reads() {
    for name in ["chorus.service", "chorus@.service"] {
        check_unit(name);
    }
}

fn check_unit(name: &str) {
    let unit = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    let unit = std::fs::read_to_string(unit).unwrap();
    for line in ["Type=notify", "NoNewPrivileges=yes", "ProtectSystem=strict", "TimeoutStopSec="] {
        assert!(unit.contains(line), "{name}: {line}");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    let there =
        unit.replace("ExecStart=chorus ", concat!("ExecStart=", env!("CARGO_BIN_EXE_chorus"), " "));
    assert!(there != unit);
    std::fs::write(&path, there).unwrap();
    // Where systemd is, it must have nothing to complain of in this unit.
    let Ok(read) = Command::new("systemd-analyze").arg("verify").arg(&path).output() else {
        return;
    };
    let told = String::from_utf8_lossy(&read.stderr).into_owned();
    // A template is read as an instance that is named `i`.
    let instance = name.replace('@', "@i");
    let complaints = told.lines().filter(|line| line.contains(name) || line.contains(&instance));
    let complaints: Vec<&str> = complaints.filter(|line| !line.contains("bus")).collect();
    assert!(complaints.is_empty(), "{told}");
}

/// The unit for one of several hosts is confined as the one for a single host is.
#[test]
fn the_template_unit_has_the_hardening_of_the_single_one() {
    let read = |name: &str| {
        let unit = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
        let unit = std::fs::read_to_string(unit).unwrap();
        unit.split_once("NoNewPrivileges=").unwrap().1.to_owned()
    };
    assert_eq!(read("chorus@.service"), read("chorus.service"));
}
