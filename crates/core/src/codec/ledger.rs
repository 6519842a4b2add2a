//! The canonical bytes of an entry of the ledger, and their hash.

use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::model::event::Hash;
use crate::model::ids::{MemberKey, Timestamp, Uid};
use crate::model::ledger::{Credits, Entry, EntryKind};

/// All fields but the hash.
struct Hashed {
    number: u64,
    at: Timestamp,
    kind: EntryKind,
    from: Arc<str>,
    to: Arc<str>,
    amount: Credits,
    job: Option<Uid>,
    transfer: Option<Uid>,
    by: MemberKey,
    memo: Option<Arc<str>>,
}

record!(Hashed { number, at, kind, from, to, amount, job, transfer, by, memo });

/// The hash of an entry that follows one with the hash `previous`.
pub fn entry_hash(previous: &Hash, entry: &Entry) -> Hash {
    let Entry { number, at, kind, from, to, amount, job, transfer, by, memo, hash: _ } =
        entry.clone();
    let hashed = Hashed { number, at, kind, from, to, amount, job, transfer, by, memo };
    let mut out = super::Writer::default();
    super::stored::Stored::put(&hashed, &mut out);
    let hash = Sha256::new().chain_update(b"chorus ledger\0").chain_update(previous);
    hash.chain_update(&out.0).finalize().into()
}
