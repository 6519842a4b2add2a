#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
//! What the programs print, as it was recorded of them; and how a run of a stand-in ends.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use super::*;

fn heard(cli: &dyn Cli, output: &str) -> (Heard, Vec<Told>) {
    let mut heard = Heard::default();
    for line in output.lines() {
        cli.hear(&serde_json::from_str(line).unwrap(), &mut heard);
    }
    let news = heard.news();
    (heard, news)
}

fn session(id: &str) -> Told {
    Told::Session(id.to_owned())
}

fn progress(what: &str) -> Told {
    Told::Progress(what.to_owned())
}

// covers: OPS-524
#[test]
fn claudes_recorded_answer_is_its_result() {
    let (heard, news) = heard(&claude::Claude, include_str!("recorded/claude-answer.jsonl"));
    assert_eq!((heard.answer(), &heard.end), ("heard 1 turns", &Some(Ok(()))));
    assert_eq!(news, [session("4fc5316d-9d3b-4b9a-b374-67633d75c15d"), progress("uses Read")]);
}

// covers: OPS-522
#[test]
fn claude_is_heard_to_have_lost_its_session() {
    let (heard, news) =
        heard(&claude::Claude, include_str!("recorded/claude-unknown-session.jsonl"));
    assert!(claude::Claude.session_is_lost(heard.end.unwrap().unwrap_err().as_str()));
    assert_eq!(news, [], "an id that is not there is not one to go on with");
}

// covers: OPS-524
#[test]
fn codexs_recorded_answer_is_its_last_message() {
    let (heard, news) = heard(&codex::Codex, include_str!("recorded/codex-answer.jsonl"));
    assert_eq!((heard.answer(), &heard.end), ("heard 1 turns", &Some(Ok(()))));
    assert_eq!(news, [session("01a20da8-afc8-7302-b28c-684af8906865"), progress("runs a command")]);
}

// covers: OPS-524
#[test]
fn geminis_recorded_answer_is_what_it_said_after_its_last_tool() {
    let (heard, news) = heard(&gemini::Gemini, include_str!("recorded/gemini-answer.jsonl"));
    assert_eq!((heard.answer(), &heard.end), ("heard 1 turns", &Some(Ok(()))));
    assert_eq!(news, [session("fee2f495-935a-4986-a742-0738a06f2fec"), progress("uses read_file")]);
}

// covers: OPS-525
#[test]
fn what_the_programs_report_as_failed_is_failed() {
    let refused = "unexpected status 401 Unauthorized: invalid x-api-key";
    let check = |cli: &dyn Cli, lines: &[&str], why: &str| {
        let (heard, _) = heard(cli, &lines.join("\n"));
        assert_eq!(heard.end, Some(Err(why.to_owned())), "{}", cli.name());
    };
    check(
        &claude::Claude,
        &[r#"{"type":"result","subtype":"success","is_error":true,"result":"API Error: 401"}"#],
        "API Error: 401",
    );
    check(
        &claude::Claude,
        &[r#"{"type":"result","subtype":"error_max_turns","is_error":false}"#],
        "error_max_turns",
    );
    let failed = format!(r#"{{"type":"turn.failed","error":{{"message":"{refused}"}}}}"#);
    check(
        &codex::Codex,
        &[r#"{"type":"error","message":"Reconnecting... 1/5"}"#, &failed],
        refused,
    );
    let failed =
        format!(r#"{{"type":"result","status":"error","error":{{"message":"{refused}"}}}}"#);
    check(&gemini::Gemini, &[&failed], refused);
}

// covers: OPS-523
#[test]
fn no_permission_is_given_that_was_not_asked_for() {
    let line = |cli: &dyn Cli, allow| cli.arguments(allow, None).join(" ");
    for cli in ALL {
        let lines = [Allow::Read, Allow::Edit, Allow::Full].map(|allow| line(cli, allow));
        for (n, strong) in [
            (2, "bypassPermissions"),
            (2, "danger"),
            (2, "yolo"),
            (1, "acceptEdits"),
            (1, "workspace-write"),
            (1, "auto_edit"),
            (1, "Write"),
        ] {
            for weaker in &lines[..n] {
                assert!(!weaker.contains(strong), "{weaker}");
            }
        }
        assert!(lines[0] != lines[1] && lines[1] != lines[2]);
        let with = cli.arguments(Allow::Read, Some("s-1"));
        assert!(with.iter().any(|argument| argument == "s-1"), "{with:?}");
    }
}

#[test]
fn gemini_is_given_no_path_to_read_by_a_mention() {
    let cli = gemini::Gemini;
    assert_eq!(cli.plain("@scout see a@b"), "\\@scout see a\\@b");
    assert_eq!(cli.answer("\\@alice yes"), "@alice yes");
}

/// A stand-in for claude: this script under its name.
fn stand_in(folder: &Path, script: &str) -> Program {
    let file = folder.join("claude");
    std::fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    Program::find("claude", folder.as_os_str()).unwrap().unwrap()
}

fn work(folder: &Path, session: Option<&str>) -> Work {
    Work {
        prompt: "hello".to_owned(),
        environment: Vec::new(),
        folder: folder.to_owned(),
        session: session.map(str::to_owned),
        noted_in: None,
    }
}

fn bounds(timeout_ms: u64) -> Bounds {
    let timeout = Duration::from_millis(timeout_ms);
    Bounds { timeout, output: 100_000, grace: Duration::from_millis(300) }
}

async fn ran(script: &str, session: Option<&str>, timeout_ms: u64) -> (End, Vec<Told>) {
    let folder = tempfile::tempdir().unwrap();
    let program = stand_in(folder.path(), script);
    let (_keep, cancel) = oneshot::channel();
    let (tell, mut told) = mpsc::unbounded_channel();
    let end = program.run(work(folder.path(), session), bounds(timeout_ms), cancel, tell).await;
    let mut all = Vec::new();
    while let Ok(one) = told.try_recv() {
        all.push(one);
    }
    (end, all)
}

const INIT: &str = r#"echo '{"type":"system","subtype":"init","session_id":"s-2"}';"#;

fn result(text: &str) -> String {
    format!(r#"echo '{{"type":"result","subtype":"success","is_error":false,"result":"{text}"}}'"#)
}

// covers: OPS-520, OPS-524
#[tokio::test]
async fn the_answer_that_the_program_reports_is_the_reply() {
    let (end, told) = ran(&format!("{INIT} {}", result("yes")), None, 20_000).await;
    assert_eq!((end, told), (End::Said("yes".into()), vec![session("s-2")]));
    for silent in ["NO_REPLY", " NO_REPLY ", "", " "] {
        let (end, _) = ran(&result(silent), None, 20_000).await;
        assert_eq!(end, End::Silent, "{silent:?}");
    }
}

// covers: OPS-525
#[tokio::test]
async fn a_run_without_a_complete_answer_fails_with_its_last_words() {
    let yes = result("yes");
    for (script, words) in [
        ("echo 'not logged in' >&2; exit 1".to_owned(), "exit status: 1: not logged in"),
        ("echo 'please log in'".to_owned(), "without an answer: please log in"),
        (format!("{INIT} kill -9 $$"), "signal: 9"),
        (format!("{yes}; echo 'lost it' >&2; exit 3"), "exit status: 3: lost it"),
        ("echo '[1]'; echo '\"yes\"'".to_owned(), "without an answer: [1]"),
        (
            r#"echo '{"type":"result","subtype":"success","is_error":true,"result":"401"}'"#
                .to_owned(),
            "claude failed: 401",
        ),
        (String::new(), "claude ended without an answer"),
    ] {
        let (end, _) = ran(&script, None, 20_000).await;
        assert!(matches!(&end, End::Failed { note } if note.contains(words)), "{script}: {end:?}");
    }
    let trouble = r#"echo '{"type":"system","subtype":"api_retry","error":"overloaded","error_status":529}';"#;
    let (end, _) = ran(&format!("{INIT} {trouble} sleep 60"), None, 700).await;
    let words = "claude took longer than 0.7 s: the model could not be asked: overloaded (529)";
    assert_eq!(end, End::TimedOut { note: words.into() });
}

// covers: OPS-522
#[tokio::test]
async fn a_session_that_is_lost_is_left_for_a_new_one_once() {
    let lost = "echo run >>runs; case \"$*\" in *--resume*) \
        echo 'No conversation found with session ID: s-1' >&2; exit 1;; esac;";
    let (end, told) = ran(&format!("{lost} {INIT} {}", result("anew")), Some("s-1"), 20_000).await;
    assert_eq!((end, told), (End::Said("anew".into()), vec![session("s-2")]));
    // Only once, and only for that reason.
    let always = "echo run >>$0.runs; echo 'No conversation found with session ID' >&2; exit 1";
    for (script, session, runs) in [
        (always, Some("s-1"), 2),
        (always, None, 1),
        ("echo run >>$0.runs; echo 'no credit' >&2; exit 1", Some("s-1"), 1),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let program = stand_in(folder.path(), script);
        let (_keep, cancel) = oneshot::channel();
        let (tell, _told) = mpsc::unbounded_channel();
        let end = program.run(work(folder.path(), session), bounds(20_000), cancel, tell).await;
        assert!(matches!(end, End::Failed { .. }), "{end:?}");
        let ran = std::fs::read_to_string(folder.path().join("claude.runs")).unwrap();
        assert_eq!(ran.lines().count(), runs, "{script}");
    }
}

// covers: OPS-526
#[test]
fn a_program_that_is_not_there_says_how_it_is_installed() {
    let folder = tempfile::tempdir().unwrap();
    // A folder and a file that cannot be run are not the program.
    std::fs::create_dir(folder.path().join("codex")).unwrap();
    std::fs::write(folder.path().join("gemini"), "").unwrap();
    for name in Program::names() {
        let missing = Program::find(name, folder.path().as_os_str()).unwrap();
        assert!(missing.unwrap_err().install.starts_with("npm install -g @"), "{name}");
    }
    assert!(Program::find("llm", OsStr::new("/bin")).is_none());
}
