//! What the SDK asks of whoever keeps its sessions: those that are awake are kept as it keeps them, and what it needs to
//! wake one is given back to it.

use std::pin::Pin;

use futures_util::{Stream, StreamExt};
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError,
};
use rmcp::transport::streamable_http_server::session::{
    ServerSseMessage, SessionState, SessionStore, SessionStoreError,
};
use rmcp::transport::streamable_http_server::{RestoreOutcome, SessionId, SessionManager};

use super::Sessions;

type Local = LocalSessionManager;
type Stored<'a, T> = Pin<Box<dyn Future<Output = Result<T, SessionStoreError>> + Send + 'a>>;

impl SessionManager for Sessions {
    type Error = LocalSessionManagerError;
    type Transport = <Local as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        self.awake.create_session().await
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        self.awake.initialize_session(id, message).await
    }

    /// Of one that another request is waking nothing is said before it is awake: the SDK takes whatever it has for ready.
    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        self.ready(id).await;
        self.awake.has_session(id).await
    }

    /// Also called when the tasks of a session have ended. Those of one that was put to sleep end nothing: it may be awake
    /// again by now.
    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        {
            let mut known = self.lock();
            if let Some(session) = known.of.get_mut(id).filter(|s| s.ending > 0) {
                session.ending -= 1;
                return Ok(());
            }
        }
        let closed = self.awake.close_session(id).await;
        self.woke(id, false);
        closed
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let busy = self.busy(id);
        Ok(held(self.awake.create_stream(id, message).await?, busy))
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), Self::Error> {
        let accepted = self.awake.accept_message(id, message).await;
        // The last step of waking a session is to tell it that its client is ready.
        if self.lock().of.get(id).is_some_and(|session| session.waking) {
            self.woke(id, true);
        }
        accepted
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let busy = self.busy(id);
        let stream = self.awake.create_standalone_stream(id).await?;
        let listening = busy.as_ref().map(|busy| busy.notices.listen());
        Ok(held(stream, (busy, listening)))
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let busy = self.busy(id);
        // One that goes on with an answer has the answer's number behind the event's.
        let is_answer = last_event_id.contains('/');
        let stream = self.awake.resume(id, last_event_id).await?;
        let listening = busy.as_ref().filter(|_| !is_answer).map(|busy| busy.notices.listen());
        Ok(held(stream, (busy, listening)))
    }

    async fn restore_session(
        &self,
        id: SessionId,
    ) -> Result<RestoreOutcome<Self::Transport>, Self::Error> {
        let restored = self.awake.restore_session(id.clone()).await?;
        self.lock().change(&id, |session| (session.awake, session.waking) = (true, true));
        Ok(restored)
    }
}

/// The stream, with its session at work for as long as it is open.
fn held<S, H>(stream: S, held: H) -> impl Stream<Item = ServerSseMessage> + Send + Sync + 'static
where
    S: Stream<Item = ServerSseMessage> + Send + Sync + 'static,
    H: Send + Sync + 'static,
{
    stream.map(move |message| {
        let _ = &held;
        message
    })
}

impl SessionStore for Sessions {
    fn load<'a, 'b, 'c>(&'a self, id: &'b str) -> Stored<'c, Option<SessionState>>
    where
        'a: 'c,
        'b: 'c,
        Self: 'c,
    {
        let state = self.lock().of.get(id).map(|session| serde_json::from_str(&session.state));
        let state: Result<Option<SessionState>, SessionStoreError> =
            state.transpose().map_err(Into::into);
        Box::pin(std::future::ready(state))
    }

    fn store<'a, 'b, 'c, 'd>(&'a self, id: &'b str, state: &'c SessionState) -> Stored<'d, ()>
    where
        'a: 'd,
        'b: 'd,
        'c: 'd,
        Self: 'd,
    {
        let stored: Result<String, SessionStoreError> =
            serde_json::to_string(state).map_err(Into::into);
        let stored = stored.map(|state| {
            let used = self.app.now();
            self.lock().begin(id.into(), state.into(), used);
        });
        Box::pin(std::future::ready(stored))
    }

    fn delete<'a, 'b, 'c>(&'a self, id: &'b str) -> Stored<'c, ()>
    where
        'a: 'c,
        'b: 'c,
        Self: 'c,
    {
        Box::pin(async move {
            self.end(id).await;
            Ok(())
        })
    }
}
