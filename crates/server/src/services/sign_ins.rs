//! How people get in: a sign-in link for a member who is here, an invitation for one who is not yet.
//!
//! An invitation is a token of the new member, in a link; accepting it ends that token and gives another. So it is listed
//! and revoked like any token, and works once.

use std::sync::Arc;

use arc_swap::ArcSwap;
use chorus_core::commands::directory;
use chorus_core::model::audit::Action;
use chorus_core::model::caller::{Authority, By};
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::MemberKey;
use chorus_core::model::member::{Member, MemberFields, MemberKind};
use chorus_core::state::directory::Directory;
use chorus_wire::rest::channels::SeatPut;
use chorus_wire::rest::sign_in::{Invitation, NewInvitation, SignInLink, SignedIn};
use tokio::sync::Mutex;

use super::audit::AuditService;
use super::channels::ChannelService;
use super::clock::HostClock;
use super::commands::Commands;
use super::identity::Identity;
use super::reads::Reads;
use super::tokens::{TokenService, USUAL_TTL_S};
use super::{IdGenerator, ids};
use crate::auth::{Caller, LINK_LIFE_MS, SignInLinks};

/// How long an invitation can be accepted, in seconds: seven days.
const INVITATION_TTL_S: u64 = 7 * 24 * 3600;

/// Sign-in links and invitations.
pub(crate) struct SignInService {
    pub(super) audit: Arc<AuditService>,
    pub(super) channels: Arc<ChannelService>,
    pub(super) clock: Arc<HostClock>,
    pub(super) commands: Arc<Commands>,
    pub(super) directory: Arc<ArcSwap<Directory>>,
    pub(super) id_generator: Arc<IdGenerator>,
    pub(super) identity: Arc<Identity>,
    pub(super) links: SignInLinks,
    /// Held while an invitation is accepted, so that two at once are not both accepted.
    pub(super) accepting: Mutex<()>,
    pub(super) public_url: Arc<str>,
    pub(super) reads: Arc<Reads>,
    pub(super) tokens: Arc<TokenService>,
}

impl SignInService {
    /// A link that signs the member in.
    pub(crate) fn link_for(
        &self,
        member: MemberKey,
        authority: Authority,
    ) -> Result<String, Refusal> {
        let mut secret = [0; 32];
        self.id_generator.fill(&mut secret)?;
        let secret = self.links.open(secret, (member, authority), self.clock.now());
        Ok(format!("{}/signin/{secret}", self.public_url))
    }

    /// `POST /v1/sign-in-links`: a person signs in elsewhere too.
    pub(crate) fn link(&self, caller: &Caller) -> Result<SignInLink, Refusal> {
        caller.must_not_be_a_turn()?;
        must_be_a_person(&caller.member)?;
        let expires_at = self.clock.now().plus(LINK_LIFE_MS);
        let url = self.link_for(caller.member.key, caller.authority())?;
        Ok(SignInLink { url, expires_at: expires_at.into() })
    }

    /// Whether a link can still be used.
    pub(crate) fn is_good(&self, secret: &str) -> bool {
        self.links.holds(secret, self.clock.now())
    }

    /// Signs in by a link, which is used up.
    pub(crate) async fn sign_in(&self, secret: &str) -> Result<SignedIn, Refusal> {
        let Some((member, authority)) = self.links.take(secret, self.clock.now()) else {
            return Err(Refusal::new(
                Code::Unauthorized,
                "this link was used, or its ten minutes are over; `chorus signin` gives a new one",
            ));
        };
        let member = self.directory.load().member(member).filter(|m| !m.removed).cloned();
        let member = member.ok_or_else(|| Refusal::not_found("member"))?;
        self.audit.note(By::host(), Action::SignIn, "", Some(member.key)).await?;
        self.session(&member, authority).await
    }

    /// `POST /v1/invitations`: makes the member where there is none, gives it its memberships, and a link that works once.
    pub(crate) async fn invite(
        &self,
        caller: &Caller,
        new: NewInvitation,
    ) -> Result<Invitation, Refusal> {
        caller.must_not_be_a_turn()?;
        self.audit.may_govern(caller, Action::AddMember, &new.member)?;
        self.tokens.may_give(caller, MemberKind::Human, Authority::Worker, &new.member)?;
        // Before anything is made: one that is unknown refuses the whole.
        for channel in &new.channels {
            self.reads.place(caller, ids::conversation(channel)?).await?;
        }
        let known = self.directory.load().by_id(&new.member).cloned();
        let member = match known.filter(|member| !member.removed) {
            Some(member) => member,
            None => {
                let (id, kind) = (new.member.clone(), MemberKind::Human);
                let fields = MemberFields::default();
                let command = directory::AddMember { id, kind, fields };
                self.commands.change(caller.by, command).await?
            }
        };
        must_be_a_person(&member)?;
        for channel in &new.channels {
            self.channels.seat(caller, channel, &member.id, SeatPut::default()).await?;
        }
        let (role, ttl) = (Authority::Worker, Some(INVITATION_TTL_S));
        let token = self.tokens.hand_out(caller.by, &member, role, None, ttl).await?;
        Ok(Invitation {
            url: format!("{}/invite/{}", self.public_url, token.token),
            member: member.id.to_string(),
            expires_at: token.expires_at,
        })
    }

    /// Who is invited by a link that can still be accepted.
    pub(crate) async fn invited(&self, invitation: &str) -> Result<Caller, Refusal> {
        let refused = |_| {
            Refusal::new(
                Code::Unauthorized,
                "this invitation was accepted, revoked, or is over; ask for a new one",
            )
        };
        let caller = self.identity.identify(invitation).await.map_err(refused)?;
        must_be_a_person(&caller.member)?;
        Ok(caller)
    }

    /// Accepts an invitation, which is used up.
    pub(crate) async fn accept(
        &self,
        invitation: &str,
        display_name: Option<String>,
    ) -> Result<SignedIn, Refusal> {
        let _one_at_a_time = self.accepting.lock().await;
        let caller = self.invited(invitation).await?;
        let display_name = display_name.map(|name| name.trim().to_owned());
        if display_name.as_ref().is_some_and(|name| !name.is_empty()) {
            let fields = MemberFields { display_name, ..MemberFields::default() };
            let member = caller.member.key;
            self.commands.change(By::host(), directory::ChangeMember { member, fields }).await?;
        }
        if let Some(jti) = &caller.jti {
            self.tokens.revoke(&caller, jti).await?;
        }
        self.audit.note(By::host(), Action::SignIn, "", Some(caller.member.key)).await?;
        self.session(&caller.member, Authority::Worker).await
    }

    async fn session(&self, member: &Member, authority: Authority) -> Result<SignedIn, Refusal> {
        let ttl = Some(USUAL_TTL_S);
        let token = self.tokens.hand_out(By::host(), member, authority, None, ttl).await?;
        Ok(SignedIn {
            url: self.public_url.to_string(),
            member: member.id.to_string(),
            token: token.token,
            expires_at: token.expires_at,
        })
    }
}

fn must_be_a_person(member: &Member) -> Result<(), Refusal> {
    if member.kind == MemberKind::Human {
        return Ok(());
    }
    let why = format!("{} is an agent, and agents have tokens: chorus token issue", member.id);
    Err(Refusal::new(Code::Conflict, why))
}
