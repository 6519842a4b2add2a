//! `cargo xtask bench web`: how large the page is, how soon it can be used, how soon a message is seen in another browser,
//! and how smoothly it moves, in Debian's Chromium.
//!
//! `first_page_kb` is what comes over the wire until Talk can be used, gzipped. `interactive_ms` is from the navigation
//! until the newest messages are there and one can write, the median of ten first visits. `seen_p95_ms` is from the answer
//! to a post in one browser until another shows it. Frames are counted while 100 messages a second arrive, and while the
//! whole history is scrolled through; without a display Chromium draws at most 60 a second. `history_mb` is what the
//! history that was scrolled through adds to the page's memory. `-- N` sets how many messages that is. `memory_mb` is the
//! page's memory after an hour of ten messages a second, and `memory_hour_mb` what the last two thirds of it added.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use chorus_clients::kit::Kit;
use house::House;
use serde_json::{Value, json};

#[allow(dead_code)]
#[path = "../tests/it/house.rs"]
mod house;

/// One number, and what is wanted of it.
struct Figure {
    metric: &'static str,
    unit: &'static str,
    wanted: Option<Wanted>,
}

enum Wanted {
    AtMost(f64),
    AtLeast(f64),
}

const fn figure(metric: &'static str, unit: &'static str, wanted: Option<Wanted>) -> Figure {
    Figure { metric, unit, wanted }
}

const FIGURES: [Figure; 10] = [
    figure("first_page_kb", "kB", Some(Wanted::AtMost(120.0))),
    figure("interactive_ms", "ms", Some(Wanted::AtMost(600.0))),
    figure("seen_p95_ms", "ms", Some(Wanted::AtMost(100.0))),
    figure("arriving_fps", "frames/s", Some(Wanted::AtLeast(58.0))),
    figure("arriving_frame_p95_ms", "ms", None),
    figure("scrolling_fps", "frames/s", Some(Wanted::AtLeast(58.0))),
    figure("scrolling_frame_p95_ms", "ms", None),
    figure("history_mb", "MB", None),
    figure("memory_mb", "MB", None),
    figure("memory_hour_mb", "MB", Some(Wanted::AtMost(3.0))),
];

fn main() {
    let messages = std::env::args().skip(1).find(|arg| arg.parse::<u64>().is_ok());
    let kit = Kit::installed().expect("cargo xtask bench installs the clients");
    let house = House::open();
    let mut script = kit.script("page-bench.mjs").into_std();
    script.env("LINK", house.chorus(&["signin"]).trim());
    script.env("CHORUS_URL", house.door("").url.strip_suffix("/v1/mcp").unwrap());
    script.env("CHROMIUM", "/usr/bin/chromium");
    script.envs(messages.map(|messages| ("MESSAGES", messages)));
    let output = script.output().unwrap();
    let complained = String::from_utf8_lossy(&output.stderr);
    let measured: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|e| {
        panic!("{e}: {complained}");
    });
    for Figure { metric, unit, wanted } in FIGURES {
        let value = measured[metric].as_f64().unwrap();
        let mut line = json!({
            "bench": "web", "metric": metric, "value": value, "unit": unit,
            "messages": measured["messages"],
        });
        let judged = wanted.map(|wanted| match wanted {
            Wanted::AtMost(target) => (target, true, value <= target),
            Wanted::AtLeast(target) => (target, false, value >= target),
        });
        if let Some((target, is_cost, holds)) = judged {
            line["target"] = json!(target);
            line["cost"] = json!(is_cost);
            line["holds"] = json!(holds);
        }
        println!("{line}");
    }
}
