//! Runs the commands that README and the documentation show: every `sh` block of a page, in order, in
//! an empty folder, with the release binary as `chorus`.
//!
//! A page shows what a person types. A command that runs until it is stopped (`chorus serve`, `join`,
//! `tail`, `skill offer`) goes to the background, as if in a second terminal. What the page does not show, such as
//! Ctrl-C, a check of the output, or a host that the page takes for granted, stands in it as
//! `<!-- then: COMMAND -->`, which readers do not see. A block marked `sh no-run` is shown and not run.
//! A block of another language with a name behind it, such as `python NAME`, is saved under that name.

use std::fmt::Write as _;
use std::fs;
use std::process::Stdio;
use std::time::Duration;

use chorus_cluster::{Cluster, Durability};

use crate::{repo, step, tidy};

/// A page takes seconds. This limit stops a command that never ends.
const LIMIT: Duration = Duration::from_secs(180);

/// Commands that a person leaves running in a terminal of their own.
const LASTING: [&str; 5] =
    ["chorus serve", "chorus join", "chorus tail", "chorus skill offer", "python3 "];

/// The line that ends a saved file in the script.
const END: &str = "END_OF_FILE";

/// Building and installing, which `cargo xtask test` does in steps of their own.
const TOOLS: [&str; 3] = ["cargo ", "git ", "install "];

/// `up NUMBER` waits until the lasting command NUMBER has said something, `says NUMBER WORDS` until it has
/// said that; `down NUMBER` is its Ctrl-C.
const PRELUDE: &str = r#"set -Eeuo pipefail
declare -A lasting
trap 'echo "failed: $BASH_COMMAND" >&2' ERR
trap 'kill "${lasting[@]}" 2>/dev/null || true; wait' EXIT
says() {
  for _ in $(seq 600); do
    if grep -q -- "$2" "$1.out"; then return; fi
    kill -0 "${lasting[$1]}" 2>/dev/null || break
    sleep 0.05
  done
  echo "command $1 never said \"$2\":" >&2; cat "$1.out" "$1.err" >&2; exit 1
}
up() { says "$1" .; }
down() { kill -INT "${lasting[$1]}"; wait "${lasting[$1]}" || true; }
"#;

/// Runs every page that has a block to run. An error names the page.
pub(crate) fn follow() -> Result<(), String> {
    let cluster = Cluster::start(Durability::Quick, &[])?;
    for page in tidy::followed()? {
        let name = page.display().to_string();
        let text = repo::read(&page).ok_or_else(|| format!("{name}: missing"))?;
        if text.lines().any(|line| line == "```sh") {
            eprintln!("{name}");
            run(&name, &script(&text), &cluster)
                .map_err(|why| format!("{name}, run as it stands: {why}"))?;
        }
    }
    Ok(())
}

/// Runs a page's script in a folder of its own. The pages share one PostgreSQL.
fn run(page: &str, script: &str, cluster: &Cluster) -> Result<(), String> {
    let folder = repo::target_dir().join("tmp/pages").join(page.replace('/', "-"));
    // A run that was interrupted may have left it.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let binaries = repo::release_binary("chorus");
    let binaries = binaries.parent().unwrap_or(&binaries);
    let path = std::env::var("PATH").unwrap_or_default();
    let mut bash = step::command("bash", &["-c", script]);
    bash.env("PGHOST", cluster.socket()).env("PGUSER", "chorus");
    bash.current_dir(&folder)
        .env("PATH", format!("{}:{path}", binaries.display()))
        .env("CHORUS_LISTEN", "127.0.0.1:0")
        .stdout(Stdio::inherit());
    step::run(bash, LIMIT)
}

/// The page as a script of bash.
fn script(page: &str) -> String {
    let mut script = PRELUDE.to_owned();
    let mut fence: Option<bool> = None;
    let mut saved = false;
    let mut number = 0;
    for line in page.lines() {
        let text = line.trim();
        if let Some(info) = text.strip_prefix("```") {
            if saved {
                let _ = writeln!(script, "{END}");
            }
            saved = false;
            fence = if fence.is_some() { None } else { Some(info == "sh") };
            let named = info.split_once(' ').filter(|(language, _)| *language != "sh");
            if let Some((_, name)) = named.filter(|_| fence.is_some()) {
                let _ = writeln!(script, "cat >{name} <<'{END}'");
                saved = true;
            }
        } else if saved {
            let _ = writeln!(script, "{line}");
        } else if fence == Some(true) {
            typed(&mut script, line, &mut number);
        } else if fence.is_none()
            && let Some(then) = text.strip_prefix("<!-- then:").and_then(|t| t.strip_suffix("-->"))
        {
            typed(&mut script, then.trim(), &mut number);
        }
    }
    script
}

/// One line of a block. `number` counts the commands that were left running.
fn typed(script: &mut String, line: &str, number: &mut u32) {
    let text = line.trim();
    if LASTING.iter().any(|command| text.starts_with(command)) {
        *number += 1;
        let waits = !text.starts_with("chorus tail");
        let _ = writeln!(script, "{text} >{number}.out 2>{number}.err & lasting[{number}]=$!");
        if waits {
            let _ = writeln!(script, "up {number}");
        }
    } else if !TOOLS.iter().any(|tool| text.starts_with(tool)) {
        let _ = writeln!(script, "{line}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_page_shows_becomes_what_is_typed() {
        let page = "chorus prose\n```sh\ncargo build\nchorus serve\nchorus post ops 'a\n  b'\n```\n\
                    <!-- then: down 1 -->\n```sh no-run\nrm x\n```\n```\nanswer\n```\n\
                    ```bash a.sh\nls\n```\n```python a.py\nx = 1\n```\n";
        let script = script(page);
        let typed = script.strip_prefix(PRELUDE).unwrap_or_default();
        assert_eq!(
            typed,
            "chorus serve >1.out 2>1.err & lasting[1]=$!\nup 1\nchorus post ops 'a\n  b'\ndown 1\n\
             cat >a.sh <<'END_OF_FILE'\nls\nEND_OF_FILE\ncat >a.py <<'END_OF_FILE'\nx = 1\nEND_OF_FILE\n"
        );
    }
}
