//! What can be asked of a workspace, what comes back, and what must be done outside once it is recorded.
//!
//! A command is a value: its ids, time and random bytes are drawn once, by whoever makes it, so that
//! running it again gives the same result.

mod answer;
mod asked;
mod by;
mod facts;

use std::fmt;
use std::sync::Arc;

use crate::audit::Note;
use crate::conversation::{ConversationKind, Participation, Settings, TermsPatch};
use crate::delivery::{Disposition, Retry};
use crate::event::{EventRef, Message, Reason};
use crate::ids::{ConversationKey, MemberKey, RoleKey, Seq, SessionKey, Timestamp, Uid};
use crate::member::{MemberFields, MemberKind};
use crate::reaction::Signal;
use crate::schedule;
use crate::thread::ThreadStatus;
use crate::thread::work::WorkChange;

pub use answer::{
    ChannelDelivery, Droppable, Effect, Entry, Held, HeldBy, Offer, Outcome, RemoteNews, RemoteRun,
    Subject, Waits,
};
pub use asked::{Audience, Home, NewStimulus, OpenThread, Post, SettingsPatch};
pub use by::{Authority, By, Turn};
pub use facts::{Facts, Mark, MessageState, Recalled, Seats, Unavailable};

/// Random and time-ordered values drawn once for a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drawn {
    /// The public id of the one event, conversation, session or stream that the command makes.
    pub uid: Uid,
    /// A second id, for the thread that a command opens beside its event.
    pub second: Uid,
    pub salt: [u8; 16],
}

#[derive(Clone, strum::IntoStaticStr)]
pub enum Command {
    AddMember {
        id: String,
        kind: MemberKind,
        fields: MemberFields,
    },
    ChangeMember {
        member: MemberKey,
        fields: MemberFields,
    },
    RemoveMember {
        member: MemberKey,
    },
    AddRole {
        name: String,
    },
    RemoveRole {
        role: RoleKey,
    },
    SetRoleMember {
        role: RoleKey,
        member: MemberKey,
        on: bool,
    },
    SetLead {
        member: Option<MemberKey>,
    },
    AddStream {
        name: String,
        owner: Option<MemberKey>,
    },
    /// Keeps a file; the same of the same member again is the same file.
    KeepAsset {
        hash: crate::event::Hash,
        name: String,
        media: crate::asset::Media,
        data: Arc<[u8]>,
    },
    /// Keeps the small picture of a picture; an empty one says that none can be made. The host's.
    KeepThumbnail {
        hash: crate::event::Hash,
        thumbnail: Arc<[u8]>,
    },
    /// Drops files that nothing points at any more. The host's.
    SweepAssets,
    /// A token that must not be honoured again; kept until it would have expired.
    RevokeToken {
        jti: String,
        expires: Timestamp,
    },

    /// A token is handed out.
    IssueToken(Box<crate::token::Asked>),
    /// All tokens of a member end.
    RevokeTokens {
        member: MemberKey,
    },
    /// Forgets tokens that are over, and what was told in no session and counts no more. The host's.
    SweepExpired,
    /// Offers again whatever somebody has in hand: the tokens that came with it hold no more. The host's.
    OfferAgain,

    /// A connection begins: the session is made, or taken up again by its id.
    OpenSession {
        uid: Option<Uid>,
        runtime: String,
        managed: bool,
        resumable: bool,
    },
    /// A token names a session that never connected: it is known from now on, and is told nothing.
    KnowSession {
        uid: Uid,
    },
    /// The session's connection ended.
    CloseSession {
        session: SessionKey,
    },

    CreateConversation {
        kind: ConversationKind,
        settings: Settings,
        members: Vec<MemberKey>,
    },
    ChangeConversation {
        conversation: Uid,
        settings: SettingsPatch,
    },
    SetSeat {
        conversation: Uid,
        member: MemberKey,
        participation: Participation,
        terms: TermsPatch,
    },
    RemoveSeat {
        conversation: Uid,
        member: MemberKey,
    },

    Post(Box<Post>),
    Edit {
        message: Uid,
        content: Message,
    },
    Delete {
        message: Uid,
    },
    /// Everything the message said, in all its versions, goes for good.
    Erase {
        message: Uid,
        reason: Reason,
    },
    React {
        message: Uid,
        signal: Signal,
        detail: Option<Arc<str>>,
        on: bool,
    },
    OpenThread(Box<OpenThread>),
    ChangeThread {
        thread: Uid,
        status: Option<ThreadStatus>,
        owner: Option<Option<MemberKey>>,
        reason: Arc<str>,
        /// What came of it, for the feed.
        summary: Option<Arc<str>>,
        /// What the thread says of the new status, as a message of kind `system`.
        note: Option<Message>,
    },
    /// How the work of a thread stands.
    ChangeWork {
        thread: Uid,
        change: Box<WorkChange>,
    },
    /// Asks for a word in public without a person asking.
    Stimulate(Box<NewStimulus>),
    /// Calls a stimulus off, or asks `again` for one that was cancelled.
    SteerStimulus {
        conversation: Uid,
        stimulus: Uid,
        again: bool,
    },
    /// Makes, changes or removes the endpoint of an agent (webhook spec section 1).
    Endpoint {
        member: MemberKey,
        act: Box<crate::endpoint::Act>,
    },
    /// What was sent to an agent's endpoint cannot be: a dead letter, and what is owed moves on.
    GiveUp {
        event: EventRef,
        attempt: u16,
    },
    /// What was sent to an agent's endpoint was not taken, and is sent again.
    PostFailed {
        event: EventRef,
        attempt: u16,
        retry: Retry,
    },
    /// What was sent to an agent's endpoint and not taken is about to be sent again: as an attempt of its own, unless the
    /// agent has it after all.
    PostAgain {
        event: EventRef,
    },
    /// Makes, changes or removes an inbox.
    Inbox(Box<crate::inbox::Act>),
    /// Another service delivers to an inbox. The host's, which has read and checked it.
    Receive(Box<crate::inbox::Received>),
    /// What was said in a channel of another service is to be sent there by this host of several. The host's.
    SendBack {
        conversation: ConversationKey,
    },
    /// What was said in a channel of another service was sent there up to this, or given up. The host's.
    SentBack {
        conversation: ConversationKey,
        through: Seq,
    },
    /// Drops callbacks that are over. The host's.
    SweepCallbacks,
    /// Something about a project.
    Project(Box<crate::project::Asked>),
    /// Makes, changes or removes a schedule of a channel.
    ChangeSchedules {
        conversation: Uid,
        act: Box<schedule::Act>,
    },
    /// A message of a thread is to stand in the channel's feed.
    Promote {
        message: Uid,
        note: Option<Arc<str>>,
    },
    /// Let agents go on that have used their no-human budget up on this line.
    Continue {
        conversation: Uid,
        thread: Option<Uid>,
    },
    SetCursor {
        conversation: Uid,
        read: Seq,
    },
    /// The caller has read a thread's messages up to this seq of the thread.
    AckThread {
        thread: Uid,
        read: Seq,
    },

    Claim {
        event: Uid,
    },
    Release {
        event: Uid,
    },
    /// The harness has taken the offered event; `attempt` is the one it acknowledges, and `epoch` that of the connection
    /// string which took it, where one did.
    Accept {
        event: EventRef,
        attempt: u16,
        epoch: Option<Timestamp>,
    },
    /// The harness or the connection could not take it.
    Reject {
        event: EventRef,
        attempt: u16,
    },
    Dispose {
        event: Uid,
        disposition: Disposition,
        note: Option<Arc<str>>,
    },
    /// What is owed for an event, whichever version of its message is named, was done without a message.
    Resolve {
        event: Uid,
        note: Option<Arc<str>>,
    },
    /// Keeps what a command made of a digest; for the host itself.
    KeepDigest {
        conversation: Uid,
        written: crate::digest::Written,
    },
    /// Asks an agent to leave a conversation, or one thread of it, or leaves itself: it is told nothing there
    /// until it is named again.
    Leave {
        conversation: Uid,
        thread: Option<Uid>,
        member: MemberKey,
    },
    /// Puts off what the caller owes: it is offered again at `until`, or after the usual time.
    Defer {
        event: Uid,
        until: Option<Timestamp>,
        reason: Option<Arc<str>>,
    },
    /// The caller was shown the content of a knock that it had been told of.
    Retrieve {
        event: Uid,
    },
    /// Proof of life of the runs a session has accepted.
    Life {
        session: SessionKey,
    },
    /// A run says how far it got: where that is shown. None: the turn it comes with, else the run that the session began
    /// last; records nothing.
    Progress {
        event: Option<Uid>,
    },
    /// Whether the caller may do something in a conversation that nobody asked for there, and whether it may show all of
    /// that what it does; records nothing.
    MayActUnasked {
        conversation: Uid,
        shows: bool,
    },
    /// The harness works on what it was given no more; which attempt it means, where it says so.
    CancelDelivery {
        event: Uid,
        attempt: Option<u16>,
    },
    /// An agent is about to call a tool that the operator marked sensitive.
    MayCall {
        tool: Arc<str>,
        /// Canonical JSON.
        arguments: Arc<str>,
    },
    /// A person decides about what waits for one.
    DecideApproval {
        approval: Uid,
        approved: bool,
        reason: Option<Arc<str>>,
    },
    /// Send a dead letter again.
    Redeliver {
        event: Uid,
        member: MemberKey,
    },
    /// What is still to be offered to this session, oldest first, at most `limit`.
    Owed {
        session: SessionKey,
        limit: usize,
    },

    /// Drops the oldest events of a conversation up to this one; for the host itself.
    Trim {
        conversation: Uid,
        through: Seq,
        /// How many of them were erased when they were archived, if they were: an erasure since then has to reach the
        /// archive too.
        erased: Option<usize>,
    },

    /// An operator takes the turn of a member away; the subject is named by its root message or its thread.
    BreakTurn {
        conversation: Uid,
        subject: Uid,
        member: MemberKey,
    },

    /// What the run of a public turn puts out; the newest is posted when it ends.
    EmitOutput {
        message: Message,
    },
    /// The text with which a run closes: what it has put out is posted instead, if it has put out something.
    CloseRun(Box<Post>),
    /// A message that belongs to no run of its author's, though one may be open: it opens a subject.
    PostUnasked(Box<Post>),

    /// Who speaks about the subjects of a channel, and who waits; records nothing.
    Turns {
        conversation: Uid,
    },

    /// Something for the audit log that no other command does.
    Note(Note),

    /// Who would be told of this post; records nothing.
    Preview(Box<Post>),
    /// Which of a conversation's oldest events are to be dropped now, and what holds others back; for the host
    /// itself; records nothing.
    Droppable {
        conversation: Uid,
    },
    /// How an event's deliveries and claim stand now; records nothing.
    Standing {
        event: Uid,
    },
    /// Open events, of one member or of all, at most `limit`; records nothing.
    Waiting {
        member: Option<MemberKey>,
        limit: usize,
    },
    /// Open events with an obligation that was not met in time, as far as they concern a member, or all, at
    /// most `limit`; records nothing.
    Overdue {
        member: Option<MemberKey>,
        limit: usize,
    },
}

/// Its kind alone: a command is full of somebody's words, and what is printed may end in a log.
impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind())
    }
}

impl Command {
    /// What kind of command it is, as its type has it.
    pub fn kind(&self) -> &'static str {
        self.into()
    }

    /// Whether it may change anything. What does not is a question.
    pub fn changes_something(&self) -> bool {
        !matches!(
            self,
            Self::Preview(_)
                | Self::Note(_)
                | Self::Owed { .. }
                | Self::Droppable { .. }
                | Self::Standing { .. }
                | Self::Waiting { .. }
                | Self::Overdue { .. }
                | Self::Turns { .. }
        )
    }
}
