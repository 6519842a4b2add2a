//! The member who runs the host: made at the first start, with the token of the data folder and the sign-in link.

use std::sync::Arc;

use arc_swap::ArcSwap;
use chorus_core::commands::directory;
use chorus_core::model::caller::{Authority, By};
use chorus_core::model::error::Refusal;
use chorus_core::model::member::{Member, MemberFields, MemberKind};
use chorus_core::model::token::OPERATOR;
use chorus_core::state::directory::Directory;

use super::clock::HostClock;
use super::commands::Commands;
use super::identity::Identity;
use super::tokens::{TokenService, USUAL_TTL_S};

/// The member who runs the host.
pub(crate) struct Operator {
    pub(super) clock: Arc<HostClock>,
    pub(super) commands: Arc<Commands>,
    pub(super) directory: Arc<ArcSwap<Directory>>,
    pub(super) identity: Arc<Identity>,
    pub(super) tokens: Arc<TokenService>,
}

impl Operator {
    /// The operator, made where there is none yet; none where it was removed.
    pub(crate) async fn operator(&self) -> Result<Option<Arc<Member>>, Refusal> {
        let known = self.directory.load().members.iter().find(|m| *m.id == *OPERATOR).cloned();
        if let Some(member) = known {
            return Ok(Some(member).filter(|member| !member.removed));
        }
        let fields =
            MemberFields { display_name: Some("Operator".to_owned()), ..MemberFields::default() };
        let id = OPERATOR.to_owned();
        let command = directory::AddMember { id, kind: MemberKind::Human, fields };
        let member = self.commands.change(By::host(), command).await?;
        if self.directory.load().lead.is_none() {
            let member = Some(member.key);
            self.commands.change(By::host(), directory::SetLead { member }).await?;
        }
        Ok(Some(member))
    }

    /// For how long the token is the operator's yet, in milliseconds; none if it is not.
    pub(crate) fn time_left(&self, token: &str, operator: &Member) -> Option<i64> {
        let caller = self.identity.caller(token).ok()?;
        let is_its = caller.member.key == operator.key;
        (is_its && caller.authority() == Authority::Operator)
            .then(|| caller.expires.since(self.clock.now()))
    }

    /// A new token of the operator.
    pub(crate) async fn token(&self, operator: &Member) -> Result<String, Refusal> {
        let (role, ttl) = (Authority::Operator, Some(USUAL_TTL_S));
        Ok(self.tokens.hand_out(By::host(), operator, role, None, ttl).await?.token)
    }
}
