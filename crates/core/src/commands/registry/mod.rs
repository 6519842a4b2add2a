//! The registry: agents register, say that they live, and leave (registry spec section 3.1).

mod check;
mod heartbeat;
pub(crate) mod lookup;
mod register;

pub use check::ChallengeEndpoint;
pub use heartbeat::Heartbeat;
pub use register::{Register, Registered, Unregister};
