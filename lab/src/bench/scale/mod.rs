//! `bench scale`: on a database, two hosts of which one owns the workspace ([`hosts`]); on files, many workspaces of one host
//! ([`workspaces`]).

pub(super) mod hosts;
pub(super) mod workspaces;

fn p99(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all.get(all.len() * 99 / 100).copied().unwrap_or(f64::NAN)
}
