//! The runner.
pub mod home;
mod reports;
