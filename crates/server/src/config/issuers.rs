//! `[issuers.NAME]`: whose tokens are honoured beside the host's own.

use super::section::section;

section! {
    /// Whose tokens are honoured beside the host's own: an OpenID provider or anybody else who signs JWTs and publishes the keys.
    /// One section for each, under a name of your choice.
    Issuer ["issuers.NAME"] {
    }
}
