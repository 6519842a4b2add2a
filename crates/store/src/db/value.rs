//! Values and rows, and reading of columns.

use super::error::{Error, Result};

/// One value of a row, or one parameter.
#[derive(Clone, Copy, veil::Redact, PartialEq)]
pub enum Value<'a> {
    Null,
    Int(i64),
    Text(#[redact(fixed = 3)] &'a str),
    Blob(#[redact(fixed = 3)] &'a [u8]),
}

impl From<i64> for Value<'_> {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

/// Counts are stored as signed integers. None of them reaches 2^63; a number that somebody asks for may, and is then more
/// than any of them.
impl From<u64> for Value<'_> {
    fn from(value: u64) -> Self {
        Self::Int(i64::try_from(value).unwrap_or(i64::MAX))
    }
}

impl From<u32> for Value<'_> {
    fn from(value: u32) -> Self {
        Self::Int(value.into())
    }
}

impl From<u8> for Value<'_> {
    fn from(value: u8) -> Self {
        Self::Int(value.into())
    }
}

impl From<bool> for Value<'_> {
    fn from(value: bool) -> Self {
        Self::Int(value.into())
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(value: &'a str) -> Self {
        Self::Text(value)
    }
}

impl<'a> From<&'a [u8]> for Value<'a> {
    fn from(value: &'a [u8]) -> Self {
        Self::Blob(value)
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for Value<'a> {
    fn from(value: &'a [u8; N]) -> Self {
        Self::Blob(value)
    }
}

impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::Null, Into::into)
    }
}

/// One row of a result, its columns counted from 0.
pub trait Row {
    fn value(&self, column: usize) -> Result<Value<'_>>;
}

impl dyn Row + '_ {
    /// A number that must be present and in range.
    pub fn int<T: TryFrom<i64>>(&self, column: usize) -> Result<T> {
        self.maybe_int(column)?.ok_or_else(|| unfit(column, "a number"))
    }

    pub fn maybe_int<T: TryFrom<i64>>(&self, column: usize) -> Result<Option<T>> {
        match self.value(column)? {
            Value::Null => Ok(None),
            Value::Int(n) => {
                T::try_from(n).map(Some).map_err(|_| unfit(column, "a number in range"))
            }
            _ => Err(unfit(column, "a number")),
        }
    }

    pub fn flag(&self, column: usize) -> Result<bool> {
        Ok(self.int::<u8>(column)? != 0)
    }

    pub fn text(&self, column: usize) -> Result<&str> {
        self.maybe_text(column)?.ok_or_else(|| unfit(column, "a text"))
    }

    pub fn maybe_text(&self, column: usize) -> Result<Option<&str>> {
        match self.value(column)? {
            Value::Null => Ok(None),
            Value::Text(text) => Ok(Some(text)),
            _ => Err(unfit(column, "a text")),
        }
    }

    pub fn blob(&self, column: usize) -> Result<&[u8]> {
        self.maybe_blob(column)?.ok_or_else(|| unfit(column, "bytes"))
    }

    pub fn maybe_blob(&self, column: usize) -> Result<Option<&[u8]>> {
        match self.value(column)? {
            Value::Null => Ok(None),
            Value::Blob(bytes) => Ok(Some(bytes)),
            _ => Err(unfit(column, "bytes")),
        }
    }

    pub fn maybe_array<const N: usize>(&self, column: usize) -> Result<Option<[u8; N]>> {
        let bytes = self.maybe_blob(column)?.map(TryInto::try_into).transpose();
        bytes.map_err(|_| unfit(column, "bytes of the right length"))
    }

    /// Bytes of a fixed length.
    pub fn array<const N: usize>(&self, column: usize) -> Result<[u8; N]> {
        self.blob(column)?.try_into().map_err(|_| unfit(column, "bytes of the right length"))
    }
}

fn unfit(column: usize, expected: &str) -> Error {
    Error::corrupt(format!("column {column} is not {expected}"))
}
