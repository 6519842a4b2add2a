//! Sign-in links: a secret that works once, for ten minutes. Only its hash is kept, in memory.

use std::sync::{Mutex, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use chorus_core::model::caller::Authority;
use chorus_core::model::ids::{MemberKey, Timestamp};
use sha2::{Digest, Sha256};

/// How long a link works, in milliseconds.
pub(crate) const LINK_LIFE_MS: i64 = 10 * 60_000;
/// Links that are good at once; the oldest gives way.
const LINKS: usize = 1_000;

/// Links that were given out and not used.
#[derive(Default)]
pub(crate) struct SignInLinks(Mutex<Vec<Link>>);

#[derive(Clone, Copy)]
struct Link {
    hash: [u8; 32],
    session: Session,
    until: Timestamp,
}

/// What a link gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Session {
    pub member: MemberKey,
    pub authority: Authority,
    /// No later than the token with which the link was asked for.
    pub ends: Timestamp,
}

impl SignInLinks {
    /// A new secret; one given out before for the same member is void.
    pub(crate) fn open(&self, random: [u8; 32], session: Session, now: Timestamp) -> String {
        let secret = BASE64.encode(random);
        let mut links = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        links.retain(|link| link.session.member != session.member && now < link.until);
        if links.len() >= LINKS {
            links.remove(0);
        }
        links.push(Link { hash: hash(&secret), session, until: now.plus(LINK_LIFE_MS) });
        secret
    }

    /// Whether the secret is one that was given out and is still good; it stays so.
    pub(crate) fn holds(&self, secret: &str, now: Timestamp) -> bool {
        let (links, hash) = (self.0.lock().unwrap_or_else(PoisonError::into_inner), hash(secret));
        links.iter().any(|link| link.hash == hash && now < link.until)
    }

    /// The session that the secret gives; it is used up by this.
    pub(crate) fn take(&self, secret: &str, now: Timestamp) -> Option<Session> {
        let hash = hash(secret);
        let mut links = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = links.iter().position(|link| link.hash == hash)?;
        let link = links.remove(at);
        (now < link.until).then_some(link.session)
    }
}

fn hash(secret: &str) -> [u8; 32] {
    Sha256::digest(secret.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_works_once_in_its_ten_minutes_and_only_the_newest_of_a_member() {
        let links = SignInLinks::default();
        let of = |member| Session {
            member: MemberKey(member),
            authority: Authority::Worker,
            ends: Timestamp(i64::MAX),
        };
        let (ann, bob) = (of(1), of(2));
        let (now, late) = (Timestamp(0), Timestamp(LINK_LIFE_MS));
        let first = links.open([1; 32], ann, now);
        let other = links.open([2; 32], bob, now);
        let second = links.open([3; 32], ann, now);
        assert_eq!(links.take(&first, now), None, "a newer one was given out");
        assert!(links.holds(&second, now) && !links.holds(&second, late));
        assert_eq!(links.take(&second, now), Some(ann));
        assert_eq!(links.take(&second, now), None, "it was used");
        assert_eq!(links.take(&other, late), None, "its time is over");
    }
}
