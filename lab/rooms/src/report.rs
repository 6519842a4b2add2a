//! The lines of the report: one JSON object a figure on standard output, misses with their trace on standard error.

use serde_json::{Map, Value, json};

use crate::lines::Chat;
use crate::replay::Decided;

/// What is printed of a set.
pub(crate) struct Report {
    set: String,
    explain: bool,
    pub lines: Vec<Value>,
}

/// Bounds that the project has set itself: set (how its name begins), metric, bound, and whether it is the most.
const TARGETS: [(&str, &str, f64, bool); 16] = [
    ("irc-ubuntu", "addressee.implicit", 0.80, false),
    ("irc-sec", "addressee.implicit", 0.77, false),
    ("irc-ubuntu", "directedness.macro_f1", 0.91, false),
    ("irc-ubuntu", "turns.per_100", 42.0, true),
    ("irc-ubuntu", "turns.recall", 0.85, false),
    ("irc-sec", "merge.f1", 0.70, false),
    ("irc-sec", "merge.wait_p50_ms", 2_000.0, true),
    ("irc-sec", "merge.wait_p95_ms", 5_000.0, true),
    ("acts", "ack.f1", 0.80, false),
    ("acts", "question.f1", 0.92, false),
    ("molweni", "question.f1", 0.92, false),
    ("irc-ubuntu", "responders.per_question", 1.0, true),
    ("irc-ubuntu", "answered.per_question", 0.95, false),
    ("irc-sec", "responders.per_question", 1.0, true),
    ("irc-sec", "answered.per_question", 0.95, false),
    ("", "decide_us", 5.0, true),
];

/// A part of a whole; 0 of nothing.
pub(crate) fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

impl Report {
    pub(crate) fn new(set: &str, explain: bool) -> Self {
        Self { set: set.to_owned(), explain, lines: Vec::new() }
    }

    pub(crate) fn figure(&mut self, metric: &str, value: f64, unit: &str) {
        let mut line = Map::new();
        line.insert("bench".into(), json!("attention"));
        line.insert("set".into(), json!(self.set));
        line.insert("metric".into(), json!(metric));
        line.insert("value".into(), json!((value * 1e4).round() / 1e4));
        line.insert("unit".into(), json!(unit));
        let target = TARGETS.iter().find(|t| self.set.starts_with(t.0) && t.1 == metric);
        if let Some((_, _, bound, most)) = target {
            if *most {
                line.insert("cost".into(), json!(true));
            }
            line.insert("target".into(), json!(bound));
            line.insert(
                "holds".into(),
                json!(if *most { value <= *bound } else { value >= *bound }),
            );
        }
        self.lines.push(Value::Object(line));
    }

    /// A figure that cannot be taken, and why not.
    pub(crate) fn absent(&mut self, metric: &str, reason: &str) {
        let set = &self.set;
        self.lines.push(json!({
            "bench": "attention", "set": set, "metric": metric, "absent": true, "reason": reason,
        }));
    }

    /// Bounds one figure by another that was taken before.
    pub(crate) fn no_worse(&mut self, metric: &str, than: &str) {
        let taken = self.lines.iter().find(|line| line["metric"] == than);
        let Some(bound) = taken.and_then(|line| line["value"].as_f64()) else { return };
        let Some(line) = self.lines.iter_mut().find(|line| line["metric"] == metric) else {
            return;
        };
        line["target"] = json!(bound);
        line["holds"] = json!(line["value"].as_f64().is_some_and(|value| value >= bound));
    }

    pub(crate) fn print(&self) {
        self.lines.iter().for_each(|line| println!("{line}"));
    }

    /// A line whose addressee was missed.
    pub(crate) fn explain(&self, chat: &Chat, at: usize, decided: &Decided, to: &[usize]) {
        if self.explain {
            let name = |who: &usize| chat.authors.get(*who).map_or("?", String::as_str);
            let to: Vec<&str> = to.iter().map(name).collect();
            let ours = decided.addressee();
            let ours = ours.as_ref().map_or("nobody", name);
            let what = format!("to {to:?}, decided {ours}");
            self.miss(chat, at, decided, &what);
        }
    }

    /// A line whose act was missed.
    pub(crate) fn explain_act(
        &self,
        chat: &Chat,
        at: usize,
        decided: &Decided,
        label: &str,
        weight: f64,
    ) {
        if self.explain {
            let intent = decided.attention.intent.name();
            let what = format!("label {label} (weight {weight}), decided {intent}");
            self.miss(chat, at, decided, &what);
        }
    }

    /// A line of a sample that is in no file.
    pub(crate) fn missing(&self, place: &str) {
        eprintln!("{}: {place} is in no file of the folder", self.set);
    }

    fn miss(&self, chat: &Chat, at: usize, decided: &Decided, what: &str) {
        let line = &chat.heard[at];
        let author = line.author.map_or("", |a| &chat.authors[a]);
        eprintln!("{} {} {}: {what}", self.set, chat.conv, chat.noted[at].seq);
        eprintln!("    {author}: {}", line.text);
        for told in &decided.attention.told {
            let decision = told.decision;
            let who = chat.authors.get(told.member.0 as usize - 1).map_or("?", String::as_str);
            let words = [
                decision.rule.name(),
                decision.directedness.name(),
                decision.policy.name(),
                decision.mode.name(),
            ];
            eprintln!("    {who}: {}", words.join(" "));
        }
    }
}
