//! Deliveries: what is on its way to whom, and dead letters, which can be sent again (design section 5,
//! "Receipts").

use std::collections::HashMap;
use std::sync::Arc;

use arc_swap::ArcSwap;
use chorus_core::commands::deliveries;
use chorus_core::model::caller::By;
use chorus_core::model::conversation::Conversation;
use chorus_core::model::delivery::{self, Open};
use chorus_core::model::error::Refusal;
use chorus_core::model::ids::{MemberKey, Timestamp};
use chorus_core::model::member::Member;
use chorus_core::model::registry::owner_of;
use chorus_core::queries;
use chorus_core::state::directory::Directory;
use chorus_wire::rest::deliveries::{Deliveries, Delivery, ListDeliveries, StateFilter, read_id};

use super::commands::Commands;
use super::ids;
use super::reads::Reads;
use crate::auth::Caller;
use crate::view;

/// Open events looked at in one call.
const LOOKED_AT: usize = 10_000;
/// Deliveries in one answer.
const SHOWN: usize = 1_000;

/// Deliveries: what is open, and what goes out again.
pub(crate) struct DeliveryService {
    pub(super) commands: Arc<Commands>,
    pub(super) reads: Arc<Reads>,
    pub(super) directory: Arc<ArcSwap<Directory>>,
}

/// What is open of one member.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Queue {
    /// Its open deliveries.
    pub(super) open: u64,
    /// Those of them that wait for a turn, or for a person to let a timeline continue.
    pub(super) held_back: u64,
    /// Since when a person owes it an answer.
    pub(super) asks_since: Option<Timestamp>,
}

impl DeliveryService {
    /// `GET /v1/deliveries`. Others' deliveries are for who runs the room, or audits it.
    pub(crate) async fn deliveries(
        &self,
        caller: &Caller,
        query: ListDeliveries,
    ) -> Result<Deliveries, Refusal> {
        caller.must_not_be_a_turn()?;
        let state = query.state.unwrap_or_default();
        if state == StateFilter::Overdue {
            return self.overdue(caller, query.member.as_deref()).await;
        }
        let member = match query.member.as_deref() {
            Some(id) => Some(ids::member_for(&self.directory.load(), caller, id)?.key),
            // Dead letters are everybody's concern who may see them.
            None if state != StateFilter::Open && caller.sees_all() => None,
            None => Some(caller.by.member),
        };
        if member.is_none_or(|member| !self.is_of(caller, member)) && !caller.sees_all() {
            caller.must_govern()?;
        }
        let mut found = Vec::new();
        if state != StateFilter::Dead {
            let open = match member.filter(|member| self.is_of(caller, *member)) {
                // Whoever runs an agent sees what waits for it, wherever that is.
                Some(own) => {
                    let command = queries::Waiting { member: Some(own), limit: LOOKED_AT };
                    self.commands.submit(By::host(), command).await?
                }
                None => self.waiting(caller, Some(member)).await?,
            };
            self.collect(&open, member, &mut found, delivery::Delivery::is_open);
        }
        if state != StateFilter::Open {
            let dead = self.dead(caller).await?;
            self.collect(&dead, member, &mut found, delivery::Delivery::is_dead);
        }
        Ok(Deliveries { deliveries: in_order(found) })
    }

    /// Whether it is the caller itself, or an agent of the caller's.
    fn is_of(&self, caller: &Caller, member: MemberKey) -> bool {
        let directory = self.directory.load();
        let owns = |m: &Arc<Member>| m.is_agent() && *owner_of(m) == *caller.member.id;
        member == caller.by.member || directory.member(member).is_some_and(owns)
    }

    /// What was not answered in time, as far as it concerns a member, or anybody for who runs the room.
    async fn overdue(&self, caller: &Caller, member: Option<&str>) -> Result<Deliveries, Refusal> {
        let member = match member {
            Some(id) => Some(ids::member_for(&self.directory.load(), caller, id)?.key),
            None if caller.sees_all() => None,
            None => Some(caller.by.member),
        };
        if member != Some(caller.by.member) && !caller.sees_all() {
            caller.must_govern()?;
        }
        let mut found = Vec::new();
        let open = self.overdue_events(caller, member).await?;
        self.collect(&open, None, &mut found, delivery::Delivery::is_overdue);
        let lead = self.directory.load().lead;
        let mut dead = self.dead(caller).await?;
        dead.retain(|(conversation, open)| {
            let leads = [conversation.settings.lead, lead];
            member.is_none_or(|m| open.concerns(m, leads))
        });
        self.collect(&dead, None, &mut found, delivery::Delivery::is_overdue);
        Ok(Deliveries { deliveries: in_order(found) })
    }

    /// Overdue events that are still owed, from memory.
    pub(super) async fn overdue_events(
        &self,
        caller: &Caller,
        member: Option<MemberKey>,
    ) -> Result<Vec<(Arc<Conversation>, Open)>, Refusal> {
        self.commands.submit(caller.by, queries::Overdue { member, limit: LOOKED_AT }).await
    }

    /// Sends a dead letter again, for whoever asked or runs the room; `id` is `<event id>:<member id>`.
    pub(crate) async fn redeliver(&self, caller: &Caller, id: &str) -> Result<(), Refusal> {
        caller.must_not_be_a_turn()?;
        let (event, member) = read_id(id).ok_or_else(|| Refusal::not_found("delivery"))?;
        let event = ids::event(event)?;
        let member = ids::member_for(&self.directory.load(), caller, member)?.key;
        self.commands.submit(caller.by, deliveries::Redeliver { event, member }).await.map(drop)
    }

    /// Ends what an agent was told of or works on; `id` is `<event id>:<member id>`.
    pub(crate) async fn end(&self, caller: &Caller, id: &str) -> Result<(), Refusal> {
        caller.must_not_be_a_turn()?;
        let (event, member) = read_id(id).ok_or_else(|| Refusal::not_found("delivery"))?;
        let event = ids::event(event)?;
        let member = ids::member_for(&self.directory.load(), caller, member)?.key;
        self.commands.submit(caller.by, deliveries::EndDelivery { event, member }).await
    }

    fn collect(
        &self,
        opens: &[(Arc<Conversation>, Open)],
        member: Option<MemberKey>,
        found: &mut Vec<Delivery>,
        wanted: impl Fn(&delivery::Delivery) -> bool,
    ) {
        let directory = self.directory.load();
        for (conversation, open) in opens {
            // A dead letter is the concern of whoever asked, too.
            let theirs = open.deliveries.iter().filter(|d| {
                member.is_none_or(|m| m == d.member || (d.is_dead() && m == open.author))
            });
            let wanted = theirs.filter(|d| wanted(d));
            found.extend(
                wanted.map(|d| view::deliveries::delivery(&directory, conversation.uid, open, d)),
            );
        }
    }

    /// What is open now, from memory: of one member, of all (`Some(None)`), or of the caller.
    pub(super) async fn waiting(
        &self,
        caller: &Caller,
        whose: Option<Option<MemberKey>>,
    ) -> Result<Vec<(Arc<Conversation>, Open)>, Refusal> {
        let member = whose.unwrap_or(Some(caller.by.member));
        self.commands.submit(caller.by, queries::Waiting { member, limit: LOOKED_AT }).await
    }

    /// What is open of each member.
    pub(super) async fn queues(&self) -> Result<HashMap<MemberKey, Queue>, Refusal> {
        let command = queries::Waiting { member: None, limit: LOOKED_AT };
        let open = self.commands.submit(By::host(), command).await?;
        let directory = self.directory.load();
        let mut queues: HashMap<MemberKey, Queue> = HashMap::new();
        for (_, open) in &open {
            for delivery in open.deliveries.iter().filter(|d| d.is_open()) {
                let queue = queues.entry(delivery.member).or_default();
                queue.open += 1;
                queue.held_back += u64::from(delivery.stands_still());
                if directory.is_person(delivery.member) && delivery.is_obligation() {
                    let asks = &mut queues.entry(open.author).or_default().asks_since;
                    *asks = Some(asks.map_or(open.at, |since| since.min(open.at)));
                }
            }
        }
        Ok(queues)
    }

    /// Dead letters of conversations that the caller may see, and, for who runs the room, those of services elsewhere: nobody
    /// else reads there who could send them again.
    async fn dead(&self, caller: &Caller) -> Result<Vec<(Arc<Conversation>, Open)>, Refusal> {
        let (viewer, runs) = (caller.viewer(), caller.sees_all());
        let directory = self.directory.load();
        self.reads
            .read(move |readers| {
                let mut found = Vec::new();
                for (key, open) in readers.dead_letters()?.into_iter().take(LOOKED_AT) {
                    let seen = match viewer {
                        Some(_) if runs && directory.is_stand_in(open.author) => true,
                        Some(member) => {
                            open.attention.is_shown_to(member) && readers.may_read(key, member)?
                        }
                        None => true,
                    };
                    if seen && let Some(conversation) = readers.conversation_by_key(key)? {
                        found.push((conversation, open));
                    }
                }
                Ok(found)
            })
            .await
    }
}

/// Oldest first, each once, and not too many.
fn in_order(mut found: Vec<Delivery>) -> Vec<Delivery> {
    found.sort_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)));
    found.dedup_by(|a, b| a.id == b.id);
    found.truncate(SHOWN);
    found
}
