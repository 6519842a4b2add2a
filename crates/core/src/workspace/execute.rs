//! Which function runs which command.

use super::{Result, Run};
use crate::command::{Command, Outcome};

impl Run<'_> {
    /// Runs one command, and arbitrates the turns that it concerned.
    pub(super) fn execute(&mut self, command: Command) -> Result<Outcome> {
        if let Some(before) = self.pass_gate(&command)? {
            return Ok(before);
        }
        if let Some(held) = self.may_show(&command)? {
            return Ok(held);
        }
        let outcome = match command {
            Command::AddMember { .. }
            | Command::ChangeMember { .. }
            | Command::RemoveMember { .. }
            | Command::AddRole { .. }
            | Command::RemoveRole { .. }
            | Command::SetRoleMember { .. }
            | Command::SetLead { .. }
            | Command::AddStream { .. } => self.administer(command),
            Command::IssueToken(asked) => self.issue_token(*asked),
            Command::RevokeToken { jti, expires } => self.revoke_token(jti, expires),
            Command::RevokeTokens { member } => self.revoke_tokens(member),
            Command::SweepExpired => self.sweep_expired(),
            Command::OfferAgain => self.offer_again(),
            Command::KeepAsset { hash, name, media, data } => {
                self.keep_asset(hash, &name, media, data)
            }
            Command::KeepThumbnail { hash, thumbnail } => self.keep_thumbnail(hash, thumbnail),
            Command::SweepAssets => self.sweep_assets(),
            Command::OpenSession { uid, runtime, managed, resumable } => {
                self.open_session(uid, &runtime, managed, resumable)
            }
            Command::KnowSession { uid } => self.know_session(uid),
            Command::CloseSession { session } => self.close_session(session),
            Command::CreateConversation { kind, settings, members } => {
                self.create_conversation(kind, settings, &members)
            }
            Command::ChangeConversation { conversation, settings } => {
                self.change_conversation(conversation, settings)
            }
            Command::SetSeat { conversation, member, participation, terms } => {
                self.set_seat(conversation, member, participation, terms)
            }
            Command::RemoveSeat { conversation, member } => self.remove_seat(conversation, member),
            Command::Post(post) => self.post(*post),
            Command::Preview(post) => self.preview(&post),
            Command::Edit { message, content } => self.edit(message, content),
            Command::Delete { message } => self.delete(message),
            Command::Erase { message, reason } => self.erase(message, reason),
            Command::React { message, signal, detail, on } => {
                self.react(message, signal, detail, on)
            }
            Command::OpenThread(opening) => self.open_thread(*opening),
            Command::ChangeThread { thread, status, owner, reason, summary, note } => {
                self.change_thread(thread, status, owner, &reason, summary, note)
            }
            Command::ChangeWork { thread, change } => self.change_work(thread, *change),
            Command::Stimulate(new) => self.stimulate(*new),
            Command::SteerStimulus { conversation, stimulus, again } => {
                self.steer_stimulus(conversation, stimulus, again)
            }
            Command::Endpoint { member, act } => self.endpoint(member, *act),
            Command::GiveUp { event, attempt } => self.give_up(event, attempt),
            Command::PostAgain { event } => self.post_again(event),
            Command::PostFailed { event, attempt, retry } => {
                self.post_failed(event, attempt, retry)
            }
            Command::Inbox(act) => self.inbox(*act),
            Command::Receive(received) => self.receive(*received),
            Command::SendBack { conversation } => self.send_back(conversation),
            Command::SentBack { conversation, through } => self.sent_back(conversation, through),
            Command::SweepCallbacks => self.sweep_callbacks(),
            Command::Project(asked) => self.project(*asked),
            Command::ChangeSchedules { conversation, act } => self.schedules(conversation, *act),
            Command::Promote { message, note } => self.promote(message, note),
            Command::Continue { conversation, thread } => self.go_on(conversation, thread),
            Command::SetCursor { conversation, read } => self.set_cursor(conversation, read),
            Command::AckThread { thread, read } => self.ack_thread(thread, read),
            Command::Claim { event } => self.claim(event),
            Command::Release { event } => self.release(event),
            Command::Accept { event, attempt, epoch } => self.accept(event, attempt, epoch),
            Command::Reject { event, attempt } => self.reject(event, attempt),
            Command::Dispose { event, disposition, note } => self.dispose(event, disposition, note),
            Command::Resolve { event, note } => self.resolve(event, note),
            Command::KeepDigest { conversation, written } => {
                self.keep_digest(conversation, written)
            }
            Command::Leave { conversation, thread, member } => {
                self.leave(conversation, thread, member)
            }
            Command::Defer { event, until, reason } => self.defer(event, until, reason),
            Command::Retrieve { event } => self.retrieve(event),
            Command::Life { session } => self.life(session),
            Command::Progress { event } => self.progress(event),
            Command::MayActUnasked { conversation, shows } => {
                self.may_act_unasked(conversation, shows)
            }
            Command::CancelDelivery { event, attempt } => self.cancel_delivery(event, attempt),
            Command::MayCall { tool, arguments } => self.may_call(tool, arguments),
            Command::DecideApproval { approval, approved, reason } => {
                self.decide_approval(approval, approved, reason)
            }
            Command::Redeliver { event, member } => self.redeliver(event, member),
            Command::Owed { session, limit } => self.owed(session, limit),
            Command::Trim { conversation, through, erased } => {
                self.trim(conversation, through, erased)
            }
            Command::Droppable { conversation } => self.droppable(conversation),
            Command::Note(_) => Ok(Outcome::Done),
            Command::Standing { event } => self.standing(event),
            Command::Waiting { member, limit } => self.waiting(member, limit),
            Command::Overdue { member, limit } => self.overdue(member, limit),
            Command::EmitOutput { message } => self.emit_output(message),
            Command::CloseRun(post) => self.close_run(*post),
            Command::PostUnasked(post) => {
                self.unasked = true;
                self.post(*post)
            }
            Command::Turns { conversation } => self.turns(conversation),
            Command::BreakTurn { conversation, subject, member } => {
                self.break_turn(conversation, subject, member)
            }
        }?;
        self.arbitrate()?;
        Ok(outcome)
    }
}
