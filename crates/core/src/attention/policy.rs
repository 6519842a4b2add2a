//! Policy and injection: what a member owes for an event, and what it is shown.
//!
//! [`MATRIX`] is the default matrix of the C2A spec, with every "or" resolved as design section 5
//! says. It is the only place where a policy is chosen: [`decide`] takes the first row that fits
//! and adds only the urgency and the deadline. Rows are tried from top to bottom, so an exception
//! comes before the rule it is an exception to.
//!
//! Invariant, tested for every input: a member who must not respond is never notified, and a member
//! who must respond is always shown the content.

use crate::model::attention::{Decision, Directedness, Intent, Mode, Policy, Priority, Rule};
use crate::model::limits;
use Directedness::{Ambient, ToMe, ToMyRole, ToOther};
use Intent::{Approval, Assignment, Blocker, Cancel, Social, Status, Thanks};
use Mode::{Buffered, Digest, Immediate, Notify, Silent, ToolMailbox};
use Policy::{AckOnly, MayRespond, MustNotRespond, MustRespond};

/// Other facts about one member and one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Circumstances {
    /// The rule that decided the directedness.
    pub rule: Rule,
    /// The member owns the thread, or opened it.
    pub thread_is_mine: bool,
    /// The words say that it is urgent ([`crate::language::intent::Read::urgent`]).
    pub urgent: bool,
    pub author_is_agent: bool,
    /// Agents' messages between this one and the last one by a person; 0 for a person's own
    /// message.
    pub hop: u8,
    /// The member has spoken in the thread.
    pub participates: bool,
    /// The member follows the channel and so receives its digest.
    pub follows: bool,
    pub member_is_agent: bool,
    /// The first message of a person to this agent in a while ([`super::directedness`]).
    pub first_words: bool,
}

impl Circumstances {
    /// A person's message to an agent, decided by `rule`, with no special circumstances.
    pub fn plain(rule: Rule) -> Self {
        Self {
            rule,
            thread_is_mine: false,
            urgent: false,
            author_is_agent: false,
            hop: 0,
            participates: false,
            follows: false,
            member_is_agent: true,
            first_words: false,
        }
    }
}

/// What must hold besides directedness, rule and intent for a row to fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    Always,
    Urgent,
    /// The thread is the member's own. A direct conversation is the own thread of both its members.
    Mine,
    Participates,
    Follows,
    ByAgent,
    /// A person's first words to an agent.
    FirstWords,
    /// An agent's message so many hops from a person that it creates no obligation (design section
    /// 5, "Cause and hop").
    LateHop,
}

/// One row of the matrix.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The event, in the words of the spec where the row comes from the spec.
    pub event: &'static str,
    pub directedness: Directedness,
    /// The rules it applies to; empty means any.
    pub rules: &'static [Rule],
    /// The intents it applies to; empty means any.
    pub intents: &'static [Intent],
    pub when: When,
    pub policy: Policy,
    pub mode: Mode,
    /// The priority, where it differs from the intent's ([`of_intent`]).
    pub priority: Option<Priority>,
}

const COURTESY: &[Intent] = &[Thanks, Social];
const BACKGROUND: &[Intent] = &[Thanks, Social, Status];
const QUIET: &[Intent] = &[Thanks, Social, Status, Intent::Statement];
const PRESSING: &[Intent] = &[Assignment, Approval, Blocker];
const LOW: Option<Priority> = Some(Priority::Low);
const HIGH: Option<Priority> = Some(Priority::High);
const OWN: Option<Priority> = None;

const fn row(
    event: &'static str,
    directedness: Directedness,
    rules: &'static [Rule],
    intents: &'static [Intent],
    when: When,
    (policy, mode, priority): (Policy, Mode, Option<Priority>),
) -> Row {
    Row { event, directedness, rules, intents, when, policy, mode, priority }
}

/// The default matrix.
#[rustfmt::skip]
pub const MATRIX: &[Row] = &[
    // Aimed at this member.
    row("Asked to leave", ToMe, &[Rule::AskedToLeave], &[], When::Always, (AckOnly, Notify, LOW)),
    row("Reaction to a message of mine", ToMe, &[Rule::Reaction], &[], When::Always, (MayRespond, Notify, LOW)),
    row("Chain of agents reached its end", ToMe, &[Rule::HopLimit], &[], When::Always, (MayRespond, Notify, HIGH)),
    row("Answer to an ack_only event", ToMe, &[Rule::AnswerToAck], &[], When::Always, (MustNotRespond, Silent, LOW)),
    row("Claimed", ToMe, &[Rule::Claimed], &[], When::Always, (MayRespond, Buffered, OWN)),
    row("Thanks of another service's agent", ToMe, &[Rule::Delivered], COURTESY, When::ByAgent, (AckOnly, Silent, LOW)),
    row("A word in passing that another service delivers", ToMe, &[Rule::Delivered], COURTESY, When::Always, (MayRespond, Buffered, LOW)),
    row("First words of a person", ToMe, &[], &[Social], When::FirstWords, (MayRespond, Buffered, LOW)),
    row("Thanks or acknowledgement, thread is mine", ToMe, &[], COURTESY, When::Mine, (AckOnly, Notify, LOW)),
    row("Thanks or acknowledgement", ToMe, &[], COURTESY, When::Always, (AckOnly, Silent, LOW)),
    row("Edited after the response, asks nothing", ToMe, &[Rule::EditedAfterResponse], QUIET, When::Always, (MayRespond, Notify, LOW)),
    row("Edited after the response", ToMe, &[Rule::EditedAfterResponse], &[], When::Always, (MayRespond, Buffered, OWN)),
    row("Agent's message many hops from a person", ToMe, &[], &[], When::LateHop, (MayRespond, Notify, OWN)),
    row("Obligation moved from somebody else, urgent", ToMe, &[Rule::Escalated], &[], When::Urgent, (MustRespond, Immediate, HIGH)),
    row("Obligation moved from somebody else", ToMe, &[Rule::Escalated], &[], When::Always, (MustRespond, Buffered, HIGH)),
    row("Agent's answer to my question", ToMe, &[Rule::AnswerToQuestion], QUIET, When::ByAgent, (MayRespond, Buffered, OWN)),
    row("Agent's message that asks nothing", ToMe, &[], QUIET, When::ByAgent, (MayRespond, Notify, OWN)),
    row("Cancellation", ToMe, &[], &[Cancel], When::Always, (MustRespond, Immediate, OWN)),
    row("Urgent direct message or mention", ToMe, &[], &[], When::Urgent, (MustRespond, Immediate, OWN)),
    row("Assignment, approval, or blocker", ToMe, &[], PRESSING, When::Always, (MustRespond, Buffered, OWN)),
    row("DM to this session", ToMe, &[Rule::DirectMessage, Rule::Recipient, Rule::Delivered], &[], When::Always, (MustRespond, Buffered, OWN)),
    row("Direct @mention", ToMe, &[Rule::Mention], &[], When::Always, (MustRespond, Buffered, OWN)),
    row("Direct thread question", ToMe, &[], &[], When::Always, (MustRespond, Buffered, OWN)),

    // Aimed at a role, a thread or a stream of this member.
    row("Role mention, another was selected", ToMyRole, &[Rule::RoleMentionOther], &[], When::Always, (MustNotRespond, ToolMailbox, LOW)),
    row("Thanks to a role", ToMyRole, &[Rule::RoleMention], COURTESY, When::Always, (AckOnly, Silent, LOW)),
    row("Claimed", ToMyRole, &[Rule::Claimed], &[], When::Always, (MayRespond, Buffered, OWN)),
    row("Role or group mention", ToMyRole, &[Rule::RoleMention], &[], When::Always, (MayRespond, Notify, OWN)),
    row("Thanks among others in the thread", ToMyRole, &[], COURTESY, When::Always, (MustNotRespond, Silent, LOW)),
    row("Status in the thread, channel is followed", ToMyRole, &[], &[Status], When::Follows, (MustNotRespond, Digest, LOW)),
    row("Status in the thread", ToMyRole, &[], &[Status], When::Always, (MustNotRespond, Silent, LOW)),
    row("Message that is probably for this agent", ToMyRole, &[Rule::FlowLikely], &[], When::Always, (MayRespond, Buffered, OWN)),
    row("Thread reply where this agent participates", ToMyRole, &[], &[], When::Always, (MayRespond, Notify, OWN)),

    // Addressed to somebody else.
    row("Left out by the sender", ToOther, &[Rule::LeftOut], &[], When::Always, (MustNotRespond, Silent, LOW)),
    row("Agent message with no task", ToOther, &[Rule::RepliedToOther], QUIET, When::ByAgent, (MustNotRespond, ToolMailbox, LOW)),
    row("Reply to me that names another, in passing", ToOther, &[Rule::RepliedToOther], BACKGROUND, When::Always, (MustNotRespond, ToolMailbox, LOW)),
    row("Reply to me that names another", ToOther, &[Rule::RepliedToOther], &[], When::Always, (MayRespond, Notify, LOW)),
    row("Message to another agent", ToOther, &[], &[], When::Participates, (MustNotRespond, ToolMailbox, LOW)),
    row("Message to another, not in my thread", ToOther, &[], &[], When::Always, (MustNotRespond, Silent, LOW)),

    // Addressed to nobody.
    row("Said where the member has left", Ambient, &[Rule::Left], &[], When::Always, (MustNotRespond, Silent, LOW)),
    row("Answer to an ack_only event", Ambient, &[Rule::AnswerToAck], &[], When::Always, (MustNotRespond, Silent, LOW)),
    row("Question to nobody in particular, given to one agent", Ambient, &[Rule::AskedOne], &[], When::Always, (MayRespond, Buffered, OWN)),
    row("Status or filler, heard by a listener", Ambient, &[Rule::AlwaysListen], BACKGROUND, When::Always, (MustNotRespond, Digest, LOW)),
    row("Channel message, heard by a listener", Ambient, &[Rule::AlwaysListen], &[], When::Always, (MayRespond, Notify, OWN)),
    row("Logs, progress, status broadcasts, channel is followed", Ambient, &[], &[Status], When::Follows, (MustNotRespond, Digest, LOW)),
    row("Logs, progress, status broadcasts", Ambient, &[], &[Status], When::Always, (MustNotRespond, Silent, LOW)),
    row("Unmentioned channel message", Ambient, &[], &[], When::Always, (MustNotRespond, ToolMailbox, OWN)),
];

/// What one member owes for one event, and what it is shown of it.
pub fn decide(directedness: Directedness, intent: Intent, facts: &Circumstances) -> Decision {
    let row = MATRIX.iter().find(|row| row.fits(directedness, intent, facts));
    let (policy, mode, stated) = match row {
        Some(row) => (row.policy, row.mode, row.priority),
        // The last row of each directedness fits everything; a test checks that. Silence is the
        // safe answer.
        None => (MustNotRespond, ToolMailbox, LOW),
    };
    let may_speak = matches!(policy, MustRespond | MayRespond);
    let priority = match stated {
        _ if facts.urgent && may_speak => Priority::Urgent,
        Some(priority) => priority,
        None => of_intent(intent),
    };
    let owed = policy == MustRespond && facts.member_is_agent;
    let deadline_ms = owed.then_some(limits::DEADLINE_MS);
    Decision { rule: facts.rule, directedness, policy, mode, priority, deadline_ms }
}

/// The priority of an intent where the row does not set one.
pub fn of_intent(intent: Intent) -> Priority {
    match intent {
        Assignment | Approval | Blocker | Cancel => Priority::High,
        Thanks | Social | Status => Priority::Low,
        Intent::Request | Intent::Question | Intent::Statement => Priority::Normal,
    }
}

impl Row {
    fn fits(&self, directedness: Directedness, intent: Intent, facts: &Circumstances) -> bool {
        self.directedness == directedness
            && (self.rules.is_empty() || self.rules.contains(&facts.rule))
            && (self.intents.is_empty() || self.intents.contains(&intent))
            && self.when.holds(facts)
    }
}

impl When {
    fn holds(self, facts: &Circumstances) -> bool {
        match self {
            Self::Always => true,
            Self::Urgent => facts.urgent,
            Self::Mine => facts.thread_is_mine || facts.rule == Rule::DirectMessage,
            Self::Participates => facts.participates,
            Self::Follows => facts.follows,
            Self::ByAgent => facts.author_is_agent,
            Self::FirstWords => {
                facts.first_words && facts.member_is_agent && !facts.author_is_agent
            }
            Self::LateHop => facts.author_is_agent && facts.hop >= limits::HOP_NO_OBLIGATION,
        }
    }
}
