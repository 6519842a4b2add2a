//! `cargo xtask bench wake`: how soon a mention runs in the program that it wakes, what a supervised terminal costs, and
//! what a runner holds in memory.
//!
//! The programs are the real ones, with a scripted model; the command line is the release binary. Standard output carries
//! one JSON object a line, as of the other benchmarks. The time of a wake is from the moment at which the host accepted the
//! message until it knew that the turn runs, by its own clock: the program's proof is on its way to it in that time.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use chorus_testing::eventually;
use desk::{Desk, answers};
use house::binary;
use jiff::Timestamp;
use serde_json::{Value, json};

#[allow(dead_code)]
#[path = "../tests/it/desk.rs"]
mod desk;
#[allow(dead_code)]
#[path = "../tests/it/house.rs"]
mod house;

/// Wakes of a program that has an interface of its own.
const WAKES: usize = 30;
/// Wakes by keys: the end of each turn is known only after 10 s of silence.
const BY_KEYS: usize = 6;
/// An agent is woken about one place ten times a minute at most.
const EACH: usize = 8;
/// What a program prints for the overhead, and how often it is timed.
const PRINTED: usize = 100 * 1024 * 1024;
const ROUNDS: usize = 5;

/// Answers each line in which an event is named.
const BOT: &str = r#"#!/bin/bash
printf 'ready> '
while IFS= read -r line; do
    event=$(printf '%s' "$line" | grep -o 'evt_[0-9a-f]\{32\}' | tail -1)
    printf 'thinking\n'
    [ -n "$event" ] && "$CHORUS" post "$(printf '%s' "$line" | grep -o 'ch_[0-9a-f]\{32\}' | tail -1)" done --reply-to "$event" >/dev/null
    printf 'ready> '
done
"#;

#[tokio::main]
async fn main() {
    // What `cargo bench` adds is no name of a measurement.
    let only: Vec<_> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let wanted =
        |name: &str| only.is_empty() || only.iter().any(|only| name.starts_with(only.as_str()));
    if wanted("codex") {
        woken("codex", "codex", WAKES, 150.0).await;
    }
    if wanted("claude") {
        woken("claude", "claude", WAKES, 150.0).await;
    }
    if wanted("pty") {
        woken("pty", "./bot", BY_KEYS, 1_500.0).await;
    }
    if wanted("run") {
        overhead().await;
    }
    if wanted("runner") {
        memory().await;
    }
}

fn print(metric: &str, value: f64, unit: &str, target: f64, more: Value) {
    let mut line = json!({
        "bench": "wake", "metric": metric, "value": value, "unit": unit, "cost": true,
        "target": target, "holds": value <= target,
    });
    line.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
    println!("{line}");
}

/// The value below which this share of them lies.
fn percentile(sorted: &[f64], share: f64) -> f64 {
    let at = (sorted.len() as f64 * share).ceil() as usize;
    sorted[at.clamp(1, sorted.len()) - 1]
}

fn rounded(value: f64, digits: i32) -> f64 {
    let scale = 10_f64.powi(digits);
    (value * scale).round() / scale
}

/// Times wakes of one program in a terminal, one after the other.
async fn woken(metric: &str, program: &str, wakes: usize, target: f64) {
    let words = |index: usize| format!("ping-{index:03}.");
    // The last words count: those before them stay in the session.
    let cues = (0..wakes).rev().map(|index| answers(words(index), 2 * index, "pong")).collect();
    let desk = Desk::new(cues).await;
    std::fs::write(desk.project.join("bot"), BOT).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(desk.project.join("bot"), mode).unwrap();
    let rooms: Vec<_> = (0..wakes.div_ceil(EACH)).map(|index| format!("room-{index}")).collect();
    let mut line = vec!["run".to_owned()];
    for room in &rooms {
        desk.house.chorus(&["channel", "create", room]);
        line.extend(["--channel".to_owned(), room.clone()]);
    }
    line.push(program.to_owned());
    let terminal = desk.types(&line.iter().map(String::as_str).collect::<Vec<_>>());
    eventually("the runner connects", async || {
        let sessions = desk.house.json(&["sessions"]);
        sessions["sessions"][0]["connected"] == true
    })
    .await;
    // A program that has just begun has no session yet: its first wake is not counted.
    let mut took = Vec::new();
    for index in 0..wakes {
        let text = format!("@project {}", words(index));
        let room = &rooms[index % rooms.len()];
        let posted = desk.house.json(&["post", room, &text]);
        let event = posted["event_id"].as_str().unwrap().to_owned();
        let is_over = |why: &Value| {
            why["told"][0]["receipt"]["disposition"] == "responded"
                && why["wakes"][0]["state"] == "done"
        };
        let why = desk.why(&event, "it is answered, and the turn has ended", is_over).await;
        if index > 0 {
            took.extend(confirmed_after(&why));
        }
    }
    took.sort_by(f64::total_cmp);
    assert!(took.len() * 2 > wakes, "too few of the wakes were confirmed: {took:?}");
    let more = json!({
        "p99": rounded(percentile(&took, 0.99), 1), "min": took[0], "max": took.last(), "wakes": took.len(),
    });
    print(&format!("{metric}.p50_ms"), rounded(percentile(&took, 0.5), 1), "ms", target, more);
    drop(terminal);
    desk.prints(&["stop", "project"]);
}

/// Milliseconds from the message to the proof that its turn runs.
fn confirmed_after(why: &Value) -> Option<f64> {
    let time = |value: &Value| value.as_str()?.parse::<Timestamp>().ok();
    let attempts = why["wakes"][0]["attempts"].as_array()?;
    let confirmed = attempts.iter().find(|attempt| attempt["result"] == "confirmed")?;
    let took = time(&confirmed["at"])?.duration_since(time(&why["created_at"])?);
    Some(took.as_secs_f64() * 1_000.0)
}

/// What a program that prints much takes in a terminal of ours, against the same terminal without us.
async fn overhead() {
    let desk = Desk::new(Vec::new()).await;
    let text = "All work and no play makes a dull line of seventy-two characters, so.\n";
    let file = desk.project.join("printed");
    std::fs::write(&file, text.repeat(PRINTED / text.len())).unwrap();
    let printed = file.display();
    let (mut ratios, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let alone = shown(&desk, &format!("cat {printed}"));
        let ours = shown(&desk, &format!("{} run cat {printed}", binary().display()));
        desk.prints(&["stop", "project"]);
        ratios.push(ours / alone);
        bare.push(alone);
    }
    ratios.sort_by(f64::total_cmp);
    bare.sort_by(f64::total_cmp);
    let more = json!({
        "vs": "bare", "ratio": rounded(percentile(&ratios, 0.5), 2), "bare_s": rounded(percentile(&bare, 0.5), 2),
        "min": rounded(ratios[0], 2), "max": rounded(ratios[ROUNDS - 1], 2),
    });
    print("run.overhead_100mb", rounded(percentile(&ratios, 0.5), 2), "ratio", 1.3, more);
}

/// Seconds that a command takes in a terminal whose reader keeps nothing.
fn shown(desk: &Desk, command: &str) -> f64 {
    let begun = Instant::now();
    let status = Command::new("script")
        .args(["-q", "-e", "-c", command, "/dev/null"])
        .current_dir(&desk.project)
        .envs(desk.environment.iter().cloned())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .expect("script, of util-linux, is installed");
    assert!(status.success(), "{command}: {status}");
    begun.elapsed().as_secs_f64()
}

/// What a runner holds once its program has been woken.
async fn memory() {
    let desk = Desk::new(Vec::new()).await;
    std::fs::write(desk.project.join("bot"), BOT).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(desk.project.join("bot"), mode).unwrap();
    let terminal = desk.types(&["run", "./bot"]);
    eventually("the runner connects", async || {
        let sessions = desk.house.json(&["sessions"]);
        sessions["sessions"][0]["connected"] == true
    })
    .await;
    let posted = desk.house.json(&["post", "general", "@project please look"]);
    let event = posted["event_id"].as_str().unwrap();
    eventually("it is answered", async || {
        let why = desk.house.json(&["why", event]);
        why["told"][0]["receipt"]["disposition"] == "responded"
    })
    .await;
    let folder = Path::new("/proc").join(terminal.handle().pid().to_string());
    let kept = std::fs::read_to_string(folder.join("smaps_rollup")).unwrap();
    let mib = |name: &str| {
        let line = kept.lines().find(|line| line.starts_with(name)).unwrap();
        let kib: f64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
        rounded(kib / 1_024.0, 1)
    };
    // What one runner more costs: pages of the program's file are shared by all that run of it.
    let own = mib("Private_Dirty:") + mib("Private_Clean:");
    let more = json!({"rss": mib("Rss:"), "pss": mib("Pss:")});
    print("runner.mib", rounded(own, 1), "MiB", 12.0, more);
    drop(terminal);
    desk.prints(&["stop", "project"]);
}
