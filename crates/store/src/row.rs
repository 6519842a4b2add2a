//! Columns for core types: a uid in sixteen bytes, an enum by its code.

use chorus_core::codec::Coded;
use chorus_core::model::ids::Uid;

use crate::db::{Error, Result, Row};

pub(crate) fn uid(row: &dyn Row, column: usize) -> Result<Uid> {
    Ok(Uid(u128::from_be_bytes(row.array(column)?)))
}

pub(crate) fn maybe_uid(row: &dyn Row, column: usize) -> Result<Option<Uid>> {
    row.maybe_blob(column)?.map(|_| uid(row, column)).transpose()
}

pub(crate) fn code<T: Coded>(row: &dyn Row, column: usize) -> Result<T> {
    let code = row.int(column)?;
    T::from_code(code).ok_or_else(|| Error::corrupt(format!("column {column} has code {code}")))
}
