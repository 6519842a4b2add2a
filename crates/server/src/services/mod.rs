//! What can be done here: one use case a file. Transports parse and print; the store is known to this module alone.
//!
//! A use case turns what was asked into a [`Command`] and waits for its answer, or reads what the caller may
//! see. It decides nothing about the room itself: that is core's. What it checks is what only the edge knows:
//! ids, content, and what a token may be used for.

pub(crate) mod alike;
mod answered;
mod id_generator;
mod idempotency;
mod ids;
mod pages;
mod reads;
mod resolve;

mod app;
pub(crate) mod clock;
pub(crate) mod commands;
pub(crate) mod hosts;
pub(crate) mod identity;
pub(crate) mod messages;
pub(crate) mod methods;
mod names;
mod nearest;
pub(crate) mod operator;
pub(crate) mod posts;
mod shared;
pub(crate) mod short_ids;
pub(crate) mod sign_ins;

pub(crate) mod callbacks;
pub(crate) mod channels;
pub(crate) mod copies;
pub(crate) mod cursors;
pub(crate) mod endpoints;
pub(crate) mod members;
pub(crate) mod pauses;
pub(crate) mod projects;
pub(crate) mod quotas;
pub(crate) mod reactions;
pub(crate) mod retention;
pub(crate) mod roles;
pub(crate) mod schedules;
pub(crate) mod search;
pub(crate) mod stimuli;
pub(crate) mod streams;
pub(crate) mod thread_work;
pub(crate) mod threads;
pub(crate) mod tokens;

pub(crate) mod approvals;
pub(crate) mod assets;
pub(crate) mod audit;
pub(crate) mod claims;
pub(crate) mod deliveries;
pub(crate) mod digests;
pub(crate) mod dispositions;
pub(crate) mod explanations;
pub(crate) mod inboxes;
mod listing;
pub(crate) mod mail;
pub(crate) mod runs;
mod screens;
pub(crate) mod sessions;
pub(crate) mod turns;
pub(crate) mod wakes;
mod workspaces;

pub(crate) mod drain;
pub(crate) mod follow;
pub(crate) mod live;
pub(crate) mod log;

pub(crate) mod registry;

pub(crate) use app::App;
pub(crate) use id_generator::IdGenerator;
pub(crate) use shared::Shared;
