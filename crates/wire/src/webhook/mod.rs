//! The webhook protocol: agents behind connection strings (webhook spec; `spec/webhook.md`).
//!
//! A service POSTs a [`Delivery`] to the string; the agent POSTs [`CallbackEvent`]s to the callback
//! URL in it. Chorus is on both sides, so every type here is written and read. Unknown fields are
//! ignored, because other services and agents send their own.

mod callback;
mod delivery;

pub use callback::{Accepted, CallbackEvent, Lifecycle, StandingCallback};
pub use delivery::{
    Attention, Channel, Delivery, Extension, Knock, McpServer, McpServers, Message, Reminder,
    ReminderKind, Sender, Thread,
};

/// The path of an inbox: `/inbox/{secret}`.
pub const INBOX: &str = "/inbox/";
/// The prefix of a connection string's secret.
pub const SECRET_PREFIX: &str = "sk_";
/// The prefix of a callback's token.
pub const TOKEN_PREFIX: &str = "tok_";
/// The header that identifies a repeated POST. Both sides send and read it.
pub const IDEMPOTENCY_KEY: &str = "idempotency-key";
/// Largest delivery that an inbox accepts, in bytes: a message, its parts and its fragments.
pub const DELIVERY_BYTES: usize = 1024 * 1024;
/// Largest event that a callback accepts, in bytes; each line of NDJSON is one event.
pub const EVENT_BYTES: usize = 512 * 1024;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::{Value, json};

    use super::*;

    /// Marks what `Debug` must not show: texts and credentials.
    const SECRET: &str = "swordfish";

    fn delivery(rest: Value) -> Value {
        let url = format!("https://a.example/{SECRET}");
        let mut body = json!({
            "channel": {"id": "C1", "name": SECRET, "service": SECRET, "context": SECRET},
            "callback": url,
            "mcp": {"url": url, "headers": {"Authorization": format!("Bearer {SECRET}")}},
            "chorus": {"earlier": [{"id": "m0", "sender": SECRET, "content": SECRET}],
                "parts": [{"type": "text", "text": SECRET}]},
        });
        body.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        body
    }

    #[test]
    fn debug_output_contains_no_text_and_no_credential() {
        let message = json!({"message": {"id": "m1", "sender": SECRET, "content": SECRET}});
        let reminder = json!({"kind": "reminder", "event_id": "m1"});
        let mut printed = vec![
            format!("{:?}", serde_json::from_value::<Delivery>(delivery(message)).unwrap()),
            format!("{:?}", serde_json::from_value::<Reminder>(delivery(reminder)).unwrap()),
        ];
        for event in [
            json!({"type": "message", "content": SECRET}),
            json!({"type": "tool_call", "name": SECRET, "args": {"q": SECRET}}),
            json!({"type": "tool_result", "content": SECRET}),
            json!({"type": "status", "status": SECRET}),
            json!({"type": "error", "message": SECRET}),
        ] {
            printed.push(format!("{:?}", serde_json::from_value::<CallbackEvent>(event).unwrap()));
        }
        let granted = json!({"url": SECRET, "expires_at": "2026-06-02T19:10:00.000Z"});
        let granted: StandingCallback = serde_json::from_value(granted).unwrap();
        printed.push(format!("{:?}", Accepted { callback: Some(granted), ..Accepted::default() }));
        for printed in printed {
            assert!(!printed.contains(SECRET), "{printed}");
        }
    }
}
