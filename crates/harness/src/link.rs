//! The connection to the host: opened with the session and the event to resume from, and opened again,
//! later and later, for as long as the host is only out of reach.

use std::time::Duration;

use chorus_client::c2a::{self, Connection, Incoming};
use chorus_core::model::error::Code;
use chorus_wire::attention::initialize::{InitializeParams, Resume, SessionHello};
use tokio::sync::mpsc;

/// Messages of the host that wait for the harness.
pub(crate) const QUEUE: usize = 256;

/// Whether a connection is closed because a newer one has its session.
pub(crate) fn is_taken_over(reason: &str) -> bool {
    reason.contains("taken over")
}

/// What happens to the connection.
pub(crate) enum Link {
    Up(Connection),
    Said(Connection, Incoming),
    /// It ended, or could not be opened. It is worth trying again.
    Down {
        reason: String,
    },
    /// The host does not know the session; it is to be tried without.
    SessionUnknown,
    /// Trying again would fail again: the token is refused.
    Refused(chorus_client::Error),
}

/// Who connects, and what it already has.
#[derive(Clone, Debug)]
pub(crate) struct Hello {
    pub url: String,
    pub token: String,
    pub session: SessionHello,
    pub last_event: Option<String>,
}

/// Waits, opens one connection, and hands on what the host sends until it ends. The last message sent is
/// never [`Link::Up`] or [`Link::Said`].
pub(crate) async fn hold(hello: Hello, wait: Duration, to: mpsc::Sender<Link>) {
    tokio::time::sleep(wait).await;
    let end = match c2a::connect(&hello.url, &hello.token, &params(&hello)).await {
        Ok((connection, incoming)) => carry(connection, incoming, &to).await,
        Err(error) => judge(error, hello.session.id.is_some()),
    };
    // A harness that has stopped does not listen any more.
    let _ = to.send(end).await;
}

async fn carry(
    connection: Connection,
    mut incoming: mpsc::Receiver<Incoming>,
    to: &mpsc::Sender<Link>,
) -> Link {
    let stopped = || Link::Down { reason: "the harness stops".to_owned() };
    if to.send(Link::Up(connection.clone())).await.is_err() {
        return stopped();
    }
    while let Some(message) = incoming.recv().await {
        if let Incoming::Closed { reason } = message {
            return Link::Down { reason };
        }
        if to.send(Link::Said(connection.clone(), message)).await.is_err() {
            connection.close().await;
            return stopped();
        }
    }
    Link::Down { reason: "the connection ended".to_owned() }
}

fn judge(error: chorus_client::Error, with_session: bool) -> Link {
    match error.code() {
        Some(Code::NotFound | Code::Conflict | Code::ClaimMismatch) if with_session => {
            Link::SessionUnknown
        }
        Some(
            Code::Unauthorized
            | Code::Forbidden
            | Code::NotFound
            | Code::ClaimMismatch
            | Code::InsufficientAuthority
            | Code::OutOfScopeWorkspace
            | Code::ValidationError,
        ) => Link::Refused(error),
        _ => Link::Down { reason: error.to_string() },
    }
}

fn params(hello: &Hello) -> InitializeParams {
    let mut params = InitializeParams::new("chorus-harness", env!("CARGO_PKG_VERSION"));
    params.session = Some(hello.session.clone());
    params.resume = Some(Resume { last_event_id: hello.last_event.clone() });
    params
}
