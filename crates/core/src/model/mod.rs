//! Plain data types: members, conversations, messages, deliveries and their states.

pub mod caller;
pub mod ids;
pub mod member;
pub mod seed;
pub mod token;
mod uuid;

pub mod activity;
pub mod conversation;
pub mod cursor;
pub mod event;
pub mod log_snapshot;
pub mod message_state;
pub mod reaction;
pub mod requests;
pub mod thread;
pub mod turn;

pub mod asset;

pub mod job;
pub mod ledger;
pub mod registry;

pub mod attention;
pub mod claim;
pub mod delivery;
pub mod digest;
pub mod disposition;
pub mod flow;
pub mod offer;
pub mod wake;

pub mod approval;
pub mod audit;
pub mod budget;
pub mod endpoint;
pub mod inbox;
pub mod project;
pub mod schedule;
pub mod stimulus;
pub mod workspace_name;

pub mod error;
pub mod limits;
pub mod maps;
pub mod text;
