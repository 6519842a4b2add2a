//! `[database]`: where the workspace is kept, when that is not a file in the data folder.

use super::kind::Secret;
use super::section::section;

section! {
    /// Where the workspace is kept. By default that is `chorus.db` in the data folder, and nothing
    /// else is needed.
    Database ["database"] {
        /// A PostgreSQL database: `postgres://USER@HOST/NAME?sslmode=verify-full`. What the URL
        /// leaves out comes from the `PG*` variables. Keep the password in `PGPASSWORD` or in the
        /// password file.
        url: Option<Secret> = None;
    }
    check |database| {
        let schemes = ["postgres://", "postgresql://"];
        let known = |url: &Secret| schemes.iter().any(|scheme| url.0.starts_with(scheme));
        match &database.url {
            Some(url) if !known(url) => vec![("url", "begins with postgres://".to_owned())],
            _ => Vec::new(),
        }
    };
}
