//! Lists what is in `dist/`, each file with its compressed forms beside it, as Rust that embeds them. It needs no Node:
//! `cargo xtask web` has built the page before.

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let dist = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("dist");
    println!("cargo::rerun-if-changed={}", dist.display());
    let mut files = BTreeSet::new();
    collect(&dist, &mut files)?;
    let mut list = String::from("static FILES: &[File] = &[\n");
    for file in &files {
        let extension = file.extension().and_then(|extension| extension.to_str());
        if matches!(extension, Some("br" | "gz")) {
            continue;
        }
        let path = file.strip_prefix(&dist)?.to_str().ok_or("a file's name is not UTF-8")?;
        // Of the build alone.
        if path == "manifest.json" {
            continue;
        }
        let pressed = |ending: &str| {
            let pressed = PathBuf::from(format!("{}.{ending}", file.display()));
            match files.contains(&pressed) {
                true => format!("Some(include_bytes!({pressed:?}))"),
                false => "None".to_owned(),
            }
        };
        let path = path.replace('\\', "/");
        let (br, gzip) = (pressed("br"), pressed("gz"));
        writeln!(
            list,
            "File {{ path: {path:?}, plain: include_bytes!({file:?}), br: {br}, gzip: {gzip} }},"
        )?;
    }
    list.push_str("];\n");
    fs::write(Path::new(&env::var("OUT_DIR")?).join("files.rs"), list)?;
    Ok(())
}

fn collect(folder: &Path, files: &mut BTreeSet<PathBuf>) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        match path.is_dir() {
            true => collect(&path, files)?,
            false => drop(files.insert(path)),
        }
    }
    Ok(())
}
