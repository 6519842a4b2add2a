//! The member who runs the host: made at the first start, with the token of the data folder and the sign-in link.

use std::sync::Arc;

use arc_swap::ArcSwap;
use chorus_core::commands::directory;
use chorus_core::model::audit::Action;
use chorus_core::model::caller::{Authority, By};
use chorus_core::model::error::Refusal;
use chorus_core::model::member::{Member, MemberFields, MemberKind};
use chorus_core::model::token::OPERATOR;
use chorus_core::state::directory::Directory;

use super::IdGenerator;
use super::audit::AuditService;
use super::clock::HostClock;
use super::commands::Commands;
use super::identity::Identity;
use super::tokens::{TokenService, USUAL_TTL_S};
use crate::auth::SignIn;

/// The member who runs the host.
pub(crate) struct Operator {
    pub(super) audit: Arc<AuditService>,
    pub(super) clock: Arc<HostClock>,
    pub(super) commands: Arc<Commands>,
    pub(super) directory: Arc<ArcSwap<Directory>>,
    pub(super) id_generator: Arc<IdGenerator>,
    pub(super) identity: Arc<Identity>,
    pub(super) public_url: Arc<str>,
    pub(super) sign_in: SignIn,
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

    /// The link that `serve` prints.
    pub(crate) fn sign_in_link(&self) -> Result<String, Refusal> {
        let mut secret = [0; 32];
        self.id_generator.fill(&mut secret)?;
        let secret = self.sign_in.open(secret, self.clock.now());
        Ok(format!("{}/signin/{secret}", self.public_url))
    }

    /// The operator's token, when the secret is the one given out and was not used.
    pub(crate) async fn sign_in(&self, secret: &str) -> Result<Option<String>, Refusal> {
        if !self.sign_in.take(secret, self.clock.now()) {
            return Ok(None);
        }
        let operator = self.directory.load().by_id(OPERATOR).cloned();
        let operator = operator.ok_or_else(|| Refusal::not_found("member"))?;
        self.audit.note(By::host(), Action::SignIn, "", Some(operator.key)).await?;
        self.token(&operator).await.map(Some)
    }
}
