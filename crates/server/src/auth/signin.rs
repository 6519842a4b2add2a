//! Sign-in links: a secret that works once, for ten minutes. Only its hash is kept, in memory.

use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use chorus_core::model::caller::Authority;
use chorus_core::model::ids::{MemberKey, Timestamp};
use sha2::{Digest, Sha256};

use super::token::Parent;

/// How long a link works, in milliseconds.
pub(crate) const LINK_LIFE_MS: i64 = 10 * 60_000;
/// Links that are good at once; the oldest gives way.
const LINKS: usize = 1_000;
/// And those of one member.
const LINKS_OF_ONE: usize = 8;

/// Links that were given out and not used.
#[derive(Default)]
pub(crate) struct SignInLinks(Mutex<Vec<Link>>);

#[derive(Clone)]
struct Link {
    hash: [u8; 32],
    session: Session,
    until: Timestamp,
}

/// What a link gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Session {
    pub member: MemberKey,
    pub authority: Authority,
    /// No later than the token with which the link was asked for.
    pub ends: Timestamp,
    /// That token, and those from which it stems.
    pub parents: Arc<[Parent]>,
}

/// A link that somebody is using.
pub(crate) struct Taken<'a> {
    links: &'a SignInLinks,
    link: Option<Link>,
}

impl SignInLinks {
    /// Whether a link can still be used.
    pub(crate) fn has_open(&self, now: Timestamp) -> bool {
        let links = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        links.iter().any(|link| now < link.until)
    }

    /// A new secret.
    pub(crate) fn open(&self, random: [u8; 32], session: Session, now: Timestamp) -> String {
        let secret = BASE64.encode(random);
        let mut links = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        links.retain(|link| now < link.until);
        let of_member: Vec<usize> =
            (0..links.len()).filter(|at| links[*at].session.member == session.member).collect();
        if of_member.len() >= LINKS_OF_ONE {
            links.remove(of_member[0]);
        } else if links.len() >= LINKS {
            links.remove(0);
        }
        links.push(Link { hash: hash(&secret), session, until: now.plus(LINK_LIFE_MS) });
        secret
    }

    /// What the secret gives, if it is one that was given out and is still good; it stays so.
    pub(crate) fn get(&self, secret: &str, now: Timestamp) -> Option<Session> {
        let (links, hash) = (self.0.lock().unwrap_or_else(PoisonError::into_inner), hash(secret));
        let found = links.iter().find(|link| link.hash == hash && now < link.until);
        found.map(|link| link.session.clone())
    }

    /// The link of this secret, for nobody else meanwhile.
    pub(crate) fn take(&self, secret: &str, now: Timestamp) -> Option<Taken<'_>> {
        let hash = hash(secret);
        let mut links = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = links.iter().position(|link| link.hash == hash)?;
        let link = links.remove(at);
        (now < link.until).then(|| Taken { links: self, link: Some(link) })
    }
}

impl Taken<'_> {
    pub(crate) fn session(&self) -> Option<&Session> {
        self.link.as_ref().map(|link| &link.session)
    }

    /// It has been used. Dropped without this, it is good again: nothing came of it.
    pub(crate) fn spend(mut self) {
        self.link = None;
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        let mut links = self.links.0.lock().unwrap_or_else(PoisonError::into_inner);
        links.extend(self.link.take());
    }
}

fn hash(secret: &str) -> [u8; 32] {
    Sha256::digest(secret.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn of(member: u32) -> Session {
        Session {
            member: MemberKey(member),
            authority: Authority::Worker,
            ends: Timestamp(i64::MAX),
            parents: [].into(),
        }
    }

    fn used(links: &SignInLinks, secret: &str, now: Timestamp) -> Option<Session> {
        let taken = links.take(secret, now)?;
        let session = taken.session().cloned();
        taken.spend();
        session
    }

    #[test]
    fn a_link_works_once_in_its_ten_minutes() {
        let links = SignInLinks::default();
        let (now, late) = (Timestamp(0), Timestamp(LINK_LIFE_MS));
        let first = links.open([1; 32], of(1), now);
        let other = links.open([2; 32], of(2), now);
        let second = links.open([3; 32], of(1), now);
        assert!(links.get(&second, now).is_some() && links.get(&second, late).is_none());
        let taken = links.take(&first, now).unwrap();
        assert!(links.take(&first, now).is_none(), "somebody is using it");
        drop(taken);
        assert_eq!(used(&links, &first, now), Some(of(1)), "nothing had come of it");
        assert_eq!(used(&links, &first, now), None, "it was used");
        assert_eq!(used(&links, &second, now), Some(of(1)));
        assert_eq!(used(&links, &other, late), None, "its time is over");
    }

    #[test]
    fn one_member_has_eight_links_and_takes_nobody_elses_away() {
        let (links, now) = (SignInLinks::default(), Timestamp(0));
        let other = links.open([0; 32], of(2), now);
        let own: Vec<_> = (1..=9).map(|n| links.open([n; 32], of(1), now)).collect();
        assert!(links.get(&own[0], now).is_none() && links.get(&own[1], now).is_some());
        assert!(links.get(&other, now).is_some());
    }
}
