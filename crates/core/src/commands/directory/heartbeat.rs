//! Heartbeats: sessions that report themselves over a call instead of holding a connection (threads
//! spec section 3.7).
//!
//! Invariant: a heartbeat makes no session connected, so nothing is offered to it.

use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::sessions::{check_line, check_runtime};
use crate::commands::command::{Command, Done, not_shown};
use crate::commands::context::{Context, Result};
use crate::commands::redact::Redact;
use crate::model::audit::Audit;
use crate::model::error::{Code, Refusal};
use crate::model::ids::{MemberKey, Prefix, Uid};
use crate::model::limits;
use crate::model::member::{Proof, Session, SessionStatus};

/// A day in milliseconds.
const DAY_MS: i64 = 24 * 3_600_000;

/// How a heartbeat names its session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionName {
    /// By the host's id.
    Ours(Uid),
    /// By the id that the runtime itself has for it.
    Runtimes(Arc<str>),
}

impl SessionName {
    /// A text in the form of the host's ids is one; anything else is a runtime's.
    pub fn read(text: &str) -> Self {
        match Uid::read(Prefix::Session, text) {
            Some(uid) => Self::Ours(uid),
            None => Self::Runtimes(text.into()),
        }
    }
}

/// A session reports that it is alive.
#[derive(Clone)]
pub struct Heartbeat {
    /// The member's id, which must be the caller's.
    pub member: Option<String>,
    pub session: SessionName,
    pub runtime: String,
    pub resumable: bool,
    pub status: SessionStatus,
}

impl Command for Heartbeat {
    type Output = Arc<Session>;

    const WHILE_PAUSED: bool = true;

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        // It comes every half minute; the list of sessions shows the newest.
        Audit::none()
    }

    fn redact(&mut self, redact: &dyn Redact) -> u32 {
        redact.string(&mut self.runtime)
    }

    // It is the name of a program.
    not_shown!();

    fn execute(self, run: &mut Context<'_>) -> Result<Arc<Session>> {
        run.heartbeat(self)
    }
}

/// The known session that is meant, the id of a new one, and the runtime's own id.
type Heard = (Option<Arc<Session>>, Uid, Option<Arc<str>>);

impl Context<'_> {
    fn heartbeat(&mut self, heard: Heartbeat) -> Result<Arc<Session>> {
        let me = self.me()?;
        if heard.member.as_deref().is_some_and(|id| id != &*me.id) {
            let why = "a session reports itself for the member of its token only";
            return Err(Refusal::new(Code::ClaimMismatch, why).into());
        }
        check_runtime(&heard.runtime)?;
        let (known, uid, own_id) = self.session_heard(me.key, &heard.session)?;
        let now = self.now;
        let before = match &known {
            Some(known) => Session::clone(known),
            None => {
                self.may_report_another(me.key)?;
                let key = self.next_session();
                Session::unconnected(key, uid, me.key, now)
            }
        };
        let is_connected = before.connected;
        let session = Session {
            // What holds the connection knows its runtime better than a call does; and what is not said stays.
            runtime: match is_connected || heard.runtime.is_empty() {
                true => before.runtime.clone(),
                false => heard.runtime.as_str().into(),
            },
            resumable: if is_connected { before.resumable } else { heard.resumable },
            resume_id: own_id.or_else(|| before.resume_id.clone()),
            // A connection proves more than is said beside it.
            status: match heard.status {
                SessionStatus::Offline if is_connected => SessionStatus::Idle,
                said => said,
            },
            proof: Proof::Heartbeat,
            seen_at: now,
            ..before
        };
        let is_new =
            known.is_none_or(|k| k.states_other_than(&session) || k.status != session.status);
        let key = session.key;
        self.ws.last_session = self.ws.last_session.max(key.0);
        let directory = self.directory_mut();
        directory.put_session(session);
        let session = directory.sessions[&key].clone();
        if is_new {
            self.ws.changes.sessions.push(session.clone());
        }
        Ok(session)
    }

    /// Which session a heartbeat means. A runtime that calls with its runner's token is the runner's
    /// session, whatever it calls itself.
    fn session_heard(&self, me: MemberKey, name: &SessionName) -> Result<Heard> {
        let of_token = self.by.session.and_then(|key| self.directory().sessions.get(&key));
        match name {
            SessionName::Ours(uid) => {
                if of_token.is_some_and(|session| session.uid != *uid) {
                    let why = "the token is for another session";
                    return Err(Refusal::new(Code::ClaimMismatch, why).into());
                }
                let known = self.directory().session_by_uid(*uid).cloned();
                if known.as_ref().is_some_and(|session| session.member != me) {
                    return Err(Refusal::not_found("session").into());
                }
                Ok((known, *uid, None))
            }
            SessionName::Runtimes(id) => {
                if id.is_empty() {
                    return Err(Refusal::invalid("a session has an id").into());
                }
                check_line("a session's id", Some(id), limits::SESSION_NAME_BYTES)?;
                let uid = derived_id(me, id);
                let known = match of_token.filter(|session| session.runner) {
                    Some(session) => Some(session),
                    None => self.directory().session_by_uid(uid),
                };
                Ok((known.cloned(), uid, Some(id.clone())))
            }
        }
    }

    /// Every new session is a row, so a member reports only so many on a day.
    fn may_report_another(&self, me: MemberKey) -> Result<()> {
        let heard = |session: &&Arc<Session>| {
            session.member == me
                && session.proof == Proof::Heartbeat
                && self.now.since(session.seen_at) < DAY_MS
        };
        if self.directory().sessions.values().filter(heard).count() < limits::SESSIONS_HEARD {
            return Ok(());
        }
        let most = limits::SESSIONS_HEARD;
        let why = format!(
            "at most {most} sessions of a member report themselves on a day; use the id of one that \
             did"
        );
        Err(Refusal::new(Code::RateLimited, why).into())
    }
}

/// The id of a session that a runtime names by its own id: the same for the same name.
fn derived_id(member: MemberKey, name: &str) -> Uid {
    let hash = Sha256::new()
        .chain_update(b"chorus session of a runtime\0")
        .chain_update(member.0.to_be_bytes())
        .chain_update(name.as_bytes())
        .finalize();
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash[..16]);
    Uid(u128::from_be_bytes(bytes))
}
