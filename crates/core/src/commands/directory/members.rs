//! Adding, changing and removing members, and setting the lead.

use std::sync::Arc;

use crate::commands::command::{Command, Done, no_text};
use crate::commands::context::{Context, Result};
use crate::commands::gate::shown::{Readers, Shown, plain};
use crate::commands::redact::Redact;
use crate::model::audit::{Action, Audit};
use crate::model::caller::Authority;
use crate::model::error::{Code, Refusal};
use crate::model::ids::{EventRef, MemberKey};
use crate::model::member::{Member, MemberFields, MemberKind};
use crate::model::registry::owner_of;
use crate::model::token::{OPERATOR, may_revoke, may_vouch};
use crate::state::workspace::Failure;

#[derive(Clone)]
pub struct AddMember {
    pub id: String,
    pub kind: MemberKind,
    pub fields: MemberFields,
}

impl Command for AddMember {
    type Output = Arc<Member>;

    fn audit(&self, done: Done<'_, Self>) -> Audit {
        Audit::firm(Action::AddMember).name(&*self.id).member(done.ok().map(|member| member.key))
    }

    fn redact(&mut self, redact: &dyn Redact) -> u32 {
        redact.maybe_string(&mut self.fields.display_name)
    }

    fn shown(&self, _: &mut Context<'_>) -> Result<Option<Shown>> {
        let mut words = about_member(&self.fields);
        words.push(("id", self.id.clone()));
        Ok(Some(plain("add_member", Readers::everybody(), words)))
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Arc<Member>> {
        run.must_govern()?;
        let Self { id, kind, fields } = self;
        if fields.identities.is_some() || fields.owner.is_some() {
            may_vouch(&run.by, kind)?;
        }
        // An agent spends what its owner has, so that nobody is made an owner by anybody else.
        if let Some(owner) = &fields.owner
            && !run.is_operator()
            && **owner != *owner_of(&*run.me()?)
        {
            let why = "only an operator may give an agent to somebody else";
            return Err(Refusal::new(Code::InsufficientAuthority, why).into());
        }
        let member = run.directory_mut().add_member(&id, kind, &fields)?;
        run.ws.changes.members.push(member.clone());
        Ok(member)
    }
}

#[derive(Clone)]
pub struct ChangeMember {
    pub member: MemberKey,
    pub fields: MemberFields,
}

impl Command for ChangeMember {
    type Output = Arc<Member>;

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::firm(Action::ChangeMember).member(self.member)
    }

    fn redact(&mut self, redact: &dyn Redact) -> u32 {
        redact.maybe_string(&mut self.fields.display_name)
    }

    fn shown(&self, run: &mut Context<'_>) -> Result<Option<Shown>> {
        let mut words = about_member(&self.fields);
        if words.is_empty() {
            return Ok(None);
        }
        words.push(("id", run.called(&[self.member])));
        Ok(Some(plain("change_member", Readers::everybody(), words)))
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Arc<Member>> {
        run.must_govern()?;
        let Self { member, fields } = self;
        let old = run.directory().member(member);
        let same = |new: &Option<String>, old: Option<&Arc<str>>| {
            new.is_none() || new.as_deref() == old.map(|old| &**old)
        };
        let is_same = old.is_none_or(|old| {
            same(&fields.owner, old.owner.as_ref())
                && same(&fields.identities, old.identities.as_ref())
        });
        if !is_same && !run.is_operator() {
            let why = "only an operator may change a member's owner and external identities";
            return Err(Refusal::new(Code::InsufficientAuthority, why).into());
        }
        let member = run.directory_mut().change_member(member, &fields)?;
        run.ws.changes.members.push(member.clone());
        Ok(member)
    }
}

#[derive(Clone)]
pub struct RemoveMember {
    pub member: MemberKey,
}

impl Command for RemoveMember {
    type Output = Arc<Member>;

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::firm(Action::RemoveMember).member(self.member)
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Arc<Member>> {
        run.must_govern()?;
        run.remove_member(self.member)
    }
}

/// Sets or clears the lead of the workspace.
#[derive(Clone)]
pub struct SetLead {
    pub member: Option<MemberKey>,
}

impl Command for SetLead {
    type Output = ();

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::firm(Action::SetLead).member(self.member)
    }

    fn execute(self, run: &mut Context<'_>) -> Result<()> {
        run.must_govern()?;
        if self.member.is_some_and(|m| run.directory().member(m).is_none_or(|m| m.removed)) {
            return Err(Refusal::not_found("member").into());
        }
        run.directory_mut().lead = self.member;
        run.ws.changes.lead = Some(self.member);
        Ok(())
    }
}

impl Context<'_> {
    fn remove_member(&mut self, member: MemberKey) -> Result<Arc<Member>> {
        if member == self.by.member {
            return Err(Refusal::new(Code::Conflict, "you cannot remove yourself").into());
        }
        self.must_be_member(member)?;
        if self.directory().member(member).is_some_and(|m| *m.id == *OPERATOR) {
            let why = "the member 'operator' stays: without it nobody could run this host; revoke \
                       its tokens instead";
            return Err(Refusal::new(Code::Conflict, why).into());
        }
        if may_revoke(&self.by, self.kind_of(member)?).is_err() {
            let why = "an orchestrator removes agents only; this needs an operator's token";
            return Err(Refusal::new(Code::InsufficientAuthority, why).into());
        }
        self.leave_inboxes(member)?;
        self.leave_projects(member)?;
        let was_lead = self.directory().lead == Some(member);
        let member = self.directory_mut().remove_member(member)?;
        if was_lead {
            self.ws.changes.lead = Some(None);
        }
        self.ws.changes.members.push(member.clone());
        self.end_tokens(member.key)?;
        if self.directory().endpoints.contains_key(&member.key) {
            self.put_endpoint(member.key, None);
        }
        // Its runs end, and what it owes moves on.
        let owed: Vec<EventRef> =
            self.ws.owed.get(&member.key).into_iter().flatten().copied().collect();
        for at in owed {
            self.hand_over(at, member.key, "the member was removed")?;
        }
        Ok(member)
    }

    pub(crate) fn must_be_member(&self, member: MemberKey) -> Result<()> {
        match self.directory().member(member) {
            Some(m) if !m.removed => Ok(()),
            _ => Err(Failure::Refused(Refusal::not_found("member"))),
        }
    }

    pub(crate) fn is_operator(&self) -> bool {
        self.by.authority == Authority::Operator
    }
}

fn about_member(fields: &MemberFields) -> Vec<(&'static str, String)> {
    let texts = [
        ("display_name", &fields.display_name),
        ("handle", &fields.handle),
        ("identities", &fields.identities),
        ("owner", &fields.owner),
    ];
    texts.iter().filter_map(|(name, text)| Some((*name, (*text).clone()?))).collect()
}
