//! Attention decisions: who is notified of a message, and what each member owes.
//!
//! [`Decision`] is the whole answer for one member and is stored as data with the event.

mod words;

use std::sync::Arc;

use crate::model::flow::{Meant, Nobody};
use crate::model::ids::MemberKey;

/// Is this event aimed at this member? (C2A "Directedness".)
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Directedness {
    ToMe,
    ToMyRole,
    ToOther,
    Ambient,
}

/// Is the member required, allowed or forbidden to reply? (C2A "Attention model".)
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Policy {
    MustRespond,
    MayRespond,
    AckOnly,
    MustNotRespond,
}

/// Does the member see the content, a knock, or nothing? (C2A "Injection mode".)
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    Immediate,
    Buffered,
    Notify,
    ToolMailbox,
    Digest,
    Silent,
}

impl Mode {
    /// Whether a member in this mode is notified of the event at all, which costs a delivery.
    pub fn tells(self) -> bool {
        matches!(self, Self::Immediate | Self::Buffered | Self::Notify)
    }

    /// Whether the body itself is shown, not only a knock.
    pub fn shows_content(self) -> bool {
        matches!(self, Self::Immediate | Self::Buffered)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Priority {
    Low,
    #[default]
    Normal,
    High,
    Urgent,
}

/// What a message wants, derived from it and the message before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Intent {
    Request,
    Question,
    Assignment,
    Approval,
    Blocker,
    Cancel,
    Thanks,
    Social,
    Status,
    Statement,
}

impl Intent {
    /// Whether it asks somebody to do or say something. An agent's message that does not creates no
    /// obligation.
    pub fn asks(self) -> bool {
        matches!(
            self,
            Self::Request
                | Self::Question
                | Self::Assignment
                | Self::Approval
                | Self::Blocker
                | Self::Cancel
        )
    }

    /// Whether it is gratitude, acknowledgement or filler, which needs no worded reply.
    pub fn is_courtesy(self) -> bool {
        matches!(self, Self::Thanks | Self::Social)
    }
}

/// The rule that decided a member's directedness, in the order in which rules are tried. Its name
/// is the `attention.reason` on the wire and in `chorus why`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// A direct message to this member.
    DirectMessage,
    /// The sender named this member as recipient.
    Recipient,
    /// Another service delivered it to an inbox of this member.
    Delivered,
    /// The text contains the member's `@handle`.
    Mention,
    /// The text names a role of the member, and the member was selected to respond.
    RoleMention,
    /// The text names a role of the member, and another member was selected.
    RoleMentionOther,
    /// Somebody else was named, but it replies to this member: a knock.
    RepliedToOther,
    /// Somebody else was named.
    NamedOther,
    /// An answer to a question of this member, which is an agent.
    AnswerToQuestion,
    /// A reply to a message of this member.
    Reply,
    /// A question or request in a thread of two.
    ThreadOfTwo,
    /// The author continues a message that was meant for this member.
    Continuation,
    /// The member owns the thread.
    ThreadOwner,
    /// The member owns the stream.
    StreamOwner,
    /// The member takes part in the thread.
    ThreadParticipant,
    /// The flow of talk points at the member with the certainty of a name.
    Flow,
    /// The flow of talk probably points at the member.
    FlowLikely,
    /// The flow of talk may point at the member: a knock.
    FlowPerhaps,
    /// A question to nobody in particular, given to this one agent.
    AskedOne,
    /// The member listens to everything in this conversation.
    AlwaysListen,
    /// Nobody is addressed.
    Unaddressed,
    /// A message that the member has answered was edited.
    EditedAfterResponse,
    /// Somebody reacted to a message of this member.
    Reaction,
    /// The member claimed the event and so is shown its content.
    Claimed,
    /// A chain of agents' messages reached its limit; a person is notified.
    HopLimit,
    /// An answer to an `ack_only` event; it notifies nobody.
    AnswerToAck,
    /// The obligation moved here from a member who did not answer.
    Escalated,
    /// Agents have used up the budget here without a person; a person is notified.
    BudgetSpent,
    /// A person asks the member to leave this place.
    AskedToLeave,
    /// The member has left this place and was not named since.
    Left,
    /// The sender left the member out, whatever else would have told it.
    LeftOut,
}

impl Rule {
    pub const ALL: [Self; 31] = [
        Self::DirectMessage,
        Self::Recipient,
        Self::Delivered,
        Self::Mention,
        Self::RoleMention,
        Self::RoleMentionOther,
        Self::RepliedToOther,
        Self::NamedOther,
        Self::AnswerToQuestion,
        Self::Reply,
        Self::ThreadOfTwo,
        Self::Continuation,
        Self::ThreadOwner,
        Self::StreamOwner,
        Self::ThreadParticipant,
        Self::Flow,
        Self::FlowLikely,
        Self::FlowPerhaps,
        Self::AskedOne,
        Self::AlwaysListen,
        Self::Unaddressed,
        Self::EditedAfterResponse,
        Self::Reaction,
        Self::Claimed,
        Self::HopLimit,
        Self::AnswerToAck,
        Self::Escalated,
        Self::BudgetSpent,
        Self::AskedToLeave,
        Self::Left,
        Self::LeftOut,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::DirectMessage => "direct_message",
            Self::Recipient => "recipient",
            Self::Delivered => "delivered",
            Self::Mention => "mention",
            Self::RoleMention => "role_mention",
            Self::RoleMentionOther => "role_mention_other",
            Self::RepliedToOther => "replied_to_other_named",
            Self::NamedOther => "named_other",
            Self::AnswerToQuestion => "answer_to_question",
            Self::Reply => "reply",
            Self::ThreadOfTwo => "thread_of_two",
            Self::Continuation => "continuation",
            Self::ThreadOwner => "thread_owner",
            Self::StreamOwner => "stream_owner",
            Self::ThreadParticipant => "thread_participant",
            Self::Flow => "flow",
            Self::FlowLikely => "flow_likely",
            Self::FlowPerhaps => "flow_perhaps",
            Self::AskedOne => "asked_one",
            Self::AlwaysListen => "always_listen",
            Self::Unaddressed => "unaddressed",
            Self::EditedAfterResponse => "edited_after_response",
            Self::Reaction => "reaction",
            Self::Claimed => "claimed",
            Self::HopLimit => "hop_limit",
            Self::AnswerToAck => "answer_to_ack_only",
            Self::Escalated => "escalated",
            Self::AskedToLeave => "asked_to_leave",
            Self::Left => "left",
            Self::LeftOut => "left_out",
            Self::BudgetSpent => "budget_spent",
        }
    }
}

/// The whole answer for one member and one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    pub rule: Rule,
    pub directedness: Directedness,
    pub policy: Policy,
    pub mode: Mode,
    pub priority: Priority,
    /// Milliseconds from the event's own time within which an answer is due; none if no answer is
    /// owed.
    pub deadline_ms: Option<u32>,
}

impl Decision {
    /// Whether the member itself is addressed.
    pub fn is_to_me(&self) -> bool {
        self.directedness == Directedness::ToMe
    }
}

/// One member who is notified of an event, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    pub member: MemberKey,
    pub decision: Decision,
}

/// The decision about a message for everybody: the members it notifies, and one answer for the
/// rest. Stored packed with the event; `chorus why` shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attention {
    pub intent: Intent,
    /// `ToOther` when somebody is named, otherwise `Ambient`.
    pub rest: Directedness,
    pub told: Vec<Told>,
    /// For an ephemeral message, and events about one: the members who can see it, including its
    /// author. None: everybody who may see the conversation.
    pub only: Option<Arc<[MemberKey]>>,
    /// The addressee according to the flow of talk, where the message names none.
    pub meant: Option<Meant>,
    /// Why the flow of talk says that nobody in particular is meant.
    pub nobody: Option<Nobody>,
    /// What the sender stated about the audience, where that lowers obligations. It applies to
    /// every edit too.
    pub stated: Option<Directedness>,
}

impl Attention {
    /// The decision for a message that everybody can see and that the flow of talk says nothing
    /// about.
    pub fn plain(intent: Intent, rest: Directedness, told: Vec<Told>) -> Self {
        Self { intent, rest, told, only: None, meant: None, nobody: None, stated: None }
    }

    /// Whether somebody owes an answer: a member who was asked directly or selected from a role, or
    /// who was told that agents have used up their budget.
    pub fn obliges(&self) -> bool {
        let asks = |t: &Told| {
            let of_role = matches!(t.decision.rule, Rule::RoleMention | Rule::BudgetSpent);
            of_role || t.decision.policy == Policy::MustRespond
        };
        self.told.iter().any(asks)
    }

    /// The members whom the sender left out. They are left out of every edit too.
    pub fn left_out(&self) -> impl Iterator<Item = MemberKey> + '_ {
        let left_out = self.told.iter().filter(|told| told.decision.rule == Rule::LeftOut);
        left_out.map(|told| told.member)
    }

    pub fn is_shown_to(&self, member: MemberKey) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(&member))
    }
}
