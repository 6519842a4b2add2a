//! `cargo xtask web`: builds the page from `web/` into `crates/web/dist`, which is committed, so that no build of cargo
//! needs Node. With `--check` it is built beside, and compared byte for byte.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::{repo, step};

/// The Node that builds the page, as its `package.json` says too.
const OLDEST_NODE: u32 = 20;
const INSTALL: Duration = Duration::from_secs(300);
const BUILD: Duration = Duration::from_secs(180);
/// The hash of the sources, which a test without Node compares.
const MANIFEST: &str = "manifest.json";

pub(crate) fn run(check: bool) -> Result<(), String> {
    if check { self::check() } else { build_into(&dist()) }
}

/// The step of `cargo xtask test`: skipped without Node, but not in CI.
pub(crate) fn step() -> Result<(), String> {
    if !repo::root().join("web/package.json").exists() {
        eprintln!("there is no web/ yet: the page is not built");
        return Ok(());
    }
    match node() {
        Ok(()) => check(),
        Err(why) if std::env::var_os("CI").is_some_and(|ci| ci == "true") => Err(why),
        Err(why) => {
            eprintln!("skipped: {why}");
            Ok(())
        }
    }
}

fn dist() -> PathBuf {
    repo::root().join("crates/web/dist")
}

fn node() -> Result<(), String> {
    let needed = format!("the page is built by Node.js {OLDEST_NODE} or newer, with npm");
    let said = |program: &str| {
        let output = step::command(program, &["--version"]).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let version = said("node").filter(|_| said("npm").is_some());
    let major = version.as_deref().and_then(|version| {
        version.trim().trim_start_matches('v').split('.').next()?.parse::<u32>().ok()
    });
    match major {
        Some(major) if major >= OLDEST_NODE => Ok(()),
        Some(major) => Err(format!("{needed}; here is {major}")),
        None => Err(format!("{needed}; there is none here")),
    }
}

fn build_into(folder: &Path) -> Result<(), String> {
    node()?;
    let folder_name = folder.display().to_string();
    npm(&["ci", "--no-audit", "--no-fund", "--silent"], INSTALL)?;
    npm(&["run", "--silent", "check"], BUILD)?;
    npm(&["run", "--silent", "test"], BUILD)?;
    npm(&["run", "--silent", "build", "--", "--outDir", &folder_name, "--emptyOutDir"], BUILD)?;
    press(folder, &[])?;
    let sources = sources()?;
    let manifest = format!("{{ \"sources\": \"{sources}\" }}\n");
    let path = folder.join(MANIFEST);
    fs::write(&path, manifest).map_err(|e| format!("{}: {e}", path.display()))
}

fn sources() -> Result<String, String> {
    let hash = chorus_web::sources::hash(&repo::root().join("web"));
    hash.map_err(|e| format!("web: {e}"))?.ok_or_else(|| "there is no web/package.json".to_owned())
}

/// What is committed is what the sources make, to the byte; compressed forms are opened and compared.
fn check() -> Result<(), String> {
    let fresh = repo::target_dir().join("web");
    build_into(&fresh)?;
    let (committed, built) = (plain(&dist())?, plain(&fresh)?);
    let mut names: Vec<_> = committed.keys().chain(built.keys()).collect();
    names.sort();
    names.dedup();
    let differ: Vec<_> = names
        .into_iter()
        .filter(|name| committed.get(*name) != built.get(*name))
        .map(String::as_str)
        .collect();
    if !differ.is_empty() {
        return Err(format!(
            "crates/web/dist is not what web/ makes: {}; build it with `cargo xtask web`",
            differ.join(", ")
        ));
    }
    press(&dist(), &["--check"])
}

/// Every file but the compressed ones, by its path below the folder.
fn plain(folder: &Path) -> Result<BTreeMap<String, Vec<u8>>, String> {
    let mut files = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(at) = open.pop() {
        let failed = |e: std::io::Error| format!("{}: {e}", at.display());
        for entry in fs::read_dir(&at).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let pressed = matches!(path.extension().and_then(OsStr::to_str), Some("br" | "gz"));
            if path.is_dir() {
                open.push(path);
            } else if !pressed {
                let content = fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))?;
                let name = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
                files.insert(name, content);
            }
        }
    }
    Ok(files)
}

fn press(folder: &Path, more: &[&str]) -> Result<(), String> {
    let mut command = step::command("node", &["xtask/web/press.mjs"]);
    command.arg(folder).args(more);
    step::run(command, BUILD)
}

fn npm(args: &[&str], limit: Duration) -> Result<(), String> {
    let mut command = step::command("npm", args);
    command.current_dir(repo::root().join("web"));
    step::run(command, limit).map_err(|why| format!("npm {}: {why}", args.join(" ")))
}
