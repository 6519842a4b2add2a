//! Callback tokens: `tok_`, a payload and its MAC over the workspace, the delivery, the attempt, the expiry and the
//! epoch of the connection (design section 5, "Webhooks"). One is worth one channel, and one delivery there; it ends
//! at once when the agent gets another connection string. The bearer of the tools that come with a delivery is made
//! like it (`turn_mcp_`), and ends with it.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use chorus_core::model::caller::{Authority, By};
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::{EventRef, Timestamp, Uid};
use chorus_core::state::directory::Directory;
use chorus_wire::webhook::TOKEN_PREFIX;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::keys::{Keys, TurnKeyId};
use super::turn::{self, Stem, Turn};
use super::{Auth, Caller};

/// How long the callback of a delivery holds (design section 5).
pub(crate) const DELIVERY_MS: i64 = 24 * 3_600_000;
/// How long one holds that an agent asked for, to speak unasked.
pub(crate) const STANDING_MS: i64 = 30 * 24 * 3_600_000;

/// What the bearer of a delivery's tools begins with.
pub(super) const BEARER_PREFIX: &str = "turn_mcp_";

const NOT_OURS: &str = "this is no callback of this host, or the host has other keys since; a newer delivery \
                        brings a newer one";

const VERSION: u8 = 1;
const PAYLOAD: usize = 1 + 1 + turn::PAYLOAD + 2 + 8;
const MAC: usize = 32;

/// What a callback is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Delivery,
    /// Speaking in the channel unasked.
    Standing,
    /// Trying the connection: what comes is looked at and shown to nobody.
    Test,
    /// Calling the tools that came with a delivery.
    Tools,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Callback {
    pub purpose: Purpose,
    /// The delivery; of one that is for none only the conversation, the member and the expiry count.
    pub turn: Turn,
    pub attempt: u16,
    /// Of the endpoint when it was given out.
    pub epoch: Timestamp,
}

/// A callback of ours, and on whose behalf it speaks.
#[derive(Clone)]
pub(crate) struct Called {
    pub callback: Callback,
    pub caller: Caller,
}

impl Auth {
    pub(crate) fn write_callback(&self, callback: &Callback) -> String {
        self.write(TOKEN_PREFIX, callback)
    }

    /// The bearer with which the tools of a delivery are called.
    pub(crate) fn write_bearer(&self, callback: Callback, expires: Timestamp) -> String {
        let turn = Turn { expires, ..callback.turn };
        self.write(BEARER_PREFIX, &Callback { purpose: Purpose::Tools, turn, ..callback })
    }

    fn write(&self, prefix: &str, callback: &Callback) -> String {
        let payload = callback.bytes();
        let mut token = [0; PAYLOAD + MAC];
        token[..PAYLOAD].copy_from_slice(&payload);
        let mac = mac(&payload, &self.keys.load(), self.workspace).finalize();
        token[PAYLOAD..].copy_from_slice(&mac.into_bytes());
        let mut out = String::with_capacity(prefix.len() + (PAYLOAD + MAC) * 4 / 3 + 4);
        out.push_str(prefix);
        BASE64.encode_string(token, &mut out);
        out
    }

    /// Whose callback it is, if it still holds and is for this channel.
    pub(crate) fn verify_callback(
        &self,
        token: &str,
        channel: Uid,
        directory: &Directory,
        now: Timestamp,
    ) -> Result<Called, Refusal> {
        let (callback, key) = self
            .read_callback(TOKEN_PREFIX, token)
            .filter(|(c, _)| c.turn.conversation == channel && c.purpose != Purpose::Tools)
            .ok_or_else(|| refused(NOT_OURS))?;
        let caller = callback.caller(key, directory, now)?;
        Ok(Called { callback, caller })
    }

    /// Who calls the tools of a delivery, while its callback holds.
    pub(super) fn verify_bearer(
        &self,
        bearer: &str,
        directory: &Directory,
        now: Timestamp,
    ) -> Result<Caller, Refusal> {
        let callback = self.read_callback(BEARER_PREFIX, bearer);
        let callback = callback.filter(|(c, _)| c.purpose == Purpose::Tools);
        let (callback, key) = callback.ok_or_else(|| refused(NOT_OURS))?;
        callback.caller(key, directory, now)
    }

    /// A callback that is ours, and the key that it was made with.
    fn read_callback(&self, prefix: &str, token: &str) -> Option<(Callback, TurnKeyId)> {
        let bytes = BASE64.decode(token.strip_prefix(prefix)?).ok()?;
        let (payload, tag) = bytes.split_at_checked(PAYLOAD)?;
        let keys = self.keys.load();
        mac(payload, &keys, self.workspace).verify_slice(tag).ok()?;
        Some((Callback::from_bytes(payload)?, keys.turn_id))
    }

    /// Refuses it once it holds no more: the body of a POST may last for hours.
    pub(crate) fn still_holds(
        &self,
        called: &Called,
        directory: &Directory,
        now: Timestamp,
    ) -> Result<(), Refusal> {
        let key = self.keys.load().turn_id;
        if called.caller.turn_key != Some(key) {
            return Err(refused(NOT_OURS));
        }
        called.callback.caller(key, directory, now).map(drop)
    }
}

impl Callback {
    /// The event that is answered.
    pub(crate) fn at(&self) -> EventRef {
        EventRef { conversation: self.turn.key, seq: self.turn.seq }
    }

    /// On whose behalf it speaks, while it holds.
    fn caller(
        &self,
        key: TurnKeyId,
        directory: &Directory,
        now: Timestamp,
    ) -> Result<Caller, Refusal> {
        let turn = self.turn;
        if turn.expires <= now {
            return Err(refused("the callback has expired; a newer delivery brings a newer one"));
        }
        let endpoint = directory.endpoints.get(&turn.member);
        if endpoint.is_none_or(|e| e.epoch != self.epoch) {
            return Err(refused("the callback is void: the agent has another connection string"));
        }
        let member = directory.member(turn.member).filter(|m| !m.removed);
        let member = member.cloned().ok_or_else(|| refused("the agent is no member any more"))?;
        let of_delivery = matches!(self.purpose, Purpose::Delivery | Purpose::Tools);
        let session = directory.sessions.get(&turn.session);
        let fenced = chorus_core::model::caller::TurnRef { attempt: self.attempt, ..turn.fenced() };
        let by = By {
            member: member.key,
            session: session.map(|s| s.key),
            authority: Authority::Worker,
            turn: of_delivery.then_some(fenced),
        };
        Ok(Caller {
            by,
            member,
            jti: None,
            expires: turn.expires,
            session: session.map(|s| s.uid),
            turn: Some(turn),
            turn_key: Some(key),
            stem: turn.stem,
            parents: [].into(),
        })
    }

    fn bytes(&self) -> [u8; PAYLOAD] {
        let mut out = [0; PAYLOAD];
        let (head, rest) = out.split_at_mut(2);
        let purpose = match self.purpose {
            Purpose::Delivery => 1,
            Purpose::Standing => 2,
            Purpose::Test => 3,
            Purpose::Tools => 4,
        };
        head.copy_from_slice(&[VERSION, purpose]);
        let (turn, rest) = rest.split_at_mut(turn::PAYLOAD);
        turn.copy_from_slice(&self.turn.bytes());
        let (attempt, epoch) = rest.split_at_mut(2);
        attempt.copy_from_slice(&self.attempt.to_be_bytes());
        epoch.copy_from_slice(&self.epoch.0.to_be_bytes());
        out
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let ([VERSION, purpose], rest) = bytes.split_first_chunk()? else { return None };
        let (turn, rest) = rest.split_at_checked(turn::PAYLOAD)?;
        let (attempt, epoch) = rest.split_first_chunk()?;
        let epoch = Timestamp(i64::from_be_bytes(epoch.try_into().ok()?));
        Some(Self {
            purpose: match purpose {
                1 => Purpose::Delivery,
                2 => Purpose::Standing,
                3 => Purpose::Test,
                4 => Purpose::Tools,
                _ => return None,
            },
            turn: Turn::from_bytes(turn, Stem::Endpoint { epoch })?,
            attempt: u16::from_be_bytes(*attempt),
            epoch,
        })
    }
}

fn refused(why: &str) -> Refusal {
    Refusal::new(Code::Unauthorized, why)
}

/// With a word of its own before it, so that no other token of this key is a callback.
fn mac(payload: &[u8], keys: &Keys, workspace: Uid) -> Hmac<Sha256> {
    #[allow(clippy::expect_used, reason = "HMAC takes a key of any length")]
    let mut mac = Hmac::<Sha256>::new_from_slice(&keys.turn).expect("HMAC takes any key");
    mac.update(b"callback");
    mac.update(&workspace.0.to_be_bytes());
    mac.update(payload);
    mac
}
