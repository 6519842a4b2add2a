//! `cargo xtask bench web`: how large the page is, how soon it can be used, how soon a message is seen in another browser,
//! and how smoothly it moves, in Debian's Chromium.
//!
//! `first_page_kb` is what comes over the wire until Talk can be used, gzipped. `interactive_ms` is from the navigation
//! until the newest messages are there and one can write, the median of ten first visits. `seen_p95_ms` is from the answer
//! to a post in one browser until another shows it. Frames are counted while 100 messages a second arrive, and while the
//! whole history is scrolled through; without a display Chromium draws at most 60 a second. `history_mb` is what the
//! history that was scrolled through adds to the page's memory. `-- N` sets how many messages that is.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use chorus_clients::kit::Kit;
use house::House;
use serde_json::{Value, json};

#[allow(dead_code)]
#[path = "../tests/it/house.rs"]
mod house;

/// Whether less is better, and what is wanted.
const FIGURES: [(&str, &str, Option<(bool, f64)>); 8] = [
    ("first_page_kb", "kB", Some((true, 120.0))),
    ("interactive_ms", "ms", Some((true, 600.0))),
    ("seen_p95_ms", "ms", Some((true, 100.0))),
    ("arriving_fps", "frames/s", Some((false, 58.0))),
    ("arriving_frame_p95_ms", "ms", None),
    ("scrolling_fps", "frames/s", Some((false, 58.0))),
    ("scrolling_frame_p95_ms", "ms", None),
    ("history_mb", "MB", None),
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
    for (metric, unit, wanted) in FIGURES {
        let value = measured[metric].as_f64().unwrap();
        let mut line = json!({
            "bench": "web", "metric": metric, "value": value, "unit": unit,
            "messages": measured["messages"],
        });
        if let Some((is_cost, target)) = wanted {
            let holds = if is_cost { value <= target } else { value >= target };
            line["target"] = json!(target);
            line["cost"] = json!(is_cost);
            line["holds"] = json!(holds);
        }
        println!("{line}");
    }
}
