//! Converts values to PostgreSQL and back. Every column is `bigint`, `text` or `bytea`.

use std::error::Error as StdError;

use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

use crate::db::{Error, Result, Row, Value};

type Encoded = std::result::Result<IsNull, Box<dyn StdError + Sync + Send>>;

impl ToSql for Value<'_> {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Encoded {
        match (self, ty) {
            (Value::Null, _) => Ok(IsNull::Yes),
            (Value::Int(n), &Type::INT8) => n.to_sql(ty, out),
            (Value::Int(n), &Type::INT4) => i32::try_from(*n)?.to_sql(ty, out),
            (Value::Text(text), &Type::TEXT) => text.to_sql(ty, out),
            (Value::Blob(bytes), &Type::BYTEA) => bytes.to_sql(ty, out),
            _ => Err(format!("a parameter of type {ty} is given another").into()),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

impl Value<'_> {
    /// The type that it is sent as. The server finds that of a null.
    pub(super) fn ty(&self) -> Type {
        match self {
            Self::Null => Type::UNKNOWN,
            Self::Int(_) => Type::INT8,
            Self::Text(_) => Type::TEXT,
            Self::Blob(_) => Type::BYTEA,
        }
    }
}

/// A value that is kept until its batch is written.
#[derive(Clone, veil::Redact)]
pub(super) enum Kept {
    Null,
    Int(i64),
    Text(#[redact(fixed = 3)] Box<str>),
    Blob(#[redact(fixed = 3)] Box<[u8]>),
}

impl From<&Value<'_>> for Kept {
    fn from(value: &Value<'_>) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Int(n) => Self::Int(*n),
            Value::Text(text) => Self::Text((*text).into()),
            Value::Blob(bytes) => Self::Blob((*bytes).into()),
        }
    }
}

/// One column of all rows of a batch: an array for `unnest`.
#[derive(Debug)]
pub(super) struct Column<'a>(pub(super) Vec<&'a Kept>);

impl Column<'_> {
    pub(super) fn ty(&self) -> Type {
        match self.0.iter().find(|value| !matches!(value, Kept::Null)) {
            Some(Kept::Int(_)) => Type::INT8_ARRAY,
            Some(Kept::Blob(_)) => Type::BYTEA_ARRAY,
            // Nulls only can be cast to whatever the column is.
            Some(Kept::Text(_) | Kept::Null) | None => Type::TEXT_ARRAY,
        }
    }
}

impl ToSql for Column<'_> {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Encoded {
        let other = || format!("a column of type {ty} is given another");
        match *ty {
            Type::INT8_ARRAY => {
                let numbers = self.0.iter().map(|value| match value {
                    Kept::Null => Ok(None),
                    Kept::Int(n) => Ok(Some(*n)),
                    _ => Err(other()),
                });
                numbers.collect::<std::result::Result<Vec<_>, _>>()?.to_sql(ty, out)
            }
            Type::TEXT_ARRAY => {
                let texts = self.0.iter().map(|value| match value {
                    Kept::Null => Ok(None),
                    Kept::Text(text) => Ok(Some(&**text)),
                    _ => Err(other()),
                });
                texts.collect::<std::result::Result<Vec<_>, _>>()?.to_sql(ty, out)
            }
            Type::BYTEA_ARRAY => {
                let blobs = self.0.iter().map(|value| match value {
                    Kept::Null => Ok(None),
                    Kept::Blob(bytes) => Ok(Some(&**bytes)),
                    _ => Err(other()),
                });
                blobs.collect::<std::result::Result<Vec<_>, _>>()?.to_sql(ty, out)
            }
            _ => Err(other().into()),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// A row from PostgreSQL.
pub(super) struct Shown(pub(super) tokio_postgres::Row);

impl Row for Shown {
    fn value(&self, column: usize) -> Result<Value<'_>> {
        match *self.0.columns()[column].type_() {
            Type::INT8 => self.get::<i64>(column).map(Into::into),
            Type::INT4 => Ok(self.get::<i32>(column)?.map(i64::from).into()),
            Type::TEXT => self.get::<&str>(column).map(Into::into),
            Type::BYTEA => self.get::<&[u8]>(column).map(Into::into),
            ref other => Err(Error::corrupt(format!("column {column} is of type {other}"))),
        }
    }
}

impl Shown {
    fn get<'a, T: FromSql<'a>>(&'a self, column: usize) -> Result<Option<T>> {
        self.0.try_get(column).map_err(|why| Error::corrupt(format!("column {column}: {why}")))
    }
}
