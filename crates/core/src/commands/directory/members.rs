//! Administration of members, roles and streams; sessions that come and go.

use std::sync::Arc;

use crate::command::{Authority, Command, Outcome};
use crate::commands::run::{Result, Run};
use crate::delivery::{Disposition, State};
use crate::error::{Code, Refusal};
use crate::event::EventRef;
use crate::ids::{MemberKey, SessionKey, Uid};
use crate::limits;
use crate::member::Session;
use crate::token::{OPERATOR, may_revoke, may_vouch};
use crate::workspace::Failure;

impl Run<'_> {
    pub(crate) fn administer(&mut self, command: Command) -> Result<Outcome> {
        self.must_govern()?;
        let outcome = match command {
            Command::AddMember { id, kind, fields } => {
                if fields.identities.is_some() || fields.owner.is_some() {
                    may_vouch(&self.by, kind)?;
                }
                let member = self.directory_mut().add_member(&id, kind, &fields)?;
                self.ws.changes.members.push(member.clone());
                Outcome::Member(member)
            }
            Command::ChangeMember { member, fields } => {
                let old = self.directory().member(member);
                let same = |new: &Option<String>, old: Option<&Arc<str>>| {
                    new.is_none() || new.as_deref() == old.map(|old| &**old)
                };
                let is_same = old.is_none_or(|old| {
                    same(&fields.owner, old.owner.as_ref())
                        && same(&fields.identities, old.identities.as_ref())
                });
                if !is_same && !self.is_operator() {
                    let why =
                        "whose a member is, and who it is elsewhere, is changed by an operator";
                    return Err(Refusal::new(Code::InsufficientAuthority, why).into());
                }
                let member = self.directory_mut().change_member(member, &fields)?;
                self.ws.changes.members.push(member.clone());
                Outcome::Member(member)
            }
            Command::RemoveMember { member } => {
                if member == self.by.member {
                    return Err(Refusal::new(Code::Conflict, "you cannot remove yourself").into());
                }
                self.must_be_member(member)?;
                if self.directory().member(member).is_some_and(|m| *m.id == *OPERATOR) {
                    let why = "the member 'operator' stays: without it nobody could run this host; revoke \
                               its tokens instead";
                    return Err(Refusal::new(Code::Conflict, why).into());
                }
                if may_revoke(&self.by, self.kind_of(member)?).is_err() {
                    let why = "an orchestrator removes agents only; this needs an operator's token";
                    return Err(Refusal::new(Code::InsufficientAuthority, why).into());
                }
                self.leave_inboxes(member)?;
                self.leave_projects(member)?;
                let was_lead = self.directory().lead == Some(member);
                let member = self.directory_mut().remove_member(member)?;
                if was_lead {
                    self.ws.changes.lead = Some(None);
                }
                self.ws.changes.members.push(member.clone());
                self.end_tokens(member.key);
                if self.directory().endpoints.contains_key(&member.key) {
                    self.put_endpoint(member.key, None);
                }
                self.hand_over(member.key)?;
                Outcome::Member(member)
            }
            Command::AddRole { name } => {
                let role = self.directory_mut().add_role(&name)?;
                self.ws.changes.roles.push(role.clone());
                Outcome::Role(role)
            }
            Command::RemoveRole { role } => {
                let role = self.directory_mut().remove_role(role)?;
                self.ws.changes.roles.push(role.clone());
                Outcome::Role(role)
            }
            Command::SetRoleMember { role, member, on } => {
                let role = self.directory_mut().set_role_member(role, member, on)?;
                self.ws.changes.roles.push(role.clone());
                Outcome::Role(role)
            }
            Command::SetLead { member } => {
                if member.is_some_and(|m| self.directory().member(m).is_none_or(|m| m.removed)) {
                    return Err(Refusal::not_found("member").into());
                }
                self.directory_mut().lead = member;
                self.ws.changes.lead = Some(member);
                Outcome::Done
            }
            Command::AddStream { name, owner } => {
                let uid = self.drawn.uid;
                let stream = self.directory_mut().add_stream(uid, &name, owner)?;
                self.ws.changes.streams.push(stream.clone());
                Outcome::Stream(stream)
            }
            other => {
                let what = format!("not administration: {}", other.kind());
                return Err(Refusal::new(Code::Internal, what).into());
            }
        };
        Ok(outcome)
    }

    /// A member is gone for good: its runs end, and what it owes moves on as if they had failed.
    fn hand_over(&mut self, member: MemberKey) -> Result<()> {
        let now = self.now;
        let owed: Vec<EventRef> =
            self.ws.owed.get(&member).into_iter().flatten().copied().collect();
        for at in owed {
            let open = self.room_mut(at.conversation).open_mut(at.seq);
            let delivery = open.and_then(|o| o.delivery_mut(member)).filter(|d| d.is_open());
            let Some(delivery) = delivery else { continue };
            let before = delivery.clone();
            delivery.come_back();
            delivery.withhold(false, now);
            self.cancel_all(at, vec![before], "the member was removed")?;
            self.settle(at, member, Disposition::Failed)?;
        }
        Ok(())
    }

    /// A connection begins. A session id of another member is unknown to this one.
    pub(crate) fn open_session(
        &mut self,
        uid: Option<Uid>,
        runtime: &str,
        managed: bool,
        resumable: bool,
    ) -> Result<Outcome> {
        let me = self.me()?;
        if runtime.len() > limits::TITLE_BYTES || runtime.chars().any(char::is_control) {
            return Err(Refusal::invalid("a runtime's name is one short line").into());
        }
        let known = uid.and_then(|uid| self.directory().session_by_uid(uid)).cloned();
        if known.as_ref().is_some_and(|s| s.member != me.key) {
            return Err(Refusal::not_found("session").into());
        }
        let now = self.now;
        let key = known.as_ref().map(|s| s.key).unwrap_or_else(|| self.next_session());
        let session = Session {
            key,
            uid: known.as_ref().map_or(uid.unwrap_or(self.drawn.uid), |s| s.uid),
            member: me.key,
            runtime: runtime.into(),
            managed,
            resumable,
            connected: false,
            host: self.ws.host,
            seen_at: now,
        };
        self.ws.last_session = self.ws.last_session.max(key.0);
        let directory = self.directory_mut();
        directory.put_session(session);
        directory.set_connected(key, true, now);
        let session = directory.sessions[&key].clone();
        let is_new = known.is_none_or(|k| {
            (&k.runtime, k.managed, k.resumable) != (&session.runtime, managed, resumable)
        });
        if is_new || self.ws.shared {
            self.ws.changes.sessions.push(session.clone());
        }
        self.take_up(key)?;
        Ok(Outcome::Session(session))
    }

    /// As it is written it has never connected, so that nothing is offered to it and nothing waits for it.
    pub(crate) fn know_session(&mut self, uid: Uid) -> Result<Outcome> {
        let me = self.me()?;
        if let Some(known) = self.directory().session_by_uid(uid).cloned() {
            if known.member != me.key {
                return Err(Refusal::not_found("session").into());
            }
            return Ok(Outcome::Session(known));
        }
        let key = self.next_session();
        let session = Session {
            key,
            uid,
            member: me.key,
            runtime: "".into(),
            managed: false,
            resumable: false,
            connected: false,
            host: self.ws.host,
            seen_at: self.now,
        };
        self.ws.last_session = key.0;
        let directory = self.directory_mut();
        directory.put_session(session);
        let session = directory.sessions[&key].clone();
        self.ws.changes.sessions.push(session.clone());
        Ok(Outcome::Session(session))
    }

    fn next_session(&self) -> SessionKey {
        SessionKey(self.ws.last_session + 1)
    }

    /// The same session is back: what it had accepted stays with it.
    fn take_up(&mut self, session: SessionKey) -> Result<()> {
        let (now, member) = (self.now, self.by.member);
        for at in self.owed_by(session) {
            let room = self.room_mut(at.conversation);
            let Some(open) = room.open_mut(at.seq) else { continue };
            for delivery in open.deliveries.iter_mut().filter(|d| d.member == member) {
                if delivery.session().is_none_or(|holder| holder == session) {
                    delivery.next_connection();
                }
                if let State::Accepted { session: holder, gone, .. } = &mut delivery.state
                    && *holder == session
                    && !delivery.carried
                {
                    // Whether the run behind the old connection still works is not known: until it has
                    // been offered again, it counts as gone.
                    *gone = gone.or(Some(now));
                }
            }
            self.ws.track(at);
        }
        Ok(())
    }

    pub(crate) fn close_session(&mut self, session: SessionKey) -> Result<Outcome> {
        let found = self.directory().sessions.get(&session);
        let found = found.ok_or_else(|| Refusal::not_found("session"))?;
        if found.connected && found.host != self.ws.host {
            // A newer connection of it is to another host, which says when that one ends.
            return Ok(Outcome::Done);
        }
        self.let_go(session)?;
        Ok(Outcome::Done)
    }

    /// Nobody holds the session any more.
    pub(crate) fn let_go(&mut self, session: SessionKey) -> Result<()> {
        let now = self.now;
        self.directory_mut().set_connected(session, false, now);
        if self.ws.shared {
            let closed = self.directory().sessions.get(&session).cloned();
            self.ws.changes.sessions.extend(closed);
        }
        let mut holds_work = false;
        for at in self.owed_by(session) {
            let room = self.room_mut(at.conversation);
            let Some(open) = room.open_mut(at.seq) else { continue };
            let mut void = Vec::new();
            for delivery in &mut open.deliveries {
                if delivery.session() == Some(session) {
                    delivery.interrupt(now);
                    match delivery.state {
                        State::Waiting => void.push(delivery.member),
                        _ => holds_work = true,
                    }
                }
            }
            for member in void {
                self.offer(at, member)?;
            }
            self.ws.track(at);
        }
        let Some(gone) = self.directory().sessions.get(&session).cloned() else { return Ok(()) };
        if gone.resumable || holds_work {
            self.ws.told.left(gone.member, session);
        } else {
            self.directory_mut().drop_session(session);
            self.forget_told(gone.member, session)?;
        }
        Ok(())
    }

    /// Open events of the session's member; rooms with open deliveries are always in memory.
    pub(crate) fn owed_by(&self, session: SessionKey) -> Vec<EventRef> {
        let member = self.directory().sessions.get(&session).map(|s| s.member);
        let owed = member.and_then(|m| self.ws.owed.get(&m));
        owed.into_iter().flatten().copied().collect()
    }

    pub(crate) fn must_be_member(&self, member: MemberKey) -> Result<()> {
        match self.directory().member(member) {
            Some(m) if !m.removed => Ok(()),
            _ => Err(Failure::Refused(Refusal::not_found("member"))),
        }
    }

    pub(crate) fn is_operator(&self) -> bool {
        self.by.authority == Authority::Operator
    }
}
