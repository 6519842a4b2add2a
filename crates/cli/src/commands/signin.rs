//! `chorus signin`: a new link that signs the caller in, in a browser or on another machine.

use super::Context;
use crate::failure::Result;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {}

pub(crate) async fn run(_: Args, context: &Context) -> Result {
    let link = context.target.client()?.sign_in_link().await?;
    context.print.show(&link, |link| link.url.clone())?;
    context.print.note("open it once, within ten minutes; on another machine: chorus login LINK");
    Ok(())
}
