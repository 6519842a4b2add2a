//! The store over real folders: what was answered is there after a restart, whatever went wrong between.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod audit;
mod beside;
mod doctor;
mod erase;
mod ground;
mod history;
mod objects;
mod postgres;
mod projects;
mod reading;
mod repair;
mod restart;
mod search;
mod silence;
mod sqlite;
mod wakes;
