//! All members, roles and streams of one workspace, and their names.
//!
//! The directory is the workspace's own home (design section 3, "Every row has one home"): it
//! changes seldom, every decision reads it, and readers get it as an immutable snapshot.

mod inboxes;
mod pauses;
mod projects;
mod tokens;
mod wakes;

use std::collections::HashMap;
use std::sync::Arc;

use rpds::{HashTrieMapSync, RedBlackTreeMapSync};

use crate::language::names::confusables::{Confusables, bare};
use crate::language::names::rules::{check_name, check_title};
use crate::language::names::{Index, Target, fold};
use crate::model::approval::Approval;
use crate::model::budget::HOST_HANDLE;
use crate::model::endpoint::Endpoint;
use crate::model::error::{Code, Refusal};
use crate::model::event::Hash;
use crate::model::ids::{MemberKey, RoleKey, SessionKey, StreamKey, Timestamp, Uid};
use crate::model::inbox::Inbox;
use crate::model::maps::SharedKeyMap;
use crate::model::member::{
    Member, MemberFields, MemberKind, Proof, Role, Session, SessionStatus, Stream,
};
use crate::model::project::Project;
use crate::model::token::Issued;
use crate::model::wake::Wake;

/// All members of one workspace, by key, id and name.
///
/// A snapshot is handed out after every change, and sessions come and go all the time: ten thousand
/// at once after a restart. So what changes often is kept in persistent maps: a snapshot copies a
/// few pointers, and a change copies a few nodes, whatever the number of entries.
#[derive(Clone, Debug, Default)]
pub struct Directory {
    pub members: Arc<Vec<Arc<Member>>>,
    pub roles: Vec<Arc<Role>>,
    pub streams: Vec<Arc<Stream>>,
    pub sessions: RedBlackTreeMapSync<SessionKey, Arc<Session>>,
    /// The member who gets obligations that nobody met, and who is notified of loops.
    pub lead: Option<MemberKey>,
    /// Revoked token ids, with the time at which the token expires anyway.
    pub revoked: HashTrieMapSync<Arc<str>, Timestamp>,
    /// Issued tokens that have not expired, by member and token id.
    pub issued: RedBlackTreeMapSync<(MemberKey, Arc<str>), Arc<Issued>>,
    /// When all tokens of a member were ended, including those that are not in the list.
    pub cut_offs: SharedKeyMap<MemberKey, Timestamp>,
    /// Pending approvals and recently decided ones.
    pub approvals: RedBlackTreeMapSync<Uid, Arc<Approval>>,
    pub projects: RedBlackTreeMapSync<Uid, Arc<Project>>,
    /// Agents that are reached by a connection string.
    pub endpoints: RedBlackTreeMapSync<MemberKey, Arc<Endpoint>>,
    pub inboxes: RedBlackTreeMapSync<Uid, Arc<Inbox>>,
    /// Open wakes, and the newest ended ones.
    pub wakes: RedBlackTreeMapSync<Uid, Arc<Wake>>,
    pub names: Arc<Index>,
    /// The displayed names of members and roles, to prevent lookalikes.
    pub(crate) looks: Arc<Confusables>,
    by_id: Arc<HashMap<Arc<str>, MemberKey>>,
    by_session: SharedKeyMap<Uid, SessionKey>,
    pub(crate) by_secret: HashTrieMapSync<Hash, Uid>,
    /// Stand-in members, with the inbox each one speaks for.
    pub(crate) stand_ins: SharedKeyMap<MemberKey, Uid>,
    connected: SharedKeyMap<MemberKey, Arc<[SessionKey]>>,
    /// The runners' sessions of each member, oldest first.
    pub(crate) runners: SharedKeyMap<MemberKey, Arc<[SessionKey]>>,
    /// The open wake of each runner's session.
    pub(crate) open_wakes: SharedKeyMap<SessionKey, Uid>,
}

/// Stands for the caller in paths, as in `/accounts/me`, so that no member has it as its id.
const CALLER: &str = "me";

impl Directory {
    pub fn member(&self, key: MemberKey) -> Option<&Arc<Member>> {
        self.members.get(key.0.checked_sub(1)? as usize)
    }

    /// The member by its public id, unless it was removed.
    pub fn by_id(&self, id: &str) -> Option<&Arc<Member>> {
        self.by_id.get(id).and_then(|k| self.member(*k)).filter(|m| !m.removed)
    }

    pub fn is_agent(&self, key: MemberKey) -> bool {
        self.member(key).is_some_and(|m| m.is_agent())
    }

    pub fn role(&self, key: RoleKey) -> Option<&Arc<Role>> {
        self.roles.get(key.0.checked_sub(1)? as usize).filter(|r| !r.removed)
    }

    pub fn role_by_name(&self, name: &str) -> Option<&Arc<Role>> {
        self.roles.iter().find(|r| !r.removed && fold(&r.name) == fold(name))
    }

    pub fn stream(&self, key: StreamKey) -> Option<&Arc<Stream>> {
        self.streams.get(key.0.checked_sub(1)? as usize)
    }

    pub fn session_by_uid(&self, uid: Uid) -> Option<&Arc<Session>> {
        self.by_session.get(&uid).and_then(|k| self.sessions.get(k))
    }

    /// The member's connected sessions; the newest connection comes last.
    pub fn connected(&self, member: MemberKey) -> &[SessionKey] {
        self.connected.get(&member).map_or(&[], |live| &**live)
    }

    /// Whether what is said to an agent reaches it: it is not paused, and it is connected, a runner
    /// can wake it, or it is behind a connection string.
    pub fn can_be_reached(&self, member: MemberKey) -> bool {
        let is_there = !self.connected(member).is_empty()
            || self.runners.get(&member).is_some_and(|runners| !runners.is_empty())
            || self.endpoints.contains_key(&member);
        is_there && !self.is_paused(member)
    }

    /// Whether the member is a person of the workspace and not a stand-in for people elsewhere.
    pub fn is_person(&self, key: MemberKey) -> bool {
        self.member(key).is_some_and(|m| !m.is_agent()) && !self.is_stand_in(key)
    }

    /// The first person of the workspace: the last stage of an escalation when there is no lead.
    pub fn first_person(&self) -> Option<MemberKey> {
        self.members.iter().find(|m| self.is_person(m.key) && !m.removed).map(|m| m.key)
    }

    /// Adds a member; its handle is its id unless another is given.
    pub fn add_member(
        &mut self,
        id: &str,
        kind: MemberKind,
        fields: &MemberFields,
    ) -> Result<Arc<Member>, Refusal> {
        check_name("member id", id)?;
        let handle = fields.handle.as_deref().unwrap_or(id);
        check_name("handle", handle)?;
        check_title("display name", fields.display_name.as_deref())?;
        self.check_owner(fields.owner.as_deref())?;
        if let Some(known) = self.by_id.get(id).and_then(|key| self.member(*key)) {
            let why = match known.removed {
                true => format!(
                    "{id} was a member and has been removed; ids are never given again, choose another"
                ),
                false => format!("member '{id}' exists already"),
            };
            return Err(Refusal::new(Code::Conflict, why));
        }
        if fold(id) == CALLER {
            let why = format!("the id '{id}' means whoever asks; choose another");
            return Err(Refusal::new(Code::Conflict, why));
        }
        self.check_free(handle)?;
        for name in [Some(id), Some(handle), fields.display_name.as_deref()].into_iter().flatten() {
            self.must_not_resemble(name, None)?;
        }
        let member = Arc::new(Member {
            key: MemberKey(self.members.len() as u32 + 1),
            id: id.into(),
            kind,
            handle: handle.into(),
            display_name: fields.display_name.as_deref().unwrap_or(handle).into(),
            owner: fields.owner.as_deref().map(Into::into),
            identities: fields.identities.as_deref().map(Into::into),
            removed: false,
            pause: None,
        });
        self.restore_member(member.clone());
        Ok(member)
    }

    pub fn change_member(
        &mut self,
        key: MemberKey,
        fields: &MemberFields,
    ) -> Result<Arc<Member>, Refusal> {
        let old = self.present(key)?.clone();
        let mut new = Member::clone(&old);
        if let Some(handle) = &fields.handle {
            check_name("handle", handle)?;
            if fold(handle) != fold(&old.handle) {
                self.check_free(handle)?;
            }
            new.handle = handle.as_str().into();
        }
        check_title("display name", fields.display_name.as_deref())?;
        if fields.owner.as_deref() != old.owner.as_deref() {
            self.check_owner(fields.owner.as_deref())?;
        }
        for name in fields.handle.iter().chain(&fields.display_name) {
            self.must_not_resemble(name, Some(Target::Member(key)))?;
        }
        if let Some(name) = &fields.display_name {
            new.display_name = name.as_str().into();
        }
        if let Some(owner) = &fields.owner {
            new.owner = Some(owner.as_str().into());
        }
        if let Some(identities) = &fields.identities {
            new.identities = Some(identities.as_str().into());
        }
        Arc::make_mut(&mut self.names).remove(&old.handle, Target::Member(key));
        Arc::make_mut(&mut self.names).insert(&new.handle, Target::Member(key));
        self.show(&old, false);
        self.show(&new, true);
        Ok(self.replace_member(new))
    }

    pub fn remove_member(&mut self, key: MemberKey) -> Result<Arc<Member>, Refusal> {
        let mut gone = Member::clone(self.present(key)?);
        Arc::make_mut(&mut self.names).remove(&gone.handle, Target::Member(key));
        self.show(&gone, false);
        gone.removed = true;
        if self.lead == Some(key) {
            self.lead = None;
        }
        Ok(self.replace_member(gone))
    }

    pub fn add_role(&mut self, name: &str) -> Result<Arc<Role>, Refusal> {
        check_name("role name", name)?;
        self.check_free(name)?;
        self.must_not_resemble(name, None)?;
        let role = Arc::new(Role {
            key: RoleKey(self.roles.len() as u32 + 1),
            name: name.into(),
            members: Vec::new(),
            removed: false,
        });
        self.restore_role(role.clone());
        Ok(role)
    }

    pub fn remove_role(&mut self, key: RoleKey) -> Result<Arc<Role>, Refusal> {
        let mut role = Role::clone(self.role(key).ok_or_else(|| Refusal::not_found("role"))?);
        Arc::make_mut(&mut self.names).remove(&role.name, Target::Role(key));
        Arc::make_mut(&mut self.looks).remove(&role.name, Target::Role(key));
        role.removed = true;
        Ok(self.replace_role(role))
    }

    /// Adds a member to a role or removes it. Idempotent.
    pub fn set_role_member(
        &mut self,
        key: RoleKey,
        member: MemberKey,
        on: bool,
    ) -> Result<Arc<Role>, Refusal> {
        self.present(member)?;
        let mut role = Role::clone(self.role(key).ok_or_else(|| Refusal::not_found("role"))?);
        role.members.retain(|m| *m != member);
        if on {
            role.members.push(member);
            role.members.sort_unstable();
        }
        Ok(self.replace_role(role))
    }

    pub fn add_stream(
        &mut self,
        uid: Uid,
        name: &str,
        owner: Option<MemberKey>,
    ) -> Result<Arc<Stream>, Refusal> {
        check_title("stream name", Some(name))?;
        if let Some(owner) = owner {
            self.present(owner)?;
        }
        let stream = Arc::new(Stream {
            key: StreamKey(self.streams.len() as u32 + 1),
            uid,
            name: name.into(),
            owner,
        });
        self.streams.push(stream.clone());
        Ok(stream)
    }

    /// Marks a session as connected or not. The newest connection comes last.
    pub fn set_connected(&mut self, key: SessionKey, on: bool, now: Timestamp) {
        let Some(session) = self.sessions.get(&key) else { return };
        let session = Session {
            connected: on,
            seen_at: now,
            proof: Proof::Connection,
            status: if on { SessionStatus::Active } else { SessionStatus::Offline },
            ..Session::clone(session)
        };
        self.restore_session(session);
    }

    /// Restores a session, connected or not. Among the member's connected ones it counts as the
    /// newest.
    pub fn restore_session(&mut self, session: Session) {
        let (key, on) = (session.key, session.connected);
        let others = self.connected(session.member).iter().copied().filter(|s| *s != key);
        let live: Arc<[SessionKey]> = others.chain(on.then_some(key)).collect();
        if live.is_empty() {
            self.connected.remove_mut(&session.member);
        } else {
            self.connected.insert_mut(session.member, live);
        }
        self.put_session(session);
    }

    /// Forgets a session that can no longer be resumed.
    pub fn drop_session(&mut self, key: SessionKey) {
        if let Some(session) = self.sessions.get(&key).cloned() {
            self.sessions.remove_mut(&key);
            self.by_session.remove_mut(&session.uid);
            self.list_runner(&session, false);
        }
    }

    pub fn put_session(&mut self, session: Session) {
        self.by_session.insert_mut(session.uid, session.key);
        self.list_runner(&session, session.runner);
        self.sessions.insert_mut(session.key, Arc::new(session));
    }

    /// Restores a stored member. Members must come in the order of their keys.
    pub fn restore_member(&mut self, member: Arc<Member>) {
        debug_assert_eq!(member.key.0 as usize, self.members.len() + 1, "member keys are dense");
        Arc::make_mut(&mut self.by_id).insert(member.id.clone(), member.key);
        if !member.removed {
            Arc::make_mut(&mut self.names).insert(&member.handle, Target::Member(member.key));
            self.show(&member, true);
        }
        Arc::make_mut(&mut self.members).push(member);
    }

    /// Restores a stored role. Roles must come in the order of their keys.
    pub fn restore_role(&mut self, role: Arc<Role>) {
        debug_assert_eq!(role.key.0 as usize, self.roles.len() + 1, "role keys are dense");
        if !role.removed {
            Arc::make_mut(&mut self.names).insert(&role.name, Target::Role(role.key));
            Arc::make_mut(&mut self.looks).insert(&role.name, Target::Role(role.key));
        }
        self.roles.push(role);
    }

    fn present(&self, key: MemberKey) -> Result<&Arc<Member>, Refusal> {
        self.member(key).filter(|m| !m.removed).ok_or_else(|| Refusal::not_found("member"))
    }

    fn replace_member(&mut self, member: Member) -> Arc<Member> {
        let member = Arc::new(member);
        Arc::make_mut(&mut self.members)[member.key.0 as usize - 1] = member.clone();
        member
    }

    fn replace_role(&mut self, role: Role) -> Arc<Role> {
        let role = Arc::new(role);
        self.roles[role.key.0 as usize - 1] = role.clone();
        role
    }

    /// Adds or removes the names that a member is displayed by.
    fn show(&mut self, member: &Member, on: bool) {
        let looks = Arc::make_mut(&mut self.looks);
        let target = Target::Member(member.key);
        for name in [&member.id, &member.handle, &member.display_name] {
            match on {
                true => looks.insert(name, target),
                false => looks.remove(name, target),
            }
        }
    }

    /// Refuses a name that could be mistaken for another's, because readers would take it for the
    /// wrong one.
    pub(crate) fn must_not_resemble(&self, name: &str, of: Option<Target>) -> Result<(), Refusal> {
        match self.looks.resembled(name, of) {
            Some(other) => {
                let why = format!("the name {name:?} looks like {other:?}, which is another's");
                Err(Refusal::new(Code::Conflict, why))
            }
            None => Ok(()),
        }
    }

    /// An owner manages what the member owns, so it is a member itself. One that was removed later stays.
    fn check_owner(&self, owner: Option<&str>) -> Result<(), Refusal> {
        check_title("owner id", owner)?;
        match owner.filter(|id| self.by_id(id).is_none_or(|m| self.is_stand_in(m.key))) {
            Some(id) => Err(Refusal::invalid(format!(
                "an owner is a member, and there is no member {id:?}"
            ))),
            None => Ok(()),
        }
    }

    /// Refuses a display name that is another's own name or looks like one.
    pub(crate) fn must_not_be_taken_for_another(
        &self,
        name: &str,
        by: MemberKey,
    ) -> Result<(), Refusal> {
        must_not_be_the_hosts(name)?;
        let target = Target::Member(by);
        self.must_not_resemble(name, Some(target))?;
        let own = |m: &Arc<Member>| {
            [&m.id, &m.handle, &m.display_name].iter().any(|own| fold(own) == fold(name))
        };
        match self.looks.named(name, target) {
            Some(other) if !self.member(by).is_some_and(own) => {
                let why = format!("the name {other:?} is another's");
                Err(Refusal::new(Code::Conflict, why))
            }
            _ => Ok(()),
        }
    }

    /// A name with two targets would resolve to nobody, so the second one is refused.
    fn check_free(&self, name: &str) -> Result<(), Refusal> {
        must_not_be_the_hosts(name)?;
        let taken = self.names.is_taken(name);
        if taken {
            return Err(Refusal::new(Code::Conflict, format!("the name '{name}' is taken")));
        }
        Ok(())
    }
}

fn must_not_be_the_hosts(name: &str) -> Result<(), Refusal> {
    match fold(bare(name)) == HOST_HANDLE {
        true => Err(Refusal::new(Code::Conflict, format!("the name '{name}' is the host's own"))),
        false => Ok(()),
    }
}
