//! Reading the audit: what the audit log has and what the conversations' logs have, in one order; and the signed
//! ends of all chains.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arc_swap::ArcSwap;
use chorus_core::commands::notes;
use chorus_core::model::audit::{Action, Note, Record};
use chorus_core::model::caller::{Authority, By};
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::event::Change;
use chorus_core::model::ids::{ConversationKey, MemberKey, Prefix, Uid};
use chorus_core::state::directory::Directory;
use chorus_store::{AuditPlace, Trace};
use chorus_wire::rest::audit::{Audit, Head, Heads, ListAudit, SignedHeads};

use super::clock::HostClock;
use super::commands::Commands;
use super::ids;
use super::nearest::nearest;
use super::reads::Reads;
use crate::auth::{Auth, Caller};
use crate::view;
use crate::view::audit::Found;

const PAGE: u32 = 100;
const LONGEST_PAGE: u32 = 1_000;
/// Characters of a name that are kept of what was refused.
const NAME_CHARS: usize = 64;

/// Where a page begins in each of the logs.
#[derive(Clone, Copy, Default)]
struct Cursor {
    audit: AuditPlace,
    log: Uid,
}

/// The audit log, and who may read it.
pub(crate) struct AuditService {
    pub(super) commands: Arc<Commands>,
    pub(super) reads: Arc<Reads>,
    pub(super) auth: Arc<Auth>,
    pub(super) clock: Arc<HostClock>,
    pub(super) directory: Arc<ArcSwap<Directory>>,
    pub(super) workspace_id: Arc<str>,
}

impl AuditService {
    /// `GET /v1/audit`: for auditors, and for operators, who are shown of a conversation's log what they may
    /// read.
    pub(crate) async fn audit(&self, caller: &Caller, query: ListAudit) -> Result<Audit, Refusal> {
        may_audit(caller)?;
        let directory = self.directory.load().clone();
        let member = match query.member.as_deref() {
            Some(id) => Some(ids::member_for(&directory, caller, id)?.key),
            None => None,
        };
        let home = match query.conversation.as_deref() {
            Some(id) => Some(self.reads.place(caller, ids::conversation(id)?).await?.conversation),
            None => None,
        };
        let limit = match query.limit.unwrap_or(PAGE) {
            0 => return Err(Refusal::invalid("limit is at least 1")),
            n => n.min(LONGEST_PAGE) as usize,
        };
        let since = query.since.unwrap_or_default().0;
        let from = match query.after.as_deref() {
            Some(after) => Cursor::read(after)?,
            // Ids begin with their time.
            None => {
                Cursor { log: Uid(u128::from(since.0.max(0) as u64) << 80), ..Cursor::default() }
            }
        };
        query.kind.as_deref().map(must_be_kind).transpose()?;
        let (kind, viewer) = (query.kind, caller.viewer());
        let is_kind = move |name: &str| kind.as_deref().is_none_or(|kind| kind == name);
        let (taken, uids) = self
            .reads
            .read(move |readers| {
                let visible = readers.conversations(viewer)?;
                let uids: HashMap<ConversationKey, Uid> =
                    readers.conversations(None)?.iter().map(|c| (c.key, c.uid)).collect();
                let visible: HashSet<_> = visible.iter().map(|c| c.key).collect();
                let hidden: HashSet<Uid> = uids
                    .iter()
                    .filter(|(key, _)| !visible.contains(*key))
                    .map(|(_, uid)| *uid)
                    .collect();
                // That something was done in a conversation is of that conversation, like what was said there.
                let shown = |record: &Record| {
                    let of_hidden = record.subject.is_some_and(|uid| hidden.contains(&uid));
                    !of_hidden && record.event.is_none_or(|e| visible.contains(&e.conversation))
                };
                let here = home.as_ref().map(|home| (home.key, home.uid));
                let records = readers.audit(from.audit, since, limit + 1, &|record| {
                    is_kind(record.act.name())
                        && shown(record)
                        && member.is_none_or(|m| record.by == m || record.member == Some(m))
                        && here.is_none_or(|(key, uid)| {
                            record.event.is_some_and(|e| e.conversation == key)
                                || record.subject == Some(uid)
                        })
                })?;
                let traces = readers.trail(from.log, limit + 1, &|trace| {
                    is_kind(trace.kind)
                        && visible.contains(&trace.event.conversation)
                        && member.is_none_or(|m| trace.by == m)
                        && here.is_none_or(|(key, _)| trace.event.conversation == key)
                })?;
                Ok((merge(records, traces, limit, from), uids))
            })
            .await?;
        let (found, next) = taken;
        let entries = found.iter().map(|f| view::audit::entry(&directory, &uids, f)).collect();
        Ok(Audit { entries, next: next.map(Cursor::write) })
    }

    /// `GET /v1/audit/heads`.
    pub(crate) async fn heads(&self, caller: &Caller) -> Result<SignedHeads, Refusal> {
        may_audit(caller)?;
        self.signed_heads().await
    }

    /// Where every chain ends now, signed: a chain cannot show that its tail was cut off.
    pub(crate) async fn signed_heads(&self) -> Result<SignedHeads, Refusal> {
        let (audit, heads, conversations) = self
            .reads
            .read(|readers| {
                Ok((readers.audit_head()?, readers.heads()?, readers.conversations(None)?))
            })
            .await?;
        let uids: HashMap<_, _> = conversations.iter().map(|c| (c.key, c.uid)).collect();
        let hex = |hash: [u8; 32]| hash.iter().map(|b| format!("{b:02x}")).collect::<String>();
        let conversations = heads.iter().filter_map(|(key, head)| {
            let id = uids.get(key)?.show(Prefix::Conversation);
            Some((id, Head { seq: head.seq.0, hash: hex(head.hash) }))
        });
        let heads = Heads {
            workspace_id: self.workspace_id.to_string(),
            at: self.clock.now().into(),
            audit: Head { seq: audit.block, hash: hex(audit.hash) },
            conversations: conversations.collect(),
        };
        let signed = self.auth.sign_heads(&heads)?;
        Ok(SignedHeads { heads, signed, key: hex(self.auth.public_key()) })
    }

    /// Keeps that a tool was called: who, which, how it ended and how long it took; not with what.
    pub(crate) fn note_tool(
        &self,
        caller: &Caller,
        name: &str,
        refused: Option<Code>,
        took: std::time::Duration,
    ) {
        // A time to the millisecond would tell more of the content's length than anybody needs to know.
        let ms = u32::try_from(took.as_millis()).unwrap_or(u32::MAX);
        let took_ms = Some(ms.max(1).checked_next_power_of_two().unwrap_or(u32::MAX));
        let note =
            Note { act: Action::CallTool, name: name.into(), member: None, refused, took_ms };
        self.commands.hand(caller.by, notes::Note(note));
    }

    /// Keeps that something was done that is no command of the room.
    pub(crate) async fn note(
        &self,
        by: By,
        act: Action,
        name: &str,
        member: Option<MemberKey>,
    ) -> Result<(), Refusal> {
        let note = Note { act, name: name.into(), member, refused: None, took_ms: None };
        self.commands.submit(by, notes::Note(note)).await.map(drop)
    }

    /// Only who runs the room may do this. A refusal is kept: core, which keeps all others, is not asked then.
    pub(super) fn may_govern(
        &self,
        caller: &Caller,
        act: Action,
        name: &str,
    ) -> Result<(), Refusal> {
        self.keep_refusal(caller, act, name, caller.must_govern())
    }

    /// The same for what only an operator may do.
    pub(super) fn may_operate(
        &self,
        caller: &Caller,
        act: Action,
        name: &str,
    ) -> Result<(), Refusal> {
        self.keep_refusal(caller, act, name, caller.must_operate())
    }

    /// Keeps who was refused what, and with which code.
    pub(super) fn keep_refusal(
        &self,
        caller: &Caller,
        act: Action,
        name: &str,
        may: Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        if let Err(refusal) = &may {
            // What was to be named is no longer than a name is, whatever was sent.
            let name: String = name.chars().take(NAME_CHARS).collect();
            let (name, refused) = (name.into(), Some(refusal.code));
            let note = Note { act, name, member: None, refused, took_ms: None };
            self.commands.hand(caller.by, notes::Note(note));
        }
        may
    }
}

pub(super) fn may_audit(caller: &Caller) -> Result<(), Refusal> {
    caller.must_not_be_a_turn()?;
    match caller.authority() {
        Authority::Auditor | Authority::Operator => Ok(()),
        Authority::Worker | Authority::Orchestrator => Err(Refusal::new(
            Code::InsufficientAuthority,
            "this needs an auditor's or operator's token",
        )),
    }
}

/// The oldest `limit` of both, and where what is left begins.
fn merge(
    records: Vec<(AuditPlace, Record)>,
    traces: Vec<Trace>,
    limit: usize,
    from: Cursor,
) -> (Vec<Found>, Option<Cursor>) {
    let audit = records.into_iter().map(|(place, record)| Found::Audit(place, record));
    let mut found: Vec<Found> = audit.chain(traces.into_iter().map(Found::Log)).collect();
    // Stable, so that each log keeps its own order.
    found.sort_by_key(Found::at);
    let more = found.len() > limit;
    found.truncate(limit);
    let mut next = from;
    for taken in &found {
        match taken {
            Found::Audit(place, _) => {
                next.audit = next.audit.max(AuditPlace { index: place.index + 1, ..*place });
            }
            Found::Log(trace) => next.log = next.log.max(trace.uid),
        }
    }
    (found, more.then_some(next))
}

impl Cursor {
    fn write(self) -> String {
        format!("{}.{}.{:032x}", self.audit.block, self.audit.index, self.log.0)
    }

    fn read(text: &str) -> Result<Self, Refusal> {
        let mut parts = text.split('.');
        let mut next = || parts.next().unwrap_or_default();
        let (block, index, log) = (next().parse(), next().parse(), next());
        let log = u128::from_str_radix(log, 16);
        match (block, index, log, parts.next()) {
            (Ok(block), Ok(index), Ok(log), None) => {
                Ok(Self { audit: AuditPlace { block, index }, log: Uid(log) })
            }
            _ => Err(Refusal::invalid("after is the next of a page before")),
        }
    }
}

/// Refuses what is no kind of entry: nothing would be found, which says something else.
fn must_be_kind(kind: &str) -> Result<(), Refusal> {
    let actions = (0..=u8::MAX).filter_map(Action::of_number).map(Action::name);
    let changes = (0..=u8::MAX).map(Change::name_of);
    let all: Vec<_> = actions.chain(changes).collect();
    if all.contains(&kind) {
        return Ok(());
    }
    let near = nearest(kind, all.iter().copied());
    let near = near.map_or_else(String::new, |near| format!("; the nearest is {near}"));
    let shown: String = kind.chars().take(64).collect();
    Err(Refusal::invalid(format!("kind: nothing is recorded as {shown:?}{near}")))
}
