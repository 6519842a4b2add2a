//! What a shell and a reader of manuals are given.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::cli::{chorus, run};

// covers: OPS-63
#[test]
fn bash_completes_commands_options_and_words() {
    let script = run(chorus().args(["completions", "bash"])).ok().out;
    let ask = |words: &[&str]| {
        let words_list = words.iter().map(|w| format!("'{w}'")).collect::<Vec<_>>().join(" ");
        let program = format!(
            "{script}\nCOMP_WORDS=({words_list}); COMP_CWORD={}; _chorus chorus '{}' '{}'; echo \"${{COMPREPLY[@]}}\"",
            words.len() - 1,
            words[words.len() - 1],
            words[words.len() - 2],
        );
        // By a file: one argument has at most 128 KiB.
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(program.as_bytes()).unwrap();
        let out = Command::new("bash").arg("--norc").arg(file.path()).output().unwrap();
        assert!(out.stderr.is_empty(), "{}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap().trim().to_owned()
    };
    assert_eq!(ask(&["chorus", "dead"]), "dead-letters");
    assert_eq!(ask(&["chorus", "token", "rev"]), "revoke");
    assert_eq!(ask(&["chorus", "serve", "--list"]), "--listen");
}

// covers: OPS-63
#[test]
fn other_shells_are_given_a_script_and_unknown_ones_a_refusal() {
    let zsh = run(chorus().args(["completions", "zsh"])).ok().out;
    assert!(zsh.starts_with("#compdef chorus"));
    let fish = run(chorus().args(["completions", "fish"])).ok().out;
    assert!(fish.contains("complete -c chorus"));
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
