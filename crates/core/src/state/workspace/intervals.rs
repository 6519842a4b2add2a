//! Intervals that an operator can configure, in milliseconds.

use crate::model::limits;

/// How long a delivery is deferred when no time is given.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deferral(pub(crate) i64);

impl Default for Deferral {
    fn default() -> Self {
        Self(limits::DEFERRAL_MS)
    }
}

/// How often digests are made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Every(pub(crate) Option<i64>);

impl Default for Every {
    fn default() -> Self {
        Self(Some(limits::DIGEST_MS))
    }
}
