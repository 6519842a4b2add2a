//! C2A, the attention protocol at `/v1/c2a` (`spec/attention.md`): who receives what, who must
//! answer, and the chat tools. camelCase, protocol version [`PROTOCOL_VERSION`].
//!
//! Host to harness: [`deliver`], [`notifications`]. Harness to host: [`initialize`], [`tools`],
//! [`disposition`], [`notifications`]. Unknown fields are ignored in messages, so that an older
//! peer understands a newer one, and refused in the arguments of tools.

pub mod initialize;

pub mod channel;
pub mod content;
pub mod deliver;
pub mod shared;
pub mod told;

pub mod entry;
pub mod files;
pub mod listing;
mod schema;
pub mod tools;

pub mod disposition;
pub mod notifications;
pub mod screen;
pub mod wake;

/// The version of C2A that this host implements.
pub const PROTOCOL_VERSION: &str = "2026-06-02";

/// The methods, by who sends them.
pub mod method {
    /// Harness to host, requests.
    pub const INITIALIZE: &str = "initialize";
    pub const TOOLS_LIST: &str = "tools/list";
    pub const TOOLS_CALL: &str = "tools/call";
    pub const DISPOSITION: &str = "chat/disposition";
    /// A runner's, about a wake.
    pub const WAKE_REPORT: &str = "wake/report";
    pub const PING: &str = "ping";

    /// Host to harness, a request; its result is the acknowledgement.
    pub const DELIVER: &str = "chat/deliver";

    /// Notifications, both ways.
    pub const CANCELLED: &str = "notifications/cancelled";
    pub const TYPING: &str = "notifications/typing";
    /// Harness to host.
    pub const INITIALIZED: &str = "notifications/initialized";
    pub const PROGRESS: &str = "notifications/progress";
    pub const MESSAGE: &str = "notifications/message";
    /// A runner's, while somebody looks at its program.
    pub const SCREEN: &str = "notifications/screen";
    /// Host to harness.
    pub const WAKE: &str = "session/wake";
    pub const WATCH: &str = "session/watch";
    pub const DIGEST: &str = "notifications/digest";
    pub const CLOSING: &str = "notifications/closing";

    /// Every method that a harness may send.
    pub const OF_HARNESS: [&str; 12] = [
        INITIALIZE,
        TOOLS_LIST,
        TOOLS_CALL,
        DISPOSITION,
        WAKE_REPORT,
        PING,
        CANCELLED,
        TYPING,
        INITIALIZED,
        PROGRESS,
        MESSAGE,
        SCREEN,
    ];
}
