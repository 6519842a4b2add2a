//! `chorus health`: whether the host takes work, by its exit code. It needs no token and no shell, so
//! that a container can run it as its health check (OPS-500).

use chorus_client::{Client, Error};
use chorus_core::model::error::Code;
use serde_json::json;

use super::Context;
use crate::failure::{Failure, Result};

#[derive(clap::Args, Debug)]
pub(crate) struct Args {}

pub(crate) async fn run(_: Args, context: &Context) -> Result {
    let url = context.target.url()?;
    // Anybody may ask, so that no token is read or sent.
    let ready = Client::new(&url, "")?.ready().await;
    ready.map_err(|why| not_ready(&url, why))?;
    context.print.show(&json!({ "url": url, "ready": true }), |_| format!("{url} is ready"))
}

/// `/readyz` says in plain words why not, which is no envelope.
fn not_ready(url: &str, why: Error) -> Failure {
    let message = match why {
        Error::Protocol(answer) => format!("{url} is not ready: {answer}"),
        other => other.to_string(),
    };
    Failure::new(Code::Unavailable, message)
}
