//! What a shell and a reader of manuals are given.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::cli::{chorus, run};
use crate::host::Host;

// covers: OPS-63
#[test]
fn bash_completes_commands_options_and_words() {
    let ask = |words: &[&str]| completed(words, Path::new("/nonexistent"));
    assert_eq!(ask(&["chorus", "dead"]), "dead-letters");
    assert_eq!(ask(&["chorus", "token", "rev"]), "revoke");
    assert_eq!(ask(&["chorus", "serve", "--list"]), "--listen");
    assert_eq!(ask(&["chorus", "post", "op"]), "", "there is no host to be asked");
}

// covers: OPS-63
#[test]
fn bash_completes_the_names_of_channels_and_members() {
    let host = Host::with_room(&["scout"]);
    host.run(&["channel", "create", "openings"]).ok();
    host.run(&["channel", "create", "opera"]).ok();
    host.run(&["channel", "set", "opera", "--archived", "true"]).ok();
    let ask = |words: &[&str]| completed(words, &host.data());
    assert_eq!(ask(&["chorus", "post", "o"]), "ops openings");
    assert_eq!(ask(&["chorus", "search", "--in", "op"]), "ops openings");
    assert_eq!(ask(&["chorus", "channel", "add", "ops", "al"]), "alice");
    assert_eq!(ask(&["chorus", "mail", "--agent", "sc"]), "scout");
    assert_eq!(ask(&["chorus", "mail", "--agent", "@sc"]), "@scout");
}

/// What bash makes of a command whose last word has just been begun.
fn completed(words: &[&str], data: &Path) -> String {
    let script = run(chorus().args(["completions", "bash"])).ok().out;
    let list = words.iter().map(|w| format!("'{w}'")).collect::<Vec<_>>().join(" ");
    let (count, begun) = (words.len() - 1, words[words.len() - 1]);
    let program = format!(
        "{script}\nCOMP_WORDS=({list}); COMP_CWORD={count}; COMP_TYPE=9\n\
         _clap_complete_chorus chorus '{begun}' '{}'; echo \"${{COMPREPLY[@]}}\"",
        words[words.len() - 2],
    );
    let program_folder = Path::new(env!("CARGO_BIN_EXE_chorus")).parent().unwrap();
    let path = format!("{}:{}", program_folder.display(), std::env::var("PATH").unwrap());
    let mut bash = Command::new("bash");
    bash.args(["--norc", "-c", &program]).env("PATH", path).env("CHORUS_DATA", data);
    let out = bash.env("XDG_CONFIG_HOME", "/nonexistent").output().unwrap();
    assert!(out.stderr.is_empty(), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
}

// covers: OPS-63
#[test]
fn other_shells_are_given_a_script_and_unknown_ones_a_refusal() {
    let zsh = run(chorus().args(["completions", "zsh"])).ok().out;
    assert!(zsh.starts_with("#compdef chorus"));
    let fish = run(chorus().args(["completions", "fish"])).ok().out;
    assert!(fish.contains("complete") && fish.contains("--command chorus"));
    let wrong = run(chorus().args(["completions", "tcsh", "--json"]));
    assert_eq!(wrong.code, 2);
    assert_eq!(wrong.json()["error"]["code"], "VALIDATION_ERROR");
}

// covers: OPS-63
#[test]
fn the_manual_page_is_one_that_man_reads() {
    let page = run(chorus().arg("man")).ok().out;
    assert!(page.contains(".TH") && page.contains("dead\\-letters"), "{page}");
    let one = run(chorus().args(["man", "token", "issue"])).ok().out;
    assert!(one.contains("ttl"));
    assert_eq!(run(chorus().args(["man", "nonsense"])).code, 2);
    // Where a formatter is, it must have nothing to complain of.
    for (reader, arguments) in
        [("groff", &["-ww", "-man", "-z"][..]), ("mandoc", &["-T", "lint", "-W", "error"][..])]
    {
        let reader = Command::new(reader)
            .args(arguments)
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let Ok(mut reader) = reader else { continue };
        reader.stdin.take().unwrap().write_all(page.as_bytes()).unwrap();
        let read = reader.wait_with_output().unwrap();
        assert!(read.stderr.is_empty(), "{}", String::from_utf8_lossy(&read.stderr));
    }
}
