//! The foreground needs a terminal of its own as stdin and stdout: this test program runs itself in one.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::Instant;

use tokio::io::AsyncReadExt;

use super::super::{Detached, Launch, RawMode, Signal, Size, attach, relay, serve, spawn};
use super::support::{shell, shows, socket, started};

const SCRIPT: &str = "CHORUS_TEST_TERMINAL_SCRIPT";
const SOCKET: &str = "CHORUS_TEST_TERMINAL_SOCKET";

/// A shell line that runs one of the inner tests as a program.
fn inner(test: &str) -> String {
    let program = std::env::current_exe().unwrap();
    let name = format!("{}::{test}", module_path!().split_once("::").unwrap().1);
    format!("'{}' --ignored --exact --nocapture '{name}'", program.display())
}

fn with(script: &str, name: &str, value: &str) -> Launch {
    let mut launch = shell(script);
    launch.environment.push((OsString::from(name), OsString::from(value)));
    launch
}

/// The inner program of [`inner`]: relays what the environment says.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "is run by other tests"]
async fn relays() {
    let Ok(script) = std::env::var(SCRIPT) else { return };
    let terminal = spawn(&shell(&script), Size { rows: 0, columns: 0 }).unwrap();
    let exit = relay(&terminal.handle()).await.unwrap();
    // As the command does; nothing of the test's own is printed.
    std::process::exit(exit.code.into());
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "is run by other tests"]
async fn attaches() {
    let Ok(path) = std::env::var(SOCKET) else { return };
    let detached = attach(path.as_ref()).await.unwrap();
    std::process::exit(match detached {
        Detached::ByKeys => 20,
        Detached::Exited(exit) => exit.code.into(),
        Detached::Gone => 21,
    });
}

#[tokio::test]
#[ignore = "is run by other tests"]
async fn panics_in_raw_mode() {
    if std::env::var(SCRIPT).is_err() {
        return;
    }
    let _raw = RawMode::enter().unwrap();
    panic!("as if by a fault");
}

/// Runs an inner test between two looks at the terminal's settings.
fn compared(test: &str) -> String {
    format!(
        "before=$(stty -g); {}; code=$?; \
         test \"$(stty -g)\" = \"$before\" && echo restored:$code || echo RAW:$code; read line",
        inner(test)
    )
}

#[tokio::test]
async fn the_person_has_the_program_in_their_terminal_and_gets_it_back() {
    // What the person types comes after the size of the person's terminal.
    let script = "printf 'name? '; read name; stty size; echo hello:$name; exit 9";
    let outer = spawn(&with(&compared("relays"), SCRIPT, script), Size { rows: 30, columns: 90 });
    let terminal = outer.unwrap();
    let handle = terminal.handle();
    shows(&handle, "name?").await;
    handle.person_input(b"Anna\r".to_vec()).await.unwrap();
    shows(&handle, "30 90").await;
    shows(&handle, "hello:Anna").await;
    shows(&handle, "restored:9").await;
}

#[tokio::test]
async fn a_new_size_of_the_persons_terminal_reaches_the_program() {
    let script = "trap 'stty size; exit 4' WINCH; echo ready; while :; do read line; done";
    let terminal = spawn(&with(&compared("relays"), SCRIPT, script), Size::DEFAULT).unwrap();
    let handle = terminal.handle();
    shows(&handle, "ready").await;
    handle.resize(Size { rows: 12, columns: 70 });
    shows(&handle, "12 70").await;
    shows(&handle, "restored:4").await;
}

#[tokio::test]
async fn a_signal_goes_to_the_program_and_the_terminal_is_put_back() {
    let script =
        "trap 'echo caught; exit 6' TERM; echo inner:$PPID:ready; while :; do read line; done";
    let terminal = spawn(&with(&compared("relays"), SCRIPT, script), Size::DEFAULT).unwrap();
    let handle = terminal.handle();
    shows(&handle, ":ready").await;
    let screen = handle.screen();
    let pid: i32 =
        screen.split("inner:").nth(1).unwrap().split(':').next().unwrap().parse().unwrap();
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), Signal::SIGTERM).unwrap();
    shows(&handle, "restored:6").await;
}

#[tokio::test]
async fn a_panic_puts_the_terminal_back() {
    let launch = with(&compared("panics_in_raw_mode"), SCRIPT, "none");
    let terminal = spawn(&launch, Size { rows: 100, columns: 200 }).unwrap();
    let handle = terminal.handle();
    shows(&handle, "restored:").await;
    assert!(handle.screen().contains("as if by a fault"));
}

#[tokio::test]
async fn modes_that_a_killed_program_left_are_undone() {
    let script = "printf '\\033[?1049h\\033[?2004h\\033[?1000h\\033[?25lready'; kill -9 $$";
    let terminal = spawn(&with(&compared("relays"), SCRIPT, script), Size::DEFAULT).unwrap();
    let handle = terminal.handle();
    shows(&handle, "restored:137").await;
    let redraw = String::from_utf8(handle.watch().0).unwrap();
    for mode in ["\x1b[?1049h", "\x1b[?2004h", "\x1b[?1000h", "\x1b[?25l"] {
        assert!(!redraw.contains(mode), "{mode:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn attaching_shows_takes_keys_and_detaches_by_keys_or_with_the_exit() {
    let (_folder, path) = socket();
    let (_program, program) = started("echo inside; read line; echo got:$line; read line; exit 8");
    shows(&program, "inside").await;
    let _served = serve(program.clone(), &path).unwrap();
    let launch = || with(&compared("attaches"), SOCKET, path.to_str().unwrap());

    let viewer = spawn(&launch(), Size { rows: 30, columns: 90 }).unwrap();
    let shown = viewer.handle();
    shows(&shown, "inside").await;
    shown.person_input(b"word\r".to_vec()).await.unwrap();
    shows(&shown, "got:word").await;
    assert_eq!(program.size(), Size { rows: 30, columns: 90 });
    shown.person_input(b"\x1c\x1c".to_vec()).await.unwrap();
    shows(&shown, "restored:20").await;
    assert!(program.is_alive());

    let viewer = spawn(&launch(), Size::DEFAULT).unwrap();
    let shown = viewer.handle();
    shows(&shown, "got:word").await;
    shown.person_input(b"\r".to_vec()).await.unwrap();
    shows(&shown, "restored:8").await;
}

#[test]
fn without_a_terminal_bytes_are_passed_through() {
    let line = inner("relays");
    let mut child = Command::new("/bin/sh")
        .args(["-c", &line])
        .env(SCRIPT, "stty -echo; cat; exit 3")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"from a pipe\n").unwrap();
    let mut out = String::new();
    Read::read_to_string(&mut child.stdout.take().unwrap(), &mut out).unwrap();
    assert!(out.contains("from a pipe\r\n"), "{out}");
    assert_eq!(child.wait().unwrap().code(), Some(3));
}

/// `cargo nextest run --release -p chorus-harness terminal --run-ignored all -E 'test(a_flood)' --no-capture`
#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement"]
async fn a_flood_is_relayed_almost_as_fast_as_it_is_read() {
    const FLOODS: [(&str, &str); 2] = [
        ("text", "head -c 100000000 /dev/zero | tr '\\0' x"),
        (
            "coloured lines",
            "yes \"$(printf '\\033[31mred\\033[0m and plain text of a line')\" | head -c 100000000",
        ),
    ];
    for (what, flood) in FLOODS {
        let mut bare = f64::MAX;
        let mut relayed = f64::MAX;
        for _ in 0..3 {
            let begun = Instant::now();
            let mut read = read_bare(flood).await;
            bare = bare.min(begun.elapsed().as_secs_f64());
            let begun = Instant::now();
            let line = inner("relays");
            let mut child = Command::new("/bin/sh")
                .args(["-c", &line])
                .env(SCRIPT, flood)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .spawn()
                .unwrap();
            assert!(child.wait().unwrap().success());
            relayed = relayed.min(begun.elapsed().as_secs_f64());
            read /= 1_000_000;
            println!("{what}: {read} MB, bare {bare:.2} s, relayed {relayed:.2} s");
        }
        println!("{what}: {:.2} times the bare reader's time", relayed / bare);
    }
}

async fn read_bare(flood: &str) -> usize {
    let (mut pty, pts) = pty_process::open().unwrap();
    let command = pty_process::Command::new("/bin/sh").args(["-c", flood]);
    let mut child = command.spawn(pts).unwrap();
    let mut buffer = vec![0; 64 * 1024];
    let mut all = 0;
    while let Ok(read @ 1..) = pty.read(&mut buffer).await {
        all += read;
    }
    child.wait().await.unwrap();
    all
}
