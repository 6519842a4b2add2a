//! How people get in: a sign-in link for a member who is here, an invitation for one who is not yet.
//!
//! An invitation is a token of the new member that can only be accepted, in a link. Accepting it ends it and gives a token
//! that is good for more. So it is listed and revoked like any token, and works once, also over a restart.
//!
//! Invariant: nobody gets a session by these that lasts longer than the token that asked for it. It ends when that one is
//! revoked.

use std::sync::Arc;

use arc_swap::ArcSwap;
use chorus_core::commands::directory;
use chorus_core::language::names::fold;
use chorus_core::model::audit::Action;
use chorus_core::model::caller::{Authority, By};
use chorus_core::model::error::{Code, Refusal};
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
use super::tokens::{New, TokenService, USUAL_TTL_S};
use super::{IdGenerator, ids};
use crate::auth::{Auth, Caller, LINK_LIFE_MS, SentOut, Session, SignInLinks, Use, Way};

/// How long an invitation can be accepted: seven days.
const INVITATION_LIFE_MS: i64 = 7 * 24 * 3_600_000;

/// How long a session lasts that an issuer has vouched for: a day, because nobody tells the host when
/// the issuer no longer knows that person.
const BY_ISSUER_MS: i64 = 24 * 3_600_000;

/// How many tokens a session may stem from, one of the other.
const LONGEST_LINEAGE: usize = 16;

/// Sign-in links and invitations.
pub(crate) struct SignInService {
    pub(super) audit: Arc<AuditService>,
    pub(super) auth: Arc<Auth>,
    pub(super) channels: Arc<ChannelService>,
    pub(super) clock: Arc<HostClock>,
    pub(super) commands: Arc<Commands>,
    pub(super) directory: Arc<ArcSwap<Directory>>,
    pub(super) id_generator: Arc<IdGenerator>,
    pub(super) identity: Arc<Identity>,
    pub(super) links: Arc<SignInLinks>,
    pub(super) sent_out: SentOut,
    /// Held while an invitation is accepted, so that two at once are not both accepted.
    pub(super) accepting: Mutex<()>,
    pub(super) public_url: Arc<str>,
    pub(super) reads: Arc<Reads>,
    pub(super) tokens: Arc<TokenService>,
}

impl SignInService {
    /// A link that signs the operator in, for whoever has started the host.
    pub(crate) fn link_of_operator(&self, operator: &Member) -> Result<String, Refusal> {
        let ends = self.clock.now().plus(USUAL_TTL_S as i64 * 1000);
        let (member, parents) = (operator.key, [].into());
        self.link_for(Session { member, authority: Authority::Operator, ends, parents })
    }

    fn link_for(&self, session: Session) -> Result<String, Refusal> {
        let mut secret = [0; 32];
        self.id_generator.fill(&mut secret)?;
        let secret = self.links.open(secret, session, self.clock.now());
        Ok(format!("{}/signin/{secret}", self.public_url))
    }

    /// `POST /v1/sign-in-links`: a person signs in elsewhere too.
    pub(crate) fn link(&self, caller: &Caller) -> Result<SignInLink, Refusal> {
        caller.must_not_be_a_turn()?;
        must_be_a_person(&caller.member)?;
        let expires_at = self.clock.now().plus(LINK_LIFE_MS);
        let parents = caller.lineage();
        if parents.len() > LONGEST_LINEAGE {
            return Err(Refusal::new(
                Code::Conflict,
                "this session was begun from another one too many times over; sign in by a link of the host's operator",
            ));
        }
        let (member, authority) = (caller.member.key, caller.authority());
        let url = self.link_for(Session { member, authority, ends: caller.expires, parents })?;
        Ok(SignInLink { url, expires_at: expires_at.into() })
    }

    /// Whether a link can still be used.
    pub(crate) fn is_good(&self, secret: &str) -> bool {
        let session = self.links.get(secret, self.clock.now());
        session.is_some_and(|s| self.identity.ended(s.member, &s.parents).is_none())
    }

    /// Signs in by a link, which is used up if that succeeds.
    pub(crate) async fn sign_in(&self, secret: &str, used: Use) -> Result<SignedIn, Refusal> {
        let taken = self.links.take(secret, self.clock.now());
        let Some((taken, session)) = taken.and_then(|t| t.session().cloned().map(|s| (t, s)))
        else {
            return Err(Refusal::new(
                Code::Unauthorized,
                "this link was used, or its ten minutes are over; `chorus signin` gives a new one",
            ));
        };
        if let Some(why) = self.identity.ended(session.member, &session.parents) {
            return Err(Refusal::new(Code::Unauthorized, why));
        }
        let member = self.directory.load().member(session.member).filter(|m| !m.removed).cloned();
        let member = member.ok_or_else(|| Refusal::not_found("member"))?;
        self.audit.note(By::host(), Action::SignIn, "", Some(member.key)).await?;
        let signed_in = self.begin(&member, session, used).await?;
        taken.spend();
        Ok(signed_in)
    }

    /// Where a browser signs in through an issuer of the settings.
    pub(crate) async fn send_out(&self, issuer: &str) -> Result<Way, Refusal> {
        let mut random = [[0; 32]; 3];
        for bytes in &mut random {
            self.id_generator.fill(bytes)?;
        }
        let now = self.clock.now();
        self.auth.send_out(&self.sent_out, issuer, random, &self.back(), now).await
    }

    /// A browser has come back from an issuer, with a code.
    pub(crate) async fn come_back(&self, state: &str, code: &str) -> Result<SignedIn, Refusal> {
        let now = self.clock.now();
        let (id, authority) =
            self.auth.redeem(&self.sent_out, state, code, &self.back(), now).await?;
        let member = self.directory.load().by_id(&id).filter(|member| !member.removed).cloned();
        let member = member.ok_or_else(|| {
            let why = format!("{id} is no member here; ask who runs this host for an invitation");
            Refusal::new(Code::Forbidden, why)
        })?;
        must_be_a_person(&member)?;
        self.audit.note(By::host(), Action::SignIn, "", Some(member.key)).await?;
        let (ends, parents) = (now.plus(BY_ISSUER_MS), [].into());
        let session = Session { member: member.key, authority, ends, parents };
        self.begin(&member, session, Use::Browser).await
    }

    /// Where an issuer sends browsers back to.
    fn back(&self) -> String {
        format!("{}/signin/back", self.public_url)
    }

    /// `POST /v1/sign-out`: this session ends, or with `everywhere` all that the member has: other browsers, and programs
    /// that it has signed in.
    pub(crate) async fn sign_out(&self, caller: &Caller, everywhere: bool) -> Result<(), Refusal> {
        match &caller.jti {
            Some(jti) if !everywhere => self.tokens.revoke(caller, jti).await,
            _ => self.tokens.revoke_all(caller, &caller.member.id).await.map(drop),
        }
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
        let token = self.tokens.invite(caller.by, &member, INVITATION_LIFE_MS).await?;
        Ok(Invitation {
            url: format!("{}/invite/{}", self.public_url, token.token),
            member: member.id.to_string(),
            expires_at: token.expires_at,
        })
    }

    /// Who is invited by a link that can still be accepted.
    pub(crate) fn invited(&self, invitation: &str) -> Result<Caller, Refusal> {
        let refused = |_| {
            Refusal::new(
                Code::Unauthorized,
                "this invitation was accepted, revoked or replaced, or is over; ask for a new one",
            )
        };
        let caller = self.identity.invited(invitation).map_err(refused)?;
        must_be_a_person(&caller.member)?;
        let (member, directory) = (caller.member.key, self.directory.load());
        // By the list, which knows the time to the millisecond; the token says it in seconds.
        let own = caller.jti.as_deref().and_then(|jti| directory.issued(member, jti));
        let own = own.map(|own| own.issued).unwrap_or_default();
        if directory.issued_to(member).any(|other| other.issued > own) {
            return Err(Refusal::new(
                Code::Unauthorized,
                "this invitation is over: a newer one was made, or the member is in already; ask for a new one",
            ));
        }
        Ok(caller)
    }

    /// Accepts an invitation, which is used up.
    pub(crate) async fn accept(
        &self,
        invitation: &str,
        display_name: Option<String>,
        used: Use,
    ) -> Result<SignedIn, Refusal> {
        let _one_at_a_time = self.accepting.lock().await;
        let caller = self.invited(invitation)?;
        let display_name = display_name.map(|name| name.trim().to_owned());
        if let Some(name) = display_name.as_deref().filter(|name| !name.is_empty()) {
            self.must_be_nobodys(name, &caller.member)?;
            let fields = MemberFields { display_name, ..MemberFields::default() };
            let member = caller.member.key;
            self.commands.change(By::host(), directory::ChangeMember { member, fields }).await?;
        }
        if let Some(jti) = &caller.jti {
            self.tokens.revoke(&caller, jti).await?;
        }
        self.audit.note(By::host(), Action::SignIn, "", Some(caller.member.key)).await?;
        let ends = self.clock.now().plus(USUAL_TTL_S as i64 * 1000);
        let (member, authority, parents) = (caller.member.key, Authority::Worker, [].into());
        self.begin(&caller.member, Session { member, authority, ends, parents }, used).await
    }

    /// Somebody new, whom no operator has named, takes no name by which another member goes.
    fn must_be_nobodys(&self, name: &str, member: &Member) -> Result<(), Refusal> {
        let folded = fold(name);
        let directory = self.directory.load();
        let others = directory.members.iter().filter(|m| !m.removed && m.key != member.key);
        let mut names = others.flat_map(|m| [&*m.display_name, &*m.handle, &*m.id]);
        if names.any(|other| fold(other) == folded) {
            let why = "another member goes by this name; add something that tells you apart";
            return Err(Refusal::new(Code::Conflict, why));
        }
        Ok(())
    }

    /// Begins a session, of the usual time, and no longer than until it ends.
    async fn begin(
        &self,
        member: &Member,
        session: Session,
        used: Use,
    ) -> Result<SignedIn, Refusal> {
        let Session { authority, ends, parents, .. } = session;
        let life_ms = ends.since(self.clock.now()).clamp(1_000, USUAL_TTL_S as i64 * 1000);
        let new = New { authority, session: None, life_ms, used, parents: &parents };
        let token = self.tokens.sign(By::host(), member, new).await?;
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
