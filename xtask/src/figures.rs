//! `cargo xtask bench page FILE…`: the page of the figures and its plot, from the lines that benchmarks print.
//!
//! Several files of one benchmark are several runs: the page has the median of their ratios, and the least and the
//! greatest of all rounds.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::Value;

use crate::repo;

const PAGE: &str = "docs/figures.md";
const PLOT: &str = "docs/pictures/figures.svg";

/// What the page begins with.
const HEAD: &str = "# Figures

How fast Chorus is, as ratios: each figure of ours over a limit of the machine or another program,
taken in turns in one run on one machine. Two cores; the load generator has a part of them. The
value is the median, *from* and *to* are the least and the greatest of all rounds. Where less is
better the target is written with ≤. Everything is on disk before it is acknowledged, the other
programs' work too.

![Every figure over its target](pictures/figures.svg)

This page and its plot are made by `cargo xtask bench page FILE…` from the lines that `cargo xtask
bench` prints; [Contributing](../CONTRIBUTING.md#benchmarks) says what each measures.
";

/// One comparison, over the runs that have it.
#[derive(Default)]
struct Figure {
    unit: String,
    values: Vec<f64>,
    judged: Vec<f64>,
    min: f64,
    max: f64,
    target: Option<f64>,
    is_cost: bool,
}

/// A benchmark, and within it a metric with what it is compared with.
type Name = (String, String, String);

/// Writes the page and its plot.
pub(crate) fn page(files: &[String]) -> Result<(), String> {
    if files.is_empty() {
        return Err("name the files with the lines of benchmarks".to_owned());
    }
    let mut figures: BTreeMap<Name, Figure> = BTreeMap::new();
    let mut absent: BTreeMap<String, String> = BTreeMap::new();
    for file in files {
        let lines = std::fs::read_to_string(file).map_err(|e| format!("{file}: {e}"))?;
        for line in lines.lines().filter(|line| line.starts_with('{')) {
            let line = serde_json::from_str(line).map_err(|e| format!("{file}: {line}: {e}"))?;
            take(&line, &mut figures, &mut absent);
        }
    }
    write(PAGE, &text(&figures, &absent))?;
    write(PLOT, &plot(&figures))
}

fn write(path: &str, text: &str) -> Result<(), String> {
    std::fs::write(repo::root().join(path), text).map_err(|e| format!("{path}: {e}"))
}

fn take(line: &Value, figures: &mut BTreeMap<Name, Figure>, absent: &mut BTreeMap<String, String>) {
    let word = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
    if line["absent"] == true {
        absent.insert(word("metric"), word("reason"));
        return;
    }
    let Some(value) = line["value"].as_f64() else { return };
    let mut bench = word("bench");
    for more in ["database", "set"] {
        if line[more].is_string() {
            bench = format!("{bench}, {}", word(more));
        }
    }
    let figure = figures.entry((bench, word("metric"), word("vs"))).or_insert_with(|| Figure {
        unit: word("unit"),
        min: f64::INFINITY,
        max: f64::NEG_INFINITY,
        ..Figure::default()
    });
    let judged = line["ratio"].as_f64().unwrap_or(value);
    figure.values.push(value);
    figure.judged.push(judged);
    figure.min = figure.min.min(line["min"].as_f64().unwrap_or(judged));
    figure.max = figure.max.max(line["max"].as_f64().unwrap_or(judged));
    figure.target = line["target"].as_f64();
    figure.is_cost = line["cost"] == true;
}

impl Figure {
    fn holds(&self) -> Option<bool> {
        self.over_target(median(&self.judged)).map(|over| over >= 1.0)
    }

    /// A ratio over the target, or the target over it where less is better: 1 is just enough.
    fn over_target(&self, judged: f64) -> Option<f64> {
        self.target.map(|target| if self.is_cost { target / judged } else { judged / target })
    }
}

fn text(figures: &BTreeMap<Name, Figure>, absent: &BTreeMap<String, String>) -> String {
    let mut page = HEAD.to_owned();
    let mut of = "";
    for ((bench, metric, versus), figure) in figures {
        if of != bench {
            of = bench;
            let _ = write!(page, "\n## {}\n\n", title(bench));
            page.push_str("| metric | value | over | ratio | from | to | target | |\n");
            page.push_str("|---|---|---|---|---|---|---|---|\n");
        }
        let (ratio, over) = match versus.as_str() {
            "" => (String::new(), String::new()),
            versus => (number(median(&figure.judged)), format!("`{versus}`")),
        };
        let target = figure.target.map_or_else(String::new, |target| {
            format!("{} {}", if figure.is_cost { "≤" } else { "≥" }, number(target))
        });
        let holds = match figure.holds() {
            Some(true) => "met",
            Some(false) => "**missed**",
            None => "",
        };
        let _ = writeln!(
            page,
            "| `{metric}` | {} {} | {over} | {ratio} | {} | {} | {target} | {holds} |",
            number(median(&figure.values)),
            figure.unit,
            number(figure.min),
            number(figure.max),
        );
    }
    if !absent.is_empty() {
        page.push_str("\n## Not on this machine\n\n");
        for (name, reason) in absent {
            let _ = writeln!(page, "- `{name}`: {reason}");
        }
    }
    page
}

fn title(bench: &str) -> String {
    match bench {
        "peer" => "Limits and other programs".to_owned(),
        bench => format!("`{bench}`"),
    }
}

/// One row each: where the median of its ratio stands to its target, and how far the rounds were apart.
fn plot(figures: &BTreeMap<Name, Figure>) -> String {
    const ROW: usize = 18;
    const LEFT: f64 = 330.0;
    const WIDE: f64 = 420.0;
    /// An eighth of the target, up to eight times as much.
    const DOUBLINGS: f64 = 3.0;
    let x = |over: f64| LEFT + WIDE * (over.log2() / DOUBLINGS).clamp(-1.0, 1.0).midpoint(1.0);
    let rows: Vec<_> = figures.iter().filter(|(_, figure)| figure.target.is_some()).collect();
    let high = 40 + ROW * rows.len();
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 780 {high}\" font-family=\"sans-serif\" \
         font-size=\"11\">\n<title>Every figure over its target</title>\n<rect width=\"780\" height=\"{high}\" \
         fill=\"#fff\"/>\n"
    );
    for (over, label) in
        [(0.125, "⅛"), (0.25, "¼"), (0.5, "½"), (1.0, "target"), (2.0, "2"), (4.0, "4"), (8.0, "8")]
    {
        let (at, color) = (x(over), if label == "target" { "#333" } else { "#ddd" });
        let _ = writeln!(
            svg,
            "<line x1=\"{at:.1}\" y1=\"24\" x2=\"{at:.1}\" y2=\"{high}\" stroke=\"{color}\"/><text x=\"{at:.1}\" \
             y=\"16\" text-anchor=\"middle\" fill=\"#333\">{label}</text>"
        );
    }
    for (row, ((bench, metric, versus), figure)) in rows.into_iter().enumerate() {
        let y = 38 + ROW * row;
        let [at, from, to] = [median(&figure.judged), figure.min, figure.max]
            .map(|judged| x(figure.over_target(judged).unwrap_or(1.0)));
        let color = if figure.holds() == Some(true) { "#1a7f4b" } else { "#b3261e" };
        let over = if versus.is_empty() { String::new() } else { format!(" / {versus}") };
        let _ = writeln!(
            svg,
            "<text x=\"{:.0}\" y=\"{}\" text-anchor=\"end\" fill=\"#333\">{bench}: {metric}{over}</text><line \
             x1=\"{from:.1}\" y1=\"{y}\" x2=\"{to:.1}\" y2=\"{y}\" stroke=\"{color}\" stroke-width=\"2\"/><circle \
             cx=\"{at:.1}\" cy=\"{y}\" r=\"4\" fill=\"{color}\"/>",
            LEFT - 12.0,
            y + 4,
        );
    }
    svg.push_str("</svg>\n");
    svg
}

/// The middle one; of an even number, the greater of the two in the middle.
fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Three digits, with the thousands apart.
fn number(value: f64) -> String {
    if value.abs() < 100.0 {
        let digits = if value.abs() < 1.0 { 3 } else { 2 };
        return format!("{value:.digits$}").trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    let whole = format!("{value:.0}");
    let mut out = String::new();
    for (n, digit) in whole.chars().enumerate() {
        if n > 0 && (whole.len() - n).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn page_has_the_median_of_the_runs_and_the_plot_what_has_a_target() {
        let (mut figures, mut absent) = (BTreeMap::new(), BTreeMap::new());
        for (value, ratio) in [(20_000, 4.0), (30_000, 7.0), (26_000, 6.5)] {
            let line = json!({"bench": "host", "metric": "post.c64", "value": value, "unit": "posts/s",
                "vs": "limit.fdatasync", "ratio": ratio, "min": ratio - 1.0, "max": ratio + 1.0,
                "target": 6.0, "holds": ratio >= 6.0});
            take(&line, &mut figures, &mut absent);
        }
        let cost = json!({"bench": "host", "metric": "start_ms", "value": 80.5, "unit": "ms", "min": 70,
            "max": 90, "target": 50, "cost": true, "holds": false});
        take(&cost, &mut figures, &mut absent);
        let gone =
            json!({"bench": "peer", "metric": "nats.push", "absent": true, "reason": "too old"});
        take(&gone, &mut figures, &mut absent);
        let page = text(&figures, &absent);
        let row = "| `post.c64` | 26,000 posts/s | `limit.fdatasync` | 6.5 | 3 | 8 | ≥ 6 | met |";
        assert!(page.contains(row), "{page}");
        assert!(page.contains("| `start_ms` | 80.5 ms |  |  | 70 | 90 | ≤ 50 | **missed** |"));
        assert!(page.contains("- `nats.push`: too old"));
        let plot = plot(&figures);
        assert_eq!(plot.matches("<circle").count(), 2);
        assert_eq!(plot.matches("#b3261e").count(), 2, "what is missed is red");
    }
}
