//! Members, roles, streams, sessions.

use chorus_core::model::attention::Told as CoreTold;
use chorus_core::model::conversation::Conversation;
use chorus_core::model::ids::{MemberKey, Prefix, Timestamp};
use chorus_core::model::member::{self, MemberKind, SessionStatus};
use chorus_core::model::wake::WakeState;
use chorus_core::state::directory::Directory;
use chorus_wire::attention::content::Author;
use chorus_wire::attention::entry::Told;
use chorus_wire::rest::members::{Identity, Member, Paused};
use chorus_wire::rest::roles::Role;
use chorus_wire::rest::sessions::Session;
use chorus_wire::rest::streams::Stream;

use super::{id, id_of};

pub(crate) fn member(directory: &Directory, member: &member::Member) -> Member {
    let roles = directory.roles.iter().filter(|r| !r.removed && r.members.contains(&member.key));
    Member {
        id: member.id.to_string(),
        kind: member.kind.into(),
        handle: member.handle.to_string(),
        display_name: member.display_name.to_string(),
        owner_id: member.owner.as_deref().map(str::to_owned),
        identities: identities(member),
        roles: roles.map(|r| r.name.to_string()).collect(),
        stands_in_for: directory
            .inbox_of_stand_in(member.key)
            .map(|inbox| inbox.uid.show(Prefix::Inbox)),
        lead: directory.lead == Some(member.key),
        paused: member.pause.map(|pause| Paused {
            by: id_of(directory, pause.by).to_owned(),
            since: pause.since.into(),
        }),
        token: None,
    }
}

fn identities(member: &member::Member) -> Vec<Identity> {
    // Written by us in this form; nothing else can be there.
    let json = member.identities.as_deref().unwrap_or("[]");
    serde_json::from_str(json).unwrap_or_default()
}

pub(crate) fn role(directory: &Directory, role: &member::Role) -> Role {
    let present = role.members.iter().filter(|m| directory.member(**m).is_some_and(|m| !m.removed));
    Role { name: role.name.to_string(), members: present.map(|m| id(directory, *m)).collect() }
}

pub(crate) fn stream(directory: &Directory, stream: &member::Stream) -> Stream {
    Stream {
        id: stream.uid.show(Prefix::Stream),
        name: stream.name.to_string(),
        owner: stream.owner.map(|m| id(directory, m)),
    }
}

/// As of `now`: what was not proved lately counts as offline.
pub(crate) fn session(directory: &Directory, session: &member::Session, now: Timestamp) -> Session {
    let status = match directory.open_wake(session.key).map(|wake| wake.state) {
        // The turn that it was woken for runs.
        Some(WakeState::Running) => SessionStatus::Active,
        _ => session.status_at(now),
    };
    Session {
        id: session.uid.show(Prefix::Session),
        member: id(directory, session.member),
        runtime: session.runtime.to_string(),
        managed: session.managed,
        resumable: session.resumable,
        runner: Some(session.runner),
        folder: session.folder.as_deref().map(str::to_owned),
        resume_id: session.resume_id.as_deref().map(str::to_owned),
        connected: session.connected,
        status: Some(status.into()),
        proof: Some(session.proof.name().to_owned()),
        seen_at: session.seen_at.into(),
    }
}

/// Who said it, as it is called in the conversation.
pub(crate) fn author_in<'a>(
    directory: &'a Directory,
    conversation: &'a Conversation,
    key: MemberKey,
) -> Author<'a> {
    let author = author(directory, key);
    match conversation.settings.name_of(key) {
        Some(name) => Author { display_name: (&**name).into(), ..author },
        None => author,
    }
}

fn author<'a>(directory: &'a Directory, key: MemberKey) -> Author<'a> {
    let member = directory.member(key);
    Author {
        id: id_of(directory, key).into(),
        // The host itself speaks as nobody; a person's words are the ones never refused.
        kind: member.map_or(MemberKind::Human, |m| m.kind).into(),
        display_name: member.map_or("", |m| &m.display_name).into(),
    }
}

pub(crate) fn told(directory: &Directory, told: &[CoreTold]) -> Vec<Told> {
    let one = |told: &CoreTold| Told {
        member: id(directory, told.member),
        directedness: told.decision.directedness.into(),
        policy: told.decision.policy.into(),
        mode: told.decision.mode.into(),
        reason: told.decision.rule.name().to_owned(),
        priority: told.decision.priority.into(),
    };
    told.iter().map(one).collect()
}
