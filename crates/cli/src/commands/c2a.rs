//! `chorus c2a`: the attention transport for a program that speaks over its standard streams.

use chorus_client::c2a;
use tokio::io::BufReader;

use super::Context;
use crate::failure::Result;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {}

pub(crate) async fn run(_: Args, context: &Context) -> Result {
    let client = context.target.client()?;
    let (input, output) = (BufReader::new(tokio::io::stdin()), tokio::io::stdout());
    let token = client.token().unwrap_or_default();
    Ok(c2a::bridge(client.base_url(), token, input, output).await?)
}
