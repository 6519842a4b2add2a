//! Entries of the audit.

use std::collections::HashMap;

use chorus_core::model::audit::Record;
use chorus_core::model::ids::{
    ConversationKey, EventRef, MemberKey, Prefix, SessionKey, Timestamp, Uid,
};
use chorus_core::state::directory::Directory;
use chorus_store::{AuditPlace, Trace};
use chorus_wire::code;
use chorus_wire::rest::audit::AuditEntry;

use super::id;

/// One entry of either log.
pub(crate) enum Found {
    Audit(AuditPlace, Record),
    Log(Trace),
}

impl Found {
    pub(crate) fn at(&self) -> Timestamp {
        match self {
            Self::Audit(_, record) => record.at,
            Self::Log(trace) => trace.at,
        }
    }
}

pub(crate) fn entry(
    directory: &Directory,
    conversations: &HashMap<ConversationKey, Uid>,
    found: &Found,
) -> AuditEntry {
    let by = |key: MemberKey| (key != MemberKey::HOST).then(|| id(directory, key));
    let session = |key: Option<SessionKey>| {
        let session = key.and_then(|key| directory.sessions.get(&key));
        session.map(|session| session.uid.show(Prefix::Session))
    };
    let home = |event: Option<EventRef>| {
        let uid = event.and_then(|event| conversations.get(&event.conversation));
        uid.map(|uid| uid.show(Prefix::Conversation))
    };
    match found {
        Found::Audit(_, record) => AuditEntry {
            at: record.at.into(),
            by: by(record.by),
            session: session(record.session),
            role: Some(record.authority.into()),
            kind: record.act.name().to_owned(),
            conversation: home(record.event),
            seq: record.event.map(|event| event.seq.0).filter(|seq| *seq > 0),
            subject: record.subject.map(|uid| uid.show(record.act.prefix())),
            member: record.member.map(|key| id(directory, key)),
            name: record.name.as_deref().map(str::to_owned),
            refused: record.refused.map(|refused| code::name(refused).to_owned()),
            took_ms: record.took_ms,
        },
        Found::Log(trace) => AuditEntry {
            at: trace.at.into(),
            by: by(trace.by),
            session: session(trace.session),
            role: None,
            kind: trace.kind.to_owned(),
            conversation: home(Some(trace.event)),
            seq: Some(trace.event.seq.0),
            subject: Some(trace.uid.show(Prefix::Event)),
            member: None,
            name: None,
            refused: None,
            took_ms: None,
        },
    }
}
