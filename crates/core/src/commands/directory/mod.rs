//! Members, roles, sessions and tokens.

pub(crate) mod members;
pub(crate) mod token;
