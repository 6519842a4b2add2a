//! Who is connected: one [`Connection`] a session, the newest wins.
//!
//! A connection has two bounded queues. Offers are pulled from theirs only while fewer than
//! [`limits::UNACKED_PER_CONNECTION`] are unacknowledged; what does not fit is dropped and the connection
//! marked as lagging, so that it asks for what it is owed once it has caught up. Notes (cancellations, typing)
//! are soft.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use chorus_core::model::ids::{ConversationKey, MemberKey, SessionKey, Timestamp, Uid};
use chorus_core::model::limits;
use chorus_core::model::offer::Offer;
use chorus_wire::attention::initialize::Capabilities;
use chorus_wire::attention::shared::Shared;
use tokio::sync::{Notify, mpsc};

use crate::traces::Span;

/// Offers that wait for one connection, beyond those under way to it.
pub(crate) const BACKLOG: usize = 256;
/// Notes that wait for one connection; they are small, and old ones are worth little.
const NOTES: usize = 64;
/// Conversations of which a connection is told who types.
const LISTENS_TO: usize = 64;

/// Why all connections end when the host does.
pub(crate) const STOPPING: &str = "the host is stopping; connect again in a moment";

/// Why a connection ends whose session has another one.
const TAKEN_OVER: &str = "a newer connection of this session has taken over";

/// Why a connection ends whose session was given up while the database was away.
pub(crate) const GIVEN_UP: &str = "the host was away from its database; connect again";

/// Why a connection ends whose token does.
pub(crate) const TOKEN_ENDED: &str = "the token has ended; connect with a new one";

/// One offer on its way; the event's encoding is shared by all its receivers.
pub(crate) struct Outgoing {
    pub shared: Arc<Shared>,
    pub offer: Offer,
    /// Until it is written.
    pub span: Option<Span>,
}

/// A notification on its way.
pub(crate) struct Note {
    pub text: String,
    /// The event whose offer it takes back.
    pub withdraws: Option<Uid>,
    pub typing: Option<Typing>,
}

/// Somebody types, or has stopped.
#[derive(Clone, Copy)]
pub(crate) struct Typing {
    pub conversation: ConversationKey,
    pub author: MemberKey,
    pub on: bool,
}

/// The sending side of one connection.
pub(crate) struct Connection {
    id: u64,
    pub session: SessionKey,
    pub member: MemberKey,
    /// What it was agreed that it can.
    pub can: Capabilities,
    /// Boxed, since an empty queue has room for 32 of them set aside, for each of ten thousand connections.
    offers: mpsc::Sender<Box<Outgoing>>,
    notes: mpsc::Sender<Note>,
    lagging: AtomicBool,
    /// Why it must end, once it must.
    closing: Mutex<Option<&'static str>>,
    close: Notify,
    token: Notify,
    /// Where it was lately offered something, and when: typing there is of interest to it.
    listens: Mutex<HashMap<Uid, Timestamp>>,
}

/// The receiving side, held by the task that writes to the socket.
pub(crate) struct Queues {
    pub offers: mpsc::Receiver<Box<Outgoing>>,
    pub notes: mpsc::Receiver<Note>,
}

#[derive(Default)]
pub(crate) struct Connections {
    by_session: Mutex<HashMap<SessionKey, Arc<Connection>>>,
    next: AtomicU64,
}

impl Connections {
    /// Takes a session's new connection in, of a side that can everything; one that it had is told to end.
    pub(crate) fn open(&self, session: SessionKey, member: MemberKey) -> (Arc<Connection>, Queues) {
        self.open_with(session, member, Capabilities::all())
    }

    /// The same of a side that can this much.
    pub(crate) fn open_with(
        &self,
        session: SessionKey,
        member: MemberKey,
        can: Capabilities,
    ) -> (Arc<Connection>, Queues) {
        let (offers, offers_out) = mpsc::channel(BACKLOG);
        let (notes, notes_out) = mpsc::channel(NOTES);
        let connection = Arc::new(Connection {
            id: self.next.fetch_add(1, Ordering::Relaxed),
            session,
            member,
            can,
            offers,
            notes,
            lagging: AtomicBool::new(false),
            closing: Mutex::new(None),
            close: Notify::new(),
            token: Notify::new(),
            listens: Mutex::default(),
        });
        let old = self.lock().insert(session, connection.clone());
        if let Some(old) = old {
            old.close(TAKEN_OVER);
        }
        (connection, Queues { offers: offers_out, notes: notes_out })
    }

    /// Whether the connection was the session's present one; it is no longer.
    pub(crate) fn remove(&self, connection: &Connection) -> bool {
        let mut all = self.lock();
        let present = all.get(&connection.session).is_some_and(|c| c.id == connection.id);
        if present {
            all.remove(&connection.session);
        }
        present
    }

    pub(crate) fn get(&self, session: SessionKey) -> Option<Arc<Connection>> {
        self.lock().get(&session).cloned()
    }

    pub(crate) fn len(&self) -> usize {
        self.lock().len()
    }

    /// All connections, for what concerns everybody.
    pub(crate) fn all(&self) -> Vec<Arc<Connection>> {
        self.lock().values().cloned().collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<SessionKey, Arc<Connection>>> {
        self.by_session.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connection {
    /// Whether nothing waits in its queues.
    pub(crate) fn is_free(&self) -> bool {
        let is_free = self.offers.capacity() == self.offers.max_capacity();
        is_free && self.notes.capacity() == self.notes.max_capacity()
    }

    /// Puts an offer into the queue; when it is full the connection is behind.
    pub(crate) fn offer(&self, outgoing: Outgoing) {
        if self.offers.try_send(Box::new(outgoing)).is_err() {
            self.lagging.store(true, Ordering::Relaxed);
        }
    }

    /// Offers were dropped on their way here: it asks for what it is owed.
    pub(crate) fn lag(&self) {
        self.lagging.store(true, Ordering::Relaxed);
        self.look_at_token();
    }

    /// Whether offers were dropped since this was last asked.
    pub(crate) fn take_lagging(&self) -> bool {
        self.lagging.swap(false, Ordering::Relaxed)
    }

    /// Sends a note, unless the connection does not keep up.
    pub(crate) fn note(&self, note: Note) {
        // A harness that misses a cancellation learns of it when its answer is refused.
        let _ = self.notes.try_send(note);
    }

    /// Tells the connection's task to say why and end.
    pub(crate) fn close(&self, why: &'static str) {
        let mut closing = self.closing.lock().unwrap_or_else(PoisonError::into_inner);
        closing.get_or_insert(why);
        drop(closing);
        self.close.notify_one();
    }

    /// Asks the connection's task whether its token still holds.
    pub(crate) fn look_at_token(&self) {
        self.token.notify_one();
    }

    /// Waits until the token is to be looked at.
    pub(crate) async fn token_in_doubt(&self) {
        self.token.notified().await;
    }

    /// Waits until it must end, and says why.
    pub(crate) async fn closed(&self) -> &'static str {
        loop {
            if let Some(why) = *self.closing.lock().unwrap_or_else(PoisonError::into_inner) {
                return why;
            }
            self.close.notified().await;
        }
    }

    /// It was offered something of the conversation.
    pub(crate) fn listen(&self, conversation: Uid, now: Timestamp) {
        let mut listens = self.listens.lock().unwrap_or_else(PoisonError::into_inner);
        if listens.len() >= LISTENS_TO {
            listens.retain(|_, at| now.since(*at) < limits::FRAGMENT_CAP_MS);
        }
        if listens.len() < LISTENS_TO {
            listens.insert(conversation, now);
        }
    }

    /// Whether it may still be composing a turn from what is said there.
    pub(crate) fn listens(&self, conversation: Uid, now: Timestamp) -> bool {
        let listens = self.listens.lock().unwrap_or_else(PoisonError::into_inner);
        listens.get(&conversation).is_some_and(|at| now.since(*at) < limits::FRAGMENT_CAP_MS)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    // covers: ATT-12
    #[tokio::test]
    async fn the_newest_connection_of_a_session_wins() {
        let all = Connections::default();
        let (old, _old_queues) = all.open(SessionKey(1), MemberKey(1));
        let (new, _queues) = all.open(SessionKey(1), MemberKey(1));
        assert!(old.closed().await.contains("newer"));
        assert!(!all.remove(&old));
        assert!(all.get(SessionKey(1)).is_some());
        assert!(all.remove(&new));
        assert_eq!(all.len(), 0);
    }

    #[test]
    fn a_connection_listens_where_it_was_offered_something() {
        let all = Connections::default();
        let (one, _queues) = all.open(SessionKey(1), MemberKey(1));
        for n in 0..200 {
            one.listen(Uid(n), Timestamp(0));
        }
        assert!(one.listens(Uid(3), Timestamp(1)));
        assert!(!one.listens(Uid(199), Timestamp(1)), "the list is bounded");
        one.listen(Uid(199), Timestamp(limits::FRAGMENT_CAP_MS));
        assert!(!one.listens(Uid(3), Timestamp(limits::FRAGMENT_CAP_MS)));
        assert!(one.listens(Uid(199), Timestamp(limits::FRAGMENT_CAP_MS)));
    }
}
