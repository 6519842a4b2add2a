//! Turn tokens: `turn_`, a payload and its MAC. A runtime is given one for its turn and never the agent's own
//! token, so that what leaks from a prompt is worth one conversation for half an hour.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use chorus_core::model::ids::{ConversationKey, MemberKey, Seq, SessionKey, Timestamp, Uid};
use chorus_core::model::{caller, limits};
use chorus_core::state::directory::Directory;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::keys::Keys;

pub(super) const PREFIX: &str = "turn_";
/// After the cap on a turn, what was said at its very end still arrives.
const SLACK_MS: i64 = 60_000;

/// Said of a token whose MAC is not of the present key.
pub(super) const NOT_OURS: &str = "this turn's token is not of this host, or the host has other keys since; \
                        take the one of the event's next offer";

const VERSION: u8 = 1;
/// Version, conversation uid, event uid, member, session, conversation key, seq, fence, expiry.
pub(super) const PAYLOAD: usize = 1 + 16 + 16 + 4 + 4 + 8 + 8 + 4 + 8;
const MAC: usize = 32;
/// What the MAC is over: the turn, and what it stems from.
const SIGNED: usize = PAYLOAD + STEM;

/// Stem's kind, id and time.
const STEM: usize = 1 + 16 + 8;

/// What a turn's token stems from: it ends with that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stem {
    /// The token of its member, by its id, and when that was made.
    Token { jti: u128, issued: Timestamp },
    /// The connection string of its member, by its epoch.
    Endpoint { epoch: Timestamp },
}

impl Stem {
    /// Ids of tokens are numbers in hexadecimal.
    pub(super) fn of_token(jti: &str, issued: Timestamp) -> Self {
        Self::Token { jti: u128::from_str_radix(jti, 16).unwrap_or_default(), issued }
    }

    /// Why it is no more, if it is not.
    pub(super) fn ended(
        self,
        member: MemberKey,
        directory: &Directory,
        now: Timestamp,
    ) -> Option<String> {
        match self {
            Self::Token { jti, issued } => {
                let why = directory.token_ended(member, &format!("{jti:032x}"), issued, now)?;
                Some(format!("the turn has ended: the token it was given for {why}"))
            }
            Self::Endpoint { epoch } => {
                let ended = directory.endpoints.get(&member).is_none_or(|e| e.epoch != epoch);
                let why = "the turn has ended: the agent has another connection string, or none";
                ended.then(|| why.to_owned())
            }
        }
    }

    fn bytes(self) -> [u8; STEM] {
        let (kind, id, time) = match self {
            Self::Token { jti, issued } => (1, jti, issued),
            Self::Endpoint { epoch } => (2, 0, epoch),
        };
        let mut out = [kind; STEM];
        out[1..17].copy_from_slice(&id.to_be_bytes());
        out[17..].copy_from_slice(&time.0.to_be_bytes());
        out
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (kind, rest) = bytes.split_first()?;
        let (id, time) = rest.split_first_chunk::<16>()?;
        let time = Timestamp(i64::from_be_bytes(time.try_into().ok()?));
        match kind {
            1 => Some(Self::Token { jti: u128::from_be_bytes(*id), issued: time }),
            2 => Some(Self::Endpoint { epoch: time }),
            _ => None,
        }
    }
}

/// The right to speak for one event, as its token says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    /// Public ids of the conversation and of the event whose turn it is.
    pub conversation: Uid,
    pub event: Uid,
    pub member: MemberKey,
    pub session: SessionKey,
    pub key: ConversationKey,
    pub seq: Seq,
    pub fence: u32,
    pub expires: Timestamp,
    pub stem: Stem,
}

impl Turn {
    /// When a turn that begins now is over at the latest: with what it stems from, if that ends before.
    pub(crate) fn expiry(now: Timestamp, stem_ends: Timestamp) -> Timestamp {
        now.plus(limits::TURN_CAP_MS + SLACK_MS).min(stem_ends)
    }

    pub(super) fn fenced(&self) -> caller::TurnRef {
        caller::TurnRef { conversation: self.key, seq: self.seq, fence: self.fence, attempt: 0 }
    }

    pub(super) fn bytes(&self) -> [u8; PAYLOAD] {
        let mut out = [0; PAYLOAD];
        let mut at = 0;
        let mut put = |bytes: &[u8]| {
            out[at..at + bytes.len()].copy_from_slice(bytes);
            at += bytes.len();
        };
        put(&[VERSION]);
        put(&self.conversation.0.to_be_bytes());
        put(&self.event.0.to_be_bytes());
        put(&self.member.0.to_be_bytes());
        put(&self.session.0.to_be_bytes());
        put(&self.key.0.to_be_bytes());
        put(&self.seq.0.to_be_bytes());
        put(&self.fence.to_be_bytes());
        put(&self.expires.0.to_be_bytes());
        out
    }

    /// Without its stem, which stands beside it.
    pub(super) fn from_bytes(bytes: &[u8], stem: Stem) -> Option<Self> {
        let mut rest = bytes;
        let mut take = |n: usize| {
            let (head, tail) = rest.split_at_checked(n)?;
            rest = tail;
            Some(head.iter().fold(0u128, |value, byte| value << 8 | u128::from(*byte)))
        };
        (take(1)? == u128::from(VERSION)).then_some(())?;
        Some(Self {
            conversation: Uid(take(16)?),
            event: Uid(take(16)?),
            member: MemberKey(take(4)? as u32),
            session: SessionKey(take(4)? as u32),
            key: ConversationKey(take(8)? as u64),
            seq: Seq(take(8)? as u64),
            fence: take(4)? as u32,
            expires: Timestamp(take(8)? as u64 as i64),
            stem,
        })
    }
}

pub(super) fn write(turn: &Turn, keys: &Keys, workspace: Uid) -> String {
    let mut token = [0; SIGNED + MAC];
    token[..PAYLOAD].copy_from_slice(&turn.bytes());
    token[PAYLOAD..SIGNED].copy_from_slice(&turn.stem.bytes());
    let mac = mac(&token[..SIGNED], keys, workspace).finalize();
    token[SIGNED..].copy_from_slice(&mac.into_bytes());
    let mut out = String::with_capacity(PREFIX.len() + (SIGNED + MAC) * 4 / 3 + 4);
    out.push_str(PREFIX);
    BASE64.encode_string(token, &mut out);
    out
}

/// Reads a token whose MAC is right; the caller looks at its expiry.
pub(super) fn read(token: &str, keys: &Keys, workspace: Uid) -> Result<Turn, &'static str> {
    let malformed = "not a turn's token";
    let text = token.strip_prefix(PREFIX).ok_or(malformed)?;
    let bytes = BASE64.decode(text).map_err(|_| malformed)?;
    let (signed, tag) = bytes.split_at_checked(SIGNED).ok_or(malformed)?;
    mac(signed, keys, workspace).verify_slice(tag).map_err(|_| NOT_OURS)?;
    let (turn, stem) = signed.split_at(PAYLOAD);
    let stem = Stem::from_bytes(stem).ok_or(malformed)?;
    Turn::from_bytes(turn, stem).ok_or(malformed)
}

/// Over the workspace too, so that a token of one is nothing in another that shares the key.
fn mac(payload: &[u8], keys: &Keys, workspace: Uid) -> Hmac<Sha256> {
    #[allow(clippy::expect_used, reason = "HMAC takes a key of any length")]
    let mut mac = Hmac::<Sha256>::new_from_slice(&keys.turn).expect("HMAC takes any key");
    mac.update(&workspace.0.to_be_bytes());
    mac.update(payload);
    mac
}
