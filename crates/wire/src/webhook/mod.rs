//! The `webhook` transport: an agent behind a connection string (webhook spec; `spec/webhook.md`).
//!
//! A service POSTs a [`Delivery`] to the string; the agent POSTs [`CallbackEvent`]s to the URL that came with it.
//! Chorus is on both sides, so every type here is written and read. Unknown fields are skipped, since other
//! services and agents send their own.

mod callback;
mod delivery;

pub use callback::{Accepted, CallbackEvent, Lifecycle, StandingCallback};
pub use delivery::{
    Attention, Channel, Delivery, Extension, Knock, McpServer, McpServers, Message, Reminder,
    Reminds, Sender, Thread,
};

/// Where an agent of this host is reached: `/inbox/{secret}`.
pub const INBOX: &str = "/inbox/";
/// What a connection string's secret begins with.
pub const SECRET_PREFIX: &str = "sk_";
/// What a callback's token begins with.
pub const TOKEN_PREFIX: &str = "tok_";
/// The header that is the same whenever the same is posted again; both sides send it, and read it.
pub const IDEMPOTENCY_KEY: &str = "idempotency-key";
/// Largest delivery that an inbox takes, in bytes: a message, its parts and its fragments.
pub const DELIVERY_BYTES: usize = 1024 * 1024;
/// Largest event that a callback takes, in bytes; a line of NDJSON is one.
pub const EVENT_BYTES: usize = 512 * 1024;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::{Value, json};

    use super::*;

    /// What is in a body that `Debug` must not show: words, and whatever lets somebody in.
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
    fn what_is_printed_has_nobodys_words_and_lets_nobody_in() {
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
