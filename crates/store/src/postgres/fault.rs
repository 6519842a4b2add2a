//! Maps PostgreSQL's errors to the store's own.

use std::error::Error as _;

use tokio_postgres::error::{DbError, SqlState};

use super::address::Address;
use crate::db::Error;

/// The error of a statement.
pub(super) fn statement(error: &tokio_postgres::Error) -> Error {
    if let Some(found) = error.as_db_error() {
        let why = said(found);
        return match *found.code() {
            // The statement that checks the epoch divides by the number of rows that have it.
            SqlState::DIVISION_BY_ZERO => Error::Fenced("its epoch has passed".to_owned()),
            SqlState::DISK_FULL => Error::Full(why),
            SqlState::DATA_CORRUPTED | SqlState::INDEX_CORRUPTED => Error::Corrupt(why),
            ref code if ends_connection(code) => Error::Lost(why),
            _ => Error::Engine(why),
        };
    }
    let why = reason(error);
    let broken = error.source().is_some_and(|cause| cause.is::<std::io::Error>());
    if error.is_closed() || broken { Error::Lost(why) } else { Error::Engine(why) }
}

/// The error of connecting, with what to do about it.
pub(super) fn connecting(error: &tokio_postgres::Error, address: &Address) -> Error {
    let user = address.config.get_user().unwrap_or_default();
    let Some(found) = error.as_db_error() else {
        return Error::Lost(reason(error));
    };
    let why = said(found);
    match *found.code() {
        SqlState::INVALID_PASSWORD | SqlState::INVALID_AUTHORIZATION_SPECIFICATION => {
            Error::Engine(format!(
                "{why}; {user}'s password is taken from the URL, PGPASSWORD or the password file"
            ))
        }
        SqlState::INVALID_CATALOG_NAME => {
            Error::Engine(format!("{why}; make it with createdb, encoding UTF8"))
        }
        SqlState::INSUFFICIENT_PRIVILEGE => Error::Engine(why),
        _ => Error::Lost(why),
    }
}

/// Whether this connection is unusable: the server has ended it, or it has become read-only.
fn ends_connection(code: &SqlState) -> bool {
    code.code().starts_with("08")
        || [
            SqlState::ADMIN_SHUTDOWN,
            SqlState::CRASH_SHUTDOWN,
            SqlState::CANNOT_CONNECT_NOW,
            SqlState::DATABASE_DROPPED,
            SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
            SqlState::READ_ONLY_SQL_TRANSACTION,
        ]
        .contains(code)
}

fn said(error: &DbError) -> String {
    let mut why = error.message().to_owned();
    for more in [error.detail(), error.hint()].into_iter().flatten() {
        why.push_str("; ");
        why.push_str(more);
    }
    why
}

fn reason(error: &tokio_postgres::Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}
