//! Which crate may use which: `core <- wire <- client <- harness`, `core <- store`,
//! `wire <- schema`, `server -> core, wire, store, schema, web`, `cli -> server, harness`.
//!
//! The invariant is one of absence. The core has nothing in it that could ask the world; only the
//! store and the harness's journal know SQL; transports never see the store.

use super::Problems;
use super::metadata::Metadata;
use crate::repo;

/// Each crate and the crates of the workspace it may use outside its tests.
const ARROWS: [(&str, &[&str]); 17] = [
    ("chorus-core", &[]),
    ("chorus-wire", &["chorus-core"]),
    ("chorus-store", &["chorus-core"]),
    ("chorus-client", &["chorus-core", "chorus-wire"]),
    ("chorus-harness", &["chorus-core", "chorus-wire", "chorus-client"]),
    ("chorus-schema", &["chorus-core", "chorus-wire"]),
    (
        "chorus-server",
        &["chorus-core", "chorus-wire", "chorus-store", "chorus-schema", "chorus-web"],
    ),
    ("chorus", &["chorus-core", "chorus-wire", "chorus-client", "chorus-harness", "chorus-server"]),
    (
        "chorus-lab",
        &[
            "chorus-cluster",
            "chorus-core",
            "chorus-wire",
            "chorus-store",
            "chorus-client",
            "chorus-harness",
            "chorus-server",
        ],
    ),
    ("chorus-clients", &[]),
    ("chorus-cluster", &[]),
    ("chorus-parsers", &["chorus-core", "chorus-wire", "chorus-harness", "chorus-server"]),
    ("chorus-rooms", &["chorus-core"]),
    ("chorus-statements", &[]),
    ("chorus-testing", &[]),
    ("chorus-web", &[]),
    // It starts the PostgreSQL that tests share, and builds the web page; those crates are a page each.
    ("xtask", &["chorus-cluster", "chorus-web"]),
];

/// All that the core takes from elsewhere: hashing, maps whose snapshots are cheap, which characters are the same, and
/// the clocks of time zones, of which it asks only those that the program carries. What is added here must be pure.
const CORE_TAKES: [&str; 8] = [
    "foldhash",
    "jiff",
    "rpds",
    "sha2",
    "strum",
    "unicode-normalization",
    "unicode-security",
    "veil",
];

/// Crates that only the named members may use outside their tests.
const ROOMS: [(&str, &[&str]); 4] = [
    ("rusqlite", &["chorus-store", "chorus-harness", "chorus-lab"]),
    ("tokio-postgres", &["chorus-store", "chorus-lab"]),
    ("axum", &["chorus-server", "chorus-lab", "chorus-clients"]),
    (
        "serde",
        &[
            "chorus-wire",
            "chorus-client",
            "chorus-harness",
            "chorus-server",
            "chorus",
            "chorus-lab",
            "chorus-parsers",
            "xtask",
        ],
    ),
];

pub(super) fn check(metadata: &Metadata) -> Problems {
    let mut problems = Problems::new();
    let ours: Vec<&str> = metadata.members().map(|package| package.name.as_str()).collect();
    for package in metadata.members() {
        let name = package.name.as_str();
        let Some((_, allowed)) = ARROWS.iter().find(|(crate_name, _)| *crate_name == name) else {
            problems.push(format!("{name}: give it its arrows in xtask/src/tidy/arrows.rs"));
            continue;
        };
        let shipped = package.dependencies.iter().filter(|d| d.kind.as_deref() != Some("dev"));
        for used in shipped.map(|dependency| dependency.name.as_str()) {
            if ours.contains(&used) && !allowed.contains(&used) {
                problems.push(format!("{name} -> {used}: no such arrow (CONTRIBUTING.md, Arrows)"));
            }
            if name == "chorus-core" && !ours.contains(&used) && !CORE_TAKES.contains(&used) {
                problems.push(format!("{name} -> {used}: the core takes only {CORE_TAKES:?}"));
            }
            if ROOMS.iter().any(|(room, members)| *room == used && !members.contains(&name)) {
                problems.push(format!("{name} -> {used}: that crate belongs to other rooms"));
            }
        }
    }
    problems.extend(transports());
    problems
}

/// Transports speak to the use cases of `app` and never to the store.
fn transports() -> Problems {
    let Ok(files) = repo::files() else { return Problems::new() };
    files
        .iter()
        .filter(|file| file.starts_with("crates/server/src/transport"))
        .filter(|file| repo::read(file).is_some_and(|text| text.contains("chorus_store")))
        .map(|file| format!("{}: a door uses the store; ask `app` instead", file.display()))
        .collect()
}
