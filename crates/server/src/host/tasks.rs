//! What goes on in the background until the host stops.

use std::sync::Arc;
use std::thread::JoinHandle;

use chorus_store::search::Index;
use tokio::sync::{mpsc, watch};

use super::verify::Verifier;
use super::{StartError, dispatchers, first, heads, retention};
use crate::config::Config;
use crate::dispatch::hiring::Due;
use crate::dispatch::{jobs, replies, webhook};
use crate::indexer;
use crate::services::App;

/// The threads that keep the search index and verify the logs.
pub(super) fn threads(app: &App, index: Index) -> Result<(JoinHandle<()>, Verifier), StartError> {
    let (hints, readers) = (app.shared.searching.hints.clone(), &app.shared.readers);
    let indexer = indexer::start(hints, index, readers.clone()).map_err(StartError::Thread)?;
    let verifier = Verifier::start(readers.clone()).map_err(StartError::Thread)?;
    Ok((indexer, verifier))
}

pub(super) fn start(
    config: &Config,
    app: &Arc<App>,
    due: mpsc::Receiver<Due>,
    members_moved: watch::Receiver<()>,
    stopped: &watch::Receiver<bool>,
) {
    let (data, stopped) = (&config.data, || stopped.clone());
    tokio::spawn(heads::keep(app.clone(), data.clone(), stopped()));
    tokio::spawn(first::keep_token(app.clone(), data.clone(), stopped()));
    tokio::spawn(replies::serve(dispatchers::replies(app), stopped()));
    let hiring = dispatchers::jobs(app);
    tokio::spawn(jobs::serve(hiring.clone(), due, stopped()));
    tokio::spawn(jobs::look(hiring, stopped()));
    tokio::spawn(app.assets.clone().make_thumbnails(stopped()));
    tokio::spawn(app.assets.clone().keep_objects(stopped()));
    tokio::spawn(webhook::serve(dispatchers::webhook(app), members_moved, stopped()));
    let (readers, writer) = (app.shared.readers.clone(), app.shared.writer.clone());
    tokio::spawn(app.shared.quotas.clone().keep(readers, writer, stopped()));
    let every = config.settings.retention.every.ms();
    tokio::spawn(retention::keep(app.clone(), every, stopped()));
}
