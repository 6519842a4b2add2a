//! The store's and the server's tests once more, on PostgreSQL: in one cluster that is started for them, each in a
//! schema of its own.
//!
//! Left out are the tests of what only SQLite has (modules called `sqlite`) and of what only PostgreSQL has
//! (modules called `postgres`), which run among the others.

use std::time::Duration;

use chorus_cluster::{Cluster, Durability, program};

use crate::{repo, step};

const BOTH: &str = "not test(/(^|::)(sqlite|postgres)::/)";

/// Makes sure that there is one: the tests of PostgreSQL fail without. Debian's package is installed where that
/// may be done.
pub(crate) fn install() -> Result<(), String> {
    let there = || program("initdb").and(program("postgres")).and(program("psql"));
    if there().is_ok() {
        return Ok(());
    }
    eprintln!("PostgreSQL is not on this machine; installing it");
    for args in [&["update"][..], &["install", "--yes", "--no-install-recommends", "postgresql"]] {
        let mut apt = step::command("apt-get", args);
        apt.env("DEBIAN_FRONTEND", "noninteractive");
        step::run(apt, Duration::from_secs(600))?;
    }
    there().map(drop)
}

pub(crate) fn tests() -> Result<(), String> {
    let cluster = Cluster::start(Durability::Quick, &[])?;
    let packages = ["--package", "chorus-store", "--package", "chorus-server"];
    let mut command = step::command(repo::cargo(), &["nextest", "run", "--locked", "-E", BOTH]);
    command.args(packages).env("CHORUS_TEST_ENGINE", "postgres");
    command.env("CHORUS_TEST_POSTGRES", cluster.url("postgres"));
    step::run(command, Duration::from_secs(25 * 60))
}
