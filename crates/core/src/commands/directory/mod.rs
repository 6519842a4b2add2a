//! The directory: members, roles, streams, sessions and their tokens.

pub(crate) mod heartbeat;
pub(crate) mod members;
pub(crate) mod pause;
pub(crate) mod roles;
pub(crate) mod sessions;
pub(crate) mod token;

pub use heartbeat::{Heartbeat, SessionName};
pub use members::{AddMember, ChangeMember, RemoveMember, SetLead};
pub use pause::PauseAgent;
pub use roles::{AddRole, AddStream, RemoveRole, SetRoleMember};
pub use sessions::{CloseSession, KnowSession, OpenSession};
pub use token::{IssueToken, RevokeToken, RevokeTokens, SweepExpired};
