//! Inboxes: made, shown, and given another string; for who runs the room, and who owns the agent.

mod back;
mod checks;
mod public_key;
mod receive;

use std::sync::Arc;

use arc_swap::ArcSwap;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use chorus_core::commands::inboxes::{AddInbox, ChangeInbox, RemoveInbox, RotateInbox};
use chorus_core::model::error::Refusal;
use chorus_core::model::event::Hash;
use chorus_core::model::ids::{Prefix, Uid};
use chorus_core::model::inbox::{self, Checks, Patch};
use chorus_core::state::directory::Directory;
use chorus_wire::rest::inboxes::{Inbox, InboxError, InboxPatch, InboxString, Inboxes, NewInbox};
use chorus_wire::webhook::{INBOX, SECRET_PREFIX};
pub(crate) use receive::CameWith;
use sha2::{Digest, Sha256};

use super::assets::AssetService;
use super::clock::HostClock;
use super::commands::Commands;
use super::reads::Reads;
use super::{IdGenerator, ids};
use crate::auth::{Auth, Caller};
use crate::dispatch::webhook::state::Webhooks;
use crate::limits::Limits;
use crate::telemetry::Metrics;
use crate::view;

/// Random bytes of a secret.
const SECRET_BYTES: usize = 32;

/// Connection strings through which services post.
pub(crate) struct InboxService {
    pub(super) commands: Arc<Commands>,
    pub(super) reads: Arc<Reads>,
    pub(super) assets: Arc<AssetService>,
    pub(super) auth: Arc<Auth>,
    pub(super) clock: Arc<HostClock>,
    pub(super) directory: Arc<ArcSwap<Directory>>,
    pub(super) id_generator: Arc<IdGenerator>,
    pub(super) limits: Arc<Limits>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) public_url: Arc<str>,
    pub(super) webhooks: Arc<Webhooks>,
}

impl InboxService {
    pub(crate) async fn add_inbox(
        &self,
        caller: &Caller,
        new: NewInbox,
    ) -> Result<InboxString, Refusal> {
        caller.must_not_be_a_turn()?;
        let agent = ids::member_for(&self.directory.load(), caller, &new.agent)?.key;
        let checks = Checks {
            allow: checks::networks(&new.allow)?,
            signing: self.sealed_secret(new.signing_secret.as_deref())?,
            key: checks::public_key(new.jwt_key.as_deref())?,
        };
        let (secret, hash) = self.new_secret()?;
        let name = new.name.map(Into::into);
        let command = AddInbox { agent, name, secret: hash, checks };
        let inbox = self.commands.change(caller.by, command).await?;
        Ok(self.string(&inbox, &secret))
    }

    pub(crate) async fn change_inbox(
        &self,
        caller: &Caller,
        id: &str,
        patch: InboxPatch,
    ) -> Result<Inbox, Refusal> {
        caller.must_not_be_a_turn()?;
        let patch = Patch {
            name: patch.name.map(Into::into),
            allow: patch.allow.map(|allow| checks::networks(&allow)).transpose()?,
            signing: match patch.signing_secret {
                Some(secret) => Some(self.sealed_secret(secret.as_deref())?),
                None => None,
            },
            key: match patch.jwt_key {
                Some(key) => Some(checks::public_key(key.as_deref())?),
                None => None,
            },
        };
        let command = ChangeInbox { inbox: ids::inbox(id)?, patch };
        let inbox = self.commands.change(caller.by, command).await?;
        Ok(show(&self.directory.load(), &inbox))
    }

    /// Another string; what comes with the old one is refused from now on.
    pub(crate) async fn rotate_inbox(
        &self,
        caller: &Caller,
        id: &str,
    ) -> Result<InboxString, Refusal> {
        caller.must_not_be_a_turn()?;
        let (secret, hash) = self.new_secret()?;
        // When it returns, the directory shows the change: an old string is nobody's by then.
        let command = RotateInbox { inbox: ids::inbox(id)?, secret: hash };
        let inbox = self.commands.change(caller.by, command).await?;
        Ok(self.string(&inbox, &secret))
    }

    pub(crate) async fn remove_inbox(&self, caller: &Caller, id: &str) -> Result<(), Refusal> {
        caller.must_not_be_a_turn()?;
        self.commands.change(caller.by, RemoveInbox { inbox: ids::inbox(id)? }).await
    }

    /// Those that the caller may keep, oldest first.
    pub(crate) fn inboxes(&self, caller: &Caller) -> Result<Inboxes, Refusal> {
        caller.must_not_be_a_turn()?;
        let directory = self.directory.load();
        let kept = directory.inboxes.values().filter(|inbox| keeps(&directory, caller, inbox));
        Ok(Inboxes { inboxes: kept.map(|inbox| show(&directory, inbox)).collect() })
    }

    pub(crate) fn inbox_shown(&self, caller: &Caller, id: &str) -> Result<Inbox, Refusal> {
        caller.must_not_be_a_turn()?;
        let (uid, directory) = (ids::inbox(id)?, self.directory.load());
        let found = directory.inboxes.get(&uid).filter(|inbox| keeps(&directory, caller, inbox));
        found.map(|inbox| show(&directory, inbox)).ok_or_else(|| Refusal::not_found("inbox"))
    }

    fn new_secret(&self) -> Result<(String, Hash), Refusal> {
        let mut random = [0; SECRET_BYTES];
        self.id_generator.fill(&mut random)?;
        let secret = format!("{SECRET_PREFIX}{}", BASE64.encode(random));
        let hash = hash(&secret);
        Ok((secret, hash))
    }

    fn string(&self, inbox: &inbox::Inbox, secret: &str) -> InboxString {
        let inbox = show(&self.directory.load(), inbox);
        InboxString { url: format!("{}{INBOX}{secret}", self.public_url), inbox }
    }
}

/// What of a secret is kept.
fn hash(secret: &str) -> Hash {
    Sha256::digest(secret.as_bytes()).into()
}

/// Whether the caller may look at an inbox: as core says for changing it, and who audits may too.
pub(super) fn keeps(directory: &Directory, caller: &Caller, inbox: &inbox::Inbox) -> bool {
    let owner = directory.member(inbox.agent).and_then(|agent| agent.owner.clone());
    caller.sees_all() || owner.is_some_and(|owner| owner == caller.member.id)
}

fn show(directory: &Directory, inbox: &inbox::Inbox) -> Inbox {
    let texts = |all: &[Arc<str>]| all.iter().map(|text| text.to_string()).collect();
    let trouble = inbox.trouble.as_ref();
    Inbox {
        id: shown_id(inbox.uid),
        agent: view::id(directory, inbox.agent),
        name: inbox.name.to_string(),
        created_by: view::id(directory, inbox.created_by),
        created_at: inbox.created_at.into(),
        rotated_at: inbox.rotated_at.map(Into::into),
        channels: inbox.channels,
        allow: texts(&inbox.checks.allow),
        signed: inbox.checks.signing.is_some(),
        jwt_key: inbox.checks.key.as_deref().map(str::to_owned),
        last_error: trouble.map(|t| InboxError { at: t.at.into(), message: t.what.to_string() }),
    }
}

fn shown_id(uid: Uid) -> String {
    uid.show(Prefix::Inbox)
}
