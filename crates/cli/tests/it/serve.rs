//! `chorus serve` as it is started and stopped, and what follows it beside.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use chorus_cluster::{Cluster, Durability};
use chorus_testing::eventually_blocking;
use nix::sys::signal::{Signal, kill};
use serde_json::Value;

use crate::cli::{Going, chorus, run};
use crate::host::Host;

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Starts a host in a folder and gives what it says of itself.
fn serve(folder: &Path, environment: &[(&str, &str)], arguments: &[&str]) -> (Going, Value) {
    let mut command = chorus();
    command.current_dir(folder).args(["serve", "--json"]).args(arguments);
    let serving = Going::start(command.envs(environment.iter().copied()));
    let said = serving.wait(|line| serde_json::from_str::<Value>(line).ok());
    (serving, said)
}

#[test]
fn settings_come_from_the_file_then_the_environment_then_the_flags() {
    let folder = tempfile::tempdir().unwrap();
    let [file, variable, flag] = [(); 3].map(|()| format!("127.0.0.1:{}", free_port()));
    let settings = format!("listen = \"{file}\"\ndata = \"rooms\"\n");
    std::fs::write(folder.path().join("chorus.toml"), settings).unwrap();
    let environment = [("CHORUS_LISTEN", variable.as_str())];
    type Case<'a> = (&'a [(&'a str, &'a str)], &'a [&'a str], &'a String);
    let cases: [Case<'_>; 3] = [
        (&[], &[], &file),
        (&environment, &[], &variable),
        (&environment, &["--listen", &flag], &flag),
    ];
    for (environment, arguments, address) in cases {
        let (mut serving, said) = serve(folder.path(), environment, arguments);
        assert_eq!(said["url"], format!("http://{address}"));
        assert!(folder.path().join("rooms/host.json").exists());
        let listed =
            chorus().current_dir(folder.path()).args(["channel", "list"]).status().unwrap();
        assert!(listed.success(), "a command beside it finds the folder in the same file");
        kill(serving.pid(), Signal::SIGTERM).unwrap();
        assert!(serving.child.wait().unwrap().success());
        assert!(!folder.path().join("rooms/host.json").exists());
    }
    std::fs::write(folder.path().join("chorus.toml"), "lisen = 1").unwrap();
    let wrong = chorus().current_dir(folder.path()).arg("serve").output().unwrap();
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("lisen"));
}

// covers: OPS-127
#[test]
fn it_takes_as_many_files_as_it_may() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let mut command = chorus();
    let serve =
        [command.get_program().to_str().unwrap(), "serve --json --listen 127.0.0.1:0"].join(" ");
    command = std::process::Command::new("sh");
    command.current_dir(folder.path()).env("CHORUS_LOG", "info");
    command.args(["-c", &format!("ulimit -Sn 300; ulimit -Hn 900; exec {serve}")]);
    let serving = Going::start(command.stderr(std::fs::File::create(&log).unwrap()));
    serving.wait(|line| serde_json::from_str::<Value>(line).ok());
    // Lines are written by a thread of their own.
    for line in ["open files before=300 now=900", "connections=644"] {
        eventually_blocking(line, || std::fs::read_to_string(&log).unwrap().contains(line));
    }
}

// covers: OPS-142
#[test]
fn a_host_whose_database_was_harmed_says_why_and_goes_on_when_it_is_mended() {
    let cluster = Cluster::start(Durability::Quick, &[]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (mut serving, greeting) = serve(
        folder.path(),
        &[],
        &["--listen", "127.0.0.1:0", "--database", &cluster.url("postgres")],
    );
    let url = greeting["url"].as_str().unwrap().to_owned();
    // Somebody has their hands in the database, and the host's connections break.
    let cut = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
        WHERE application_name LIKE 'chorus %'";
    let harm = format!("ALTER TABLE workspace_owner RENAME TO elsewhere; {cut}");
    cluster.sql("postgres", &harm).unwrap();
    let health = || run(chorus().args(["health", "--url", &url]));
    let why = eventually_blocking("it says why", || {
        let said = health();
        if said.code == 1 { Ok(said.err) } else { Err(said.out) }
    });
    assert!(why.contains("does not exist") || why.contains("cannot be reached"), "{why}");
    cluster.sql("postgres", "ALTER TABLE elsewhere RENAME TO workspace_owner").unwrap();
    eventually_blocking("it goes on", || health().code == 0);
    kill(serving.pid(), Signal::SIGTERM).unwrap();
    assert!(serving.child.wait().unwrap().success());
}

#[test]
fn a_second_host_on_the_same_folder_is_refused_and_harms_nothing() {
    let host = Host::with_room(&[]);
    let mut second = chorus();
    second.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(host.data());
    let second = second.output().unwrap();
    assert_eq!(second.status.code(), Some(1));
    let told = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(told.contains(host.data().to_str().unwrap()), "{told}");
    host.post("still here?");
}

#[test]
fn a_tail_goes_on_over_a_restart_and_shows_each_event_once() {
    let mut host = Host::with_room(&[]);
    let tail = host.tail();
    let text = |line: &str| {
        let event: Value = serde_json::from_str(line).unwrap();
        event["message"]["text"].as_str().map(str::to_owned)
    };
    host.post("before");
    assert_eq!(tail.wait(text), "before");
    host.kill();
    host.serve();
    host.post("after");
    assert_eq!(tail.wait(text), "after");
}

/// Makes requests without a token, each of which is a line of the log; all must be answered.
fn knock(address: &str, count: usize) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut buffer = [0; 4096];
    for n in 0..count {
        let request = format!("GET /v1/whoami HTTP/1.1\r\nhost: {address}\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        while !answer.ends_with(b"}") {
            let read = stream.read(&mut buffer).unwrap_or_else(|why| panic!("request {n}: {why}"));
            assert!(read > 0, "request {n}: the host has gone");
            answer.extend_from_slice(&buffer[..read]);
        }
    }
}

// covers: OPS-443
#[test]
fn a_log_that_cannot_be_written_ends_nothing_and_holds_up_nobody() {
    let (gone, closed) = std::io::pipe().unwrap();
    drop(gone);
    // Nobody reads from it, so that it is full before long.
    let (_unread, stuck) = std::io::pipe().unwrap();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    // More than wait to be written.
    let places = [
        ("a closed pipe", Stdio::from(closed), 2_000),
        ("a stuck pipe", Stdio::from(stuck), 12_000),
        ("a full disk", Stdio::from(full), 2_000),
    ];
    for (what, stderr, lines) in places {
        let folder = tempfile::tempdir().unwrap();
        let address = format!("127.0.0.1:{}", free_port());
        let mut command = chorus();
        command.current_dir(folder.path()).env("CHORUS_LOG", "debug").stderr(stderr);
        let mut serving = Going::start(command.args(["serve", "--json", "--listen", &address]));
        serving.wait(|line| serde_json::from_str::<Value>(line).ok());
        knock(&address, lines);
        assert!(serving.child.try_wait().unwrap().is_none(), "{what}");
        kill(serving.pid(), Signal::SIGTERM).unwrap();
        assert!(serving.child.wait().unwrap().success(), "{what}");
        let said = serving.rest();
        assert!(said.iter().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{said:?}");
    }
}

// covers: OPS-478
#[test]
fn host_serves_and_stops_whatever_its_standard_output_is() {
    let (gone, closed) = std::io::pipe().unwrap();
    drop(gone);
    let (_unread, stuck) = std::io::pipe().unwrap();
    // Until it takes nothing more.
    let mut filler = stuck.try_clone().unwrap();
    let (filled, full_now) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        while filler.write_all(&[b'x'; 4_096]).is_ok() && filled.send(()).is_ok() {}
    });
    while full_now.recv_timeout(Duration::from_millis(500)).is_ok() {}
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    for (what, stdout) in [
        ("a closed pipe", Stdio::from(closed)),
        ("a stuck pipe", Stdio::from(stuck)),
        ("a full disk", Stdio::from(full)),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let address = format!("127.0.0.1:{}", free_port());
        let mut command = chorus();
        command.current_dir(folder.path()).stdout(stdout).stderr(Stdio::null());
        let mut child = command.args(["serve", "--json", "--listen", &address]).spawn().unwrap();
        eventually_blocking(what, || {
            assert!(child.try_wait().unwrap().is_none(), "{what}: it has ended");
            TcpStream::connect(&address).ok()
        });
        knock(&address, 10);
        let pid = nix::unistd::Pid::from_raw(child.id().try_into().unwrap());
        kill(pid, Signal::SIGTERM).unwrap();
        let status = eventually_blocking(what, || child.try_wait().unwrap());
        assert!(status.success(), "{what}");
    }
}

// covers: OPS-478
#[test]
fn a_limit_of_the_size_of_files_is_a_full_disk_and_ends_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let address = format!("127.0.0.1:{}", free_port());
    let mut command = std::process::Command::new("sh");
    // Blocks of 512 bytes.
    command.args(["-c", "ulimit -f 5000; exec \"$@\"", "sh"]).arg(chorus().get_program());
    command.args(["serve", "--json", "--listen", &address, "--data"]).arg(&data);
    let mut serving = Going::start(&mut command);
    serving.wait(|line| serde_json::from_str::<Value>(line).ok());
    let beside = |arguments: &[&str]| run(chorus().args(arguments).arg("--data").arg(&data));
    beside(&["channel", "create", "ops"]).ok();
    let mut taken = 0;
    let refused = (0..1_000).find_map(|n| {
        let ran = beside(&["post", "#ops", &format!("{n} {}", "x".repeat(50_000)), "--json"]);
        taken += usize::from(ran.code == 0);
        (ran.code != 0).then(|| ran.json()["error"].clone())
    });
    let refused = refused.expect("there is a limit");
    assert_eq!(refused["code"], "UNAVAILABLE", "{refused}");
    assert!(serving.child.try_wait().unwrap().is_none(), "it goes on");
    let texts = || {
        let arguments = ["tail", "#ops", "--since", "0", "--json", "--follow", "false"];
        beside(&arguments).ok().out.lines().filter(|line| line.contains("xxxx")).count()
    };
    assert_eq!(texts(), taken, "what can be read is read");
    kill(serving.pid(), Signal::SIGTERM).unwrap();
    serving.child.wait().unwrap();
    let arguments = ["serve", "--json", "--listen", &address, "--data"];
    let again = Going::start(chorus().args(arguments).arg(&data));
    again.wait(|line| serde_json::from_str::<Value>(line).ok());
    beside(&["post", "#ops", "and on it goes"]).ok();
    assert_eq!(texts(), taken);
    beside(&["doctor"]).ok();
}
