//! One POST to a callback, and what becomes of it.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue};
use bytes::Bytes;
use chorus_core::model::delivery::Unanswered;
use chorus_core::model::event::Message;
use chorus_core::model::ids::{Prefix, Seq, Uid};
use chorus_core::model::inbox::{Inbox, Remote};
use chorus_core::model::limits;
use chorus_store::StoredEntry;
use chorus_wire::part::Part;
use chorus_wire::webhook::{CallbackEvent, IDEMPOTENCY_KEY};
use url::Url;

use super::worker::Worker;
use crate::egress::{Answer, To, backoff, check_url};
use crate::services::inboxes::CameWith;

/// How long a soft word may take: it is worth little when it is old.
const SOFT_TIMEOUT: Duration = Duration::from_secs(5);

impl Worker {
    /// Sends one message until it is taken or will not be; none when the store could not be asked.
    pub(super) async fn send(&self, stored: &StoredEntry, inbox: &Inbox) -> Option<()> {
        let event = &stored.entry.event;
        let id = event.uid.show(Prefix::Event);
        let cause = event.cause.filter(|cause| cause.conversation == self.key);
        let mut tries = 0;
        loop {
            // Read again each time: it may have been deleted, and the same delivery may have come with another callback.
            let content = self.host.inboxes.said(event.uid).await.ok()?;
            let Some(body) = content.as_ref().and_then(|said| says(said, &id)) else {
                return Some(());
            };
            let remote = self.host.inboxes.remote(self.key).await.ok()??;
            let Some(url) = self.callback(&remote, cause.map(|cause| cause.seq)) else {
                let what = "there is no callback to send to: the newest is older than a day";
                self.host.inboxes.note_trouble(inbox, what.to_owned()).await;
                return Some(());
            };
            let timeout = self.host.webhooks.timeout;
            let trouble = match self.post((inbox.uid, &url), &body, Some(&id), timeout).await? {
                Answer::Taken => return Some(()),
                Answer::Gone => "a callback was answered with 410: it has ended".to_owned(),
                Answer::Refused { status } => format!("a callback was answered with {status}"),
                Answer::Address => "a callback is at an address that is not posted to".to_owned(),
                Answer::Again { why, after } => {
                    tries += 1;
                    let age = self.host.clock.now().since(event.at);
                    if age < limits::GIVE_UP_MS {
                        self.host
                            .inboxes
                            .note_trouble(inbox, format!("a callback fails: {why}"))
                            .await;
                        self.host
                            .clock
                            .wait(backoff(tries, self.host.id_generator.number(), after))
                            .await;
                        continue;
                    }
                    format!("a callback has failed for hours, and {id} was given up: {why}")
                }
            };
            self.host.inboxes.note_trouble(inbox, trouble).await;
            return Some(());
        }
    }

    /// Says once how a run gets on; it is lost if it is not taken.
    pub(super) async fn send_soft(&self, event: Seq, body: CallbackEvent) {
        let Ok(Some(remote)) = self.host.inboxes.remote(self.key).await else { return };
        // Of another delivery's run it would be a lie.
        let own = remote.callbacks.contains_key(&event);
        let Some(url) = self.callback(&remote, Some(event)).filter(|_| own) else { return };
        let timeout = self.host.webhooks.timeout.min(SOFT_TIMEOUT);
        match self.post((remote.inbox, &url), &body, None, timeout).await {
            Some(Answer::Taken) | None => {}
            Some(answer) => tracing::debug!(?answer, "how a run gets on was not taken"),
        }
    }

    /// Where the answer to an event goes.
    fn callback(&self, remote: &Remote, of: Option<Seq>) -> Option<Url> {
        let callback = remote.callback(of, self.host.clock.now())?;
        let came = CameWith::open(self.host.auth.vault(), &callback.sealed)?;
        // It was checked when it came; what is allowed may be less since.
        check_url(&came.callback, &self.host.webhooks.strangers).ok()
    }

    async fn post(
        &self,
        (inbox, url): (Uid, &Url),
        event: &CallbackEvent,
        id: Option<&str>,
        timeout: Duration,
    ) -> Option<Answer> {
        let body: Bytes = serde_json::to_vec(event).ok()?.into();
        let mut headers = HeaderMap::new();
        if let Some(id) = id.and_then(|id| HeaderValue::from_str(id).ok()) {
            headers.insert(IDEMPOTENCY_KEY, id);
        }
        let _place = match &self.place {
            Some(places) => places.clone().acquire_owned().await.ok(),
            None => None,
        };
        let _turn = self.host.webhooks.places.take(To::Inbox(inbox)).await;
        Some(self.host.webhooks.egress.post(url, body, headers, timeout).await)
    }
}

/// What a message is to the service; that no answer comes is an error.
fn says(said: &Message, id: &str) -> Option<CallbackEvent> {
    let content = Some(text(said)).filter(|text| !text.is_empty())?;
    Some(match Unanswered::reported_by(said) {
        Some(why) => {
            CallbackEvent::Error { message: content, code: Some(why.event_type().to_owned()) }
        }
        None => CallbackEvent::Message { content, id: Some(id.to_owned()) },
    })
}

/// A message as the service is sent it: its text, and what is no text by its name.
fn text(message: &Message) -> String {
    let parts: Option<Vec<Part>> =
        message.parts.as_deref().and_then(|parts| serde_json::from_str(parts).ok());
    let Some(parts) = parts else { return message.text.to_string() };
    let texts = parts.into_iter().map(|part| match part {
        Part::Text { text } => text,
        Part::Asset { asset_id } => format!("[file {asset_id}]"),
        Part::Upload { name, .. } => format!("[file {name}]"),
        Part::BoardReference { board_id, .. } => format!("[board {board_id}]"),
    });
    texts.collect::<Vec<_>>().join("\n")
}
