//! Every seed through its target once, so that no target rots and nothing that fuzzing found comes back.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use chorus_parsers::TARGETS;

// covers: OPS-466
#[test]
fn every_seed_holds_and_every_target_has_some() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds");
    let folders = fs::read_dir(&seeds).unwrap().map(|entry| entry.unwrap().file_name());
    let folders: BTreeSet<_> = folders.map(|name| name.into_string().unwrap()).collect();
    let named: BTreeSet<_> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(folders, named);
    for (name, target) in TARGETS {
        let mut files: Vec<_> =
            fs::read_dir(seeds.join(name)).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        assert!(!files.is_empty(), "{name} has no seeds");
        for file in files {
            eprintln!("{}", file.display());
            target(&fs::read(&file).unwrap());
        }
    }
}

#[test]
fn every_target_has_a_program() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz");
    let listed = fs::read_to_string(fuzz.join("Cargo.toml")).unwrap();
    assert_eq!(listed.matches("[[bin]]").count(), TARGETS.len());
    for (name, _) in TARGETS {
        assert!(listed.contains(&format!("name = \"{name}\"")), "{name} is no program");
        let program = fs::read_to_string(fuzz.join(format!("fuzz_targets/{name}.rs"))).unwrap();
        assert!(program.contains(&format!("chorus_parsers::{name}(")), "{name}");
    }
}
