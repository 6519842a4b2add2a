//! What other hosts on the same database have done, as this one takes it in.
//!
//! Invariant: where hosts share a database, everything that decides is in rows when a batch ends: a host that
//! reads them knows all that the one knew which wrote them. Which host holds a session is part of that; offers
//! that others decided for sessions of this host are handed on from here.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::digest::digest_timer;
use super::stimulus::stimulus_timer;
use super::{Failure, Result, Run, Workspace, is_running};
use crate::command::{Effect, Facts, Offer, Unavailable};
use crate::delivery::{Delivery, Disposition, Open, State};
use crate::event::EventRef;
use crate::ids::{ConversationKey, MemberKey, Seq, SessionKey, Timestamp};
use crate::member::{Directory, Session};
use crate::room::{Missed, Room};

impl Workspace {
    /// Which of the hosts of the database this is, counted as they came.
    pub fn set_host(&mut self, host: u32) {
        self.host = host;
    }

    /// Whether others write to the same database: then every change of what is open gets its row at once, and
    /// who holds a session gets one too. What is open and who is connected now gets theirs with the next batch.
    pub fn set_shared(&mut self, shared: bool) {
        if shared && !self.shared {
            self.rooms.iter_mut().for_each(|(_, room)| room.forget_written());
            let open = self.rooms.values().filter(|room| !room.open.is_empty());
            self.touched.extend(open.map(Room::key));
            let sessions = self.directory.sessions.values();
            self.changes.sessions.extend(sessions.filter(|s| s.connected).cloned());
        }
        self.shared = shared;
    }

    pub fn is_shared(&self) -> bool {
        self.shared
    }

    /// Takes a room out that another host has changed; gives it as it was.
    pub fn take_stale(&mut self, key: ConversationKey) -> Option<Room> {
        self.take_out(key)
    }

    /// The directory as others have left it.
    pub fn adopt(&mut self, directory: Directory) {
        let last = directory.sessions.last().map_or(0, |(key, _)| key.0);
        self.last_session = self.last_session.max(last);
        let before = std::mem::replace(&mut self.directory, Arc::new(directory));
        self.directory_changed = true;
        let now = &self.directory;
        let revoked = now.revoked.keys().any(|jti| !before.revoked.contains_key(jti))
            || now.cut_offs.iter().any(|(of, at)| before.cut_offs.get(of) != Some(at));
        let was_there = |key| before.member(key).is_some_and(|member| !member.removed);
        if revoked || now.members.iter().any(|member| member.removed && was_there(member.key)) {
            self.changes.effects.push(Effect::ShutOut);
        }
        for session in before.sessions.values().filter(|s| s.connected) {
            self.see_ended(session);
        }
    }

    /// A session as others have left it.
    pub fn adopt_session(&mut self, session: Session) {
        self.last_session = self.last_session.max(session.key.0);
        let before = self.directory.sessions.get(&session.key).cloned();
        self.directory_changed = true;
        Arc::make_mut(&mut self.directory).restore_session(session);
        if let Some(before) = before.filter(|s| s.connected) {
            self.see_ended(&before);
        }
    }

    /// A connection of this host ends when its session is another's now, or nobody's.
    fn see_ended(&mut self, before: &Session) {
        let now = self.directory.sessions.get(&before.key);
        let (host, session) = (self.host, before.key);
        let holder = now.filter(|s| s.connected).map(|s| s.host);
        if holder.is_none() {
            self.told.left(before.member, session);
        }
        if before.connected && before.host == host && holder != Some(host) {
            let taken_over = holder.is_some();
            self.changes.effects.push(Effect::Ended { session, taken_over });
        }
    }

    /// The conversation with this key is there, though nothing of it is in memory.
    pub fn note_conversation(&mut self, key: ConversationKey) {
        self.last_conversation = self.last_conversation.max(key.0);
    }

    /// Sessions whose host is none of these are nobody's any more.
    pub fn end_sessions_but(
        &mut self,
        facts: &mut dyn Facts,
        hosts: &[u32],
        now: Timestamp,
    ) -> std::result::Result<(), Unavailable> {
        let gone = |s: &&Arc<Session>| s.connected && !hosts.contains(&s.host);
        let gone: Vec<SessionKey> =
            self.directory.sessions.values().filter(gone).map(|s| s.key).collect();
        for session in gone {
            let mut run = Run::of_host(self, facts, now);
            done(run.let_go(session))?;
        }
        Ok(())
    }

    /// Whether a session is connected whose host is none of these.
    pub fn has_sessions_but(&self, hosts: &[u32]) -> bool {
        self.directory.sessions.values().any(|s| s.connected && !hosts.contains(&s.host))
    }

    /// Whether a room is in memory that is right again with this.
    pub fn can_catch_up(&self, key: ConversationKey, missed: &Missed) -> bool {
        let loaded = self.rooms.get(&key).filter(|_| !self.touched.contains(&key));
        loaded.is_some_and(|room| room.follows(missed))
    }

    /// Brings a room to where others left it, and hands on what that means for sessions of this host.
    pub fn catch_up(
        &mut self,
        facts: &mut dyn Facts,
        key: ConversationKey,
        missed: Missed,
        now: Timestamp,
    ) -> std::result::Result<(), Unavailable> {
        let Some(room) = self.rooms.get_mut(&key) else { return Ok(()) };
        let before = room.catch_up(missed, &self.directory, now);
        if room.differs_from_rows() {
            self.touched.insert(key);
        }
        let due = self.digests.0.and_then(|every| room.tally.due(every));
        let silence = room.queue_due();
        let runs = |open: &Open| -> Vec<MemberKey> {
            let running = open.deliveries.iter().filter(|d| is_running(d.state));
            running.map(|d| d.member).collect()
        };
        let mut run = Vec::new();
        for (seq, was) in &before {
            run.extend(was.iter().flat_map(runs).map(|member| (member, true)));
            run.extend(room.open.get(seq).iter().flat_map(|is| runs(is)).map(|m| (m, false)));
        }
        for (member, was) in run {
            self.count_running(member, was, !was);
        }
        self.timers.set(digest_timer(key), due);
        self.timers.set(stimulus_timer(key), silence);
        for (seq, was) in &before {
            let at = EventRef { conversation: key, seq: *seq };
            if let Some(was) = was {
                self.open_by_uid.remove(&was.uid);
                was.deliveries.iter().for_each(|d| self.owe(d.member, at, false));
            }
            self.track(at);
        }
        self.hand_on(facts, key, &before, now)
    }

    /// Others have changed a room, which is right again; `before` is how that stood here which they changed.
    /// Sessions of this host are handed what they were offered there, and told what was taken from them.
    pub fn hand_on(
        &mut self,
        facts: &mut dyn Facts,
        key: ConversationKey,
        before: &BTreeMap<Seq, Option<Open>>,
        now: Timestamp,
    ) -> std::result::Result<(), Unavailable> {
        let mut run = Run::of_host(self, facts, now);
        done(run.offers_of_others(key, before))?;
        done(run.ends_of_others(key, before))
    }

    /// What is to be done about what others did, by itself: it is committed already.
    pub fn take_effects(&mut self) -> Vec<Effect> {
        let mut effects = std::mem::take(&mut self.changes.effects);
        if std::mem::take(&mut self.directory_changed) {
            effects.insert(0, Effect::Directory(self.directory.clone()));
        }
        effects
    }
}

impl Run<'_> {
    fn offers_of_others(
        &mut self,
        key: ConversationKey,
        before: &BTreeMap<Seq, Option<Open>>,
    ) -> Result<()> {
        let mut offers = Vec::new();
        for (seq, was) in before {
            let Some(open) = self.room(key).open.get(seq) else { continue };
            for delivery in &open.deliveries {
                let State::Offered { session, .. } = delivery.state else { continue };
                let known = was.as_ref().and_then(|o| o.delivery(delivery.member));
                let is_new = known
                    .is_none_or(|d| d.session() != Some(session) || d.attempt != delivery.attempt);
                if is_new && self.is_mine(session) {
                    offers.push((open.seq, session, delivery.clone()));
                }
            }
        }
        for (seq, session, delivery) in offers {
            let event = self.recall_event(EventRef { conversation: key, seq })?;
            let entry = self.entry(event)?;
            let reminds = delivery.runs_behind(self.carries_to(session));
            let Delivery { member, decision, attempt, fence, retry, accepted_at, .. } = delivery;
            let at = EventRef { conversation: key, seq };
            let channel = self.channel_delivery(at, member).map(Box::new);
            let came_with = self.came_with(at, member);
            self.effect(Effect::Offer(Offer {
                entry,
                member,
                session,
                decision,
                attempt,
                taken: accepted_at.is_some(),
                reminds,
                fence,
                retry: retry.map(Box::new),
                channel,
                came_with,
            }));
        }
        Ok(())
    }

    fn ends_of_others(
        &mut self,
        key: ConversationKey,
        before: &BTreeMap<Seq, Option<Open>>,
    ) -> Result<()> {
        for (seq, was) in before {
            let Some(before) = was else { continue };
            let at = EventRef { conversation: key, seq: *seq };
            let room = self.room(key);
            let now = match room.open.get(seq) {
                Some(open) => open.clone(),
                None => {
                    let closed = room.closed.iter().rev().find(|o| o.seq == *seq).cloned();
                    let receipt = match closed {
                        Some(closed) => Some(closed),
                        None => self.facts.event(at)?.and_then(|e| e.receipt),
                    };
                    let Some(receipt) = receipt else { continue };
                    let (entry_uid, author) = (receipt.uid, receipt.author);
                    let open = Arc::new(receipt.clone());
                    self.effect(Effect::Receipt { entry_uid, conversation: key, author, open });
                    receipt
                }
            };
            for was in &before.deliveries {
                let Some(session) = was.session().filter(|s| self.is_mine(*s)) else { continue };
                let is = now.delivery(was.member);
                let taken = is.is_none_or(|d| {
                    d.disposition() == Some(Disposition::Superseded)
                        || (d.fence > was.fence && d.session() != Some(session))
                });
                if taken {
                    let conversation = self.room(key).conversation.uid;
                    self.effect(Effect::Cancel {
                        event: before.uid,
                        conversation,
                        member: was.member,
                        session,
                        attempt: was.attempt,
                        reason: "superseded",
                    });
                }
            }
        }
        Ok(())
    }

    fn is_mine(&self, session: SessionKey) -> bool {
        let session = self.directory().sessions.get(&session);
        session.is_some_and(|s| s.connected && s.host == self.ws.host)
    }
}

/// The host's own work is refused by nobody.
fn done(result: Result<()>) -> std::result::Result<(), Unavailable> {
    match result {
        Ok(()) | Err(Failure::Refused(_)) => Ok(()),
        Err(Failure::Unavailable(why)) => Err(why),
    }
}
