//! One hash over every row of every table: two databases with the same digest have the same
//! content.
//!
//! It detects what neither the file's own check nor the log's chain detects: a changed handle,
//! receipt or cursor on a disk that loses data.

use sha2::{Digest as _, Sha256};

use crate::db::{Db, Result, Value};

pub(super) struct Digest {
    pub(super) hash: [u8; 32],
    pub(super) rows: u64,
}

pub(super) fn digest(db: &dyn Db) -> Result<Digest> {
    let sql = "SELECT name, type, sql FROM sqlite_schema
        WHERE name <> 'backup' AND tbl_name <> 'backup' AND sql IS NOT NULL ORDER BY name";
    let schema = db.all(sql, &[], |row| {
        Ok((row.text(0)?.to_owned(), row.text(1)? == "table", row.text(2)?.to_owned()))
    })?;
    let mut hasher = Sha256::new();
    let mut rows = 0;
    for (name, is_table, sql) in &schema {
        put(&mut hasher, Value::Text(name));
        put(&mut hasher, Value::Text(sql));
        if !is_table {
            continue;
        }
        let columns =
            db.all("SELECT count(*) FROM pragma_table_info($1)", &[name.as_str().into()], |row| {
                row.int::<usize>(0)
            })?;
        let columns = columns.first().copied().unwrap_or(0);
        // In storage order, which a copy of the pages preserves.
        db.query(&format!("SELECT * FROM \"{name}\" NOT INDEXED"), &[], &mut |row| {
            rows += 1;
            (0..columns).try_for_each(|column| {
                put(&mut hasher, row.value(column)?);
                Ok(())
            })
        })?;
    }
    Ok(Digest { hash: hasher.finalize().into(), rows })
}

/// Each value with its type and length, so that values cannot be shifted into each other.
fn put(hasher: &mut Sha256, value: Value<'_>) {
    let mut bytes = |kind: u8, bytes: &[u8]| {
        hasher.update([kind]);
        hasher.update((bytes.len() as u64).to_be_bytes());
        hasher.update(bytes);
    };
    match value {
        Value::Null => bytes(0, &[]),
        Value::Int(n) => bytes(1, &n.to_be_bytes()),
        Value::Text(text) => bytes(2, text.as_bytes()),
        Value::Blob(blob) => bytes(3, blob),
    }
}
