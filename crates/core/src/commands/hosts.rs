//! Forwards what other hosts on the same database have decided for sessions of this host.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::commands::context::{Context, Result};
use crate::model::delivery::{Delivery, Open, State};
use crate::model::disposition::Disposition;
use crate::model::ids::{ConversationKey, EventRef, MemberKey, Seq, SessionKey, Timestamp};
use crate::model::member::Session;
use crate::model::offer::Offer;
use crate::state::effect::Effect;
use crate::state::facts::{Facts, Unavailable};
use crate::state::room::Missed;
use crate::state::workspace::{Failure, TimerKey, Workspace};

impl Workspace {
    /// Disconnects sessions whose host is not in this list.
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
            let mut run = Context::of_host(self, facts, now);
            done(run.let_go(session))?;
        }
        Ok(())
    }

    /// Brings a room up to date with other hosts' changes, and forwards what concerns sessions of
    /// this host.
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
        let due = self.digests.0.and_then(|every| room.tally().due(every));
        let silence = room.queue_due();
        let runs = |open: &Open| -> Vec<MemberKey> {
            let running = open.deliveries.iter().filter(|d| d.state.is_running());
            running.map(|d| d.member).collect()
        };
        let mut run = Vec::new();
        for (seq, was) in &before {
            run.extend(was.iter().flat_map(runs).map(|member| (member, true)));
            run.extend(room.open().get(seq).iter().flat_map(|is| runs(is)).map(|m| (m, false)));
        }
        for (member, was) in run {
            self.count_running(member, was, !was);
        }
        self.timers.set(TimerKey::digest(key), due);
        self.timers.set(TimerKey::queue(key), silence);
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

    /// Other hosts have changed a room, which is up to date again; `before` is the previous state
    /// of what they changed. Forwards new offers to this host's sessions, and tells them what was
    /// withdrawn.
    pub fn hand_on(
        &mut self,
        facts: &mut dyn Facts,
        key: ConversationKey,
        before: &BTreeMap<Seq, Option<Open>>,
        now: Timestamp,
    ) -> std::result::Result<(), Unavailable> {
        let mut run = Context::of_host(self, facts, now);
        done(run.offers_of_others(key, before))?;
        done(run.ends_of_others(key, before))
    }
}

impl Context<'_> {
    fn offers_of_others(
        &mut self,
        key: ConversationKey,
        before: &BTreeMap<Seq, Option<Open>>,
    ) -> Result<()> {
        let mut offers = Vec::new();
        for (seq, was) in before {
            let Some(open) = self.room(key).open().get(seq) else { continue };
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
            let now = match room.open().get(seq) {
                Some(open) => open.clone(),
                None => {
                    let closed = room.closed().iter().rev().find(|o| o.seq == *seq).cloned();
                    let receipt = match closed {
                        Some(closed) => Some(closed),
                        None => self.facts.event(at)?.and_then(|e| e.receipt),
                    };
                    let Some(receipt) = receipt else { continue };
                    let (entry_uid, author) = (receipt.uid, receipt.author);
                    let open = Arc::new(receipt.clone());
                    let conversation = self.room(key).conversation().clone();
                    self.effect(Effect::Receipt { entry_uid, conversation, author, open });
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
                    let conversation = self.room(key).conversation().uid;
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

/// The host's own work is never refused.
fn done(result: Result<()>) -> std::result::Result<(), Unavailable> {
    match result {
        Ok(()) | Err(Failure::Refused(_) | Failure::AwaitsApproval(_)) => Ok(()),
        Err(Failure::Unavailable(why)) => Err(why),
    }
}
