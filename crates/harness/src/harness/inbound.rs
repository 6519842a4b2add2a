//! What the host says: deliveries, withdrawals, typing, and the state of the connection itself.

use chorus_client::c2a::{Connection, Incoming};
use chorus_core::model::error::{Code, Refusal};
use chorus_wire::attention::deliver::Deliver;
use chorus_wire::jsonrpc::{ErrorObject, Id};
use tokio::time::Instant;

use super::Harness;
use crate::Error;
use crate::journal::{Known, Offer};
use crate::link::{self, Link};
use crate::options::Notice;
use crate::turns::{Input, is_knock};

/// Deliveries that may be open at once; more are not taken, and offered again later.
const OPEN: usize = 1_024;

impl Harness {
    pub(super) fn linked(&mut self, link: Link) -> Result<(), Error> {
        match link {
            Link::Up(connection) => self.up(connection),
            Link::Said(connection, message) => self.said(&connection, message),
            Link::Down { reason } => {
                tracing::debug!(%reason, "the host is out of reach; trying again");
                self.notice(Notice::Away);
                self.reconnect()
            }
            Link::SessionUnknown => {
                tracing::warn!("the host does not know the session any more; beginning a new one");
                self.session = None;
                self.reconnect()
            }
            Link::Refused(error) => Err(Error::Refused(error)),
        }
    }

    /// Says that the host has gone or is back, each once.
    fn notice(&mut self, notice: Notice) {
        let was = std::mem::replace(&mut self.away, notice == Notice::Away);
        if was != self.away
            && let Some(notices) = &self.options.notices
        {
            // Whoever wanted to know may have gone.
            let _ = notices.send(notice);
        }
    }

    fn up(&mut self, connection: Connection) -> Result<(), Error> {
        let hello = connection.hello();
        let (member, session) = (hello.member.id.clone(), hello.session.id.clone());
        self.notice(Notice::Back);
        if member != self.options.agent {
            let expected = self.options.agent.clone();
            return Err(Error::WrongAgent { expected, token: member });
        }
        self.journal.belongs_to(&hello.workspace.id)?;
        tracing::info!(agent = %member, %session, "connected");
        self.recover()?;
        self.journal.set_session(&session)?;
        self.session = Some(session);
        self.connection = Some(connection);
        self.up_since = Instant::now();
        self.send_again = None;
        self.sending.connected();
        // What was on its way when the last connection ended may not have arrived.
        self.flush()?;
        self.decide(Input::Linked(true))
    }

    fn said(&mut self, connection: &Connection, message: Incoming) -> Result<(), Error> {
        match message {
            Incoming::Deliver { request_id, deliver } => {
                self.delivered(connection, request_id, *deliver)
            }
            Incoming::Cancelled(cancelled) => {
                let Some(event) = cancelled.event_id else { return Ok(()) };
                let reason = cancelled.reason.unwrap_or_else(|| "withdrawn by the host".to_owned());
                tracing::info!(%event, %reason, "withdrawn");
                self.sending.stirred(&event);
                self.decide(Input::Cancelled { event, reason })?;
                self.flush()
            }
            Incoming::Typing(typing) => {
                let Some(author) = typing.author else { return Ok(()) };
                let (conversation, typing) = (typing.conversation, typing.typing);
                self.decide(Input::Typing { conversation, author, typing })
            }
            Incoming::Digest(digest) => {
                tracing::info!(conversation = %digest.conversation, "a digest of it came");
                self.decide(Input::Digest(digest))
            }
            // A harness takes deliveries; only runners are woken.
            Incoming::Wake(wake) => {
                tracing::debug!(wake = %wake.wake_id, "a wake, which is for a runner");
                Ok(())
            }
            Incoming::Watch(_) => Ok(()),
            Incoming::Closing(closing) => {
                tracing::info!(reason = %closing.reason, "the host closes the connection");
                if link::is_taken_over(&closing.reason) {
                    return Err(Error::TakenOver { reason: closing.reason });
                }
                Ok(())
            }
            // The link has made it a [`Link::Down`].
            Incoming::Closed { .. } => Ok(()),
        }
    }

    /// Journals a delivery, acknowledges it, and only then does something about it.
    fn delivered(
        &mut self,
        connection: &Connection,
        request: Id,
        delivery: Deliver,
    ) -> Result<(), Error> {
        let event = delivery.event_id.clone();
        let body = match serde_json::to_string(&delivery) {
            Ok(body) => body,
            Err(error) => {
                self.refuse(connection, request, Code::Internal, error.to_string());
                return Ok(());
            }
        };
        if self.turns.open() >= OPEN && self.journal.entry(&event)?.is_none() {
            let message = format!("{OPEN} deliveries are open here; offer it again later");
            self.refuse(connection, request, Code::RateLimited, message);
            return Ok(());
        }
        let offer = Offer {
            event: &event,
            delivery: &body,
            fence: delivery.turn.as_ref().map_or(0, |grant| grant.fence.into()),
            knock: is_knock(&delivery),
        };
        let known = self.journal.accept(&offer, self.clock.now())?;
        let to = connection.clone();
        self.beside.spawn(async move {
            // When the connection is gone the host offers it again, and it is known then.
            let _ = to.ack(&request).await;
        });
        self.sending.stirred(&event);
        let policy = delivery.attention.policy.name();
        let (mode, from) = (delivery.injection.mode.name(), &delivery.author.id);
        match known {
            Known::New => {
                tracing::info!("delivered {event} {policy} {mode} from {from}");
                self.decide(Input::Delivered(delivery))
            }
            Known::Open(_) => {
                tracing::info!("delivered {event} again; it is in hand");
                self.decide(Input::Refreshed(delivery))?;
                // Its answer may be made already, and may be taken now.
                self.flush()
            }
            Known::Settled(entry) => {
                let how = entry.disposition.map_or("settled", |disposition| disposition.name());
                tracing::info!(
                    "delivered {event} again; it was {how}, and the host is told once more"
                );
                self.journal.repeat(&event)?;
                self.flush()
            }
        }
    }

    fn refuse(&mut self, connection: &Connection, request: Id, code: Code, message: String) {
        tracing::warn!(%request, %message, "a delivery was not taken");
        let error = ErrorObject::of(&Refusal::new(code, message), "");
        let to = connection.clone();
        self.beside.spawn(async move {
            let _ = to.nack(&request, error).await;
        });
    }
}
