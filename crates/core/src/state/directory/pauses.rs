//! Which agents of the directory are paused.

use std::sync::Arc;

use crate::model::error::{Code, Refusal};
use crate::model::ids::MemberKey;
use crate::model::member::{Member, Pause};
use crate::state::directory::Directory;

impl Directory {
    /// Pauses an agent, or lets it go on.
    pub fn set_pause(
        &mut self,
        key: MemberKey,
        pause: Option<Pause>,
    ) -> Result<Arc<Member>, Refusal> {
        let member = Member::clone(self.present(key)?);
        Ok(self.replace_member(Member { pause, ..member }))
    }

    /// Whether an agent is paused.
    pub fn is_paused(&self, member: MemberKey) -> bool {
        self.member(member).is_some_and(|m| m.pause.is_some())
    }

    /// Refuses whatever a paused agent would change.
    pub fn must_not_be_paused(&self, member: MemberKey) -> Result<(), Refusal> {
        match self.is_paused(member) {
            true => Err(Refusal::new(
                Code::Forbidden,
                "you are paused: you may read, and change nothing until a person lets you go on",
            )),
            false => Ok(()),
        }
    }

    /// Whether nothing comes of hiring the member: it was removed, or is paused.
    pub fn is_out(&self, member: MemberKey) -> bool {
        self.member(member).is_none_or(|m| m.removed || m.pause.is_some())
    }
}
