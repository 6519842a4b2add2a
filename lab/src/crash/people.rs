//! The people: each says one thing after the other, with a key that is its own, and says it again with the
//! same key when no answer comes.
//!
//! Some give up after a lost answer; some ask again long after they were answered, which must give what they
//! were told before; some use a key for something else, which must be refused. What they were told is the
//! evidence.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::chance::Chance;
use super::door::{Answer, Door};
use super::evidence::{Asked, Fate, Said};

/// What is needed to speak in a conversation.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) conversation: String,
    pub(super) thread: String,
}

/// What came of one person's day.
#[derive(Debug, Default)]
pub(super) struct Spoken {
    pub(super) said: Vec<Said>,
    pub(super) wrong: Vec<String>,
    pub(super) counts: Counts,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    /// Answers that did not come.
    pub(super) lost: usize,
    /// Posts sent again after that and found to be there already.
    pub(super) found_posted: usize,
    /// Posts sent again after their acknowledgement; each gave the original.
    pub(super) repeated: usize,
    /// Keys used for something else; each was refused.
    pub(super) conflicts: usize,
}

impl Counts {
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            lost: self.lost + other.lost,
            found_posted: self.found_posted + other.found_posted,
            repeated: self.repeated + other.repeated,
            conflicts: self.conflicts + other.conflicts,
        }
    }
}

pub(super) struct Person {
    pub(super) id: String,
    pub(super) door: Door,
    pub(super) places: Vec<Place>,
    pub(super) agents: Vec<String>,
    /// The role's handle.
    pub(super) role: String,
    pub(super) chance: Chance,
    pub(super) spoken: Spoken,
    /// Acknowledged posts: what was sent, and its index in `said`.
    answered: Vec<(Value, usize)>,
}

/// Longest time a host is away; it is started again at once.
const AWAY: Duration = Duration::from_secs(60);
/// Pause between two tries while it is.
const PAUSE: Duration = Duration::from_millis(15);
/// One post in so many asks somebody.
const ASKS: u64 = 24;

enum Sent {
    /// A success, and whether answers were lost before it.
    Taken(Value, bool),
    /// Answers were lost, and the author gives up.
    GivenUp,
    Refused(u16, Value),
}

impl Person {
    pub(super) fn new(id: &str, door: Door, places: &[Place], chance: Chance) -> Self {
        Self {
            id: id.to_owned(),
            door,
            places: places.to_vec(),
            agents: Vec::new(),
            role: String::new(),
            chance,
            spoken: Spoken::default(),
            answered: Vec::new(),
        }
    }

    /// Speaks until told to stop.
    pub(super) fn speak(mut self, stop: &Arc<AtomicBool>) -> Spoken {
        while !stop.load(Ordering::Relaxed) && self.spoken.wrong.len() < 10 {
            match self.chance.within(0..40) {
                0 => self.repeat(),
                1 => self.reuse_a_key(),
                _ => self.say_something(),
            }
            std::thread::sleep(self.chance.millis(1..12));
        }
        // What was answered by hosts long dead is known to the last one too.
        for _ in 0..25 {
            self.repeat();
        }
        self.spoken
    }

    fn say_something(&mut self) {
        let number = self.spoken.said.len();
        let place = self.places[self.chance.index(self.places.len())].clone();
        let in_thread = self.chance.one_in(4);
        let (asked, text) = self.words(number);
        let mut body = json!({
            "conversation": place.conversation,
            "text": text,
            "idempotency_key": format!("{}-{number}", self.id),
        });
        if in_thread {
            body["thread"] = json!(place.thread);
        }
        let author = self.id.clone();
        let conversation = place.conversation;
        let fate = match self.send(&body, true) {
            Sent::Taken(posted, lost) => {
                self.count_duplicate(&posted, lost, &text);
                self.answered.push((body, number));
                acknowledged(&posted)
            }
            Sent::GivenUp => Fate::Unknown,
            Sent::Refused(status, body) => {
                self.wrong(format!("{text:?} was refused: HTTP {status}: {body}"));
                Fate::Unknown
            }
        };
        self.spoken.said.push(Said { author, conversation, in_thread, text, asked, fate });
    }

    fn count_duplicate(&mut self, posted: &Value, lost: bool, text: &str) {
        match (posted["duplicate"].as_bool(), lost) {
            (Some(true), true) => self.spoken.counts.found_posted += 1,
            (Some(false), _) => {}
            (other, _) => self.wrong(format!("{text:?} is a duplicate of nothing: {other:?}")),
        }
    }

    /// Whom it asks, and the words, which nobody else uses.
    fn words(&mut self, number: usize) -> (Asked, String) {
        let what = format!("item {}-{number}", self.id);
        if !self.chance.one_in(ASKS) {
            return (Asked::Nobody, format!("For the record, {what} went through."));
        }
        let first = self.chance.index(self.agents.len());
        let agent = self.agents[first].clone();
        match self.chance.within(0..4) {
            0 => (Asked::Role, format!("@{}: could one of you look at {what}?", self.role)),
            1 => {
                let other = self.agents[(first + 1) % self.agents.len()].clone();
                let text = format!("@{agent} and @{other}, what do you make of {what}?");
                (Asked::Agents(vec![agent, other]), text)
            }
            _ => {
                let text = format!("@{agent} could you look at {what}, please?");
                (Asked::Agents(vec![agent]), text)
            }
        }
    }

    /// Sends what was answered before, as a client does that has forgotten the answer.
    fn repeat(&mut self) {
        if self.answered.is_empty() {
            return;
        }
        let (body, index) = self.answered[self.chance.index(self.answered.len())].clone();
        let before = self.spoken.said[index].fate.clone();
        match self.send(&body, false) {
            Sent::Taken(posted, _)
                if posted["duplicate"] == true && acknowledged(&posted) == before =>
            {
                self.spoken.counts.repeated += 1;
            }
            Sent::Taken(posted, _) => {
                let wrong = format!("{before:?} sent again gave {posted}");
                self.wrong(wrong);
            }
            Sent::Refused(status, answer) => {
                let wrong = format!("{before:?} sent again: HTTP {status}: {answer}");
                self.wrong(wrong);
            }
            Sent::GivenUp => {}
        }
    }

    /// Sends something else under a key that is taken.
    fn reuse_a_key(&mut self) {
        if self.answered.is_empty() {
            return;
        }
        let (mut body, _) = self.answered[self.chance.index(self.answered.len())].clone();
        body["text"] = json!(format!("{} but other words", body["text"].as_str().unwrap_or("")));
        match self.send(&body, false) {
            Sent::Refused(409, answer) if answer["error"]["code"] == "IDEMPOTENCY_CONFLICT" => {
                self.spoken.counts.conflicts += 1;
            }
            Sent::Taken(answer, _) | Sent::Refused(_, answer) => {
                self.wrong(format!("a key used for other words gave {answer}"));
            }
            Sent::GivenUp => {}
        }
    }

    /// Posts until there is an answer. After a lost one the author may give up, if it may.
    fn send(&mut self, body: &Value, may_give_up: bool) -> Sent {
        let began = Instant::now();
        let mut lost = false;
        loop {
            match self.door.ask("POST", "/v1/messages", body) {
                Answer::Given(200..300, posted) => return Sent::Taken(posted, lost),
                // What the host says may be tried again; whether it was done then is not known.
                Answer::Given(status @ (429 | 500..600), answer) => {
                    if status == 500 {
                        self.wrong(format!("HTTP {status}: {answer}"));
                    }
                    lost = true;
                }
                Answer::Given(status, answer) => return Sent::Refused(status, answer),
                Answer::Lost => {
                    self.spoken.counts.lost += 1;
                    lost = true;
                    if may_give_up && self.chance.one_in(4) {
                        return Sent::GivenUp;
                    }
                }
                Answer::Down => {}
            }
            if began.elapsed() > AWAY {
                self.wrong(format!("no answer in {AWAY:?}: {body}"));
                return Sent::GivenUp;
            }
            std::thread::sleep(PAUSE);
        }
    }

    fn wrong(&mut self, what: String) {
        self.spoken.wrong.push(format!("{}: {what}", self.id));
    }
}

fn acknowledged(posted: &Value) -> Fate {
    Fate::Acknowledged {
        event: posted["event_id"].as_str().unwrap_or_default().to_owned(),
        seq: posted["seq"].as_u64().unwrap_or_default(),
        thread_seq: posted["thread_seq"].as_u64(),
    }
}
