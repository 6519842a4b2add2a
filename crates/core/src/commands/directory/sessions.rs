//! Sessions: connections of members.

use std::sync::Arc;

use crate::commands::command::{Command, Done, no_text, not_shown};
use crate::commands::context::{Context, Result};
use crate::commands::redact::Redact;
use crate::model::audit::{Action, Audit};
use crate::model::delivery::State;
use crate::model::error::Refusal;
use crate::model::ids::{EventRef, SessionKey, Uid};
use crate::model::limits;
use crate::model::member::Session;

/// A connection begins: the session is created, or resumed by its id.
#[derive(Clone)]
pub struct OpenSession {
    pub uid: Option<Uid>,
    pub runtime: String,
    pub managed: bool,
    pub resumable: bool,
}

impl Command for OpenSession {
    type Output = Arc<Session>;

    fn audit(&self, done: Done<'_, Self>) -> Audit {
        Audit::soft(Action::OpenSession).subject(done.ok().map(|session| session.uid))
    }

    fn redact(&mut self, redact: &dyn Redact) -> u32 {
        redact.string(&mut self.runtime)
    }

    // It is the name of a program.
    not_shown!();

    fn execute(self, run: &mut Context<'_>) -> Result<Arc<Session>> {
        run.open_session(self.uid, &self.runtime, self.managed, self.resumable)
    }
}

/// Creates the session that a token names although it never connected. Nothing is offered to it.
#[derive(Clone)]
pub struct KnowSession {
    pub uid: Uid,
}

impl Command for KnowSession {
    type Output = Arc<Session>;

    no_text!();

    fn audit(&self, done: Done<'_, Self>) -> Audit {
        Audit::soft(Action::OpenSession).subject(done.ok().map(|session| session.uid))
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Arc<Session>> {
        run.know_session(self.uid)
    }
}

/// The session's connection ended.
#[derive(Clone)]
pub struct CloseSession {
    pub session: SessionKey,
}

impl Command for CloseSession {
    type Output = ();

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::soft(Action::CloseSession).session(self.session)
    }

    fn execute(self, run: &mut Context<'_>) -> Result<()> {
        run.close_session(self.session)
    }
}

impl Context<'_> {
    /// A connection begins. A session id of another member is reported as unknown.
    fn open_session(
        &mut self,
        uid: Option<Uid>,
        runtime: &str,
        managed: bool,
        resumable: bool,
    ) -> Result<Arc<Session>> {
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
        Ok(session)
    }

    /// It is recorded as never connected, so that nothing is offered to it and nothing waits for
    /// it.
    fn know_session(&mut self, uid: Uid) -> Result<Arc<Session>> {
        let me = self.me()?;
        if let Some(known) = self.directory().session_by_uid(uid).cloned() {
            if known.member != me.key {
                return Err(Refusal::not_found("session").into());
            }
            return Ok(known);
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
        Ok(session)
    }

    fn next_session(&self) -> SessionKey {
        SessionKey(self.ws.last_session + 1)
    }

    /// The same session is back and keeps what it had accepted.
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
                    // Whether the run behind the old connection is still alive is unknown. It
                    // counts as disconnected until it has been offered again.
                    *gone = gone.or(Some(now));
                }
            }
            self.ws.track(at);
        }
        Ok(())
    }

    fn close_session(&mut self, session: SessionKey) -> Result<()> {
        let found = self.directory().sessions.get(&session);
        let found = found.ok_or_else(|| Refusal::not_found("session"))?;
        if found.connected && found.host != self.ws.host {
            // It has a newer connection to another host, and that host reports when it ends.
            return Ok(());
        }
        self.let_go(session)?;
        Ok(())
    }

    /// The session is no longer connected.
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
            self.ws.private_reads.left(gone.member, session);
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
}
