//! The numbers under which enums are stored. A number is never reused.

use super::stored::Stored;
use super::{Corrupt, Reader, Result, Writer};
use crate::model::asset::Media;
use crate::model::attention::{Directedness, Intent, Mode, Policy, Priority, Rule};
use crate::model::audit::Action;
use crate::model::caller::Authority;
use crate::model::conversation::{ConversationKind, Participation, Replies, Visibility};
use crate::model::disposition::Disposition;
use crate::model::endpoint::State as EndpointState;
use crate::model::error::Code;
use crate::model::event::{MessageKind, Reason};
use crate::model::job::{JobState, Outcome as JobOutcome, Payment};
use crate::model::ledger::EntryKind;
use crate::model::member::{MemberKind, Proof, SessionStatus};
use crate::model::project::TaskState;
use crate::model::reaction::Signal;
use crate::model::registry::Why as ReputationWhy;
use crate::model::schedule::Fired;
use crate::model::stimulus::{StimulusKind, StimulusState};
use crate::model::thread::work::{BindingKind, WorkStatus};
use crate::model::thread::{ThreadKind, ThreadStatus};
use crate::model::wake::{Lane, Outcome, ReportResult, WakeState};

/// An enum with a stored number for each case.
pub trait Coded: Sized {
    fn code(&self) -> u8;
    fn from_code(code: u8) -> Option<Self>;
}

macro_rules! coded {
    ($name:ident { $($case:ident = $code:literal),+ $(,)? }) => {
        impl Coded for $name {
            fn code(&self) -> u8 {
                match self { $(Self::$case => $code),+ }
            }

            fn from_code(code: u8) -> Option<Self> {
                match code { $($code => Some(Self::$case),)+ _ => None }
            }
        }

        stored!($name);
    };
}

macro_rules! stored {
    ($name:ident) => {
        impl Stored for $name {
            fn put(&self, out: &mut Writer) {
                out.byte(self.code());
            }

            fn get(r: &mut Reader<'_>) -> Result<Self> {
                Self::from_code(r.byte()?).ok_or(Corrupt)
            }
        }
    };
}

/// Its numbers are declared with its names.
impl Coded for Action {
    fn code(&self) -> u8 {
        self.number()
    }

    fn from_code(code: u8) -> Option<Self> {
        Self::of_number(code)
    }
}

stored!(Action);

coded!(Directedness { ToMe = 1, ToMyRole = 2, ToOther = 3, Ambient = 4 });
coded!(Policy { MustRespond = 1, MayRespond = 2, AckOnly = 3, MustNotRespond = 4 });
coded!(Mode { Immediate = 1, Buffered = 2, Notify = 3, ToolMailbox = 4, Digest = 5, Silent = 6 });
coded!(Priority { Low = 1, Normal = 2, High = 3, Urgent = 4 });
coded!(Intent {
    Request = 1,
    Question = 2,
    Assignment = 3,
    Approval = 4,
    Blocker = 5,
    Cancel = 6,
    Thanks = 7,
    Social = 8,
    Status = 9,
    Statement = 10,
});
coded!(Rule {
    DirectMessage = 1,
    Recipient = 2,
    Mention = 3,
    RoleMention = 4,
    RoleMentionOther = 5,
    RepliedToOther = 6,
    NamedOther = 7,
    Reply = 8,
    ThreadOfTwo = 9,
    Continuation = 10,
    ThreadOwner = 11,
    StreamOwner = 12,
    ThreadParticipant = 13,
    AlwaysListen = 14,
    Unaddressed = 15,
    EditedAfterResponse = 16,
    Reaction = 17,
    Claimed = 18,
    HopLimit = 19,
    AnswerToAck = 20,
    Escalated = 21,
    AskedToLeave = 30,
    Left = 31,
    BudgetSpent = 22,
    Flow = 32,
    FlowLikely = 33,
    AskedOne = 34,
    Delivered = 35,
    FlowPerhaps = 36,
    AnswerToQuestion = 37,
    LeftOut = 38,
});
coded!(EndpointState { Active = 1, Paused = 2, Gone = 3 });
coded!(Replies { Line = 1, Thread = 2 });
coded!(Disposition {
    Responded = 1,
    Acknowledged = 2,
    Deferred = 3,
    Claimed = 4,
    Ignored = 5,
    Superseded = 6,
    Failed = 7,
});
coded!(Signal {
    Seen = 1,
    Agree = 2,
    Working = 3,
    Queued = 4,
    Claimed = 5,
    Done = 6,
    Declined = 7,
    Blocked = 8,
    Unclear = 9,
});
coded!(ConversationKind { Channel = 1, Dm = 2, Thread = 3, System = 4, Tool = 5 });
coded!(Visibility { Public = 1, Private = 2 });
coded!(Participation { SelectedOnly = 1, ManualOnly = 2, PreferSelected = 3, AlwaysListen = 4 });
coded!(MessageKind { Chat = 1, Event = 2, System = 3 });
coded!(Reason { Request = 1, PersonalData = 2, Secret = 3, Legal = 4, Abuse = 5 });
coded!(MemberKind { Human = 1, Agent = 2 });
coded!(SessionStatus { Active = 1, Idle = 2, Offline = 3 });
coded!(Proof { Connection = 1, Heartbeat = 2, Call = 3 });
coded!(Media {
    Png = 1,
    Jpeg = 2,
    Gif = 3,
    Webp = 4,
    Pdf = 5,
    Zip = 6,
    Gzip = 7,
    Text = 8,
});
coded!(ThreadKind { Conversation = 1, Workflow = 2, Incident = 3 });
coded!(ThreadStatus { Active = 1, Blocked = 2, Resolved = 3, Closed = 4 });
coded!(WorkStatus { Proposed = 1, Active = 2, Reviewing = 3, Completed = 4, Superseded = 5 });
coded!(StimulusKind {
    AgentIdea = 1,
    ScheduleFire = 2,
    ScheduleResult = 3,
    TaskCompleted = 4,
    ReviewCompleted = 5,
    SidechainMilestone = 6,
    ObservationMaterialized = 7,
    ThreadIdleFollowup = 8,
    ResultSummary = 9,
    SupersessionNotice = 10,
});
coded!(Fired { Open = 1, Answered = 2, Unanswered = 3, Failed = 4 });
coded!(StimulusState {
    Pending = 1,
    Claimed = 2,
    Dispatched = 3,
    Coalesced = 4,
    Superseded = 5,
    Cancelled = 6,
    Held = 7,
});
coded!(TaskState { Open = 1, InProgress = 2, Blocked = 3, Done = 4, Cancelled = 5 });
coded!(Lane {
    CodexSocket = 1,
    ClaudeInbox = 2,
    Acp = 3,
    Pty = 4,
    Resume = 5,
    NewSession = 6,
    Command = 7,
});
coded!(ReportResult {
    Working = 1,
    Deferred = 2,
    Confirmed = 3,
    Failed = 4,
    Unknown = 5,
    Ended = 6,
    Exhausted = 7,
});
coded!(WakeState { Pending = 1, Handed = 2, Deferred = 3, Running = 4, Done = 5, Dead = 6 });
coded!(Outcome { Answered = 1, Obsolete = 2, WakeFailed = 3, NoProgress = 4, NoRunner = 5 });
coded!(BindingKind { Schedule = 1, Run = 2, SidechainAgent = 3, Task = 4, Observation = 5 });
coded!(JobState {
    Open = 1,
    Funded = 2,
    Submitted = 3,
    Completed = 4,
    Rejected = 5,
    Expired = 6,
});
coded!(Payment { Escrow = 1, Direct = 2 });
coded!(JobOutcome {
    Paid = 1,
    Failed = 2,
    Refused = 3,
    Cancelled = 4,
    TimedOut = 5,
    Undelivered = 6,
    Declined = 7,
    Unpaid = 8,
});
coded!(EntryKind { Mint = 1, Transfer = 2, Hold = 3, Pay = 4, Refund = 5, Reverse = 6 });
coded!(ReputationWhy { Success = 1, Failure = 2, Reversal = 3 });
coded!(Authority { Auditor = 1, Worker = 2, Orchestrator = 3, Operator = 4 });
coded!(Code {
    AddressRefused = 1,
    ApprovalRequired = 2,
    ClaimMismatch = 3,
    ClaimedByOther = 4,
    Conflict = 5,
    Forbidden = 6,
    IdempotencyConflict = 7,
    InsufficientAuthority = 8,
    Internal = 9,
    NotFound = 10,
    OutOfScopeWorkspace = 11,
    PayloadTooLarge = 12,
    PolicyForbidsReply = 13,
    RateLimited = 14,
    ReplyBudgetSpent = 15,
    StaleTurn = 16,
    TurnHeldByOther = 17,
    Unauthorized = 18,
    Unavailable = 19,
    ValidationError = 20,
    HumanInputCollision = 21,
    UnmanagedRuntime = 22,
    WakeFailed = 23,
    AgentOffline = 24,
    BudgetInsufficient = 25,
    ExecutionError = 26,
    SkillMismatch = 27,
    TransferFailed = 28,
    OutcomeUnknown = 29,
});
