//! Agents that are reached by a connection string (webhook spec section 1): who they are, and how their endpoints
//! do. The string goes in and never comes out.

use std::sync::Arc;
use std::time::Instant;

use arc_swap::ArcSwap;
use axum::body::Bytes;
use chorus_core::commands::endpoints;
use chorus_core::model::audit::Action;
use chorus_core::model::caller::Authority;
use chorus_core::model::endpoint::{self, Secret};
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::{ConversationKey, MemberKey, Prefix, Seq, SessionKey};
use chorus_core::model::member::MemberKind;
use chorus_core::state::directory::Directory;
use chorus_wire::rest::channels::SeatPut;
use chorus_wire::rest::endpoints::{
    Added, Endpoint, EndpointError, EndpointPatch, Endpoints, NewEndpoint, RotateEndpoint, Tested,
};
use chorus_wire::rest::members::NewMember;
use chorus_wire::webhook;
use url::Url;

use super::audit::AuditService;
use super::callbacks::CallbackService;
use super::channels::ChannelService;
use super::clock::HostClock;
use super::commands::Commands;
use super::members::MemberService;
use super::reads::Reads;
use super::tokens::TokenService;
use super::{IdGenerator, ids};
use crate::auth::callback::{Callback, DELIVERY_MS, Purpose};
use crate::auth::{Auth, Caller, Stem, Turn, Vault};
use crate::dispatch::webhook::health::Breaker;
use crate::dispatch::webhook::state::{SERVICE, Webhooks};
use crate::egress::{self, Answer, To};
use crate::view::id_of;

/// Connection strings of agents.
pub(crate) struct EndpointService {
    pub(super) callbacks: Arc<CallbackService>,
    pub(super) commands: Arc<Commands>,
    pub(super) reads: Arc<Reads>,
    pub(super) audit: Arc<AuditService>,
    pub(super) channels: Arc<ChannelService>,
    pub(super) tokens: Arc<TokenService>,
    pub(super) members: Arc<MemberService>,
    pub(super) auth: Arc<Auth>,
    pub(super) clock: Arc<HostClock>,
    pub(super) directory: Arc<ArcSwap<Directory>>,
    pub(super) id_generator: Arc<IdGenerator>,
    pub(super) webhooks: Arc<Webhooks>,
}

impl EndpointService {
    pub(crate) fn endpoints(&self, caller: &Caller) -> Result<Endpoints, Refusal> {
        caller.must_govern()?;
        let directory = self.directory.load();
        let all = directory.endpoints.values();
        Ok(Endpoints { endpoints: all.map(|e| self.show_endpoint(&directory, e)).collect() })
    }

    pub(crate) fn endpoint(&self, caller: &Caller, member: &str) -> Result<Endpoint, Refusal> {
        caller.must_govern()?;
        let directory = self.directory.load();
        let found = endpoint_of(&directory, caller, member)?;
        Ok(self.show_endpoint(&directory, &found))
    }

    /// `POST /v1/endpoints`. What is wrong with the string is said before anything is made.
    pub(crate) async fn add_endpoint(
        &self,
        caller: &Caller,
        new: NewEndpoint,
    ) -> Result<Added, Refusal> {
        self.audit.may_govern(caller, Action::ChangeEndpoint, &new.member)?;
        let url = self.connection_string(caller, &new.url)?;
        let signing = Signing::of(&self.id_generator, new.sign, new.signing_secret.as_deref())?;
        for channel in &new.channels {
            self.reads.place(caller, ids::conversation(channel)?).await?;
        }
        let member = self.agent(caller, &new.member, new.display_name).await?;
        let act = endpoint::Act::Add { url, signing: signing.sealed(self.auth.vault())? };
        self.act_on(caller, member, act).await?;
        for channel in &new.channels {
            self.channels.seat(caller, channel, &new.member, SeatPut::default()).await?;
        }
        let endpoint = self.endpoint(caller, &new.member)?;
        Ok(Added { endpoint, signing_secret: signing.shown() })
    }

    pub(crate) async fn rotate_endpoint(
        &self,
        caller: &Caller,
        member: &str,
        new: RotateEndpoint,
    ) -> Result<Added, Refusal> {
        self.audit.may_govern(caller, Action::ChangeEndpoint, member)?;
        let url = self.connection_string(caller, &new.url)?;
        let signing = Signing::of(&self.id_generator, new.sign, new.signing_secret.as_deref())?;
        let found = ids::member_for(&self.directory.load(), caller, member)?.key;
        let signing_key = signing.sealed(self.auth.vault())?;
        self.act_on(caller, found, endpoint::Act::Rotate { url, signing: signing_key }).await?;
        let endpoint = self.endpoint(caller, member)?;
        Ok(Added { endpoint, signing_secret: signing.shown() })
    }

    pub(crate) async fn change_endpoint(
        &self,
        caller: &Caller,
        member: &str,
        patch: EndpointPatch,
    ) -> Result<Endpoint, Refusal> {
        self.audit.may_govern(caller, Action::ChangeEndpoint, member)?;
        let found = ids::member_for(&self.directory.load(), caller, member)?.key;
        match patch.paused {
            Some(true) => self.act_on(caller, found, endpoint::Act::Pause).await?,
            Some(false) => self.act_on(caller, found, endpoint::Act::Resume).await?,
            None => {}
        }
        self.endpoint(caller, member)
    }

    /// The agent stays a member; what waits for it waits until somebody takes it up.
    pub(crate) async fn remove_endpoint(
        &self,
        caller: &Caller,
        member: &str,
    ) -> Result<(), Refusal> {
        self.audit.may_govern(caller, Action::ChangeEndpoint, member)?;
        let found = ids::member_for(&self.directory.load(), caller, member)?.key;
        self.act_on(caller, found, endpoint::Act::Remove).await
    }

    /// One POST that only tries the connection.
    pub(crate) async fn test_endpoint(
        &self,
        caller: &Caller,
        member: &str,
    ) -> Result<Tested, Refusal> {
        self.audit.may_govern(caller, Action::ChangeEndpoint, member)?;
        let endpoint = endpoint_of(&self.directory.load(), caller, member)?;
        let reached = self.reached(&endpoint)?;
        let uid = self.id_generator.uid(self.clock.now())?;
        let callback = Callback {
            purpose: Purpose::Test,
            turn: Turn {
                conversation: uid,
                event: uid,
                member: endpoint.member,
                session: SessionKey(0),
                key: ConversationKey(0),
                seq: Seq(0),
                fence: 0,
                expires: self.clock.now().plus(DELIVERY_MS),
                stem: Stem::Endpoint { epoch: endpoint.epoch },
            },
            attempt: 1,
            epoch: endpoint.epoch,
        };
        let url = self.callbacks.callback_url(&callback);
        let body = test_body(&self.directory.load(), &endpoint, &callback, url);
        let _place = self.webhooks.places.take(To::Endpoint(endpoint.member)).await;
        let headers = reached
            .signing
            .map(|secret| egress::sign(&secret, &uid.show(Prefix::Event), self.clock.now(), &body));
        let begun = Instant::now();
        let timeout = self.webhooks.timeout;
        let posted = self.webhooks.egress.post(
            &reached.url,
            Bytes::from(body),
            headers.unwrap_or_default(),
            timeout,
        );
        let why = match posted.await {
            Answer::Taken => None,
            Answer::Gone => Some("HTTP 410".to_owned()),
            Answer::Refused { status } => Some(format!("HTTP {status}")),
            Answer::Again { why, .. } => Some(why.to_string()),
            Answer::Address => Some("its address may not be posted to".to_owned()),
        };
        self.webhooks.health(endpoint.member).posted(endpoint.epoch, why.is_none());
        let took_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        Ok(Tested { taken: why.is_none(), why, took_ms })
    }

    /// The agent of this id, made where there is none.
    async fn agent(
        &self,
        caller: &Caller,
        id: &str,
        display_name: Option<String>,
    ) -> Result<MemberKey, Refusal> {
        if let Some(found) = self.directory.load().by_id(id) {
            return Ok(found.key);
        }
        let new = NewMember {
            id: id.to_owned(),
            kind: MemberKind::Agent.into(),
            handle: None,
            display_name,
            owner_id: None,
            identities: Vec::new(),
            token_role: None,
        };
        self.members.add_member(caller, new).await?;
        ids::member_for(&self.directory.load(), caller, id).map(|m| m.key)
    }

    /// Where an endpoint is, as far as it may be posted to now.
    pub(crate) fn reached(&self, endpoint: &endpoint::Endpoint) -> Result<Reached, Refusal> {
        let vault = self.auth.vault();
        let unsealed = || {
            let why = "this connection string was sealed under another key: put the sealing.key of \
                       this host back into its folder of keys, or enter the string anew";
            Refusal::new(Code::Internal, why)
        };
        let url = vault.open(&endpoint.url).ok_or_else(unsealed)?;
        let signing = endpoint.signing.as_ref().map(|sealed| {
            let secret = vault.open(sealed).and_then(|text| egress::Secret::parse(&text));
            secret.ok_or_else(unsealed)
        });
        // It was checked when it came; what may be posted to may have changed since.
        let url = egress::check_url(&url, &self.webhooks.allowed)?;
        Ok(Reached { url, signing: signing.transpose()? })
    }

    async fn act_on(
        &self,
        caller: &Caller,
        member: MemberKey,
        act: endpoint::Act,
    ) -> Result<(), Refusal> {
        let command = endpoints::Endpoint { member, act };
        self.commands.change(caller.by, command).await?;
        // What was granted with an earlier string has ended.
        self.tokens.look_at_tokens();
        Ok(())
    }

    fn connection_string(&self, caller: &Caller, url: &str) -> Result<Secret, Refusal> {
        // An orchestrator may be an agent.
        let allowed = match caller.authority() >= Authority::Operator {
            true => &self.webhooks.allowed,
            false => &self.webhooks.strangers,
        };
        let url = egress::check_url(url, allowed)?;
        self.auth.vault().seal(url.as_str())
    }

    /// All of a connection string that may be shown.
    fn origin(&self, url: &Secret) -> String {
        let url = self.auth.vault().open(url).and_then(|url| Url::parse(&url).ok());
        url.map_or_else(String::new, |url| url.origin().ascii_serialization())
    }

    fn show_endpoint(&self, directory: &Directory, endpoint: &endpoint::Endpoint) -> Endpoint {
        let seen = self.webhooks.health(endpoint.member).seen();
        let (breaker, open_until) = match seen.breaker {
            Breaker::Closed => ("closed", None),
            Breaker::Open { until } => ("open", Some(until)),
            Breaker::HalfOpen => ("half_open", None),
        };
        Endpoint {
            member: id_of(directory, endpoint.member).to_owned(),
            host: self.origin(&endpoint.url),
            state: endpoint.state.name().to_owned(),
            breaker: breaker.to_owned(),
            open_until: open_until.map(Into::into),
            failures: seen.failures,
            waiting: seen.waiting,
            signed: endpoint.signing.is_some(),
            added_at: endpoint.added_at.into(),
            last_taken_at: seen.last_taken_at.map(Into::into),
            last_error: seen.last_error.map(|(at, why)| EndpointError { at: at.into(), why }),
            answered_test_at: seen.tried_at.map(Into::into),
        }
    }
}

/// What is needed to post to an endpoint.
pub(crate) struct Reached {
    pub url: Url,
    pub signing: Option<egress::Secret>,
}

fn endpoint_of(
    directory: &Directory,
    caller: &Caller,
    member: &str,
) -> Result<Arc<endpoint::Endpoint>, Refusal> {
    let found = ids::member_for(directory, caller, member)?;
    let endpoint = directory.endpoints.get(&found.key).cloned();
    endpoint.ok_or_else(|| Refusal::not_found("endpoint"))
}

/// What deliveries are to be signed with.
enum Signing {
    None,
    Given(egress::Secret),
    CommandSeed(egress::Secret),
}

impl Signing {
    fn of(draw: &IdGenerator, sign: bool, given: Option<&str>) -> Result<Self, Refusal> {
        match (sign, given) {
            (true, Some(_)) => {
                Err(Refusal::invalid("give signing_secret, or let sign draw one, and not both"))
            }
            (true, None) => {
                let mut random = [0; 32];
                draw.fill(&mut random)?;
                Ok(Self::CommandSeed(egress::Secret::new(random)))
            }
            (false, Some(text)) => egress::Secret::parse(text).map(Self::Given).ok_or_else(|| {
                Refusal::invalid("signing_secret is whsec_ and the base64 of 24 to 64 bytes")
            }),
            (false, None) => Ok(Self::None),
        }
    }

    fn sealed(&self, vault: &Vault) -> Result<Option<Secret>, Refusal> {
        match self {
            Self::None => Ok(None),
            Self::Given(secret) | Self::CommandSeed(secret) => {
                vault.seal(&secret.reveal()).map(Some)
            }
        }
    }

    /// Only what the agent does not have yet.
    fn shown(&self) -> Option<String> {
        match self {
            Self::CommandSeed(secret) => Some(secret.reveal()),
            _ => None,
        }
    }
}

/// The body of a POST that only tries the connection.
fn test_body(
    directory: &Directory,
    endpoint: &endpoint::Endpoint,
    callback: &Callback,
    callback_url: String,
) -> Vec<u8> {
    let body = webhook::Delivery {
        channel: webhook::Channel {
            id: callback.turn.conversation.show(Prefix::Conversation),
            name: Some("connection test".to_owned()),
            service: Some(SERVICE.to_owned()),
            context: None,
        },
        message: webhook::Message {
            id: callback.turn.event.show(Prefix::Event),
            sender: SERVICE.to_owned(),
            content: format!(
                "A test of the connection to {}. What you answer is shown to nobody.",
                id_of(directory, endpoint.member)
            ),
        },
        callback: callback_url,
        mcp: None,
        chorus: Some(webhook::Extension { test: true, attempt: 1, ..Default::default() }),
    };
    serde_json::to_vec(&body).unwrap_or_default()
}
