//! The host: use cases, doors, couriers, and what holds them together.
//!
//! Reading order: [`host`] starts everything; [`auth`] says who is calling; [`app`] is what can be done, a use
//! case a file; [`doors`] is how it comes in, [`couriers`] how it goes out, [`view`] how it is shown. Doors
//! never see the store, and nothing in here decides what core decides (design section 3).

pub mod config;
pub mod files;
pub mod history;
pub mod host;
pub mod logging;
#[doc(hidden)]
pub mod parsers;
pub mod redact;

mod app;
mod auth;
mod couriers;
mod doors;
mod indexer;
mod limits;
mod listen;
mod outward;
mod page;
mod telemetry;
mod tls;
mod traces;
mod view;

pub use chorus_store::backup;
pub use chorus_store::doctor::{Report, doctor};
pub use chorus_store::postgres::{Address, AddressError};
pub use chorus_store::repair::{Repair, repair};
pub use chorus_store::{OpenError, Place, Sync};
pub use config::{Config, Pace};
pub use host::heads::verify;
pub use host::{Host, Running, StartError};
pub use outward::signature;
