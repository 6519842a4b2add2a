//! Checks digests, which are not in the log: they must cover it without gaps, and contain no
//! removed words.

use std::collections::BTreeMap;

use chorus_core::model::digest::Digest;
use chorus_core::model::ids::Seq;
use chorus_core::state::room::Room;

use super::Look;
use crate::db::Result;
use crate::digest;

impl Look<'_> {
    pub(super) fn check_digests(&mut self, replayed: &Room) -> Result<()> {
        let end = replayed.head.seq;
        let mut accounted = Seq(0);
        let mut known: BTreeMap<Seq, Digest> = BTreeMap::new();
        for (through, at, digest) in digest::all(self.db, self.workspace, self.key)? {
            let Some(digest) = digest else {
                self.found(Some(through), "the digest up to here cannot be read");
                continue;
            };
            if (digest.through, digest.at) != (through, at) {
                self.found(Some(through), "the digest up to here is stored under another key");
            }
            if digest.after < accounted || digest.after >= digest.through || digest.through > end {
                self.found(Some(through), "the digest up to here has an invalid range");
            }
            let inside = |seq: &Seq| *seq > digest.after && *seq <= digest.through;
            let calls = digest.members.iter().flat_map(|part| &part.calls);
            if !digest.statuses.iter().chain(&digest.asks).chain(calls).all(inside) {
                self.found(Some(through), "the digest up to here names events outside its range");
            }
            if digest.members.iter().any(|part| self.directory.member(part.member).is_none()) {
                self.found(
                    Some(through),
                    "the digest up to here belongs to a member who does not exist",
                );
            }
            accounted = accounted.max(digest.through);
            known.insert(through, digest);
        }
        if let Some(digested) = digest::digested(self.db, self.workspace, self.key)?
            && (digested > end || digested < accounted)
        {
            self.found(Some(digested), "digests cover the log up to another event than recorded");
        }
        for (member, after, through) in digest::texts(self.db, self.workspace, self.key)? {
            let of = known.get(&through).filter(|digest| digest.after == after);
            if of.and_then(|digest| digest.part(member)).is_none() {
                let what = format!("a text of member {member} belongs to none of their digests");
                self.found(Some(through), what);
            }
            let mut gone = replayed.messages.iter().filter(|(seq, _)| **seq > after);
            if gone.any(|(seq, state)| *seq <= through && state.deleted_at.is_some()) {
                let what = format!("a text of member {member} contains words that were removed");
                self.found(Some(through), what);
            }
        }
        Ok(())
    }
}
