//! Public ids as they come in. One that is malformed names nothing, like one that is unknown.

use std::sync::Arc;

use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::{MemberKey, Prefix, Uid};
use chorus_core::model::member::{Member, Role};
use chorus_core::state::directory::Directory;

use super::nearest::nearest;
use crate::auth::Caller;

pub(super) fn conversation(id: &str) -> Result<Uid, Refusal> {
    if id.is_empty() {
        return Err(Refusal::invalid("say which conversation: an id, ch_…"));
    }
    Uid::read(Prefix::Conversation, id).ok_or_else(|| Refusal::not_found("conversation"))
}

pub(super) fn thread(id: &str) -> Result<Uid, Refusal> {
    Uid::read(Prefix::Thread, id).ok_or_else(|| Refusal::not_found("thread"))
}

/// An event, or the message that one posted: `evt_…` and `msg_…` are one id with two prefixes.
pub(super) fn event(id: &str) -> Result<Uid, Refusal> {
    let hex = id.strip_prefix("evt_").or_else(|| id.strip_prefix("msg_"));
    hex.and_then(|hex| hex.parse().ok()).ok_or_else(|| Refusal::not_found("event"))
}

pub(super) fn asset(id: &str) -> Result<Uid, Refusal> {
    Uid::read(Prefix::Asset, id).ok_or_else(|| Refusal::not_found("asset"))
}

pub(super) fn approval(id: &str) -> Result<Uid, Refusal> {
    Uid::read(Prefix::Approval, id).ok_or_else(|| Refusal::not_found("approval"))
}

pub(super) fn stimulus(id: &str) -> Result<Uid, Refusal> {
    Uid::read(Prefix::Stimulus, id).ok_or_else(|| Refusal::not_found("stimulus"))
}

pub(super) fn project(id: &str) -> Result<Uid, Refusal> {
    Uid::read(Prefix::Project, id).ok_or_else(|| Refusal::not_found("project"))
}

pub(super) fn task(id: &str) -> Result<Uid, Refusal> {
    Uid::read(Prefix::Task, id).ok_or_else(|| Refusal::not_found("task"))
}

pub(super) fn schedule(id: &str) -> Result<Uid, Refusal> {
    Uid::read(Prefix::Schedule, id).ok_or_else(|| Refusal::not_found("schedule"))
}

pub(super) fn wake(id: &str) -> Result<Uid, Refusal> {
    Uid::read(Prefix::Wake, id).ok_or_else(|| Refusal::not_found("wake"))
}

pub(super) fn inbox(id: &str) -> Result<Uid, Refusal> {
    Uid::read(Prefix::Inbox, id).ok_or_else(|| Refusal::not_found("inbox"))
}

/// A UUID in a path: one that is malformed names nothing.
pub(super) fn named_uuid(id: &str, what: &str) -> Result<Uid, Refusal> {
    Uid::read(Prefix::Uuid, id).ok_or_else(|| Refusal::not_found(what))
}

/// A UUID in a body.
pub(super) fn uuid(id: &str, field: &str) -> Result<Uid, Refusal> {
    let why = || Refusal::invalid(format!("{field} is a UUID: 8-4-4-4-12 hexadecimal digits"));
    Uid::read(Prefix::Uuid, id).ok_or_else(why)
}

pub(super) fn session(id: &str) -> Result<Uid, Refusal> {
    Uid::read(Prefix::Session, id)
        .ok_or_else(|| Refusal::invalid("a session id is sess_ and 32 hexadecimal digits"))
}

pub(super) fn member<'a>(directory: &'a Directory, id: &str) -> Result<&'a Arc<Member>, Refusal> {
    let mirrored = || directory.mirrored(id).and_then(|key| directory.member(key));
    directory.by_id(id).or_else(mirrored).ok_or_else(|| {
        // What was sent may be anything and long.
        let shown: String = id.chars().take(64).collect();
        Refusal::new(Code::NotFound, format!("no such member: {shown:?}"))
    })
}

/// As [`member`], and an unknown id is answered with the one that was probably meant. Only who may list the members is told
/// of another: a turn's token knows those of its conversation.
pub(super) fn member_for<'a>(
    directory: &'a Directory,
    caller: &Caller,
    id: &str,
) -> Result<&'a Arc<Member>, Refusal> {
    member(directory, id).map_err(|refusal| {
        if caller.turn.is_some() {
            return refusal;
        }
        let present = directory.members.iter().filter(|m| !m.removed);
        let shown = present.filter(|m| !directory.is_stand_in(m.key));
        match nearest(id, shown.map(|m| &*m.id)) {
            Some(near) => {
                let message = format!("{}; did you mean {near}?", refusal.message);
                Refusal { message, ..refusal }
            }
            None => refusal,
        }
    })
}

pub(super) fn members_for(
    directory: &Directory,
    caller: &Caller,
    ids: &[String],
) -> Result<Vec<MemberKey>, Refusal> {
    ids.iter().map(|id| member_for(directory, caller, id).map(|m| m.key)).collect()
}

pub(super) fn role<'a>(directory: &'a Directory, name: &str) -> Result<&'a Arc<Role>, Refusal> {
    directory.role_by_name(name).ok_or_else(|| Refusal::not_found("role"))
}
