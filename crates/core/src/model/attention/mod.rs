//! What is decided about a message: who is told, and what each of them owes.
//!
//! [`Decision`] is the whole answer for one member, and is stored as data with the event.

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
    /// Whether a member in this mode is told of the event at all: it costs a delivery.
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

/// What a message wants, read from it and the one before it.
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
    /// Whether it asks somebody to do or say something. An agent's message that does not, obliges nobody.
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

    /// Whether it is gratitude, acknowledgement or filler, which needs no sentence in return.
    pub fn is_courtesy(self) -> bool {
        matches!(self, Self::Thanks | Self::Social)
    }
}

/// The rule that settled a member's directedness, in the order in which they are tried. Its name is the
/// `attention.reason` on the wire and in `chorus why`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// A direct message to this member.
    DirectMessage,
    /// The sender named this member as recipient.
    Recipient,
    /// Another service has delivered it to an inbox of this member.
    Delivered,
    /// The member's `@handle` stands in the text.
    Mention,
    /// A role of the member stands in the text, and it was selected to respond.
    RoleMention,
    /// A role of the member stands in the text, and somebody else was selected.
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
    /// The author goes on with a message that was aimed at this member.
    Continuation,
    /// The member owns the thread.
    ThreadOwner,
    /// The member owns the stream.
    StreamOwner,
    /// The member takes part in the thread.
    ThreadParticipant,
    /// The flow of talk points at the member, as surely as a name does.
    Flow,
    /// The flow of talk probably points at the member.
    FlowLikely,
    /// The flow of talk perhaps points at the member: a knock.
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
    /// The member claimed the event, so that it is now shown the content.
    Claimed,
    /// A chain of agents' messages reached its end; a person is told.
    HopLimit,
    /// An answer to an `ack_only` event; told to nobody.
    AnswerToAck,
    /// The obligation moved here from somebody who did not answer.
    Escalated,
    /// Agents have talked here for as long as they may without a person; a person is told.
    BudgetSpent,
    /// A person asks the member to leave this place.
    AskedToLeave,
    /// The member has left this place, and was not named again.
    Left,
}

impl Rule {
    pub const ALL: [Self; 30] = [
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
    /// Milliseconds from the event's own time within which an answer is owed; none where none is.
    pub deadline_ms: Option<u32>,
}

impl Decision {
    /// Whether the member itself is addressed.
    pub fn is_to_me(&self) -> bool {
        self.directedness == Directedness::ToMe
    }
}

/// One member who is told of an event, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    pub member: MemberKey,
    pub decision: Decision,
}

/// How a message was decided for everybody: the members it is told to, and one answer for the rest.
/// Stored packed with the event; this is what `chorus why` shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attention {
    pub intent: Intent,
    /// `ToOther` when somebody is named, else `Ambient`.
    pub rest: Directedness,
    pub told: Vec<Told>,
    /// Of an ephemeral message, and of what is about one: whom it is shown to, its author among them. None:
    /// to everybody who may see the conversation.
    pub only: Option<Arc<[MemberKey]>>,
    /// Whom the flow of talk says it is for, where the message itself does not.
    pub meant: Option<Meant>,
    /// Why it says that nobody in particular is meant.
    pub nobody: Option<Nobody>,
    /// What the sender stated of its audience, where that lowers what is owed; it holds for every edit too.
    pub stated: Option<Directedness>,
}

impl Attention {
    /// One that is shown to everybody, and of which the flow of talk says nothing.
    pub fn plain(intent: Intent, rest: Directedness, told: Vec<Told>) -> Self {
        Self { intent, rest, told, only: None, meant: None, nobody: None, stated: None }
    }

    /// Whether somebody owes an answer for it: is asked itself, or selected of a role that is, or told that agents have
    /// said what they may without a person.
    pub fn obliges(&self) -> bool {
        let asks = |t: &Told| {
            let of_role = matches!(t.decision.rule, Rule::RoleMention | Rule::BudgetSpent);
            of_role || t.decision.policy == Policy::MustRespond
        };
        self.told.iter().any(asks)
    }

    pub fn is_shown_to(&self, member: MemberKey) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(&member))
    }
}
