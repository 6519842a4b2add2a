//! What a data folder's one file is: only on SQLite.

mod audit;
mod backup;
mod folder;
mod indexes;
mod newest;
mod scrub;
