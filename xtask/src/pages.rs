//! The pages a newcomer follows, followed: every `sh` block of a page, in order, in an empty folder, with the
//! release binary as `chorus`.
//!
//! A page says what a person types, so little is needed to play the person: what runs until it is stopped
//! (`chorus serve`, `join`, `tail`) is put into the background, as a second terminal would; what a person
//! does without typing (Ctrl-C, looking at the answer) stands in the page as `<!-- then: COMMAND -->`, which
//! no reader sees. A block whose fence says `sh no-run` is shown and not run; one that says `python NAME` is what a
//! person saves under that name.

use std::fmt::Write as _;
use std::fs;
use std::process::Stdio;
use std::time::Duration;

use chorus_cluster::{Cluster, Durability};

use crate::{repo, step};

/// The pages whose commands are run.
const PAGES: [&str; 2] = ["README.md", "docs/operations.md"];

/// Each page is followed in seconds; a command that waits for ever must not cost CI its time.
const LIMIT: Duration = Duration::from_secs(180);

/// What a person leaves running in a terminal of its own.
const LASTING: [&str; 4] = ["chorus serve", "chorus join", "chorus tail", "python3 "];

/// Where a saved file ends.
const END: &str = "END_OF_FILE";

/// Building and installing, which have steps of their own.
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

/// Follows every page; an error names the page and shows what its commands printed.
pub(crate) fn follow() -> Result<(), String> {
    for page in PAGES {
        let script = script(&repo::read(page).ok_or_else(|| format!("{page}: missing"))?);
        let folder = repo::root().join("target/tmp/pages").join(page.replace('/', "-"));
        // Left over from a run that was cut off.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let binaries = repo::release_binary("chorus");
        let binaries = binaries.parent().unwrap_or(&binaries);
        let path = std::env::var("PATH").unwrap_or_default();
        // README makes databases too, as its reader does, on a PostgreSQL that is there.
        let cluster = Cluster::start(Durability::Quick, &[])?;
        let mut bash = step::command("bash", &["-c", &script]);
        bash.env("PGHOST", cluster.socket()).env("PGUSER", "chorus");
        bash.current_dir(&folder)
            .env("PATH", format!("{}:{path}", binaries.display()))
            .env("CHORUS_LISTEN", "127.0.0.1:0")
            .stdout(Stdio::inherit());
        step::run(bash, LIMIT).map_err(|why| format!("{page}, as its commands stand: {why}"))?;
    }
    Ok(())
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
            if let Some(name) = info.strip_prefix("python ").filter(|_| fence.is_some()) {
                let _ = writeln!(script, "cat >{name} <<'{END}'");
                saved = true;
            }
        } else if saved {
            let _ = writeln!(script, "{line}");
        } else if fence == Some(true) {
            if LASTING.iter().any(|command| text.starts_with(command)) {
                number += 1;
                let waits = !text.starts_with("chorus tail");
                let _ =
                    writeln!(script, "{text} >{number}.out 2>{number}.err & lasting[{number}]=$!");
                if waits {
                    let _ = writeln!(script, "up {number}");
                }
            } else if !TOOLS.iter().any(|tool| text.starts_with(tool)) {
                let _ = writeln!(script, "{line}");
            }
        } else if fence.is_none()
            && let Some(then) = text.strip_prefix("<!-- then:").and_then(|t| t.strip_suffix("-->"))
        {
            let _ = writeln!(script, "{}", then.trim());
        }
    }
    script
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_page_shows_becomes_what_is_typed() {
        let page = "chorus prose\n```sh\ncargo build\nchorus serve\nchorus post ops 'a\n  b'\n```\n\
                    <!-- then: down 1 -->\n```sh no-run\nrm x\n```\n```\nanswer\n```\n\
                    ```python a.py\nx = 1\n```\n";
        let script = script(page);
        let typed = script.strip_prefix(PRELUDE).unwrap_or_default();
        assert_eq!(
            typed,
            "chorus serve >1.out 2>1.err & lasting[1]=$!\nup 1\nchorus post ops 'a\n  b'\ndown 1\n\
             cat >a.py <<'END_OF_FILE'\nx = 1\nEND_OF_FILE\n"
        );
    }
}
