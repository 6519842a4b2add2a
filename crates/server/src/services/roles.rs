//! Roles: named groups of members.

use std::sync::Arc;

use arc_swap::ArcSwap;
use chorus_core::commands::{Command, directory};
use chorus_core::model::audit::Action;
use chorus_core::model::error::Refusal;
use chorus_core::model::member;
use chorus_core::state::directory::Directory;
use chorus_wire::rest::roles::{NewRole, Role, Roles};

use super::audit::AuditService;
use super::commands::Commands;
use super::ids;
use crate::auth::Caller;
use crate::view::members;

/// Roles and who has them.
pub(crate) struct RoleService {
    pub(super) commands: Arc<Commands>,
    pub(super) audit: Arc<AuditService>,
    pub(super) directory: Arc<ArcSwap<Directory>>,
}

impl RoleService {
    pub(crate) fn roles(&self, caller: &Caller) -> Result<Roles, Refusal> {
        caller.must_not_be_a_turn()?;
        let directory = self.directory.load();
        let present = directory.roles.iter().filter(|r| !r.removed);
        Ok(Roles { roles: present.map(|r| members::role(&directory, r)).collect() })
    }

    pub(crate) async fn add_role(&self, caller: &Caller, new: NewRole) -> Result<Role, Refusal> {
        self.audit.may_govern(caller, Action::AddRole, &new.name)?;
        self.role(caller, directory::AddRole { name: new.name }).await
    }

    pub(crate) async fn remove_role(&self, caller: &Caller, name: &str) -> Result<(), Refusal> {
        self.audit.may_govern(caller, Action::RemoveRole, name)?;
        let role = ids::role(&self.directory.load(), name)?.key;
        self.role(caller, directory::RemoveRole { role }).await.map(drop)
    }

    /// Puts a member into a role, or takes it out.
    pub(crate) async fn set_role_member(
        &self,
        caller: &Caller,
        name: &str,
        member: &str,
        on: bool,
    ) -> Result<Role, Refusal> {
        self.audit.may_govern(caller, Action::SetRoleMember, name)?;
        let (role, member) = {
            let directory = self.directory.load();
            (ids::role(&directory, name)?.key, ids::member_for(&directory, caller, member)?.key)
        };
        self.role(caller, directory::SetRoleMember { role, member, on }).await
    }

    async fn role<C>(&self, caller: &Caller, command: C) -> Result<Role, Refusal>
    where
        C: Command<Output = Arc<member::Role>>,
    {
        let role = self.commands.change(caller.by, command).await?;
        Ok(members::role(&self.directory.load(), &role))
    }
}
