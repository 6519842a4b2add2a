//! The host: use cases, transports, dispatchers, and what holds them together.
//!
//! Reading order: [`host`] starts everything; [`auth`] says who is calling; [`services`] is what can be done, a
//! capability a file; [`transport`] is how it comes in, [`dispatch`] how it goes out, [`view`] how it is shown.
//! Transports never see the store, and nothing in here decides what core decides (design section 3).

pub mod config;
pub mod files;
pub mod history;
pub mod host;
pub mod logging;
#[doc(hidden)]
pub mod parsers;
pub mod redact;

mod auth;
mod cluster;
mod dispatch;
mod egress;
mod fair_semaphore;
mod indexer;
mod limits;
mod listen;
pub mod objects;
mod page;
#[doc(hidden)]
pub mod placement;
mod request;
mod services;
mod telemetry;
mod tls;
mod traces;
mod transport;
mod view;
mod workspaces;

pub use chorus_store::doctor::{Report, doctor};
pub use chorus_store::postgres::{Address, AddressError};
pub use chorus_store::repair::{Repair, repair};
pub use chorus_store::{OpenError, Place, Sync, backup};
pub use config::{Config, Pace};
pub use egress::signature;
pub use host::checked::unusable;
pub use host::heads::verify;
pub use host::{Host, Running, StartError};
