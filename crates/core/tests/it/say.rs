//! Messages that tests post.

use chorus_core::model::attention::Directedness;
use chorus_core::model::event::{Idempotency, Message};
use chorus_core::model::ids::Uid;
use chorus_core::model::requests::Post;

/// A message to be posted: `Say::to(house.ops, "…").answering(event)`.
#[derive(Clone)]
pub struct Say(pub Post);

impl Say {
    pub fn to(conversation: Uid, text: &str) -> Self {
        Self(Post {
            conversation,
            thread: None,
            message: Message { text: text.into(), ..Message::default() },
            in_reply_to: None,
            idempotency: None,
            recipient: None,
            mentions: Vec::new(),
            directedness: None,
            audience: Default::default(),
            left_out: Vec::new(),
        })
    }

    pub fn answering(mut self, event: Uid) -> Self {
        self.0.in_reply_to = Some(event);
        self
    }

    pub fn in_thread(mut self, thread: Uid) -> Self {
        self.0.thread = Some(thread);
        self
    }

    pub fn meant(mut self, directedness: Directedness) -> Self {
        self.0.directedness = Some(directedness);
        self
    }

    /// Under an idempotency key; the payload stands for the whole content.
    pub fn under(mut self, key: u8, payload: u8) -> Self {
        self.0.idempotency = Some(Idempotency { key: [key; 16], payload: [payload; 16] });
        self
    }
}
