//! The id of a request: a string or an integer. Fractions and null are refused, because they do not
//! identify a request reliably.

use std::fmt;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Longest id in bytes. Ours are under 50. A peer's id is sent back, so it is bounded.
const BYTES: usize = 256;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Id {
    Number(i64),
    String(String),
}

impl From<&str> for Id {
    fn from(id: &str) -> Self {
        Self::String(id.to_owned())
    }
}

impl From<String> for Id {
    fn from(id: String) -> Self {
        Self::String(id)
    }
}

impl From<i64> for Id {
    fn from(id: i64) -> Self {
        Self::Number(id)
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(id) => id.fmt(f),
            Self::String(id) => f.write_str(id),
        }
    }
}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(id) => out.serialize_i64(*id),
            Self::String(id) => out.serialize_str(id),
        }
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        input.deserialize_any(IdVisitor)
    }
}

struct IdVisitor;

impl Visitor<'_> for IdVisitor {
    type Value = Id;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a string of at most {BYTES} bytes or an integer")
    }

    fn visit_i64<E>(self, id: i64) -> Result<Id, E> {
        Ok(Id::Number(id))
    }

    fn visit_u64<E: de::Error>(self, id: u64) -> Result<Id, E> {
        i64::try_from(id).map(Id::Number).map_err(|_| E::custom("an id of at most 63 bits"))
    }

    fn visit_str<E: de::Error>(self, id: &str) -> Result<Id, E> {
        if id.len() > BYTES {
            return Err(E::invalid_length(id.len(), &self));
        }
        Ok(Id::String(id.to_owned()))
    }
}
