//! The canonical bytes of an entry of the ledger, and their hash.

use sha2::{Digest, Sha256};

use crate::model::event::Hash;
use crate::model::ledger::{Account, Entry, Spending};

row!(entry, read_entry: Entry);

record!(Entry { number, at, kind, from, to, amount, job, transfer, by, memo, hash });

row!(account, read_account: Account);

record!(Account { owner, balance, opened_at });

row!(spending, read_spending: Spending);

record!(Spending { member, per_job, per_day, day, spent });

/// The hash of an entry that follows one with the hash `previous`: over that, and over the entry's
/// own bytes without its hash.
pub fn entry_hash(previous: &Hash, of: &Entry) -> Hash {
    let bytes = entry(&Entry { hash: Hash::default(), ..of.clone() });
    let hash = Sha256::new().chain_update(b"chorus ledger\0").chain_update(previous);
    hash.chain_update(&bytes).finalize().into()
}
