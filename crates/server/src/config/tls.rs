//! `[tls]`: HTTPS by certificate files.

use std::path::PathBuf;

use super::section::section;

section! {
    /// HTTPS with certificate files. Without them the host speaks plain HTTP, for loopback or
    /// behind a proxy.
    Tls ["tls"] {
        /// The certificate chain in PEM, the host's own certificate first.
        cert: Option<PathBuf> = None;
        /// The certificate's private key in PEM (PKCS#8, PKCS#1 or SEC1).
        key: Option<PathBuf> = None;
    }
    check |tls| match (&tls.cert, &tls.key) {
        (Some(_), None) => vec![("cert", "needs tls.key beside it".to_owned())],
        (None, Some(_)) => vec![("key", "needs tls.cert beside it".to_owned())],
        _ => Vec::new(),
    };
}
