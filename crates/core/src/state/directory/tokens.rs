//! Tokens of the directory, by member.

use std::sync::Arc;

use super::Directory;
use crate::model::ids::{MemberKey, Timestamp};
use crate::model::limits;
use crate::model::token::Issued;

impl Directory {
    /// The issued tokens of a member.
    pub fn issued_to(&self, member: MemberKey) -> impl Iterator<Item = &Arc<Issued>> {
        let from = (member, Arc::from(""));
        self.issued.range(from..).take_while(move |((of, _), _)| *of == member).map(|(_, t)| t)
    }

    /// An issued token of a member.
    pub fn issued(&self, member: MemberKey, jti: &str) -> Option<&Arc<Issued>> {
        self.issued.get(&(member, Arc::from(jti)))
    }

    /// An issued token, of any member.
    pub fn issued_by_id(&self, jti: &str) -> Option<&Arc<Issued>> {
        self.issued.values().find(|token| *token.jti == *jti)
    }

    /// Why a token of the member is no longer valid before it expires: it was ended, alone or with
    /// all of the member's tokens. A token that is not in the list (from another issuer, or from a
    /// version that kept none) is ended by its issue time, so that time must not lie in the future.
    pub fn token_ended(
        &self,
        member: MemberKey,
        jti: &str,
        issued: Timestamp,
        now: Timestamp,
    ) -> Option<&'static str> {
        let listed = self.issued(member, jti);
        let cut_off = || self.cut_offs.get(&member).is_some_and(|at| issued <= *at);
        let ended = self.revoked.contains_key(jti) || listed.map_or_else(cut_off, |t| t.revoked);
        if ended {
            return Some("was revoked");
        }
        let to_come = listed.is_none() && issued > now.plus(limits::TOKEN_SKEW_MS);
        to_come.then_some("says that it was made in the future")
    }

    pub fn put_issued(&mut self, token: Arc<Issued>) {
        self.issued.insert_mut((token.member, token.jti.clone()), token);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::caller::Authority;

    // covers: OPS-411
    #[test]
    fn what_is_not_in_the_list_ends_by_when_it_was_made() {
        let mut directory = Directory::default();
        let (ann, at) = (MemberKey(1), Timestamp(100));
        directory.cut_offs.insert_mut(ann, at);
        let ended = |directory: &Directory, of, made: Timestamp| {
            directory.token_ended(of, "x", made, at.plus(10)).is_some()
        };
        assert!(ended(&directory, ann, at) && !ended(&directory, ann, at.plus(1)));
        assert!(!ended(&directory, MemberKey(2), at));
        // It would survive every cut-off.
        let to_come = at.plus(11 + limits::TOKEN_SKEW_MS);
        assert!(ended(&directory, ann, to_come) && !ended(&directory, ann, to_come.plus(-1)));
        directory.put_issued(Arc::new(Issued {
            jti: "x".into(),
            member: ann,
            authority: Authority::Worker,
            session: None,
            issued: at,
            expires: at.plus(10),
            kid: "k".into(),
            revoked: false,
            proof: None,
        }));
        assert!(!ended(&directory, ann, at), "it was made after the others had ended");
        assert_eq!(directory.issued_to(ann).count(), 1);
        assert_eq!(directory.issued_to(MemberKey(0)).count(), 0);
    }
}
