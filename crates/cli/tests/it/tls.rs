//! HTTPS by certificate files, as the host and the commands beside it use them.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::path::Path;

use chorus_testing::eventually_blocking;
use nix::sys::signal::{Signal, kill};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use serde_json::Value;

use crate::cli::{Going, chorus, run};

/// Writes an authority `ca.pem`, and `cert.pem` and `key.pem` for localhost.
fn certify(folder: &Path, expired: bool) {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let ca = params.self_signed(&key).unwrap();
    let issuer = Issuer::new(params, key);
    let own = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    if expired {
        params.not_after = rcgen::date_time_ymd(2001, 1, 1);
    }
    let cert = params.signed_by(&own, &issuer).unwrap();
    std::fs::write(folder.join("ca.pem"), ca.pem()).unwrap();
    std::fs::write(folder.join("cert.pem"), cert.pem()).unwrap();
    std::fs::write(folder.join("key.pem"), own.serialize_pem()).unwrap();
}

fn serve(folder: &Path) -> (Going, u16) {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut command = chorus();
    command.current_dir(folder).env("CHORUS_TLS_CERT", "cert.pem").env("CHORUS_TLS_KEY", "key.pem");
    command.env("CHORUS_LOG", "info").args([
        "serve",
        "--json",
        "--listen",
        &format!("127.0.0.1:{port}"),
    ]);
    command.stderr(std::fs::File::create(folder.join("log")).unwrap());
    let serving = Going::start(&mut command);
    let said = serving.wait(|line| serde_json::from_str::<Value>(line).ok());
    assert_eq!(said["url"], format!("https://localhost:{port}"));
    (serving, port)
}

// covers: OPS-64
#[test]
fn commands_and_harnesses_reach_a_host_with_a_certificate_of_its_own_authority() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    certify(folder, false);
    let (serving, port) = serve(folder);
    let beside = |arguments: &[&str]| {
        let mut command = chorus();
        command.current_dir(folder).args(arguments).arg("--json");
        command
    };
    let trusting = |arguments: &[&str]| run(beside(arguments).args(["--ca", "ca.pem"]));
    trusting(&["member", "create", "parrot", "--kind", "agent"]).ok();
    trusting(&["channel", "create", "ops", "parrot"]).ok();
    let untrusted = run(&mut beside(&["channel", "list"]));
    assert_eq!(untrusted.code, 1);
    let refused = &untrusted.json()["error"];
    assert_eq!(refused["code"], "UNAVAILABLE");
    assert!(refused["message"].as_str().unwrap().contains("--ca"), "{refused}");
    let wrong = run(beside(&["channel", "list"]).args(["--ca", "key.pem"]));
    assert_eq!(wrong.code, 2, "{}", wrong.out);

    // Peers that connect and say nothing, or nonsense, hold nobody up.
    let mut silent: Vec<TcpStream> =
        (0..50).map(|_| TcpStream::connect(("127.0.0.1", port)).unwrap()).collect();
    silent[0].write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();

    let mut tail = beside(&["tail", "#ops", "--since", "0"]);
    let tail = Going::start(tail.env("CHORUS_CA", "ca.pem"));
    let mut join = beside(&["join", "--agent", "parrot", "--runtime", "cmd:echo pieces of eight"]);
    let _join = Going::start(join.env("CHORUS_CA", "ca.pem"));
    let text = |line: &str| {
        let event: Value = serde_json::from_str(line).ok()?;
        event["message"]["text"].as_str().map(str::to_owned)
    };
    trusting(&["post", "#ops", "@parrot what have you got?"]).ok();
    assert!(tail.wait(text).contains("what have you got"));
    assert_eq!(tail.wait(text), "pieces of eight", "over wss");

    // A renewed certificate is taken; who was connected stays so.
    certify(folder, false);
    kill(serving.pid(), Signal::SIGHUP).unwrap();
    eventually_blocking("the new certificate is served", || {
        trusting(&["channel", "list"]).code == 0
    });
    trusting(&["post", "#ops", "renewed"]).ok();
    assert_eq!(tail.wait(text), "renewed");
    // One that cannot be used changes nothing.
    std::fs::write(folder.join("key.pem"), "nonsense").unwrap();
    let log = || std::fs::read_to_string(folder.join("log")).unwrap();
    eventually_blocking("the log complains", || log().contains("the certificate in use stays"));
    trusting(&["channel", "list"]).ok();
    drop(silent);
}

// covers: OPS-65
#[test]
fn files_that_cannot_be_used_are_named_with_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    certify(folder, false);
    let good = std::fs::read(folder.join("key.pem")).unwrap();
    let other = KeyPair::generate().unwrap().serialize_pem();
    let cases: [(&str, Option<&[u8]>, &str); 4] = [
        ("key.pem", Some(other.as_bytes()), "key.pem: does not belong to cert.pem"),
        ("key.pem", Some(b"nonsense"), "key.pem: holds no private key"),
        ("key.pem", None, "key.pem: No such file"),
        ("cert.pem", Some(b""), "cert.pem: holds no certificate"),
    ];
    for (file, content, told) in cases {
        match content {
            Some(content) => std::fs::write(folder.join(file), content).unwrap(),
            None => std::fs::remove_file(folder.join(file)).unwrap(),
        }
        let mut command = chorus();
        command
            .current_dir(folder)
            .env("CHORUS_TLS_CERT", "cert.pem")
            .env("CHORUS_TLS_KEY", "key.pem");
        let refused = run(command.args(["serve", "--listen", "127.0.0.1:0"]));
        assert_eq!(refused.code, 1, "{told}");
        assert!(refused.err.contains(told), "{told}: {}", refused.err);
        std::fs::write(folder.join("key.pem"), &good).unwrap();
    }
    certify(folder, true);
    let (_serving, _) = serve(folder);
    let log = std::fs::read_to_string(folder.join("log")).unwrap();
    assert!(log.contains("has expired"), "{log}");
}
