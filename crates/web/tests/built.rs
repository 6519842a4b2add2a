//! That the page in `dist/` is whole, and built from the sources that are here.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs;
use std::path::Path;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The hash in `dist/manifest.json`, which this test reads without a parser.
fn stated() -> Option<String> {
    let manifest = fs::read_to_string(root().join("dist/manifest.json")).unwrap();
    let hex = manifest.split('"').find(|word| word.len() == 64)?;
    Some(hex.to_owned())
}

// covers: OPS-640
#[test]
fn the_page_is_built_from_the_sources_that_are_here() {
    let sources = chorus_web::sources::hash(&root().join("../../web")).unwrap();
    assert_eq!(stated(), sources, "the page is stale: build it with `cargo xtask web`");
}

#[test]
fn the_page_has_an_index_and_every_file_its_type() {
    assert!(chorus_web::file("index.html").is_some());
    assert!(chorus_web::file("manifest.json").is_none(), "it is of the build alone");
    for file in chorus_web::files() {
        assert_ne!(file.media_type(), "application/octet-stream", "{}", file.path);
        assert!(!file.plain.is_empty(), "{}", file.path);
        for pressed in [file.br, file.gzip].into_iter().flatten() {
            assert!(pressed.len() < file.plain.len(), "{}", file.path);
        }
    }
}

#[test]
fn a_source_counts_with_its_name_and_content_wherever_it_is() {
    let folder = std::env::temp_dir().join(format!("chorus-web-{}", std::process::id()));
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let hash = || chorus_web::sources::hash(&folder).unwrap();
    assert_eq!(hash(), None);
    write("package.json", "{}");
    write("src/deep/a.ts", "a");
    let first = hash();
    write("node_modules/x/index.js", "not ours");
    write("tests/a.test.ts", "not built");
    write(".cache", "not kept");
    assert_eq!(hash(), first);
    let mut seen = vec![first];
    for (name, text) in [
        ("package-lock.json", "{}"),
        ("src/deep/a.ts", "b"),
        ("src/b.ts", "b"),
        ("public/icon.svg", "<svg/>"),
        ("scripts/types.mjs", "x"),
        ("vite.config.ts", "x"),
    ] {
        write(name, text);
        let now = hash();
        assert!(!seen.contains(&now), "{name}");
        seen.push(now);
    }
    fs::remove_dir_all(&folder).unwrap();
}
