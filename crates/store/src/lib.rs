//! The only crate that knows SQL. It stores a workspace, written by one writer and read by many
//! readers.
//!
//! All commands follow one pattern: load, decide, record (design section 3, "The store"). The
//! [`Writer`] runs waiting commands in batches, records their changes with one commit, and only
//! then answers; an answered command is on disk. [`Readers`] see committed state and never feed a
//! decision. [`doctor`] replays everything and reports inconsistencies.
//!
//! Reading order: [`db`] is the interface to an engine, [`schema`], [`sqlite`] and [`postgres`]
//! implement it, and [`Place`] selects one. Then there is a file for each family of tables, then
//! the writer, the readers and the doctor.

pub mod clock;
pub mod db;
pub mod membership;
pub mod postgres;
pub mod schema;
pub mod sqlite;

mod family;

mod approval;
mod asset;
mod connections;
mod conversation;
pub mod cpu_time;
mod damage;
mod digest;
mod directory;
mod durable;
mod endpoint;
mod event;
mod inbox;
mod job;
mod ledger;
mod listing;
mod log_snapshot;
mod message;
mod newest;
pub mod objects;
mod open;
mod open_error;
mod pause;
mod place;
mod project;
mod read_cursor;
mod registration;
mod row;
mod schedule;
mod stamps;
mod stimulus;
mod tenant;
mod thread;
mod token;
mod told;
mod turn;
mod unread;
mod wake;

mod departed;
mod families;

mod facts;
mod record;
pub mod writer;

pub mod reader;
pub mod search;
pub mod verify;

mod audit;
pub mod backup;
pub mod catalog;
pub mod doctor;
pub mod history;
pub mod repair;

mod store;

pub use audit::{AuditHead, AuditPlace};
pub use clock::{Clock, ManualClock, SystemClock};
pub use connections::Connections;
pub use db::Sync;
pub use doctor::doctor;
pub use job::JobsOf;
pub use listing::discover::{Discovery, Found, Position, SkillCount};
pub use newest::Lost;
pub use open_error::OpenError;
pub use place::Place;
pub use reader::{FeedEntry, IdKind, Line, Moderation, Page, Readers, Start, StoredEntry, Trace};
pub use repair::repair;
pub use store::{Options, Store, open};
pub use tenant::Tenant;
pub use unread::Unread;
pub use writer::{Commit, Health, Reply, Sink, Stats, Writer};
