//! What an address resolves to, and from which sources.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;

use tokio_postgres::config::SslMode;

use super::Address;
use super::address::Proof;

fn read(url: &str, variables: &[(&str, &str)]) -> Result<Address, String> {
    let variables: BTreeMap<&str, &str> = variables.iter().copied().collect();
    let variable = |name: &str| variables.get(name).map(|value| (*value).to_owned());
    Address::of(url, &variable).map_err(|error| error.to_string())
}

#[test]
fn what_the_url_leaves_out_is_taken_from_the_variables() {
    let all = [
        ("PGHOST", "db.example"),
        ("PGPORT", "6432"),
        ("PGUSER", "chorus"),
        ("PGDATABASE", "rooms"),
        ("PGPASSWORD", "hunter2"),
        ("USER", "ann"),
    ];
    for (url, variables, shown) in [
        ("postgres://u@h/d", &all[..], "postgres://u@h:6432/d"),
        ("postgresql://u@h:5433/d", &all, "postgres://u@h:5433/d"),
        ("postgres://u:p@[::1],h:1/d?connect_timeout=1", &all, "postgres://u@[::1]:6432,h:1/d"),
        ("postgres://", &all, "postgres://chorus@db.example:6432/rooms"),
        ("postgres://h", &[("USER", "ann")], "postgres://ann@h/ann"),
        (
            "postgres:///rooms",
            &[("USER", "ann"), ("PGHOST", "/run/pg")],
            "postgres://ann@/run/pg/rooms",
        ),
        ("postgres://h1,h2/d", &[("USER", "ann")], "postgres://ann@h1,h2/d"),
        ("postgres://u:secret@h/d", &[], "postgres://u@h/d"),
        ("postgres://u@%2Frun%2Fpg/d", &[], "postgres://u@/run/pg/d"),
    ] {
        let address = read(url, variables).unwrap();
        assert_eq!((address.to_string(), format!("{address:?}")), (shown.into(), shown.into()));
    }
    assert_eq!(
        read("postgres://u@h/d", &all).unwrap().config.get_password(),
        Some(&b"hunter2"[..])
    );
    let given = read("postgres://u:own@h/d", &all).unwrap();
    assert_eq!(given.config.get_password(), Some(&b"own"[..]));
}

#[test]
fn a_wrong_url_is_refused_without_its_password() {
    for (url, variables, words) in [
        ("chorus.db", &[][..], "postgres://USER@HOST/NAME"),
        ("postgres://u:hunter2@h/d?sslmode=strict", &[], "sslmode is disable"),
        ("postgres://u:hunter2@h/d?hunter=2", &[], "hunter"),
        ("postgres://u:hunter2@h:port/d", &[], "port"),
        ("postgres://u:hunter2@h/d?sslcert=c", &[], "go together"),
        ("postgres://u:hunter2@h/d?sslmode=%zz", &[], "sslmode"),
        ("postgres://u@h/d", &[("PGPORT", "no")], "PGPORT"),
        ("postgres://h/d", &[], "names no user"),
    ] {
        let why = read(url, variables).unwrap_err();
        assert!(why.contains(words) && !why.contains("hunter2"), "{url}: {why}");
    }
}

#[test]
fn sslmode_asks_for_as_much_as_elsewhere() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".postgresql");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("root.crt"), "").unwrap();
    let root = home.path().to_str().unwrap();
    use Proof::*;
    use SslMode::*;
    for (url, variables, mode, proof) in [
        ("postgres://u@h/d", &[][..], Prefer, Nothing),
        ("postgres://u@h/d?sslmode=disable", &[], Disable, Nothing),
        ("postgres://u@h/d?sslmode=require", &[], Require, Nothing),
        ("postgres://u@h/d?sslmode=require", &[("HOME", root)], Require, Root),
        ("postgres://u@h/d?sslmode=require&sslrootcert=%2Fca.pem", &[], Require, Root),
        ("postgres://u@h/d?sslmode=verify-ca", &[], Require, Root),
        ("postgres://u@h/d?connect_timeout=3&sslmode=verify-full", &[], Require, Name),
        ("postgres://u@h/d", &[("PGSSLMODE", "verify-full")], Require, Name),
        ("postgres://u@h/d?sslmode=prefer", &[("PGSSLMODE", "verify-full")], Prefer, Nothing),
        ("postgres://u@%2Frun/d?sslmode=require", &[], Disable, Nothing),
    ] {
        let address = read(url, variables).unwrap();
        assert_eq!((address.config.get_ssl_mode(), address.tls.proof), (mode, proof), "{url}");
    }
    let system = read("postgres://u@h/d?sslmode=verify-full&sslrootcert=system", &[("HOME", root)]);
    assert_eq!(system.unwrap().tls.roots, None);
}

#[test]
fn the_password_file_is_read_when_it_is_its_owners_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pass");
    let lines =
        "# comment\nh:5432:d:other:no\nh:*:d:u:a\\:b\\\\c\nlocalhost:*:*:*:socket\n*:*:*:*:last\n";
    std::fs::write(&file, lines).unwrap();
    let variables = [("PGPASSFILE", file.to_str().unwrap())];
    let password = |url: &str| {
        let address = read(url, &variables).unwrap();
        address.config.get_password().map(|p| String::from_utf8_lossy(p).into_owned())
    };
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o644)).unwrap();
    assert_eq!(password("postgres://u@h/d"), None);
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
    for (url, expected) in [
        ("postgres://u@h/d", "a:b\\c"),
        ("postgres://u@h:6000/d", "a:b\\c"),
        ("postgres://u@%2Fvar%2Frun%2Fpostgresql/d", "socket"),
        ("postgres://u@elsewhere/d", "last"),
        ("postgres://u:mine@h/d", "mine"),
    ] {
        assert_eq!(password(url).as_deref(), Some(expected), "{url}");
    }
}
