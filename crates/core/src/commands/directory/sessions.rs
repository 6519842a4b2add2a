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
use crate::model::member::{Proof, Session, SessionStatus};

/// A connection begins: the session is created, or resumed by its id.
#[derive(Clone, Default)]
pub struct OpenSession {
    pub uid: Option<Uid>,
    pub runtime: String,
    pub managed: bool,
    pub resumable: bool,
    /// It wakes a program instead of taking offers ([`crate::model::wake`]).
    pub runner: bool,
    /// The folder in which the program works; the known one where none is given.
    pub folder: Option<Arc<str>>,
    /// The program's own id of its session, likewise.
    pub resume_id: Option<Arc<str>>,
}

impl Command for OpenSession {
    type Output = Arc<Session>;

    const WHILE_PAUSED: bool = true;

    fn audit(&self, done: Done<'_, Self>) -> Audit {
        Audit::soft(Action::OpenSession).subject(done.ok().map(|session| session.uid))
    }

    fn redact(&mut self, redact: &dyn Redact) -> u32 {
        redact.string(&mut self.runtime) + redact.maybe(&mut self.folder)
    }

    // It is the name of a program, and where it runs.
    not_shown!();

    fn execute(self, run: &mut Context<'_>) -> Result<Arc<Session>> {
        run.open_session(self)
    }
}

/// Creates the session that a token names although it never connected. Nothing is offered to it.
#[derive(Clone)]
pub struct KnowSession {
    pub uid: Uid,
}

impl Command for KnowSession {
    type Output = Arc<Session>;

    const WHILE_PAUSED: bool = true;

    no_text!();

    fn audit(&self, done: Done<'_, Self>) -> Audit {
        Audit::soft(Action::OpenSession).subject(done.ok().map(|session| session.uid))
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Arc<Session>> {
        run.know_session(self.uid)
    }
}

/// A session of which this was not heard for so long is proved anew, in milliseconds.
const PROOF_MS: i64 = 10_000;

/// The session's connection ended.
#[derive(Clone)]
pub struct CloseSession {
    pub session: SessionKey,
}

impl Command for CloseSession {
    type Output = ();

    const WHILE_PAUSED: bool = true;

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
    fn open_session(&mut self, asked: OpenSession) -> Result<Arc<Session>> {
        let me = self.me()?;
        check_runtime(&asked.runtime)?;
        check_line("a folder", asked.folder.as_deref(), limits::FOLDER_BYTES)?;
        check_line("a resume id", asked.resume_id.as_deref(), limits::SESSION_NAME_BYTES)?;
        let known = asked.uid.and_then(|uid| self.directory().session_by_uid(uid)).cloned();
        if known.as_ref().is_some_and(|s| s.member != me.key) {
            return Err(Refusal::not_found("session").into());
        }
        let now = self.now;
        let key = known.as_ref().map(|s| s.key).unwrap_or_else(|| self.next_session());
        let before = known.as_deref().cloned().unwrap_or_else(|| {
            Session::unconnected(key, asked.uid.unwrap_or(self.drawn.uid), me.key, now)
        });
        let session = Session {
            runtime: asked.runtime.as_str().into(),
            managed: asked.managed || asked.runner,
            resumable: asked.resumable,
            runner: asked.runner,
            folder: asked.folder.or_else(|| before.folder.clone()),
            resume_id: asked.resume_id.or_else(|| before.resume_id.clone()),
            connected: false,
            seen_at: now,
            ..before
        };
        let is_new = known.is_none_or(|known| known.states_other_than(&session));
        self.ws.last_session = self.ws.last_session.max(key.0);
        let directory = self.directory_mut();
        directory.put_session(session);
        directory.set_connected(key, true, now);
        if asked.runner {
            // Its program sleeps until a wake says otherwise.
            let idle = Session::clone(&directory.sessions[&key]);
            directory.put_session(Session { status: SessionStatus::Idle, ..idle });
        }
        let session = directory.sessions[&key].clone();
        if is_new {
            self.ws.changes.sessions.push(session.clone());
        }
        self.take_up(key)?;
        match session.runner {
            true => self.runner_is_here(key)?,
            false => self.is_no_runner(key),
        }
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
            return Ok(self.proved_by_call(known));
        }
        let key = self.next_session();
        let session = Session {
            status: SessionStatus::Active,
            proof: Proof::Call,
            ..Session::unconnected(key, uid, me.key, self.now)
        };
        self.ws.last_session = key.0;
        let directory = self.directory_mut();
        directory.put_session(session);
        let session = directory.sessions[&key].clone();
        self.ws.changes.sessions.push(session.clone());
        Ok(session)
    }

    /// A call proves that a session is there, whatever it is connected with. That is worth no write: after a restart the
    /// next call proves it again.
    fn proved_by_call(&mut self, known: Arc<Session>) -> Arc<Session> {
        let now = self.now;
        if known.connected || now.since(known.seen_at) < PROOF_MS {
            return known;
        }
        let (status, proof) = (SessionStatus::Active, Proof::Call);
        let directory = self.directory_mut();
        directory.put_session(Session { status, proof, seen_at: now, ..Session::clone(&known) });
        directory.sessions.get(&known.key).cloned().unwrap_or(known)
    }

    pub(super) fn next_session(&self) -> SessionKey {
        SessionKey(self.ws.last_session + 1)
    }

    /// The same session is back and keeps what it had accepted.
    fn take_up(&mut self, session: SessionKey) -> Result<()> {
        let (now, member) = (self.now, self.by.member);
        let wake = self.directory().open_wake(session).cloned();
        for at in self.owed_by(session) {
            let room = self.room_mut(at.conversation);
            let Some(open) = room.open_mut(at.seq) else { continue };
            let is_woken = wake.as_ref().is_some_and(|wake| wake.covers(at, open.thread));
            for delivery in open.deliveries.iter_mut().filter(|d| d.member == member) {
                if delivery.session().is_none_or(|holder| holder == session) {
                    delivery.next_connection();
                }
                if let State::Accepted { session: holder, gone, .. } = &mut delivery.state
                    && *holder == session
                    && !delivery.carried
                {
                    // Whether the run behind the old connection is still alive is unknown. It
                    // counts as disconnected until it has been offered again. A runner is offered
                    // nothing: its wake is sent again, and taken back if it does not report.
                    *gone = if is_woken { None } else { gone.or(Some(now)) };
                }
            }
            self.ws.track(at);
        }
        Ok(())
    }

    fn close_session(&mut self, session: SessionKey) -> Result<()> {
        if !self.directory().sessions.contains_key(&session) {
            return Err(Refusal::not_found("session").into());
        }
        self.let_go(session)
    }

    /// The session is no longer connected.
    pub(crate) fn let_go(&mut self, session: SessionKey) -> Result<()> {
        let now = self.now;
        self.directory_mut().set_connected(session, false, now);
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
        self.ws.track_wake_of(session);
        let waits = gone.runner && self.directory().open_wake(session).is_some();
        if gone.resumable || holds_work || waits {
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

/// A runtime's name is one short line.
pub(super) fn check_runtime(runtime: &str) -> Result<()> {
    check_line("a runtime's name", Some(runtime), limits::TITLE_BYTES)
}

/// Refuses what is not one line of at most `most` bytes.
pub(crate) fn check_line(what: &str, text: Option<&str>, most: usize) -> Result<()> {
    match text.filter(|text| text.len() > most || text.chars().any(char::is_control)) {
        Some(_) => {
            Err(Refusal::invalid(format!("{what} is one line of at most {most} bytes")).into())
        }
        None => Ok(()),
    }
}
