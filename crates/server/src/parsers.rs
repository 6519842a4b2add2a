//! The parsers behind the transports, callable without a host. Only the fuzz targets (`lab/parsers`) use this module; it is
//! no interface and may change at any time.
//!
//! Each function is the code that a request reaches, with nothing decided in between.

use std::future::pending;

use axum::body::{Body, Bytes};
use chorus_core::model::asset::Media;
use chorus_core::model::caller::Authority;
use chorus_core::model::endpoint::{Endpoint, Secret, State};
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::{ConversationKey, MemberKey, Seq, SessionKey, Timestamp, Uid};
use chorus_core::model::member::{MemberFields, MemberKind};
use chorus_core::state::directory::Directory;
use futures_util::{FutureExt, stream};

use crate::auth::callback::{Callback, Purpose};
use crate::auth::{Auth, Issued, Keys, Stem, Turn, Use};
use crate::egress::{Allowed, check_url};
use crate::history::read_again;
use crate::services::assets::picture::thumbnail;
use crate::transport::callback_events::Events;

/// The JSON values of a callback's body that comes in these pieces, and why it ended if not by its end.
pub fn callback_body(pieces: &[&[u8]]) -> (Vec<Vec<u8>>, Option<Code>) {
    let pieces: Vec<_> =
        pieces.iter().map(|p| Ok::<_, std::io::Error>(Bytes::copy_from_slice(p))).collect();
    let body = Body::from_stream(stream::iter(pieces)).into_data_stream();
    let mut events = Events::of(body, pending::<()>);
    let mut found = Vec::new();
    loop {
        // Every piece is there: nothing is ever waited for.
        match events.next().now_or_never() {
            Some(Ok(Some(event))) => found.push(event.to_vec()),
            Some(Ok(None)) => return (found, None),
            Some(Err(refusal)) => return (found, Some(refusal.code)),
            None => return (found, Some(Code::Internal)),
        }
    }
}

/// The normal form of a connection string, or of another URL that a stranger names.
pub fn connection_string(text: &str) -> Result<String, Refusal> {
    check_url(text, &Allowed::default()).map(String::from)
}

/// The media of a picture's bytes and its thumbnail.
pub fn picture(data: &[u8]) -> Option<(Media, Option<Vec<u8>>)> {
    let media = Media::of(data).filter(|media| media.is_image())?;
    Some((media, thumbnail(media, data)))
}

/// Reads a line of an export, with what is packed in it, and writes it again.
pub fn import_line(line: &[u8]) -> Result<Vec<u8>, String> {
    read_again(line)
}

const NOW: Timestamp = Timestamp(1_800_000_000_000);
const LATER: Timestamp = Timestamp(NOW.0 + 60_000);
const HERE: Uid = Uid(7);
const CHANNEL: Uid = Uid(11);
const AGENT: &str = "bot";

/// A host's keys and one agent, with tokens of each kind.
pub struct Tokens {
    auth: Auth,
    directory: Directory,
    agent: MemberKey,
}

/// The kinds of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Member,
    Turn,
    Callback,
}

impl Kind {
    pub const ALL: [Self; 3] = [Self::Member, Self::Turn, Self::Callback];
}

impl Tokens {
    /// With new keys.
    pub fn new() -> Result<Self, String> {
        let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
        let keys = Keys::open(folder.path()).map_err(|e| e.to_string())?;
        let mut directory = Directory::default();
        let agent = directory.add_member(AGENT, MemberKind::Agent, &MemberFields::default());
        let agent = agent.map_err(|refusal| refusal.message)?.key;
        let url = Secret("https://agent.example/inbox/sk_1".into());
        let state = State::Active;
        let (signing, epoch, added_at) = (None, NOW, NOW);
        let endpoint = Endpoint { member: agent, url, signing, state, epoch, added_at };
        directory.endpoints.insert_mut(agent, endpoint.into());
        Ok(Self { auth: Auth::new(HERE, keys), directory, agent })
    }

    /// A good token of this kind.
    pub fn make(&self, kind: Kind, number: u32) -> Result<String, Refusal> {
        let jti = number.to_string();
        match kind {
            Kind::Member => self.auth.issue(&Issued {
                agent: AGENT,
                authority: Authority::Worker,
                session: None,
                owner: None,
                jti: &jti,
                nonce: Uid(1),
                at: NOW,
                expires: LATER,
                used: Use::Bearer,
                parents: &[],
            }),
            Kind::Turn => Ok(self.auth.grant(&self.turn(number))),
            Kind::Callback => Ok(self.auth.write_callback(&Callback {
                purpose: Purpose::Delivery,
                turn: self.turn(number),
                attempt: 1,
                epoch: NOW,
            })),
        }
    }

    /// Whose token it is, as a bearer or as a callback; none for what is refused.
    pub fn whose(&self, token: &str) -> Option<String> {
        let bearer = self.auth.verify(token, &self.directory, NOW).map(|caller| caller.member);
        let called = || self.auth.verify_callback(token, CHANNEL, &self.directory, NOW);
        let member = bearer.or_else(|_| called().map(|called| called.caller.member)).ok()?;
        Some(member.id.to_string())
    }

    /// Whose the good ones are.
    pub fn agent(&self) -> &'static str {
        AGENT
    }

    fn turn(&self, number: u32) -> Turn {
        Turn {
            conversation: CHANNEL,
            event: Uid(u128::from(number)),
            member: self.agent,
            session: SessionKey(1),
            key: ConversationKey(1),
            seq: Seq(u64::from(number)),
            fence: 1,
            expires: LATER,
            stem: Stem::Endpoint { epoch: NOW },
        }
    }
}
