//! What time and connections do to wakes.

use crate::commands::context::{Context, Result};
use crate::model::ids::{SessionKey, Uid};
use crate::model::member::Session;
use crate::model::wake::{Fired, Outcome, Wake, WakeState};
use crate::state::workspace::Failure;

/// How long a wake is left alone that was refused, in milliseconds.
const REST_MS: i64 = 60_000;

impl Context<'_> {
    /// The timer of a wake is due.
    pub(crate) fn fire_wake(&mut self, uid: Uid) -> Result<()> {
        let done = self.wake_is_due(uid);
        if let Err(Failure::Refused(_) | Failure::AwaitsApproval(_)) = &done {
            let later = self.now.plus(REST_MS);
            self.ws.put_off_wake(uid, later);
        }
        done
    }

    fn wake_is_due(&mut self, uid: Uid) -> Result<()> {
        let Some(before) = self.directory().wakes.get(&uid).cloned() else { return Ok(()) };
        let runner = self.directory().sessions.get(&before.session);
        let connected = runner.is_some_and(|runner| runner.connected);
        let mut wake = Wake::clone(&before);
        let Some(fired) = wake.fire(connected, self.now) else {
            self.ws.track_wake(uid);
            return Ok(());
        };
        if wake.state != WakeState::Running && self.is_obsolete(&wake) {
            wake.end(Outcome::Obsolete, self.now);
            self.ws.put_wake(wake);
            return Ok(());
        }
        match fired {
            Fired::Hand | Fired::TakenBack => self.push_wake(wake, false),
            Fired::Mail => self.push_wake(wake, true),
            Fired::NoRunner => self.give_up_wake(wake, Outcome::NoRunner),
        }
    }

    /// Whether a wake that the host opened has nothing left to be woken for.
    fn is_obsolete(&self, wake: &Wake) -> bool {
        let left = self.left_of(wake);
        wake.asked_by.is_none() && !left.told && !left.untold
    }

    /// A runner has connected: its open wake is sent again, and what waits for its agent opens one.
    pub(crate) fn runner_is_here(&mut self, session: SessionKey) -> Result<()> {
        let member = self.by.member;
        if let Some(wake) = self.directory().open_wake(session).cloned() {
            self.push_wake(Wake::clone(&wake), true)?;
        }
        self.wake_for_all(session, member)
    }

    /// Nobody can connect as this runner any more: what waits for its agent waits for others.
    pub(crate) fn retire_runner(&mut self, runner: &Session) -> Result<()> {
        self.is_no_runner(runner.key);
        let session = Session { runner: false, ..runner.clone() };
        let directory = self.directory_mut();
        directory.put_session(session);
        let session = directory.sessions.get(&runner.key).cloned();
        self.ws.changes.sessions.extend(session);
        self.let_go(runner.key)
    }

    /// The session takes offers from now on, so it is not woken any more.
    pub(crate) fn is_no_runner(&mut self, session: SessionKey) {
        if let Some(wake) = self.directory().open_wake(session).cloned() {
            let mut wake = Wake::clone(&wake);
            wake.end(Outcome::Obsolete, self.now);
            self.ws.put_wake(wake);
        }
    }
}
