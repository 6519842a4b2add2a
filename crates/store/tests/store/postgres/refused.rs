//! A database that cannot be used is refused at the start, with a sentence that says why and holds no password.

use chorus_cluster::{Cluster, Durability, checked, sql_at};
use chorus_store::{Sync, membership, open};

use super::options;

/// Why a host does not start on this database.
fn refusal(url: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    match open(options(folder.path(), url)) {
        Ok(_) => panic!("it was opened: {url}"),
        Err(error) => error.to_string(),
    }
}

fn cluster() -> Cluster {
    Cluster::start(Durability::Quick, &[]).unwrap()
}

#[test]
fn a_database_that_is_not_there_or_lets_nobody_in_is_named() {
    let hba = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(hba.path(), "local all locked scram-sha-256\nlocal all all trust\n").unwrap();
    std::fs::set_permissions(hba.path(), std::os::unix::fs::PermissionsExt::from_mode(0o644))
        .unwrap();
    let set = format!("hba_file={}", hba.path().display());
    let cluster = Cluster::start(Durability::Quick, &["-c", &set]).unwrap();
    let roles = "CREATE ROLE locked LOGIN PASSWORD 'right'; CREATE ROLE poor LOGIN;";
    cluster.sql("postgres", roles).unwrap();
    let url = cluster.url("postgres");
    let host = url.split_once('@').unwrap().1;
    for (url, words) in [
        (format!("postgres://chorus@{host}x"), ["postgresx", "does not exist", "createdb"]),
        (format!("postgres://nobody@{host}"), ["role", "nobody", "does not exist"]),
        (
            format!("postgres://locked:wrong@{host}"),
            ["locked", "authentication failed", "PGPASSWORD"],
        ),
        (format!("postgres://locked@{host}"), ["password", "locked", ""]),
        (format!("postgres://poor@{host}"), ["permission denied", "public", ""]),
        (url.replace("chorus-pg-", "chorus-no-"), ["cannot be reached", "No such file", ""]),
    ] {
        let why = refusal(&url);
        assert!(words.iter().all(|word| why.contains(word)), "{url}: {why}");
        assert!(!why.contains("wrong"), "{why}");
    }
    let right = format!("postgres://locked:right@{host}");
    cluster.sql("postgres", "GRANT CREATE ON SCHEMA public TO locked").unwrap();
    let folder = tempfile::tempdir().unwrap();
    drop(open(options(folder.path(), &right)).unwrap());
}

#[test]
fn only_a_database_in_utf8_is_taken() {
    let cluster = cluster();
    let mut make = cluster.tool("createdb").unwrap();
    checked(make.args(["-E", "LATIN1", "-T", "template0", "old"])).unwrap();
    let why = refusal(&cluster.url("old"));
    assert!(why.contains("LATIN1") && why.contains("must be UTF8"), "{why}");
}

#[test]
fn a_schema_that_is_not_ours_is_refused() {
    for (sql, expect) in [
        ("UPDATE migration SET checksum = '\\x00'", "another text"),
        ("INSERT INTO migration VALUES (99, 'later', '\\x00', 0)", "version 99"),
    ] {
        let url = chorus_cluster::schema().unwrap();
        let folder = tempfile::tempdir().unwrap();
        drop(open(options(folder.path(), &url)).unwrap());
        sql_at(&url, sql).unwrap();
        let why = refusal(&url);
        assert!(why.contains(expect), "{why}");
    }
}

// covers: OPS-158
#[test]
fn a_database_with_a_host_is_shared_with_nobody_who_is_none() {
    let url = chorus_cluster::schema().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let held = open(options(folder.path(), &url)).unwrap();
    let importing =
        membership::writer(&super::address(&url), Sync::Full).err().unwrap().to_string();
    assert!(importing.contains("in use by another running host"), "{importing}");
    drop(held);
    drop(open(options(folder.path(), &url)).unwrap());
}

#[test]
fn a_server_without_room_for_another_connection_says_so() {
    let few = ["-c", "max_connections=5", "-c", "superuser_reserved_connections=3"];
    let cluster = Cluster::start(Durability::Quick, &few).unwrap();
    let sql = "CREATE ROLE guest LOGIN; GRANT CREATE ON SCHEMA public TO guest";
    cluster.sql("postgres", sql).unwrap();
    let url = cluster.url("postgres").replace("chorus@", "guest@");
    let folder = tempfile::tempdir().unwrap();
    let held = open(options(folder.path(), &url)).unwrap();
    let why = refusal(&url);
    assert!(why.contains("connection slots"), "{why}");
    drop(held);
}

#[test]
fn a_folder_with_a_database_of_its_own_gets_no_other() {
    let url = chorus_cluster::schema().unwrap();
    let folder = tempfile::tempdir().unwrap();
    drop(open(chorus_store::Options::new(folder.path(), chorus_core::model::ids::Uid(1))).unwrap());
    let Err(why) = open(options(folder.path(), &url)) else { panic!("it was opened") };
    assert!(why.to_string().contains("has a database of its own"), "{why}");
}
