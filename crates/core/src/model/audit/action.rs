//! The actions that the audit log can record.

use crate::model::ids::Prefix;

/// An action. Its codes are stored: see [`crate::codec`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    AddMember,
    ChangeMember,
    RemoveMember,
    AddRole,
    RemoveRole,
    SetRoleMember,
    SetLead,
    AddStream,
    RevokeToken,
    OpenSession,
    CloseSession,
    CreateConversation,
    ChangeConversation,
    SetSeat,
    RemoveSeat,
    Erase,
    OpenThread,
    ChangeThread,
    Claim,
    Release,
    Accept,
    Reject,
    Dispose,
    Retrieve,
    Redeliver,
    /// An event was settled: nothing of it is open any more. Has the digest of its receipt.
    Settle,
    IssueToken,
    CallTool,
    Defer,
    Continue,
    DecideApproval,
    Trim,
    GrantTurn,
    BreakTurn,
    ChangeSchedules,
    KeepAsset,
    /// An inconsistency with the logs was repaired. The name says which part of the conversation.
    Repair,
    /// An agent was not allowed to post. The entry has the code.
    RefuseTurn,
    /// Nobody took up a turn, and it passed to another member.
    ExpireTurn,
    /// A request had been done before. The name is `post` or `stimulus`.
    Deduplicate,
    CreateProject,
    ChangeProject,
    RemoveProject,
    SetProjectMember,
    RemoveProjectMember,
    LinkChannel,
    UnlinkChannel,
    AddTask,
    ChangeTask,
    ChangeEndpoint,
    /// A post that an endpoint did not accept became a dead letter.
    GiveUp,
    ChangeInbox,
    /// The link that `serve` prints was used.
    SignIn,
    /// The host signs tokens with a new key from here on.
    RotateKey,
}

impl Action {
    pub const ALL: [Self; 54] = [
        Self::AddMember,
        Self::ChangeMember,
        Self::RemoveMember,
        Self::AddRole,
        Self::RemoveRole,
        Self::SetRoleMember,
        Self::SetLead,
        Self::AddStream,
        Self::RevokeToken,
        Self::OpenSession,
        Self::CloseSession,
        Self::CreateConversation,
        Self::ChangeConversation,
        Self::SetSeat,
        Self::RemoveSeat,
        Self::Erase,
        Self::OpenThread,
        Self::ChangeThread,
        Self::Claim,
        Self::Release,
        Self::Accept,
        Self::Reject,
        Self::Dispose,
        Self::Retrieve,
        Self::Redeliver,
        Self::Settle,
        Self::IssueToken,
        Self::CallTool,
        Self::Defer,
        Self::Continue,
        Self::DecideApproval,
        Self::Trim,
        Self::GrantTurn,
        Self::BreakTurn,
        Self::ChangeSchedules,
        Self::KeepAsset,
        Self::Repair,
        Self::RefuseTurn,
        Self::ExpireTurn,
        Self::Deduplicate,
        Self::CreateProject,
        Self::ChangeProject,
        Self::RemoveProject,
        Self::SetProjectMember,
        Self::RemoveProjectMember,
        Self::LinkChannel,
        Self::UnlinkChannel,
        Self::AddTask,
        Self::ChangeTask,
        Self::ChangeEndpoint,
        Self::GiveUp,
        Self::ChangeInbox,
        Self::SignIn,
        Self::RotateKey,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::AddMember => "member_added",
            Self::ChangeMember => "member_changed",
            Self::RemoveMember => "member_removed",
            Self::AddRole => "role_added",
            Self::RemoveRole => "role_removed",
            Self::SetRoleMember => "role_member_set",
            Self::SetLead => "lead_set",
            Self::AddStream => "stream_added",
            Self::RevokeToken => "token_revoked",
            Self::OpenSession => "session_opened",
            Self::CloseSession => "session_closed",
            Self::CreateConversation => "conversation_created",
            Self::ChangeConversation => "settings_changed",
            Self::SetSeat => "member_joined",
            Self::RemoveSeat => "member_left",
            Self::Erase => "message_erased",
            Self::OpenThread => "thread_opened",
            Self::ChangeThread => "thread_changed",
            Self::Claim => "claimed",
            Self::Release => "claim_released",
            Self::Accept => "delivery_accepted",
            Self::Reject => "delivery_rejected",
            Self::Dispose => "delivery_disposed",
            Self::Retrieve => "content_pulled",
            Self::Redeliver => "redelivered",
            Self::Settle => "delivery_settled",
            Self::IssueToken => "token_issued",
            Self::CallTool => "tool_called",
            Self::Defer => "deferred",
            Self::Continue => "continued",
            Self::DecideApproval => "approval_decided",
            Self::Trim => "history_dropped",
            Self::GrantTurn => "turn_granted",
            Self::BreakTurn => "turn_broken",
            Self::ChangeSchedules => "schedules_changed",
            Self::KeepAsset => "asset_kept",
            Self::Repair => "repaired",
            Self::RefuseTurn => "turn_refused",
            Self::ExpireTurn => "turn_expired",
            Self::Deduplicate => "duplicate_prevented",
            Self::CreateProject => "project_created",
            Self::ChangeProject => "project_changed",
            Self::RemoveProject => "project_removed",
            Self::SetProjectMember => "project_member_set",
            Self::RemoveProjectMember => "project_member_removed",
            Self::LinkChannel => "channel_linked",
            Self::UnlinkChannel => "channel_unlinked",
            Self::AddTask => "task_added",
            Self::ChangeTask => "task_changed",
            Self::ChangeEndpoint => "endpoint_changed",
            Self::GiveUp => "delivery_given_up",
            Self::ChangeInbox => "inbox_changed",
            Self::SignIn => "signed_in",
            Self::RotateKey => "signing_key_rotated",
        }
    }

    /// The kind of thing that its subject's id names.
    pub fn prefix(self) -> Prefix {
        match self {
            Self::OpenSession | Self::CloseSession => Prefix::Session,
            Self::CreateConversation
            | Self::ChangeConversation
            | Self::SetSeat
            | Self::RemoveSeat
            | Self::OpenThread
            | Self::Continue
            | Self::BreakTurn
            | Self::ChangeSchedules
            | Self::RefuseTurn
            | Self::Deduplicate
            | Self::Trim => Prefix::Conversation,
            Self::ChangeThread => Prefix::Thread,
            Self::DecideApproval => Prefix::Approval,
            Self::KeepAsset => Prefix::Asset,
            Self::CreateProject
            | Self::ChangeProject
            | Self::RemoveProject
            | Self::SetProjectMember
            | Self::RemoveProjectMember
            | Self::LinkChannel
            | Self::UnlinkChannel => Prefix::Project,
            Self::AddTask | Self::ChangeTask => Prefix::Task,
            Self::ChangeInbox => Prefix::Inbox,
            _ => Prefix::Event,
        }
    }
}
