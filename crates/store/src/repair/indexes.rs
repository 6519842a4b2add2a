//! Repairs database indexes that do not match their rows.

use std::collections::BTreeSet;

use chorus_core::model::audit::Record;
use chorus_core::model::ids::Timestamp;

use super::{Part, Repair};
use crate::db::{Db, Error, Result};
use crate::{Tenant, audit};

/// SQLite's messages about an index end like this, with its name; other messages do not.
const OF_INDEX: [&str; 4] = [
    "missing from index ",
    "# of entries in index ",
    "values differ from index ",
    "non-unique entry in index ",
];
/// Tables whose rows are checked against the logs and their chains. In other tables the index may
/// be right and the row wrong, and only a backup has the data.
const KNOWN: [&str; 7] = ["event", "audit", "head", "roster", "message", "thread", "receipt"];

/// SQLite reports a hundred problems at a time, which may all concern one index.
pub(super) const ROUNDS: usize = 16;

/// Rebuilds them from their rows, unless anything else in the file is damaged.
pub(super) fn mend(db: &dyn Db, tenant: &Tenant, now: Timestamp) -> Result<Option<Repair>> {
    let found = db.check_file()?;
    let mut damaged = BTreeSet::new();
    for line in &found {
        let name = OF_INDEX.iter().find_map(|words| Some(line.split_once(words)?.1));
        let Some(name) = name else { return Ok(None) };
        let sql = "SELECT tbl_name FROM sqlite_schema WHERE type = 'index' AND name = $1";
        let table = db.one(sql, &[name.into()], |row| Ok(row.text(0)?.to_owned()))?;
        if !table.is_some_and(|table| KNOWN.contains(&table.as_str())) {
            return Ok(None);
        }
        damaged.insert(name);
    }
    if damaged.is_empty() {
        return Ok(None);
    }
    db.begin()?;
    let record = Record::repaired(now, None, Part::Index.name());
    let mut indexes = damaged.iter();
    let made = indexes.try_for_each(|name| {
        let sql = format!("REINDEX \"{}\"", name.replace('"', "\"\""));
        db.execute(&sql, &[]).map(drop)
    });
    let made = made.and_then(|()| {
        let end = audit::head(db, tenant.key)?;
        audit::append(db, tenant.key, &end, now, &[record])?;
        db.flush()?;
        db.commit()
    });
    match made {
        Ok(()) => {
            let names: Vec<_> = damaged.into_iter().collect();
            let what = format!("rebuilt from the rows: {}", names.join(", "));
            Ok(Some(Repair { part: Part::Index, conversation: None, seq: None, what }))
        }
        // Two rows violate uniqueness, or more is damaged than was seen: the doctor reports it.
        Err(Error::Corrupt(_) | Error::Engine(_)) => {
            db.rollback()?;
            Ok(None)
        }
        Err(error) => {
            // The original error is reported; a transaction that cannot be ended ends with the
            // connection.
            let _ = db.rollback();
            Err(error)
        }
    }
}
