//! A conversation on a clock of its own. Every effect becomes one short line; times are milliseconds.

use chorus_core::attention::compose::Settings;
use chorus_core::model::attention::{Directedness, Intent, Mode, Policy, Priority};
use chorus_core::model::conversation::ConversationKind;
use chorus_core::model::disposition::Disposition;
use chorus_core::model::ids::Timestamp;
use chorus_core::model::member::MemberKind;
use chorus_wire::attention::content::{Author, ConversationRef, Source, Timing};
use chorus_wire::attention::deliver::{AttentionNote, Deliver, Injection, Reliability, Target};
use chorus_wire::part::Part;

use crate::journal::Step;
use crate::options::Knocks;
use crate::runtime::End;
use crate::turns::{ClaimAnswer, Effect, Input, Rules, Turns};

pub(super) struct Sim {
    pub turns: Turns,
    now: i64,
    log: Vec<String>,
}

/// A must-respond message of alice in one channel, shown in full.
pub(crate) fn message(event: &str) -> Deliver {
    Deliver {
        event_id: event.into(),
        source: Source { platform: "chorus".into(), workspace_id: "wk_1".into() },
        conversation: ConversationRef {
            id: "ch_1".into(),
            kind: ConversationKind::Channel.into(),
            title: None,
            stream_id: None,
            thread_id: None,
        },
        author: Author {
            id: "alice".into(),
            kind: MemberKind::Human.into(),
            display_name: "Alice".into(),
        },
        timing: Timing { created_at: Timestamp(0).into(), sequence: 1, thread_sequence: None },
        replaces: None,
        in_reply_to: None,
        target: Target {
            mentions: vec![],
            recipient: None,
            directedness: Directedness::ToMe.into(),
        },
        content: Some(vec![Part::text(format!(
            "the log of the second machine shows {event} since noon"
        ))]),
        attention: AttentionNote {
            policy: Policy::MustRespond.into(),
            reason: "mention".into(),
            priority: Priority::Normal.into(),
            deadline_ms: None,
            intent: Some(Intent::Question.into()),
        },
        injection: Injection { mode: Mode::Buffered.into(), context: None, role: None },
        reliability: Reliability { attempt: 1, idempotency_key: format!("{event}:bot") },
        turn: None,
        channel: None,
        audience: vec![],
        audience_more: 0,
        knock: None,
        metadata: None,
        mcp: Vec::new(),
        channel_context: None,
    }
}

pub(super) fn by(author: &'static str, event: &str) -> Deliver {
    let mut delivery = message(event);
    delivery.author.id = author.into();
    delivery
}

pub(super) fn may(event: &str) -> Deliver {
    let mut delivery = message(event);
    delivery.attention.policy = Policy::MayRespond.into();
    delivery
}

/// A knock under `may_respond`, for this reason.
pub(crate) fn knock(event: &str, reason: &'static str) -> Deliver {
    let mut delivery = may(event);
    delivery.content = None;
    delivery.injection.mode = Mode::Notify.into();
    delivery.attention.reason = reason.into();
    delivery
}

pub(crate) fn edit(event: &str, replaces: &str) -> Deliver {
    Deliver { replaces: Some(replaces.into()), ..message(event) }
}

impl Sim {
    pub(super) fn new() -> Self {
        Self::with(Knocks::Hold, 4)
    }

    pub(super) fn with(knocks: Knocks, parallel: usize) -> Self {
        // 5 s, whatever was said.
        let compose = Settings { quiet_ms: 5_000, unfinished_ms: 5_000, cap_ms: 30_000 };
        let rules = Rules { compose, knocks, parallel };
        let mut sim = Self { turns: Turns::new(rules), now: 0, log: Vec::new() };
        sim.give(Input::Linked(true));
        sim
    }

    /// With the waits that an agent has by default.
    pub(super) fn by_default() -> Self {
        let rules = Rules { compose: Settings::default(), knocks: Knocks::Hold, parallel: 4 };
        let mut sim = Self { turns: Turns::new(rules), now: 0, log: Vec::new() };
        sim.give(Input::Linked(true));
        sim
    }

    /// Alice posts this now.
    pub(super) fn post(&mut self, event: &str, text: &str) -> &mut Self {
        let mut delivery = message(event);
        delivery.content = Some(vec![Part::text(text)]);
        delivery.timing.created_at = Timestamp(self.now).into();
        self.deliver(delivery)
    }

    /// Lets time pass, doing what becomes due on the way.
    pub(super) fn at(&mut self, ms: i64) -> &mut Self {
        while let Some(due) = self.turns.due().filter(|due| due.0 <= ms) {
            self.now = self.now.max(due.0);
            let effects = self.turns.poll(Timestamp(self.now));
            assert!(!effects.is_empty(), "due at {} and nothing to do", self.now);
            self.write(effects);
        }
        self.now = ms;
        self
    }

    pub(super) fn give(&mut self, input: Input) -> &mut Self {
        let effects = self.turns.handle(input, Timestamp(self.now));
        self.write(effects);
        self
    }

    pub(super) fn deliver(&mut self, delivery: Deliver) -> &mut Self {
        self.give(Input::Delivered(delivery))
    }

    pub(super) fn cancel(&mut self, event: &str) -> &mut Self {
        self.give(Input::Cancelled { event: event.into(), reason: "deleted".into() })
    }

    pub(super) fn typing(&mut self, typing: bool) -> &mut Self {
        let (conversation, author) = ("ch_1".into(), "alice".into());
        self.give(Input::Typing { conversation, author, typing })
    }

    pub(super) fn held(&mut self, delivery: Deliver) -> &mut Self {
        let event = delivery.event_id.clone();
        self.give(Input::Claimed { event, answer: ClaimAnswer::Held(Box::new(delivery)) })
    }

    pub(super) fn says(&mut self, turn: u64, text: &str) -> &mut Self {
        self.ends(turn, End::Said(text.into()))
    }

    pub(super) fn fails(&mut self, turn: u64) -> &mut Self {
        self.ends(turn, End::Failed { note: "exit 1".into() })
    }

    pub(super) fn ends(&mut self, turn: u64, end: End) -> &mut Self {
        self.give(Input::Ended { turn, end, acted: false })
    }

    pub(super) fn now(&self) -> i64 {
        self.now
    }

    pub(super) fn lines(&mut self) -> Vec<String> {
        std::mem::take(&mut self.log)
    }

    /// The lines since the last look.
    #[track_caller]
    pub(super) fn expect(&mut self, lines: &[&str]) -> &mut Self {
        assert_eq!(std::mem::take(&mut self.log), lines);
        self
    }

    fn write(&mut self, effects: Vec<Effect>) {
        let now = self.now;
        self.log.extend(effects.into_iter().filter_map(line).map(|line| format!("{now} {line}")));
    }
}

fn line(effect: Effect) -> Option<String> {
    Some(match effect {
        // The start of the turn itself says the same.
        Effect::Record(Step::Started { .. } | Step::Stopped { .. }) => return None,
        Effect::Record(Step::Reply { event, body, .. }) => format!("reply {event}: {body}"),
        Effect::Record(Step::Settle { event, disposition, signal, tell, note }) => {
            let signal = signal.map(|s| format!(" {}", s.name())).unwrap_or_default();
            let quietly = if tell { "" } else { " quietly" };
            let failed = disposition == Disposition::Failed;
            let note = note.filter(|_| failed).map(|note| format!(": {note}")).unwrap_or_default();
            format!("settle {event} {}{signal}{quietly}{note}", disposition.name())
        }
        Effect::Start(turn) => {
            let batch: Vec<_> = turn.batch.iter().map(|d| d.event_id.as_str()).collect();
            let knocks: Vec<_> = turn.knocks.iter().map(|d| d.event_id.as_str()).collect();
            let knocks = if knocks.is_empty() {
                String::new()
            } else {
                format!(" with {}", knocks.join(" "))
            };
            let look = if turn.look_first { " look" } else { "" };
            let (id, attempt) = (turn.id, turn.attempt);
            let anchor = &turn.anchor().unwrap().event_id;
            format!("start {id}.{attempt} {} for {anchor}{knocks}{look}", batch.join(" "))
        }
        Effect::Stop(turn) | Effect::Join(turn) => format!("stop {turn}"),
        Effect::Claim(event) => format!("claim {event}"),
    })
}
