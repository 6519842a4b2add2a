//! The tests whose outcome depends on the engine once more, on PostgreSQL: in one cluster that is
//! started for them, each in a schema of its own.
//!
//! These are all tests of the store, and of the host those that read with SQL of their own, change or
//! remove what is stored, or start again on it. What a transport accepts and what the core decides is
//! the same on every engine and does not run again. Left out too are the tests of what only SQLite
//! has (modules called `sqlite`) and of what only PostgreSQL has (modules called `postgres`), which
//! run among the others.

use std::time::Duration;

use chorus_cluster::{Cluster, Durability, program};

use crate::{debian, repo, step};

/// Where the host's modules of tests are.
const HOME: &str = "crates/server/tests/it";

/// The host's modules of tests that depend on the engine.
const MODULES: [&str; 42] = [
    "approvals",
    "archive",
    "audit",
    "content",
    "damaged",
    "deliveries",
    "digests",
    "erase",
    "feed",
    "index",
    "leaving",
    "live",
    "mailbox",
    "moderation",
    "obligations",
    "owed",
    "pauses",
    "pins",
    "projects",
    "registry",
    "repair",
    "restart",
    "retention",
    "rotation",
    "runs",
    "schedules",
    "search",
    "seats",
    "shown",
    "silence",
    "stimuli",
    "tails",
    "tokens",
    "turns",
    "turns_pass",
    "uploads",
    "web",
    "inboxes/back",
    "inboxes/doctor",
    "inboxes/two_hosts",
    "webhook/attempts",
    "webhook/retries",
];

/// Makes sure that there is one: the tests of PostgreSQL fail without. Debian's package is installed where that
/// may be done.
pub(crate) fn install() -> Result<(), String> {
    let there = || program("initdb").and(program("postgres")).and(program("psql"));
    if there().is_err() {
        debian::install("postgresql")?;
        there()?;
    }
    // What pools connections to it.
    if program("pgbouncer").is_err() {
        debian::install("pgbouncer")?;
    }
    program("pgbouncer").map(drop)
}

pub(crate) fn tests() -> Result<(), String> {
    let filter = filter(|file| repo::root().join(HOME).join(file).is_file())?;
    let cluster = Cluster::start(Durability::Quick, &[])?;
    let at_once = step::at_once();
    let run = [&["nextest", "run", &at_once, "-E", &filter][..], &step::WORKSPACE].concat();
    let mut command = step::command(repo::cargo(), &run);
    command.env("CHORUS_TEST_ENGINE", "postgres");
    command.env("CHORUS_TEST_POSTGRES", cluster.url("postgres"));
    step::run(command, Duration::from_secs(25 * 60))
}

/// The tests that run, in the words of nextest. A module that is not there would be left out unseen.
fn filter(is_there: impl Fn(&str) -> bool) -> Result<String, String> {
    let is_file = |module: &str| {
        [format!("{module}.rs"), format!("{module}/mod.rs")].iter().any(|file| is_there(file))
    };
    if let Some(module) = MODULES.into_iter().find(|module| !is_file(module)) {
        return Err(format!("{HOME}/{module} is not there; mend MODULES in xtask/src/postgres.rs"));
    }
    let modules = MODULES.join("|").replace('/', "::");
    // Whatever a test is about, one that is named for a restart reads what was stored.
    let host = format!("binary_id(chorus-server::it) and test(/^({modules})::|restart/)");
    Ok(format!("(package(chorus-store) or ({host})) and not test(/(^|::)(sqlite|postgres)::/)"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_module_that_was_renamed_is_missed() {
        let filter = super::filter(|_| true).unwrap();
        assert!(filter.contains("|web|inboxes::back|inboxes::doctor|"), "{filter}");
        let missing = super::filter(|file| !file.starts_with("web")).unwrap_err();
        assert!(missing.contains("tests/it/web is not there"), "{missing}");
    }
}
