//! What only a database that others run can do to a host: refuse it, go away, come back.

mod away;
mod owners;
mod refused;
mod schedules;
mod statistics;
mod tls;
mod trouble;

use std::path::Path;
use std::sync::Arc;

use chorus_cluster::{Cluster, Durability};
use chorus_core::model::ids::{Timestamp, Uid};
use chorus_store::postgres::Address;
use chorus_store::{Options, Place};

use crate::ground::Ground;

fn address(url: &str) -> Arc<Address> {
    Arc::new(Address::read(url).unwrap())
}

fn options(folder: &Path, url: &str) -> Options {
    Options { database: Some(address(url)), ..Options::new(folder, Uid(0xab)) }
}

fn ground(folder: &Path, url: &str) -> Ground {
    Ground::with(options(folder, url), Timestamp(1_000_000))
}

fn problems(url: &str) -> Vec<chorus_store::doctor::Problem> {
    chorus_store::doctor(&Place::Postgres(address(url))).unwrap().problems
}
