//! Somebody asks that an agent be woken (threads spec section 3.8).

use std::sync::Arc;

use super::outgoing::{is_said, place_in};
use crate::commands::command::{Command, Done};
use crate::commands::context::{Context, Result};
use crate::commands::directory::sessions::check_line;
use crate::commands::gate::shown::{Readers, Shown, plain};
use crate::commands::redact::Redact;
use crate::model::audit::{Action, Audit};
use crate::model::delivery::Open;
use crate::model::error::{Code, Refusal};
use crate::model::event::Event;
use crate::model::ids::{ConversationKey, EventRef, MemberKey, Seq, ThreadKey, Timestamp, Uid};
use crate::model::limits;
use crate::model::member::{Member, Proof, Session};
use crate::model::wake::{Wake, WakeState, WakeThread};
use crate::state::room::turns::is_owed;
use crate::state::workspace::Failure;

/// The usual reason, which discloses nothing.
const UNREAD: &str = "new_unread_messages";

/// A day in milliseconds.
const DAY_MS: i64 = 24 * 3_600_000;

/// Wakes an agent that has unread messages in a thread or conversation.
#[derive(Clone)]
pub struct Trigger {
    /// A thread or a conversation.
    pub thread: Uid,
    /// The agent's member id.
    pub target: String,
    pub reason: String,
    /// What it is told besides what there is to read.
    pub prompt: Option<String>,
    /// Although a person is typing. Only an operator may insist, and that is in the audit log.
    pub force: bool,
}

/// What came of asking.
#[derive(Clone, veil::Redact, PartialEq, Eq)]
pub struct Triggered {
    pub result: TriggerResult,
    /// The open wake; none where none was needed.
    pub wake: Option<Arc<Wake>>,
    /// The runner's session that is woken, or the connected session that needs no wake.
    pub session: Option<Arc<Session>>,
    /// What a new session would be told of the thread.
    #[redact(fixed = 3)]
    pub summary: Arc<str>,
    pub at: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TriggerResult {
    /// The target has read everything there; nothing was done.
    NothingUnread,
    /// A connected session of the agent takes its mail itself; nothing was done.
    Awake,
    /// The runner was told.
    Triggered,
    /// It waits: for the runner to come back, or because a person is typing
    /// ([`Wake::deferred_until`]).
    Deferred,
    /// The agent is awake already, and its runner is told of this too.
    Running,
}

impl TriggerResult {
    pub fn name(self) -> &'static str {
        match self {
            Self::NothingUnread => "nothing_unread",
            Self::Awake => "awake",
            Self::Triggered => "triggered",
            Self::Deferred => "deferred",
            Self::Running => "running",
        }
    }
}

impl Command for Trigger {
    type Output = Triggered;

    fn audit(&self, done: Done<'_, Self>) -> Audit {
        let wake = done.ok().and_then(|done| done.wake.as_ref());
        Audit::firm(Action::TriggerWake)
            .subject(wake.map(|wake| wake.uid))
            .member(wake.map(|wake| wake.member))
            .name(self.force.then_some("force"))
    }

    fn redact(&mut self, redact: &dyn Redact) -> u32 {
        let prompt = self.prompt.as_mut().map_or(0, |prompt| redact.string(prompt));
        redact.string(&mut self.reason) + prompt
    }

    fn shown(&self, run: &mut Context<'_>) -> Result<Option<Shown>> {
        if self.prompt.is_none() && self.reason == UNREAD {
            return Ok(None);
        }
        let mut fields = vec![("reason", self.reason.clone())];
        fields.extend(self.prompt.iter().map(|prompt| ("trigger_prompt", prompt.clone())));
        fields.push(("target_agent_id", self.target.clone()));
        let (key, ..) = run.place_to_read(self.thread)?;
        let target = run.agent_here(key, &self.target)?;
        // It is told to the agent alone.
        let readers = Readers { members: vec![target.key], ..Readers::default() };
        Ok(Some(plain("trigger_participant", readers, fields)))
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Triggered> {
        run.trigger(self)
    }
}

impl Context<'_> {
    fn trigger(&mut self, asked: Trigger) -> Result<Triggered> {
        let me = self.me()?;
        check_line("a reason", Some(&asked.reason), limits::TITLE_BYTES)?;
        check_prompt(asked.prompt.as_deref())?;
        if asked.force && !self.is_operator() {
            let why = "only an operator wakes an agent while a person is typing";
            return Err(Refusal::new(Code::InsufficientAuthority, why).into());
        }
        let (key, thread) = self.place_to_read(asked.thread)?;
        self.must_sit(key)?;
        let target = self.agent_here(key, &asked.target)?;
        if target.key == me.key {
            return Err(Refusal::invalid("an agent does not wake itself").into());
        }
        let through_seq = self.newest_seq(key, thread);
        let place = WakeThread { conversation: key, thread, through_seq, sent_seq: Seq(0) };
        let summary = self.summary_of(&place, target.key)?;
        let now = self.now;
        let answer = |result, wake, session| Triggered { result, wake, session, summary, at: now };
        if !self.has_unread(&place, target.key)? {
            return Ok(answer(TriggerResult::NothingUnread, None, None));
        }
        let connected = self.asked_sessions(key, target.key).last().copied();
        if let Some(session) = connected.and_then(|key| self.directory().sessions.get(&key)) {
            return Ok(answer(TriggerResult::Awake, None, Some(session.clone())));
        }
        let Some(runner) = self.runner_of(key, target.key) else {
            return Err(self.no_runner(&target).into());
        };
        let about = EventRef { conversation: key, seq: through_seq };
        let mut wake = self.wake_to_change(&runner, about);
        self.may_trigger(&me, &wake, &place, asked.force)?;
        let is_new_force = asked.force && !wake.force;
        let says_more = asked.prompt.is_some() || is_new_force;
        wake.reason = asked.reason.into();
        wake.prompt = asked.prompt.map(Into::into).or(wake.prompt.take());
        wake.asked_by = Some(me.key);
        wake.force |= asked.force;
        if asked.force {
            (wake.deferred_since, wake.deferred_until) = (None, None);
        }
        wake.add(place, now);
        let before = wake.state;
        let uid = wake.uid;
        if before != WakeState::Pending {
            // A pending one counts when it is handed to the runner.
            wake.note_woken(now);
        }
        self.push_wake(wake, says_more)?;
        let wake = self.directory().wakes.get(&uid).cloned();
        let result = match wake.as_ref().map(|wake| wake.state) {
            Some(WakeState::Running) => TriggerResult::Running,
            Some(WakeState::Handed) => TriggerResult::Triggered,
            _ => TriggerResult::Deferred,
        };
        Ok(answer(result, wake, Some(runner)))
    }

    /// A thread, or else a conversation.
    fn place_to_read(&mut self, uid: Uid) -> Result<(ConversationKey, Option<ThreadKey>)> {
        if let Some((key, thread)) = self.maybe_thread(uid)? {
            return Ok((key, Some(thread)));
        }
        match self.room_by_uid(uid) {
            Ok(key) => Ok((key, None)),
            Err(Failure::Refused(_)) => Err(Refusal::not_found("thread").into()),
            Err(failure) => Err(failure),
        }
    }

    /// An agent that takes part in the conversation.
    fn agent_here(&self, key: ConversationKey, id: &str) -> Result<Arc<Member>> {
        let found = self.directory().by_id(id).filter(|member| {
            member.is_agent()
                && !self.directory().is_stand_in(member.key)
                && self.room(key).roster().contains_key(&member.key)
        });
        Ok(found.cloned().ok_or_else(|| Refusal::not_found("agent"))?)
    }

    /// The newest message of a place, by its seq in the conversation's log.
    fn newest_seq(&self, key: ConversationKey, thread: Option<ThreadKey>) -> Seq {
        let room = self.room(key);
        room.lines().get(&thread).map_or(room.head().seq, |line| line.seq)
    }

    /// Whether others said something that the agent has not read, or it owes an answer there.
    fn has_unread(&mut self, place: &WakeThread, member: MemberKey) -> Result<bool> {
        let (key, thread) = (place.conversation, place.thread);
        let read = self.read_through(key, thread, member)?;
        let room = self.room(key);
        let unread = |event: &&Arc<Event>| {
            event.thread == thread
                && event.actor != member
                && is_said(event)
                && event.is_shown_to(member)
                && place_in(event) > read
        };
        let owes = |open: &Open| {
            open.thread == thread
                && open.delivery(member).is_some_and(|d| d.is_open() && is_owed(d))
        };
        Ok(room.tail().iter().any(|event| unread(&event)) || room.open().values().any(owes))
    }

    /// Whether one more wake is allowed now.
    fn may_trigger(
        &mut self,
        me: &Member,
        wake: &Wake,
        place: &WakeThread,
        force: bool,
    ) -> Result<()> {
        if me.is_agent() {
            self.check_may_wake(me.key)?;
        }
        let wakes = &self.directory().wakes;
        let most = limits::WAKES_PER_MINUTE;
        if Wake::count_woken(wakes.values(), wake, place, self.now).0 >= most {
            let why = format!("an agent is woken about one thread at most {most} times a minute");
            return Err(Refusal::new(Code::RateLimited, why).into());
        }
        if !force && wake.is_blocked_by_person(self.now) {
            let why = "a person has been typing in the agent's terminal for more than a minute; it \
                       is woken when that ends";
            return Err(Refusal::new(Code::HumanInputCollision, why).into());
        }
        if me.is_agent() {
            self.note_woke();
        }
        Ok(())
    }

    /// Why an agent without a runner cannot be woken.
    fn no_runner(&self, target: &Member) -> Refusal {
        let directory = self.directory();
        if target.pause.is_some() {
            let why = format!("{} is paused; let it go on first", target.id);
            return Refusal::new(Code::Conflict, why);
        }
        let reports = |session: &&Arc<Session>| {
            session.member == target.key
                && !session.runner
                && session.proof != Proof::Connection
                && self.now.since(session.seen_at) < DAY_MS
        };
        let id = &target.id;
        if directory.runners(target.key).is_empty()
            && directory.sessions.values().any(|session| reports(&session))
        {
            let why = format!(
                "{id} reports itself, but no runner runs it; it reads its messages when it calls"
            );
            return Refusal::new(Code::UnmanagedRuntime, why);
        }
        let why = format!(
            "no runner of {id} is connected or was lately; its mail waits until one connects"
        );
        Refusal::new(Code::WakeFailed, why)
    }
}

/// A prompt has so many bytes, and more than nothing.
fn check_prompt(prompt: Option<&str>) -> Result<()> {
    let most = limits::WAKE_ASKED_BYTES;
    match prompt {
        Some(prompt) if prompt.len() > most => {
            let why = format!("a trigger prompt has at most {most} bytes");
            Err(Refusal::new(Code::PayloadTooLarge, why).into())
        }
        _ => Ok(()),
    }
}
