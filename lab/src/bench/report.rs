//! Samples of a run, and the lines made from them.
//!
//! A sample is named by its measurement (`post.c64`, `limit.fdatasync`); a line compares two names.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::Plan;

/// What was measured so far: for each name one value a round, and who is absent and why.
#[derive(Default)]
pub(crate) struct Samples {
    values: BTreeMap<String, Vec<f64>>,
    absent: BTreeMap<String, String>,
    failures: Vec<String>,
}

/// One line of the report.
#[derive(Clone, Copy)]
pub(crate) struct Figure {
    /// `host`, `mcp`, `channels`, `registry` or `webhook`, or `peer` for what is only compared with.
    bench: &'static str,
    metric: &'static str,
    unit: &'static str,
    /// The sample that is the value; most often of the metric's own name.
    sample: &'static str,
    /// The name printed after `vs`, and the sample it stands for.
    versus: Option<(&'static str, &'static str)>,
    /// The bound on the ratio, or on the value where there is no ratio.
    target: Option<Target>,
}

impl Figure {
    /// A value of ours.
    pub(crate) const fn ours(metric: &'static str, unit: &'static str) -> Self {
        Self::of_bench("host", metric, unit)
    }

    /// A value of ours over MCP.
    pub(crate) const fn mcp(metric: &'static str, unit: &'static str) -> Self {
        Self::of_bench("mcp", metric, unit)
    }

    /// A value of ours with a million messages in channels.
    pub(crate) const fn channels(metric: &'static str, unit: &'static str) -> Self {
        Self::of_bench("channels", metric, unit)
    }

    /// A value of ours with agents behind connection strings.
    pub(crate) const fn webhook(metric: &'static str, unit: &'static str) -> Self {
        Self::of_bench("webhook", metric, unit)
    }

    /// A value of ours with agents for hire.
    pub(crate) const fn registry(metric: &'static str, unit: &'static str) -> Self {
        Self::of_bench("registry", metric, unit)
    }

    /// A value of ours with several hosts on a database.
    pub(crate) const fn scale(metric: &'static str, unit: &'static str) -> Self {
        Self::of_bench("scale", metric, unit)
    }

    /// A limit's or a peer's own value.
    pub(crate) const fn peer(metric: &'static str, unit: &'static str) -> Self {
        Self::of_bench("peer", metric, unit)
    }

    const fn of_bench(bench: &'static str, metric: &'static str, unit: &'static str) -> Self {
        Self { bench, metric, unit, sample: metric, versus: None, target: None }
    }

    /// The value is that of another sample.
    pub(crate) const fn of(mut self, sample: &'static str) -> Self {
        self.sample = sample;
        self
    }

    /// Whether it is compared with one of these.
    pub(crate) fn is_against(&self, names: &[&str]) -> bool {
        self.versus.is_some_and(|(name, _)| names.contains(&name))
    }

    /// Compared with the sample of that name.
    pub(crate) const fn over(self, name: &'static str) -> Self {
        self.over_sample(name, name)
    }

    /// Compared with a sample that is printed under another name.
    pub(crate) const fn over_sample(mut self, printed: &'static str, sample: &'static str) -> Self {
        self.versus = Some((printed, sample));
        self
    }

    /// Higher is better, and this is the least we want.
    pub(crate) const fn at_least(mut self, bound: f64) -> Self {
        self.target = Some(Target::AtLeast(bound));
        self
    }

    /// A cost, and this is the most we want.
    pub(crate) const fn at_most(mut self, bound: f64) -> Self {
        self.target = Some(Target::AtMost(bound));
        self
    }
}

/// A bound we set ourselves.
#[derive(Clone, Copy)]
enum Target {
    /// Higher is better.
    AtLeast(f64),
    /// A cost: lower is better.
    AtMost(f64),
}

impl Samples {
    /// Adds this round's value.
    pub(crate) fn add(&mut self, name: &str, value: f64) {
        eprintln!("  {name:28} {}", short(value));
        self.values.entry(name.to_owned()).or_default().push(value);
    }

    /// Takes the measurement `name` if it was asked for, and notes its value or its failure.
    pub(crate) fn take(
        &mut self,
        plan: &Plan,
        name: &str,
        measure: &mut dyn FnMut() -> Result<f64, String>,
    ) {
        if plan.wants(name) {
            match measure() {
                Ok(value) => self.add(name, value),
                Err(why) => self.failed(name, &why),
            }
        }
    }

    /// What was measured so far under this name.
    pub(crate) fn values_of(&self, name: &str) -> Vec<f64> {
        self.values.get(name).cloned().unwrap_or_default()
    }

    /// Notes that a peer is not on this machine.
    pub(crate) fn absent(&mut self, name: &str, reason: &str) {
        self.absent.insert(name.to_owned(), reason.to_owned());
    }

    /// Notes that a measurement failed; its line will be missing and the run will say so.
    pub(crate) fn failed(&mut self, name: &str, why: &str) {
        eprintln!("  {name:28} FAILED: {why}");
        self.failures.push(format!("{name}: {why}"));
    }

    /// Forgets what the warm-up measured, and keeps who is absent.
    pub(crate) fn start_over(&mut self) {
        self.values.clear();
        self.failures.clear();
    }

    /// What failed, once for each name and reason.
    pub(crate) fn failures(mut self) -> Vec<String> {
        self.failures.dedup();
        self.failures
    }

    /// Prints the lines that there are samples for; ours with the database they are of.
    pub(crate) fn print(&self, figures: &[Figure], database: Option<&str>) {
        for (name, reason) in &self.absent {
            println!(
                "{}",
                json!({"bench": "peer", "metric": name, "absent": true, "reason": reason})
            );
        }
        for mut line in figures.iter().filter_map(|figure| self.line(figure)) {
            if let Some(database) = database.filter(|_| line["bench"] != "peer") {
                line["database"] = json!(database);
            }
            println!("{line}");
        }
    }

    fn line(&self, figure: &Figure) -> Option<Value> {
        let ours = self.values.get(figure.sample)?;
        let value = median(ours);
        let mut line = json!({
            "bench": figure.bench,
            "metric": figure.metric,
            "value": rounded(value),
            "unit": figure.unit,
        });
        let judged = match figure.versus {
            None => ours.clone(),
            Some((printed, sample)) => {
                let theirs = self.values.get(sample)?;
                line["vs"] = json!(printed);
                ours.iter().zip(theirs).map(|(ours, theirs)| ours / theirs).collect()
            }
        };
        let middle = median(&judged);
        if figure.versus.is_some() {
            line["ratio"] = json!(rounded(middle));
        }
        line["min"] = json!(rounded(judged.iter().copied().fold(f64::INFINITY, f64::min)));
        line["max"] = json!(rounded(judged.iter().copied().fold(f64::NEG_INFINITY, f64::max)));
        match figure.target {
            None => {}
            Some(Target::AtLeast(bound)) => {
                line["target"] = json!(bound);
                line["holds"] = json!(middle >= bound);
            }
            Some(Target::AtMost(bound)) => {
                line["cost"] = json!(true);
                line["target"] = json!(bound);
                line["holds"] = json!(middle <= bound);
            }
        }
        Some(line)
    }
}

/// The median; not a number when there is no value.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match (sorted.len(), sorted.len() / 2) {
        (0, _) => f64::NAN,
        (n, middle) if n % 2 == 1 => sorted[middle],
        (_, middle) => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

/// Four significant digits: more than a measurement holds.
pub(crate) fn rounded(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let scale = 10_f64.powi(3 - value.abs().log10().floor() as i32);
    (value * scale).round() / scale
}

fn short(value: f64) -> String {
    if value >= 100.0 { format!("{value:.0}") } else { format!("{value:.2}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_the_median_of_the_rounds_ratios() {
        let mut samples = Samples::default();
        for (ours, theirs) in [(40.0, 10.0), (90.0, 30.0), (10.0, 5.0)] {
            samples.add("post.c64", ours);
            samples.add("limit.fdatasync", theirs);
        }
        let figure = Figure::ours("post.c64", "posts/s").over("limit.fdatasync").at_least(4.0);
        let line = samples.line(&figure).unwrap();
        assert_eq!(line["value"], 40.0);
        assert_eq!(line["ratio"], 3.0);
        assert_eq!((&line["min"], &line["max"]), (&json!(2.0), &json!(4.0)));
        assert_eq!(line["holds"], false);
    }

    #[test]
    fn a_comparison_with_an_absent_peer_is_no_line() {
        let mut samples = Samples::default();
        samples.add("post.c64", 1.0);
        let figure = Figure::ours("post.c64", "posts/s").over("nats.sync_always");
        assert_eq!(samples.line(&figure), None);
    }

    #[test]
    fn medians_and_digits() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0]), 2.5);
        assert_eq!(rounded(12_345.6), 12_350.0);
        assert_eq!(rounded(0.123_456), 0.1235);
    }
}
