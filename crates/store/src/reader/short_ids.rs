//! Ids that begin or end with some digits, among the newest.

use chorus_core::model::ids::Uid;

use crate::db::{Db, Result};
use crate::{Readers, row};

/// How many of the newest ids are looked through for those that end with the digits: about 40 ms on
/// SQLite.
const NEWEST: u64 = 200_000;
/// More than anybody wants to choose from.
const MOST: u64 = 32;

/// What is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdKind {
    Conversation,
    Event,
    Thread,
}

impl Readers {
    /// Ids that begin with `digits` (hexadecimal, lower-case), and those of the newest that end with
    /// them; the newest first, and not many.
    pub fn short_ids(&self, of: IdKind, digits: &str) -> Result<Vec<Uid>> {
        let (Some(from), Some(tail)) = (first(digits), tail(digits)) else { return Ok(Vec::new()) };
        let table = match of {
            IdKind::Conversation => "conversation",
            IdKind::Event => "event",
            IdKind::Thread => "thread",
        };
        self.read(|db, workspace| {
            let mut found = beginning(db, workspace, table, from, digits)?;
            for uid in ending(db, workspace, table, &tail)? {
                if format!("{uid:?}").ends_with(digits) && !found.contains(&uid) {
                    found.push(uid);
                }
            }
            Ok(found)
        })
    }
}

fn beginning(
    db: &dyn Db,
    workspace: i64,
    table: &str,
    from: u128,
    digits: &str,
) -> Result<Vec<Uid>> {
    let to = from | (u128::MAX.checked_shr(4 * digits.len() as u32).unwrap_or(0));
    let sql = format!(
        "SELECT uid FROM {table} WHERE workspace = $1 AND uid >= $2 AND uid <= $3 ORDER BY uid DESC LIMIT $4"
    );
    let (from, to) = (from.to_be_bytes(), to.to_be_bytes());
    db.all(&sql, &[workspace.into(), (&from).into(), (&to).into(), MOST.into()], |found| {
        row::uid(found, 0)
    })
}

fn ending(db: &dyn Db, workspace: i64, table: &str, tail: &[u8]) -> Result<Vec<Uid>> {
    let at = 17 - tail.len();
    let sql = format!(
        "SELECT uid FROM (SELECT uid FROM {table} WHERE workspace = $1 ORDER BY uid DESC LIMIT $2) AS newest
         WHERE substr(uid, {at}) = $3 LIMIT $4"
    );
    db.all(&sql, &[workspace.into(), NEWEST.into(), tail.into(), MOST.into()], |found| {
        row::uid(found, 0)
    })
}

/// The least id that begins with these digits.
fn first(digits: &str) -> Option<u128> {
    u128::from_str_radix(&format!("{digits:0<32}"), 16).ok()
}

/// The whole bytes with which an id ends that ends with these digits.
fn tail(digits: &str) -> Option<Vec<u8>> {
    let whole = digits.get(digits.len() % 2..)?.as_bytes();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    whole.chunks(2).map(byte).collect()
}
