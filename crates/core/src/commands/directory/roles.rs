//! Roles and streams.

use std::sync::Arc;

use crate::commands::command::{Command, Done, no_text};
use crate::commands::context::{Context, Result};
use crate::commands::gate::shown::{Readers, Shown, plain};
use crate::commands::redact::Redact;
use crate::model::audit::{Action, Audit};
use crate::model::ids::{MemberKey, RoleKey};
use crate::model::member::{Role, Stream};

#[derive(Clone)]
pub struct AddRole {
    pub name: String,
}

impl Command for AddRole {
    type Output = Arc<Role>;

    fn audit(&self, done: Done<'_, Self>) -> Audit {
        Audit::firm(Action::AddRole).name(done.map_or(&*self.name, |role| &*role.name))
    }

    // It is validated as a name.
    fn redact(&mut self, _: &dyn Redact) -> u32 {
        0
    }

    fn shown(&self, _: &mut Context<'_>) -> Result<Option<Shown>> {
        Ok(Some(plain("add_role", Readers::everybody(), vec![("name", self.name.clone())])))
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Arc<Role>> {
        run.must_govern()?;
        let role = run.directory_mut().add_role(&self.name)?;
        run.ws.changes.roles.push(role.clone());
        Ok(role)
    }
}

#[derive(Clone)]
pub struct RemoveRole {
    pub role: RoleKey,
}

impl Command for RemoveRole {
    type Output = Arc<Role>;

    no_text!();

    fn audit(&self, done: Done<'_, Self>) -> Audit {
        Audit::firm(Action::RemoveRole).name(done.ok().map(|role| &*role.name))
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Arc<Role>> {
        run.must_govern()?;
        let role = run.directory_mut().remove_role(self.role)?;
        run.ws.changes.roles.push(role.clone());
        Ok(role)
    }
}

#[derive(Clone)]
pub struct SetRoleMember {
    pub role: RoleKey,
    pub member: MemberKey,
    pub on: bool,
}

impl Command for SetRoleMember {
    type Output = Arc<Role>;

    no_text!();

    fn audit(&self, done: Done<'_, Self>) -> Audit {
        let role = done.ok().map(|role| &*role.name);
        Audit::firm(Action::SetRoleMember).member(self.member).name(role)
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Arc<Role>> {
        run.must_govern()?;
        let role = run.directory_mut().set_role_member(self.role, self.member, self.on)?;
        run.ws.changes.roles.push(role.clone());
        Ok(role)
    }
}

#[derive(Clone)]
pub struct AddStream {
    pub name: String,
    pub owner: Option<MemberKey>,
}

impl Command for AddStream {
    type Output = Arc<Stream>;

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::firm(Action::AddStream).name(&*self.name)
    }

    fn redact(&mut self, redact: &dyn Redact) -> u32 {
        redact.string(&mut self.name)
    }

    fn shown(&self, _: &mut Context<'_>) -> Result<Option<Shown>> {
        Ok(Some(plain("add_stream", Readers::everybody(), vec![("name", self.name.clone())])))
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Arc<Stream>> {
        run.must_govern()?;
        let uid = run.drawn.uid;
        let stream = run.directory_mut().add_stream(uid, &self.name, self.owner)?;
        run.ws.changes.streams.push(stream.clone());
        Ok(stream)
    }
}
