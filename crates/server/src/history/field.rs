//! The fields of lines that are no plain JSON: bytes, public ids and stored numbers.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use chorus_core::codec::Coded;
use chorus_core::model::ids::{Prefix, Uid};
use serde::{Deserialize, Serialize};

/// Bytes, in JSON as base64.
#[derive(Clone, veil::Redact, PartialEq, Eq)]
pub(super) struct Bytes(#[redact(fixed = 3)] pub Vec<u8>);

impl Bytes {
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self(bytes.to_vec())
    }

    pub(super) fn array<const N: usize>(&self) -> Result<[u8; N], String> {
        let length = self.0.len();
        self.0.as_slice().try_into().map_err(|_| format!("{length} bytes where {N} belong"))
    }

    pub(super) fn base64(&self) -> String {
        BASE64.encode(&self.0)
    }
}

impl Serialize for Bytes {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(&self.base64())
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: serde::Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(input)?;
        BASE64.decode(text.as_bytes()).map(Self).map_err(serde::de::Error::custom)
    }
}

pub(super) fn id(prefix: Prefix, text: &str) -> Result<Uid, String> {
    let wrong = || format!("{text:?} is no id that begins with {:?}", prefix.as_str());
    Uid::read(prefix, text).ok_or_else(wrong)
}

pub(super) fn coded<T: Coded>(code: u8) -> Result<T, String> {
    T::from_code(code).ok_or_else(|| format!("{code} is the code of nothing"))
}
