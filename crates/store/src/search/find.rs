//! Searches the index with bounded work.
//!
//! The newest matches, at most [`WINDOW`], are ranked together; older ones follow in the next
//! window. So a rare word is ranked over everything, and for a frequent word, where ranking says
//! little, recency decides first. The full-text module's own ranking counts every occurrence of a
//! word before it returns one, which takes time in proportion: see `spec/DECISIONS.md`.

use std::collections::HashSet;

use chorus_core::language::search::{Query, score};
use chorus_core::model::ids::{ConversationKey, EventRef, MemberKey, Seq, Timestamp};
use rusqlite::{Connection, params};

use super::failed;
use super::index::{IDS_BITS, first_id};
use crate::db::Result;

/// Messages that are ranked together.
const WINDOW: usize = 512;
/// Occurrences examined for one window; most of them may be in conversations that are not searched.
const SCANNED: usize = 20_000;
/// Bytes of words read to rank a window; a window of long texts is shorter.
const READ: usize = 1024 * 1024;
/// Up to this many conversations are named in the full-text query; with more, each occurrence is
/// looked up.
const NAMED: usize = 16;

/// A query of the index.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    pub query: &'a Query,
    /// The conversations to search.
    pub among: &'a HashSet<ConversationKey>,
    pub author: Option<MemberKey>,
    /// In whole seconds; the log decides about messages at the boundary.
    pub from: Option<Timestamp>,
    pub until: Option<Timestamp>,
    /// Where the window begins: the value from a [`Window`], or the newest message.
    pub top: Option<i64>,
    pub now: Timestamp,
}

/// Part of the results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// The best first.
    pub hits: Vec<EventRef>,
    /// Where it begins. Searching again from here returns the same hits, whatever was posted since.
    pub top: Option<i64>,
    /// Where the next begins; none when there is nothing older.
    pub below: Option<i64>,
}

pub(super) fn find(connection: &Connection, ask: &Ask<'_>) -> Result<Window> {
    let first = ask.from.map_or(0, first_id);
    let newest = ask.until.map_or(i64::MAX, |at| first_id(at).saturating_add((1 << IDS_BITS) - 1));
    let top = ask.top.unwrap_or(i64::MAX).min(newest);
    if ask.among.is_empty() || top < first {
        return Ok(Window::default());
    }
    let (mut found, mut below) = scan(connection, ask, first, top)?;
    let top = found.first().map(|hit| hit.id);
    let (mut read, mut scored) = (0, Vec::with_capacity(found.len()));
    let mut statement =
        connection.prepare_cached("SELECT words FROM doc WHERE id = ?1").map_err(failed)?;
    for hit in found.drain(..) {
        if read > READ {
            below = Some(hit.id);
            break;
        }
        let words: String = statement.query_row([hit.id], |row| row.get(0)).map_err(failed)?;
        read += words.len();
        let words: Vec<&str> = words.split(' ').collect();
        let age = ask.now.0 - ((hit.id >> IDS_BITS) * 1_000);
        scored.push((score(ask.query, &words, age), hit));
    }
    scored.sort_by(|(a, x), (b, y)| b.total_cmp(a).then(y.id.cmp(&x.id)));
    Ok(Window { hits: scored.into_iter().map(|(_, hit)| hit.at).collect(), top, below })
}

struct Hit {
    id: i64,
    at: EventRef,
}

/// The newest matches for all terms, newest first, and where to continue.
fn scan(
    connection: &Connection,
    ask: &Ask<'_>,
    first: i64,
    top: i64,
) -> Result<(Vec<Hit>, Option<i64>)> {
    let sql = "SELECT f.rowid, d.conversation, d.seq FROM ft f CROSS JOIN doc d ON d.id = f.rowid
        WHERE f.ft MATCH ?1 AND f.rowid >= ?2 AND f.rowid <= ?3 ORDER BY f.rowid DESC";
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    let mut rows = statement.query(params![expression(ask), first, top]).map_err(failed)?;
    let (mut found, mut scanned) = (Vec::new(), 0);
    while let Some(row) = rows.next().map_err(failed)? {
        let id: i64 = row.get(0).map_err(failed)?;
        if found.len() == WINDOW || scanned == SCANNED {
            return Ok((found, Some(id)));
        }
        scanned += 1;
        let conversation = ConversationKey(row.get::<_, i64>(1).map_err(failed)? as u64);
        if ask.among.contains(&conversation) {
            let seq = Seq(row.get::<_, i64>(2).map_err(failed)? as u64);
            found.push(Hit { id, at: EventRef { conversation, seq } });
        }
    }
    Ok((found, None))
}

/// The query for the full-text module. Every word is quoted, and none contains a quotation mark.
fn expression(ask: &Ask<'_>) -> String {
    let quoted = |words: &[String]| format!("words : \"{}\"", words.join(" "));
    let mut all: Vec<String> = ask.query.terms.iter().map(|term| quoted(&term.0)).collect();
    all.extend(ask.author.map(|member| format!("tags : \"a{}\"", member.0)));
    if ask.among.len() <= NAMED {
        let named: Vec<_> = ask.among.iter().map(|key| format!("\"c{}\"", key.0)).collect();
        all.push(format!("tags : ({})", named.join(" OR ")));
    }
    all.join(" AND ")
}
