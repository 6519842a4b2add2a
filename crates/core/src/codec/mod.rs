//! Compact, canonical encodings of what is stored packed: event bodies, attention, open deliveries.
//!
//! One value has one encoding, so that a body's bytes can be hashed; codes are explicit numbers that are
//! never reused. Reading never panics: whatever is not an encoding is [`Corrupt`].
//!
//! One declaration makes both directions of a type (`declare.rs`): `record!` lists the fields of a struct,
//! `cases!` the tags of an enum, `coded!` those of an enum without fields; `row!` names the two functions of
//! what has a row. Only a type that these cannot describe implements `Stored` by hand.

#[macro_use]
mod declare;

mod approval;
mod attention;
mod audit;
mod base;
mod body;
mod code;
mod digest;
mod form;
mod inbox;
mod job;
mod ledger;
mod listing;
mod open;
mod project;
mod projection;
mod schedule;
mod stimulus;
mod stored;
#[cfg(test)]
mod tests;
mod turn;
mod wake;
mod work;

use std::fmt;
use std::sync::Arc;

pub use approval::{asked, read_asked};
pub use attention::{attention, read_attention};
pub use audit::{audit, read_audit};
pub use base::{base, read_base};
pub use body::{body, later_settings, read_body, read_later_settings};
pub use code::Coded;
pub use digest::{digest, read_digest};
pub use inbox::{inbox, read_inbox, read_remote, remote};
pub use job::{job, read_job};
pub use ledger::{account, entry, entry_hash, read_account, read_entry, read_spending, spending};
pub use listing::{listing, read_listing, read_reputation_change, reputation_change};
pub use open::{open, read_open};
pub use project::{project, read_project, read_task, task};
pub use projection::{members, reactions, read_members, read_reactions};
pub use schedule::{read_schedule, schedule};
pub use stimulus::{read_stimulus, stimulus};
use stored::Stored;
pub use turn::{read_turn, turn};
pub use wake::{read_wake, wake};
pub use work::{read_work, work};

/// Bytes that no value encodes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corrupt;

impl fmt::Display for Corrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the stored bytes are not a valid encoding")
    }
}

impl std::error::Error for Corrupt {}

type Result<T> = std::result::Result<T, Corrupt>;

/// Writes numbers as LEB128 and texts with their length.
#[derive(Default)]
struct Writer(Vec<u8>);

impl Writer {
    /// Room for `bytes`, so that a value of about that size is written without moving.
    fn with_room(bytes: usize) -> Self {
        Self(Vec::with_capacity(bytes))
    }

    fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    fn number(&mut self, mut n: u64) {
        while n >= 0x80 {
            self.0.push(n as u8 | 0x80);
            n >>= 7;
        }
        self.0.push(n as u8);
    }

    /// A number that may be negative: a time.
    fn signed(&mut self, n: i64) {
        self.number(((n << 1) ^ (n >> 63)) as u64);
    }

    /// A number that may be absent; the largest number cannot be present.
    fn option(&mut self, n: Option<u64>) {
        self.number(n.map_or(0, |n| n + 1));
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
    }
}

/// Reads what [`Writer`] wrote.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn byte(&mut self) -> Result<u8> {
        let (first, rest) = self.0.split_first().ok_or(Corrupt)?;
        self.0 = rest;
        Ok(*first)
    }

    fn number(&mut self) -> Result<u64> {
        let mut n = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                return Err(Corrupt);
            }
            n |= bits << shift;
            if byte & 0x80 == 0 {
                // A last byte of zero would be a second encoding of the same number.
                return if byte == 0 && shift > 0 { Err(Corrupt) } else { Ok(n) };
            }
        }
        Err(Corrupt)
    }

    fn small<T: TryFrom<u64>>(&mut self) -> Result<T> {
        T::try_from(self.number()?).map_err(|_| Corrupt)
    }

    fn signed(&mut self) -> Result<i64> {
        let n = self.number()?;
        Ok((n >> 1) as i64 ^ -((n & 1) as i64))
    }

    fn option(&mut self) -> Result<Option<u64>> {
        Ok(self.number()?.checked_sub(1))
    }

    fn bytes(&mut self, length: usize) -> Result<&[u8]> {
        if length > self.0.len() {
            return Err(Corrupt);
        }
        let (head, rest) = self.0.split_at(length);
        self.0 = rest;
        Ok(head)
    }

    fn text(&mut self) -> Result<Arc<str>> {
        let length: usize = self.small()?;
        let bytes = self.bytes(length)?;
        std::str::from_utf8(bytes).map(Arc::from).map_err(|_| Corrupt)
    }

    /// How many items follow: never more than there are bytes left, so that a length cannot ask for memory.
    fn count(&mut self) -> Result<usize> {
        let count: usize = self.small()?;
        if count > self.0.len() { Err(Corrupt) } else { Ok(count) }
    }

    fn end(self) -> Result<()> {
        if self.0.is_empty() { Ok(()) } else { Err(Corrupt) }
    }
}

/// Reads the value that all of `bytes` are the encoding of.
fn read<T: Stored>(bytes: &[u8]) -> Result<T> {
    let mut reader = Reader(bytes);
    let value = T::get(&mut reader)?;
    reader.end()?;
    Ok(value)
}
