//! What the audit log keeps of a command: who did what to whom, when, and how it ended; never what was said.
//!
//! What the conversations' own logs have (sends, decisions, roster, settings, erasures) is not written a second
//! time; those logs are chained too. Here is the rest: administration, claims, deliveries, sessions, tool
//! calls, tokens. [`kept`] is a match over every command, so that a new one cannot be forgotten.

mod act;
mod beside;

use std::sync::Arc;

use crate::command::{Authority, By, Command, Home, Outcome};
use crate::error::{Code, Refusal};
use crate::event::EventRef;
use crate::ids::{ConversationKey, MemberKey, Seq, SessionKey, Timestamp, Uid};
pub use act::Act;

/// Longest name kept: what is longer was refused, and its beginning says enough.
const NAME_CHARS: usize = 64;

/// One entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub at: Timestamp,
    /// Who did it; 0 is the host.
    pub by: MemberKey,
    pub session: Option<SessionKey>,
    pub authority: Authority,
    pub act: Act,
    pub event: Option<EventRef>,
    pub subject: Option<Uid>,
    pub member: Option<MemberKey>,
    /// A role, a stream, a tool, a token's id, a disposition.
    pub name: Option<Arc<str>>,
    /// With which code it was refused.
    pub refused: Option<Code>,
    pub took_ms: Option<u32>,
    /// The first half of a hash over the receipt.
    pub digest: Option<[u8; 16]>,
}

/// Something that no command of the room does: for the audit log alone.
#[derive(Clone, Debug)]
pub struct Note {
    pub act: Act,
    pub name: Arc<str>,
    pub member: Option<MemberKey>,
    pub refused: Option<Code>,
    pub took_ms: Option<u32>,
}

/// How an entry is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// In the transaction of what it tells of.
    Firm,
    /// With the next transaction, or a second later: a crash may take it.
    Soft,
}

/// Where a command leaves its trace.
enum Kept {
    /// In the audit log, with what it changes.
    Firm,
    /// In the audit log, along with others.
    Soft,
    /// In its conversation's log; only a refusal is kept here.
    Logged,
}

impl Record {
    pub fn new(at: Timestamp, by: &By, act: Act) -> Self {
        Self {
            at,
            by: by.member,
            session: by.session,
            authority: by.authority,
            act,
            event: None,
            subject: None,
            member: None,
            name: None,
            refused: None,
            took_ms: None,
            digest: None,
        }
    }
}

/// What is kept of a command that was answered so.
pub fn record(
    by: &By,
    command: &Command,
    answer: &Result<Outcome, Refusal>,
    now: Timestamp,
) -> Option<(Weight, Record)> {
    if let Some(record) = beside::moderated(by, command, answer, now) {
        return Some((Weight::Soft, record));
    }
    // Nothing was done: it waits for a person, or the agent has taken what was to be given up.
    if matches!(answer, Ok(Outcome::Held(_) | Outcome::Taken)) {
        return None;
    }
    let (act, kept) = kept(command)?;
    let refused = answer.as_ref().err().map(|refusal| refusal.code);
    let weight = match (kept, refused) {
        (Kept::Firm, None) => Weight::Firm,
        (Kept::Firm | Kept::Logged, Some(_)) | (Kept::Soft, None) => Weight::Soft,
        (Kept::Logged, None) | (Kept::Soft, Some(_)) => return None,
    };
    let mut record = Record { refused, ..Record::new(now, by, act) };
    subject(command, answer.as_ref().ok(), &mut record);
    Some((weight, record))
}

fn kept(command: &Command) -> Option<(Act, Kept)> {
    use Kept::{Firm, Logged, Soft};
    Some(match command {
        Command::AddMember { .. } => (Act::AddMember, Firm),
        Command::ChangeMember { .. } => (Act::ChangeMember, Firm),
        Command::RemoveMember { .. } => (Act::RemoveMember, Firm),
        Command::AddRole { .. } => (Act::AddRole, Firm),
        Command::RemoveRole { .. } => (Act::RemoveRole, Firm),
        Command::SetRoleMember { .. } => (Act::SetRoleMember, Firm),
        Command::SetLead { .. } => (Act::SetLead, Firm),
        Command::AddStream { .. } => (Act::AddStream, Firm),
        Command::RevokeToken { .. } | Command::RevokeTokens { .. } => (Act::RevokeToken, Firm),
        Command::IssueToken(_) => (Act::IssueToken, Firm),
        Command::KeepAsset { .. } => (Act::KeepAsset, Firm),
        Command::Project(asked) => (asked.act(), Firm),
        Command::Endpoint { .. } => (Act::ChangeEndpoint, Firm),
        Command::GiveUp { .. } => (Act::GiveUp, Firm),
        // What could not be sent back stands with the inbox.
        Command::Inbox(act) if matches!(**act, crate::inbox::Act::Trouble { .. }) => return None,
        Command::Inbox(_) => (Act::ChangeInbox, Firm),
        Command::OpenSession { .. } | Command::KnowSession { .. } => (Act::OpenSession, Soft),
        Command::CloseSession { .. } => (Act::CloseSession, Soft),
        Command::CreateConversation { .. } => (Act::CreateConversation, Logged),
        Command::ChangeConversation { .. } => (Act::ChangeConversation, Logged),
        Command::SetSeat { .. } => (Act::SetSeat, Logged),
        Command::RemoveSeat { .. } => (Act::RemoveSeat, Logged),
        Command::Erase { .. } => (Act::Erase, Logged),
        Command::OpenThread(_) => (Act::OpenThread, Logged),
        Command::ChangeThread { .. } | Command::ChangeWork { .. } => (Act::ChangeThread, Logged),
        Command::Continue { .. } => (Act::Continue, Logged),
        Command::Claim { .. } => (Act::Claim, Firm),
        Command::Release { .. } => (Act::Release, Firm),
        Command::Accept { .. } => (Act::Accept, Soft),
        Command::Reject { .. } => (Act::Reject, Soft),
        Command::Dispose { .. } | Command::Resolve { .. } | Command::CancelDelivery { .. } => {
            (Act::Dispose, Firm)
        }
        Command::Defer { .. } => (Act::Defer, Firm),
        Command::DecideApproval { .. } => (Act::DecideApproval, Firm),
        Command::Retrieve { .. } => (Act::Retrieve, Soft),
        Command::Redeliver { .. } => (Act::Redeliver, Firm),
        Command::Trim { .. } => (Act::Trim, Firm),
        Command::BreakTurn { .. } => (Act::BreakTurn, Firm),
        Command::ChangeSchedules { .. } => (Act::ChangeSchedules, Firm),
        Command::Note(note) if note.act == Act::CallTool || note.refused.is_some() => {
            (note.act, Soft)
        }
        Command::Note(note) => (note.act, Firm),
        // In the conversation's log, with who was told and why; a refused send changed nothing.
        Command::Post(_)
        | Command::CloseRun(_)
        | Command::PostUnasked(_)
        | Command::EmitOutput { .. }
        | Command::Edit { .. }
        | Command::Delete { .. }
        | Command::React { .. }
        | Command::Promote { .. }
        // In the queue, and then in the log.
        | Command::Stimulate(_)
        | Command::SteerStimulus { .. }
        | Command::Leave { .. }
        // The call it is asked for is kept itself.
        | Command::MayCall { .. }
        // What goes was nobody's any more.
        | Command::SweepAssets
        | Command::SweepExpired
        // A part of the exchange of keys, which is kept itself.
        | Command::OfferAgain
        // A part of the file that was kept.
        | Command::KeepThumbnail { .. }
        | Command::SweepCallbacks
        // In the log of its conversation; who sends that back, and how far, is no act of anybody.
        | Command::Receive(_)
        | Command::SendBack { .. }
        | Command::SentBack { .. }
        // How far a courier has got with what is on its way.
        | Command::PostFailed { .. }
        | Command::PostAgain { .. }
        // How far somebody has read, that a run lives, and questions.
        | Command::SetCursor { .. }
        | Command::AckThread { .. }
        // The text of a digest, which says nothing new.
        | Command::KeepDigest { .. }
        | Command::Life { .. }
        | Command::Progress { .. }
        | Command::MayActUnasked { .. }
        | Command::Owed { .. }
        | Command::Preview(_)
        | Command::Droppable { .. }
        | Command::Standing { .. }
        | Command::Waiting { .. }
        | Command::Turns { .. }
        | Command::Overdue { .. } => return None,
    })
}

fn subject(command: &Command, outcome: Option<&Outcome>, record: &mut Record) {
    let issued;
    let mut name = None;
    match command {
        Command::AddMember { id, .. } => name = Some(&**id),
        Command::ChangeMember { member, .. }
        | Command::RemoveMember { member }
        | Command::Endpoint { member, .. } => {
            record.member = Some(*member);
        }
        Command::AddRole { name: role } => name = Some(role),
        Command::SetRoleMember { member, .. } => record.member = Some(*member),
        Command::SetLead { member } => record.member = *member,
        Command::AddStream { name: stream, .. } => name = Some(stream),
        Command::RevokeToken { jti, .. } => name = Some(jti),
        Command::RevokeTokens { member } => record.member = Some(*member),
        Command::IssueToken(asked) => {
            record.member = Some(asked.member);
            issued = format!("{}:{}", asked.authority.name(), asked.jti);
            name = Some(&issued);
        }
        Command::ChangeConversation { conversation, .. } | Command::Trim { conversation, .. } => {
            record.subject = Some(*conversation)
        }
        Command::SetSeat { conversation, member, .. }
        | Command::RemoveSeat { conversation, member }
        | Command::BreakTurn { conversation, member, .. } => {
            record.subject = Some(*conversation);
            record.member = Some(*member);
        }
        Command::Continue { conversation, .. } | Command::ChangeSchedules { conversation, .. } => {
            record.subject = Some(*conversation);
        }
        Command::OpenThread(opening) => {
            if let Home::In(conversation) = opening.home {
                record.subject = Some(conversation);
            }
        }
        Command::ChangeThread { thread, .. } | Command::ChangeWork { thread, .. } => {
            record.subject = Some(*thread);
        }
        Command::Erase { message, .. } => record.subject = Some(*message),
        Command::Claim { event }
        | Command::Release { event }
        | Command::Defer { event, .. }
        | Command::Retrieve { event } => {
            record.subject = Some(*event);
        }
        Command::Dispose { event, disposition, .. } => {
            record.subject = Some(*event);
            name = Some(disposition.name());
        }
        Command::Resolve { event, .. } => {
            record.subject = Some(*event);
            name = Some(crate::delivery::Disposition::Responded.name());
        }
        Command::DecideApproval { approval, approved, .. } => {
            record.subject = Some(*approval);
            name = Some(if *approved { "approved" } else { "denied" });
        }
        Command::Redeliver { event, member } => {
            record.subject = Some(*event);
            record.member = Some(*member);
        }
        Command::Accept { event, .. }
        | Command::Reject { event, .. }
        | Command::GiveUp { event, .. } => {
            record.event = Some(*event);
        }
        Command::CloseSession { session } => record.session = Some(*session),
        Command::Project(asked) => name = asked.note(record),
        Command::Inbox(act) => match &**act {
            crate::inbox::Act::Add { agent, .. } => record.member = Some(*agent),
            crate::inbox::Act::Change { inbox, .. }
            | crate::inbox::Act::Rotate { inbox, .. }
            | crate::inbox::Act::Remove { inbox }
            | crate::inbox::Act::Trouble { inbox, .. } => record.subject = Some(*inbox),
        },
        Command::Note(note) => {
            name = Some(&*note.name);
            record.member = note.member;
            record.refused = note.refused;
            record.took_ms = note.took_ms;
        }
        _ => {}
    }
    match outcome {
        Some(Outcome::Member(member)) => record.member = Some(member.key),
        Some(Outcome::Role(role)) => name = Some(&*role.name),
        Some(Outcome::Trimmed(through)) => record.event = Some(*through),
        Some(Outcome::Inbox(inbox)) => record.subject = Some(inbox.uid),
        Some(Outcome::Asset(asset)) => record.subject = Some(asset.uid),
        Some(Outcome::Project { project, task }) => {
            record.subject = Some(task.unwrap_or(project.uid))
        }
        Some(Outcome::Session(session)) => record.subject = Some(session.uid),
        _ => {}
    }
    record.name = name.map(|name| match name.char_indices().nth(NAME_CHARS) {
        Some((end, _)) => name[..end].into(),
        None => name.into(),
    });
}

/// Where an event is, as two numbers that are 0 when there is none.
pub(crate) fn place(event: Option<EventRef>) -> (u64, u64) {
    event.map_or((0, 0), |e| (e.conversation.0, e.seq.0))
}

pub(crate) fn event(conversation: u64, seq: u64) -> Option<EventRef> {
    (conversation > 0)
        .then_some(EventRef { conversation: ConversationKey(conversation), seq: Seq(seq) })
}
