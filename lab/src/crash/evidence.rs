//! What was said to the host, what it answered, and what it showed afterwards.

/// Everything the verdict is made of.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    pub said: Vec<Said>,
    pub logs: Vec<Log>,
    pub directed: Vec<Directed>,
    /// Ids of the agents.
    pub agents: Vec<String>,
    /// Agent and event, once for each run of a runtime.
    pub runs: Vec<(String, String)>,
    /// Agent and event whose harness was killed in each turn that it may begin for it.
    pub given_up: Vec<(String, String)>,
    /// What went wrong while it was gathered: answers that should not have been given.
    pub wrong: Vec<String>,
}

/// A message that a person tried to post.
#[derive(Clone, Debug)]
pub struct Said {
    pub author: String,
    /// The conversation's id.
    pub conversation: String,
    /// Whether it was said in the conversation's thread.
    pub in_thread: bool,
    /// Unlike every other message's.
    pub text: String,
    pub asked: Asked,
    pub fate: Fate,
}

/// Whom a message asks for an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    Nobody,
    /// Each of these agents, by its handle.
    Agents(Vec<String>),
    /// One agent of a role.
    Role,
}

/// What the host answered in the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    Acknowledged {
        event: String,
        seq: u64,
        thread_seq: Option<u64>,
    },
    /// Each answer was lost, and the author gave up.
    Unknown,
}

/// A conversation as it is in the end.
#[derive(Clone, Debug, Default)]
pub struct Log {
    pub conversation: String,
    /// The seq of the newest event, as the conversation has it.
    pub last_seq: u64,
    /// Every event, as listed.
    pub lines: Vec<Line>,
}

/// One event of a log; of a message, with its author and text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    pub event: String,
    pub seq: u64,
    pub kind: String,
    pub author: String,
    pub text: Option<String>,
    pub thread: Option<String>,
    pub thread_seq: Option<u64>,
    pub in_reply_to: Option<String>,
}

impl Line {
    pub fn is_post(&self) -> bool {
        self.kind == "message_posted"
    }
}

/// What came of a message that asks somebody.
#[derive(Clone, Debug)]
pub struct Directed {
    pub event: String,
    pub owed: Vec<Owed>,
}

/// One who was told of it.
#[derive(Clone, Debug)]
pub struct Owed {
    pub member: String,
    /// The rule: `mention`, `role_mention`, …
    pub reason: String,
    pub policy: String,
    /// `waiting`, `offered`, `accepted`, `settled` or `dead`; empty where there is no receipt.
    pub state: String,
    pub disposition: Option<String>,
}
