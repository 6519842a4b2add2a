//! The queue of stimuli: adding, claiming when due, and dispatching.
//!
//! Invariant: a stimulus's message and its dispatched state are recorded together, under a key
//! derived from its id. So it is posted once, whatever happens between claiming and dispatching.

use std::sync::Arc;

use crate::attention::directedness::{self, IncomingMessage};
use crate::commands::context::{Context, Result};
use crate::commands::conversations::conversation::derived;
use crate::commands::messages::destination::Place;
use crate::commands::stimuli::QueuedStimulus;
use crate::commands::stimuli::title::{headline, shortened};
use crate::language::analysis::Analysis;
use crate::language::names::rules::check_title;
use crate::model::attention::{Attention, Directedness, Intent};
use crate::model::error::{Code, Refusal};
use crate::model::event::{
    Change, Event, Idempotency, Message, MessageKind, ThreadOpening, is_talk,
};
use crate::model::ids::{ConversationKey, EventRef, MemberKey, Prefix, ThreadKey, Timestamp, Uid};
use crate::model::limits;
use crate::model::requests::NewStimulus;
use crate::model::stimulus::{Chain, Stimulus, StimulusKind, StimulusState, keys};
use crate::model::thread::work::{Report, Spur, WorkChange, check_key, check_words_of};
use crate::model::thread::{ThreadKind, ThreadStatus};
use crate::state::workspace::Failure;

impl Context<'_> {
    pub(super) fn stimulate(&mut self, new: NewStimulus) -> Result<QueuedStimulus> {
        let me = self.me()?;
        let key = self.room_by_uid(new.conversation)?;
        self.must_sit(key)?;
        if new.kind.wakes_nobody() {
            let why = "the host itself makes result summaries and notices of supersession";
            return Err(Refusal::invalid(why).into());
        }
        if !new.kind.is_of_an_agent() || new.source.is_some_and(|source| source != me.key) {
            self.must_govern()?;
        }
        keys::check_free("progress_key", new.progress_key.as_deref())?;
        keys::check_free("dedupe_key", new.dedupe_key.as_deref())?;
        let thread = self.thread_here(key, new.thread)?;
        let chain = self.chain_here(key)?;
        if chain.is_some() && !new.targets.is_empty() {
            self.check_budget(key, thread.map(|(thread, _)| thread))?;
        }
        let (drawn, source) = (self.drawn, new.source.unwrap_or(me.key));
        let stimulus = Stimulus {
            thread,
            chain,
            title: new.title.unwrap_or_else(|| headline(&new.text)),
            text: new.text,
            targets: new.targets,
            private: new.private,
            progress_key: new.progress_key,
            dedupe_key: new.dedupe_key,
            initiative_key: new.initiative_key,
            expires_at: new.expires_at,
            ..Stimulus::new(drawn.uid, new.kind, source, drawn.salt, self.now)
        };
        self.check_stimulus(key, &stimulus)?;
        let is_agents = stimulus.chain.is_some();
        if is_agents {
            self.check_may_wake(me.key)?;
        }
        let stimulus = self.enqueue(key, stimulus)?;
        if is_agents {
            self.note_woke();
        }
        Ok(self.stimulus_outcome(key, stimulus))
    }

    /// The thread to continue, if any; it must be in this conversation.
    pub(crate) fn thread_here(
        &mut self,
        key: ConversationKey,
        thread: Option<Uid>,
    ) -> Result<Option<(ThreadKey, Uid)>> {
        let Some(uid) = thread else { return Ok(None) };
        let (of, thread) = self.thread_by_uid(uid)?;
        if of != key {
            return Err(Refusal::invalid("the thread is in another conversation").into());
        }
        Ok(Some((thread, uid)))
    }

    /// Whether the stimulus is valid.
    pub(crate) fn check_stimulus(&self, key: ConversationKey, new: &Stimulus) -> Result<()> {
        let room = self.room(key);
        for member in new.targets.iter().copied().chain([new.source]) {
            self.must_be_member(member)?;
            if !room.roster().contains_key(&member) {
                let why =
                    "the source and targets of a stimulus must be members of the conversation";
                return Err(Refusal::invalid(why).into());
            }
        }
        if new.targets.len() > limits::AUDIENCE_NAMED {
            let most = limits::AUDIENCE_NAMED;
            return Err(Refusal::invalid(format!("a stimulus has at most {most} targets")).into());
        }
        if new.private && (new.thread.is_none() || new.targets.is_empty()) {
            let why = "a private stimulus needs targets and a thread to continue";
            return Err(Refusal::invalid(why).into());
        }
        let keys = [&new.progress_key, &new.dedupe_key, &new.initiative_key];
        keys.into_iter().flatten().try_for_each(|k| check_key("key of a stimulus", k))?;
        check_words_of("a stimulus", &new.text, limits::SUMMARY_BYTES)?;
        check_title("title", Some(&new.title))?;
        if new.expires_at.is_some_and(|at| at <= self.now) {
            return Err(Refusal::invalid("expires_at is in the past").into());
        }
        if let Some((thread, _)) = new.thread
            && self.thread(key, Some(thread)).is_none_or(|t| t.status == ThreadStatus::Closed)
        {
            return Err(Refusal::new(Code::Conflict, "the thread is closed").into());
        }
        Ok(())
    }

    /// Its source and the room's moderators may cancel it, or request it again.
    pub(super) fn steer_stimulus(
        &mut self,
        conversation: Uid,
        uid: Uid,
        again: bool,
    ) -> Result<QueuedStimulus> {
        let key = self.room_by_uid(conversation)?;
        self.must_sit(key)?;
        let found = self.room(key).stimuli().get(&uid).cloned();
        let old = found.ok_or_else(|| Refusal::not_found("stimulus"))?;
        if old.source != self.by.member {
            self.must_govern()?;
        }
        let state = old.state;
        let new = match (again, state) {
            (false, StimulusState::Cancelled) => return Ok(self.stimulus_outcome(key, old)),
            (false, _) if state.is_open() => self.cancelled(&old, "it was called off"),
            (true, StimulusState::Cancelled) => {
                let fresh = Stimulus {
                    chain: self.chain_again(key, old.chain)?,
                    state: StimulusState::Pending,
                    due_at: self.now,
                    created_at: self.now,
                    attempts: 0,
                    reason: None,
                    ended_at: None,
                    expires_at: old.expires_at.filter(|at| *at > self.now),
                    ..(*old).clone()
                };
                self.check_stimulus(key, &fresh)?;
                let fresh = self.enqueue(key, fresh)?;
                return Ok(self.stimulus_outcome(key, fresh));
            }
            _ => {
                let (is, what) = (state.name(), if again { "tried again" } else { "cancelled" });
                let why = format!("a stimulus that is {is} is not {what}");
                return Err(Refusal::new(Code::Conflict, why).into());
            }
        };
        self.end_stimulus(key, new.clone());
        Ok(self.stimulus_outcome(key, Arc::new(new)))
    }

    /// The chain of a repeated request: a person begins a new chain, and an agent cannot shorten
    /// the existing one.
    pub(crate) fn chain_again(
        &mut self,
        key: ConversationKey,
        before: Option<Chain>,
    ) -> Result<Option<Chain>> {
        let now = self.chain_here(key)?;
        let further = before.filter(|before| now.is_some_and(|now| before.hop >= now.hop));
        Ok(further.or(now))
    }

    fn stimulus_outcome(&self, key: ConversationKey, stimulus: Arc<Stimulus>) -> QueuedStimulus {
        let conversation = self.room(key).conversation().clone();
        QueuedStimulus { conversation, stimulus }
    }

    /// A queue's timer fired: removes expired stimuli, dispatches the claimed one, or claims the
    /// next.
    pub(crate) fn fire_stimuli(&mut self, key: ConversationKey) -> Result<()> {
        let now = self.now;
        self.fire_schedules(key)?;
        self.follow_up(key)?;
        self.admit_held(key);
        let Some(room) = self.ws.rooms.get(&key) else { return Ok(()) };
        let open: Vec<_> =
            room.stimuli().values().filter(|s| s.state.is_queued()).cloned().collect();
        for old in open.iter().filter(|s| s.expires_at.is_some_and(|at| at <= now)) {
            let cancelled = self.cancelled(old, "it expired before it could be said");
            self.end_stimulus(key, cancelled);
        }
        let live = |s: &&Arc<Stimulus>| s.expires_at.is_none_or(|at| at > now) && s.due_at <= now;
        let claimed = open.iter().filter(live).find(|s| s.state == StimulusState::Claimed);
        if let Some(claimed) = claimed {
            let is_said = self.room(key).sent().get(&claimed.uid.0.to_be_bytes()).is_some();
            return match self.waits_until(key, claimed).filter(|_| !is_said) {
                Some(opens_at) => {
                    self.put_back(key, claimed, opens_at);
                    Ok(())
                }
                None => self.dispatch(key, claimed),
            };
        }
        // One at a time: until it is dispatched, the time for the next one is unknown.
        if open
            .iter()
            .any(|s| s.state == StimulusState::Claimed && s.expires_at.is_none_or(|at| at > now))
        {
            return Ok(());
        }
        let due = open.iter().filter(live).min_by_key(|s| (s.due_at, s.created_at, s.uid));
        let Some(next) = due.cloned() else { return Ok(()) };
        if self.waits_until(key, &next).is_some() {
            self.arrange_stimuli(key);
            return Ok(());
        }
        if next.attempts >= limits::STIMULUS_ATTEMPTS {
            let cancelled = self.cancelled(&next, "posting it failed repeatedly");
            self.end_stimulus(key, cancelled);
            return Ok(());
        }
        // It is dispatched in the next transaction. This transaction records the attempt, whatever
        // becomes of it.
        let claimed = Stimulus {
            state: StimulusState::Claimed,
            attempts: next.attempts + 1,
            due_at: now.plus(1),
            ..(*next).clone()
        };
        self.room_mut(key).put_stimulus(claimed);
        Ok(())
    }

    /// Posts it in its source's name, and marks it as dispatched.
    fn dispatch(&mut self, key: ConversationKey, stimulus: &Stimulus) -> Result<()> {
        let (now, salt) = (self.now, std::mem::replace(&mut self.drawn.salt, stimulus.salt));
        let said = match self.room(key).sent().get(&stimulus.uid.0.to_be_bytes()) {
            // It was posted already; only the mark is missing.
            Some(seq) => {
                let event = self.recall(EventRef { conversation: key, seq })?.event;
                Ok((event.uid, event.thread.is_none()))
            }
            None => self.as_agent(stimulus.source, |run| run.say_stimulus(key, stimulus)),
        };
        self.drawn.salt = salt;
        let ended = match said {
            Ok((said, opened)) => {
                let ended = stimulus.ended(StimulusState::Dispatched, now);
                Stimulus { said: Some(said), opened, ..ended }
            }
            Err(Failure::Refused(refusal)) => self.cancelled(stimulus, &refusal.message),
            Err(unavailable) => return Err(unavailable),
        };
        self.end_stimulus(key, ended);
        self.arrange_stimuli(key);
        Ok(())
    }

    /// Returns a claimed stimulus to the queue: the thread of its initiative has ended meanwhile,
    /// so it must open a subject. This does not count as an attempt.
    fn put_back(&mut self, key: ConversationKey, claimed: &Stimulus, opens_at: Timestamp) {
        let attempts = claimed.attempts.saturating_sub(1);
        let (state, due_at) = (StimulusState::Pending, opens_at);
        self.room_mut(key).put_stimulus(Stimulus { state, attempts, due_at, ..claimed.clone() });
    }

    /// The event that it became, and whether that event opened a subject.
    fn say_stimulus(&mut self, key: ConversationKey, stimulus: &Stimulus) -> Result<(Uid, bool)> {
        self.must_sit(key)?;
        let Some(thread) = self.thread_to_continue(key, stimulus) else {
            let said = self.open_subject(key, stimulus)?;
            return Ok((said, true));
        };
        let Some(found) = self.thread(key, Some(thread)).cloned() else {
            return Err(Refusal::not_found("thread").into());
        };
        if found.status == ThreadStatus::Closed {
            return Err(Refusal::new(Code::Conflict, "the thread is closed").into());
        }
        let opened = found.work.spur.is_some_and(|spur| spur.opened);
        let known = |k: &Arc<str>| found.work.progress.iter().any(|p| p.key == *k);
        // A further update on the same progress replaces the last one and is not a message.
        // Progress is visible to all, so an ephemeral stimulus is never progress and is always
        // posted.
        if !stimulus.private && stimulus.progress_key.as_ref().is_some_and(known) {
            let event = self.note_spur(key, thread, stimulus, opened, 0)?;
            return Ok((event.uid, false));
        }
        let said = self.say_event(key, thread, stimulus)?;
        self.note_spur(key, thread, stimulus, opened, 1)?;
        Ok((said.uid, false))
    }

    fn open_subject(&mut self, key: ConversationKey, stimulus: &Stimulus) -> Result<Uid> {
        let root = self.log_said(key, None, stimulus)?;
        let mut participants = stimulus.targets.clone();
        participants.push(stimulus.source);
        participants.sort_unstable();
        participants.dedup();
        let opening = ThreadOpening {
            uid: derived(stimulus.uid, 3),
            root: Some(root.seq),
            title: stimulus.title.clone(),
            kind: ThreadKind::Conversation,
            owner: None,
            participants,
        };
        let change = Change::ThreadOpened(opening);
        let event = self.log_plain(key, derived(stimulus.uid, 2), change)?;
        self.note_spur(key, ThreadKey(event.seq.0), stimulus, true, 1)?;
        // It is now the root of a thread, so its recipients take turns, whatever the channel's
        // `replies` setting is.
        self.tell(&root)?;
        Ok(root.uid)
    }

    /// Logs the message and notifies the members that the usual decision selects.
    fn say_event(
        &mut self,
        key: ConversationKey,
        thread: ThreadKey,
        stimulus: &Stimulus,
    ) -> Result<Arc<Event>> {
        let event = self.log_said(key, Some(thread), stimulus)?;
        self.tell(&event)?;
        Ok(event)
    }

    /// Logs the message without notifying anybody yet.
    fn log_said(
        &mut self,
        key: ConversationKey,
        thread: Option<ThreadKey>,
        stimulus: &Stimulus,
    ) -> Result<Arc<Event>> {
        let me = self.me()?;
        let mut only = stimulus.targets.clone();
        only.push(me.key);
        only.sort_unstable();
        only.dedup();
        let only: Option<Arc<[MemberKey]>> = stimulus.private.then(|| only.into());
        let hop = stimulus.chain.map_or(1, |chain| chain.hop);
        let cause = match stimulus.chain.and_then(|chain| chain.cause) {
            Some(at) => self.recall_kept(at)?.map(|_| at),
            None => None,
        };
        let room = self.room(key);
        // A result without an addressee is for all readers.
        let is_result = stimulus.kind == StimulusKind::ScheduleResult;
        let for_nobody = is_result && stimulus.targets.is_empty();
        let mut attention = if stimulus.kind.wakes_nobody() || for_nobody {
            let (intent, rest) = (Intent::Status, Directedness::Ambient);
            Attention { only, ..Attention::plain(intent, rest, Vec::new()) }
        } else {
            let analysis = Analysis::of(&stimulus.text);
            let said = IncomingMessage {
                by_agent: me.is_agent() || stimulus.chain.is_some(),
                hop,
                mentions: &stimulus.targets,
                only: only.as_ref(),
                leave: false,
                ..IncomingMessage::read(room, &me, thread, &stimulus.text, &analysis, self.now)
            };
            directedness::decide(room, self.ws.people(), &said)
        };
        let metadata = format!(
            r#"{{"event_type":"stimulus","stimulus_id":"{}","stimulus_kind":"{}"}}"#,
            stimulus.uid.show(Prefix::Stimulus),
            stimulus.kind.name()
        );
        let message = Message {
            kind: MessageKind::Event,
            text: stimulus.text.clone(),
            metadata: Some(metadata.into()),
            ..Message::default()
        };
        let key_of = stimulus.uid.0.to_be_bytes();
        let mut payload = key_of;
        if stimulus.chain.is_some() {
            // An agent has requested it, in somebody's name. It is judged and counted as the
            // agent's message.
            payload = (!stimulus.uid.0).to_be_bytes();
            if is_talk(&message, &attention) {
                self.check_budget(key, thread)?;
            }
            let place = Place { key, thread, answers: None, opens: None };
            self.note_spent(&me, &place, cause, &message, &mut attention);
        }
        let mut draft = self.draft(stimulus.becomes(), Change::Posted(message));
        draft.thread = thread;
        draft.hop = hop;
        draft.cause = cause;
        draft.idempotency = Some(Idempotency { key: key_of, payload });
        draft.attention = Some(Arc::new(attention));
        let event = self.room_mut(key).log(draft);
        self.publish(event.clone())?;
        Ok(event)
    }

    /// Records in the thread's work what triggered it, and the reported progress.
    fn note_spur(
        &mut self,
        key: ConversationKey,
        thread: ThreadKey,
        stimulus: &Stimulus,
        opened: bool,
        nth: usize,
    ) -> Result<Arc<Event>> {
        let thread_seq = self.thread(key, Some(thread)).map_or(0, |t| t.last_seq);
        let (uid, kind, at) = (stimulus.uid, stimulus.kind, self.now);
        let initiative = stimulus.initiative_key.clone().filter(|_| opened);
        let progress = stimulus.progress_key.clone().filter(|_| !stimulus.private);
        let text: Arc<str> = shortened(&stimulus.text, limits::PROGRESS_BYTES).into();
        let change = WorkChange {
            initiative_key: initiative.map(Some),
            progress: progress.map(|key| Report { key, text, percent: None }),
            spur: Some(Spur { uid, kind, at, thread_seq, opened }),
            bind: self.schedule_bound(key, stimulus),
            ..WorkChange::default()
        };
        // If the limit of progress streams or bindings would be exceeded, the existing ones stay.
        let work = self.thread(key, Some(thread)).map(|t| t.work.clone()).unwrap_or_default();
        let change = match work.check(&change) {
            Ok(()) => change,
            Err(_) => WorkChange { progress: None, bind: Vec::new(), ..change },
        };
        let mut draft = self.draft(derived(uid, nth), Change::ThreadWork(Box::new(change)));
        draft.thread = Some(thread);
        let event = self.room_mut(key).log(draft);
        self.publish(event.clone())?;
        Ok(event)
    }
}
