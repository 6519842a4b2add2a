//! The actions that the audit log can record.

use crate::model::ids::Prefix;

/// Declares the actions: each with the number under which it is stored, its name, and the kind of
/// thing that its subject's id names.
macro_rules! actions {
    (
        $(#[$about:meta])*
        pub enum $name:ident {
            $( $(#[$doc:meta])* $case:ident = $number:literal, $word:literal, $prefix:ident; )+
        }
    ) => {
        $(#[$about])*
        pub enum $name {
            $( $(#[$doc])* $case = $number, )+
        }

        impl $name {
            /// The number under which it is stored.
            pub fn number(self) -> u8 {
                self as u8
            }

            pub fn of_number(number: u8) -> Option<Self> {
                match number {
                    $( $number => Some(Self::$case), )+
                    _ => None,
                }
            }

            pub fn name(self) -> &'static str {
                match self { $( Self::$case => $word, )+ }
            }

            /// The kind of thing that its subject's id names.
            pub fn prefix(self) -> Prefix {
                match self { $( Self::$case => Prefix::$prefix, )+ }
            }
        }
    };
}

actions! {
    /// An action. A number is never reused; the next is 100.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[repr(u8)]
    pub enum Action {
        AddMember = 1, "member_added", Event;
        ChangeMember = 2, "member_changed", Event;
        RemoveMember = 3, "member_removed", Event;
        AddRole = 4, "role_added", Event;
        RemoveRole = 5, "role_removed", Event;
        SetRoleMember = 6, "role_member_set", Event;
        SetLead = 7, "lead_set", Event;
        AddStream = 8, "stream_added", Event;
        RevokeToken = 9, "token_revoked", Event;
        OpenSession = 10, "session_opened", Session;
        CloseSession = 11, "session_closed", Session;
        CreateConversation = 12, "conversation_created", Conversation;
        ChangeConversation = 13, "settings_changed", Conversation;
        SetSeat = 14, "member_joined", Conversation;
        RemoveSeat = 15, "member_left", Conversation;
        Erase = 16, "message_erased", Event;
        OpenThread = 17, "thread_opened", Conversation;
        ChangeThread = 18, "thread_changed", Thread;
        Claim = 19, "claimed", Event;
        Release = 20, "claim_released", Event;
        Accept = 21, "delivery_accepted", Event;
        Reject = 22, "delivery_rejected", Event;
        Dispose = 23, "delivery_disposed", Event;
        Retrieve = 24, "content_pulled", Event;
        Redeliver = 25, "redelivered", Event;
        /// An event was settled: nothing of it is open any more. Has the digest of its receipt.
        Settle = 26, "delivery_settled", Event;
        IssueToken = 27, "token_issued", Event;
        CallTool = 28, "tool_called", Event;
        Defer = 29, "deferred", Event;
        Continue = 30, "continued", Conversation;
        DecideApproval = 31, "approval_decided", Approval;
        Trim = 36, "history_dropped", Conversation;
        GrantTurn = 37, "turn_granted", Event;
        BreakTurn = 38, "turn_broken", Conversation;
        ChangeSchedules = 40, "schedules_changed", Conversation;
        KeepAsset = 50, "asset_kept", Asset;
        /// An inconsistency with the logs was repaired. The name says which part of the
        /// conversation.
        Repair = 60, "repaired", Event;
        /// An agent was not allowed to post. The entry has the code.
        RefuseTurn = 61, "turn_refused", Conversation;
        /// Nobody took up a turn, and it passed to another member.
        ExpireTurn = 62, "turn_expired", Event;
        /// A request had been done before. The name is `post` or `stimulus`.
        Deduplicate = 63, "duplicate_prevented", Conversation;
        CreateProject = 51, "project_created", Project;
        ChangeProject = 52, "project_changed", Project;
        RemoveProject = 53, "project_removed", Project;
        SetProjectMember = 54, "project_member_set", Project;
        RemoveProjectMember = 55, "project_member_removed", Project;
        LinkChannel = 56, "channel_linked", Project;
        UnlinkChannel = 57, "channel_unlinked", Project;
        AddTask = 58, "task_added", Task;
        ChangeTask = 59, "task_changed", Task;
        ChangeEndpoint = 64, "endpoint_changed", Event;
        /// A post that an endpoint did not accept became a dead letter.
        GiveUp = 65, "delivery_given_up", Event;
        ChangeInbox = 70, "inbox_changed", Inbox;
        /// The name says whether it was forced although a person is typing.
        TriggerWake = 71, "wake_triggered", Wake;
        /// A wake ended. The name says how.
        EndWake = 72, "wake_ended", Wake;
        /// The link that `serve` prints was used.
        SignIn = 66, "signed_in", Event;
        /// The host signs tokens with a new key from here on.
        RotateKey = 67, "signing_key_rotated", Event;
        RegisterAgent = 80, "agent_registered", Uuid;
        RemoveAgent = 81, "agent_unregistered", Uuid;
        RequestJob = 82, "job_requested", Uuid;
        /// The name says how the agent's work ended.
        DeliverJob = 83, "job_delivered", Uuid;
        CancelJob = 84, "job_cancelled", Uuid;
        /// An evaluator accepted or refused a result.
        EvaluateJob = 85, "job_evaluated", Uuid;
        DisputeJob = 86, "job_disputed", Uuid;
        /// An operator decided about a contested job.
        DecideDispute = 87, "dispute_decided", Uuid;
        MintCredits = 88, "credits_minted", Uuid;
        TransferCredits = 89, "credits_transferred", Uuid;
        LimitSpending = 90, "spending_limited", Event;
        PauseAgent = 91, "agent_paused", Event;
        ContinueAgent = 92, "agent_continued", Event;
        /// A person ended what an agent was working on.
        EndDelivery = 94, "delivery_ended", Event;
        /// Somebody looked at the terminal of an agent's program.
        WatchScreen = 93, "screen_watched", Event;
        CreateWorkspace = 95, "workspace_created", Event;
        SuspendWorkspace = 96, "workspace_suspended", Event;
        ResumeWorkspace = 97, "workspace_resumed", Event;
        DeleteWorkspace = 98, "workspace_deleted", Event;
        /// Somebody was given a link that signs the operator of a workspace in.
        LinkToWorkspace = 99, "workspace_link_made", Event;
        SetWorkspaceQuota = 100, "workspace_quota_set", Event;
        /// Somebody took a copy of a workspace, with its keys, to bring it to another host.
        CopyWorkspace = 101, "workspace_copied", Event;
        /// A workspace came from another host.
        TakeWorkspaceIn = 102, "workspace_taken_in", Event;
        /// A workspace is at another host from here on.
        MoveWorkspace = 103, "workspace_moved", Event;
    }
}
