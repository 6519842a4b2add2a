//! The verdict over the evidence: each thing that must hold whatever the moment of a crash, and does not.
//!
//! No I/O and no chance. [`posts`] is about what people said, [`answers`] about what agents made of it.

mod answers;
mod posts;

use std::collections::{BTreeMap, HashMap};

use super::evidence::{Evidence, Line, Log};

/// What does not hold, each as a sentence; empty when all does.
pub fn check(evidence: &Evidence) -> Vec<String> {
    let mut wrong = evidence.wrong.clone();
    let seen = Seen::of(evidence);
    posts::check(evidence, &seen, &mut wrong);
    answers::check(evidence, &seen, &mut wrong);
    wrong
}

/// The logs, found by what is looked for.
struct Seen<'a> {
    /// Posts by conversation and text.
    posts: HashMap<&'a str, HashMap<&'a str, Vec<&'a Line>>>,
    /// Posts of agents that answer something, by that event.
    replies: HashMap<&'a str, Vec<Reply<'a>>>,
    /// Every event with its conversation.
    events: BTreeMap<&'a str, (&'a Log, &'a Line)>,
}

struct Reply<'a> {
    log: &'a Log,
    line: &'a Line,
}

impl<'a> Seen<'a> {
    fn of(evidence: &'a Evidence) -> Self {
        let mut seen =
            Self { posts: HashMap::new(), replies: HashMap::new(), events: BTreeMap::new() };
        for log in &evidence.logs {
            for line in &log.lines {
                seen.events.insert(&line.event, (log, line));
                let Some(text) = line.text.as_deref().filter(|_| line.is_post()) else { continue };
                let here = seen.posts.entry(&log.conversation).or_default();
                here.entry(text).or_default().push(line);
                if let (Some(to), true) = (&line.in_reply_to, evidence.is_agent(&line.author)) {
                    seen.replies.entry(to).or_default().push(Reply { log, line });
                }
            }
        }
        seen
    }

    fn posts(&self, conversation: &str, text: &str) -> &[&'a Line] {
        let here = self.posts.get(conversation).and_then(|here| here.get(text));
        here.map_or(&[], Vec::as_slice)
    }

    fn replies(&self, event: &str) -> &[Reply<'a>] {
        self.replies.get(event).map_or(&[], Vec::as_slice)
    }
}

impl Evidence {
    fn is_agent(&self, member: &str) -> bool {
        self.agents.iter().any(|agent| agent == member)
    }
}

#[cfg(test)]
mod tests;
