//! Summarises a thread's work in a few sentences. The caller supplies names; text in quotation
//! marks is its author's.

use std::fmt::Write;

use super::{Activity, Finding, Said, Verdict};
use crate::model::ids::MemberKey;
use crate::model::text::is_unseen;
use crate::model::thread::ThreadStatus;

/// How many items of one kind are named; the rest are counted.
const NAMED: usize = 10;
/// Longest quotation in characters.
const QUOTED: usize = 120;

impl Activity {
    /// The summary of a thread with `n` messages. `name` returns a member's displayed name.
    pub fn summary(
        &self,
        n: u64,
        status: ThreadStatus,
        name: &dyn Fn(MemberKey) -> String,
    ) -> String {
        let mut text = self.counts();
        let said = |said: &Said| {
            format!("{} (#{}, {})", quote(&said.text), said.thread_seq, name(said.by))
        };
        let finding = |f: &Finding| {
            let id = f.id.as_deref().map(|id| format!("{}: ", named(id)));
            format!(
                "{}{} (#{}, {})",
                id.unwrap_or_default(),
                quote(&f.text),
                f.thread_seq,
                name(f.by)
            )
        };
        list(&mut text, "Open findings", self.open().map(finding));
        list(&mut text, "Decided", self.decisions.iter().map(said));
        list(&mut text, "Escalated", self.escalations.iter().map(said));
        list(&mut text, "Open questions", self.questions.iter().map(|q| said(&q.said)));
        list(&mut text, "Waiting", self.waiting(name).into_iter());
        // Writing into a string does not fail.
        let _ =
            write!(text, " {n} {} in all. Status: {}", plural(n == 1, "message"), status.name());
        if let Some(last) = &self.status {
            let _ = write!(text, ", {} by {}", quote(&last.text), name(last.by));
        }
        text.push('.');
        text
    }

    fn counts(&self) -> String {
        let with = |verdict| self.findings.iter().filter(|f| f.verdict == verdict).count();
        let mut text = match self.findings.len() {
            0 => "No findings reported.".to_owned(),
            n => format!(
                "{n} {} reported: {} open, {} verified, {} rejected.",
                plural(n == 1, "finding"),
                with(Verdict::Open),
                with(Verdict::Verified),
                with(Verdict::Rejected),
            ),
        };
        let counts = [
            (self.fixes, "fix", " pushed"),
            (self.reviews, "re-review", " requested"),
            (self.others, "other event", ""),
        ];
        for (n, what, done) in counts.into_iter().filter(|(n, ..)| *n > 0) {
            let _ = write!(text, " {n} {}{done}.", plural(n == 1, what));
        }
        text
    }

    /// Members who were asked and have not answered, and members who asked for another review of
    /// findings that are still open.
    fn waiting(&self, name: &dyn Fn(MemberKey) -> String) -> Vec<String> {
        let line = |by, of, seq: u64| format!("{} waits for {} (#{seq})", name(by), name(of));
        let mut all: Vec<_> =
            self.waits.iter().map(|w| (w.thread_seq, line(w.by, w.of, w.thread_seq))).collect();
        for asked in &self.reviews_asked {
            let mut of: Vec<_> = self.open().map(|f| f.by).filter(|by| *by != asked.by).collect();
            of.sort_unstable();
            of.dedup();
            let seq = asked.thread_seq;
            all.extend(of.into_iter().map(|of| (seq, line(asked.by, of, seq))));
        }
        all.sort();
        all.dedup();
        all.into_iter().map(|(_, line)| line).collect()
    }
}

fn list(text: &mut String, what: &str, all: impl Iterator<Item = String>) {
    let all: Vec<_> = all.collect();
    if all.is_empty() {
        return;
    }
    let named: Vec<_> = all.iter().take(NAMED).map(String::as_str).collect();
    let _ = write!(text, " {what}: {}", named.join("; "));
    if all.len() > NAMED {
        let _ = write!(text, "; and {} more", all.len() - NAMED);
    }
    text.push('.');
}

fn quote(text: &str) -> String {
    format!("\"{}\"", plain(text, QUOTED).replace('"', "'"))
}

/// An id as its author wrote it, if it cannot be mistaken for anything else.
fn named(id: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '#' | '/');
    if id.chars().all(is_plain) { plain(id, QUOTED) } else { quote(id) }
}

/// The text on one line, without invisible characters, and shortened.
fn plain(text: &str, most: usize) -> String {
    let text: String = text.chars().filter(|c| c.is_control() || !is_unseen(*c)).collect();
    let line: Vec<_> = text.split(|c: char| c.is_whitespace() || c.is_control()).collect();
    let line = line.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

fn plural(one: bool, word: &str) -> String {
    match (one, word) {
        (true, _) => word.to_owned(),
        (_, "fix") => "fixes".to_owned(),
        _ => format!("{word}s"),
    }
}
