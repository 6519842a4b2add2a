//! Which function runs which command.

use crate::command::{Authority, By, Command, Drawn, Facts, Outcome, Unavailable};
use crate::commands::run::{Result, Run};
use crate::error::{Code, Refusal};
use crate::event::EventRef;
use crate::ids::Timestamp;
use crate::workspace::{Failure, TimerKey, TimerOf, Tracked, Workspace};

impl Workspace {
    /// Runs one command.
    pub fn execute(
        &mut self,
        facts: &mut dyn Facts,
        by: By,
        command: Command,
        drawn: Drawn,
        now: Timestamp,
    ) -> Result<Outcome> {
        if command.changes_something() && by.authority == Authority::Auditor {
            return Err(Refusal::new(Code::Forbidden, "an auditor reads and writes nothing").into());
        }
        self.told.begin(now);
        let mut run = Run { ws: Tracked::new(self), facts, by, drawn, now, unasked: false };
        match run.execute(command) {
            // It is about what is damaged, and concerns nobody else.
            Err(Failure::Unavailable(why)) if why.damaged && !run.ws.may_have_changed() => {
                Err(Refusal::new(Code::Unavailable, why.why).into())
            }
            done => done,
        }
    }

    /// Lets time do what has come due by `now`, at most `limit` events' worth; says how many it did.
    pub fn fire_due(
        &mut self,
        facts: &mut dyn Facts,
        now: Timestamp,
        limit: usize,
    ) -> Result<usize, Unavailable> {
        while let Some(key) = self.to_review.first().copied() {
            let mut run = Run::of_host(self, facts, now);
            match run.review_pauses(key).and_then(|()| run.arbitrate()) {
                Ok(()) | Err(Failure::Refused(_)) => {}
                Err(Failure::Unavailable(why)) => return Err(why),
            }
            self.to_review.remove(&key);
        }
        // What a room brought along that was loaded for a command which was refused.
        if self.rooms.has_changed() {
            let mut run = Run::of_host(self, facts, now);
            match run.arbitrate() {
                Ok(()) | Err(Failure::Refused(_)) => {}
                Err(Failure::Unavailable(why)) => return Err(why),
            }
        }
        let mut fired = 0;
        while fired < limit {
            let Some(key) = self.timers.pop_due(now) else { break };
            let mut run = Run::of_host(self, facts, now);
            match run.fire(key).and_then(|()| run.arbitrate()) {
                Ok(()) | Err(Failure::Refused(_)) => {}
                Err(Failure::Unavailable(why)) => {
                    self.timers.set(key, Some(now));
                    return Err(why);
                }
            }
            fired += 1;
        }
        Ok(fired)
    }
}

impl Run<'_> {
    /// Runs one command, and arbitrates the turns that it concerned.
    pub(crate) fn execute(&mut self, command: Command) -> Result<Outcome> {
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

    /// A timer is due.
    fn fire(&mut self, key: TimerKey) -> Result<()> {
        let conversation = key.conversation;
        match key.of {
            TimerOf::Digest => self.digest(conversation),
            TimerOf::Event(seq) => self.fire_event(EventRef { conversation, seq }),
            TimerOf::Turn(subject) => {
                if let Some(room) = self.ws.rooms.get_mut(&conversation) {
                    room.turns.note(subject);
                }
                Ok(())
            }
            TimerOf::Queue => self.fire_stimuli(conversation),
        }
    }
}
