//! `chorus whoami`: who the caller is, and on which host.

use super::Context;
use crate::failure::Result;
use crate::print::line;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {}

pub(crate) async fn run(_: Args, context: &Context) -> Result {
    let client = context.target.client()?;
    let me = client.whoami().await?;
    context.print.show(&me, |me| {
        let (id, name) = (line(&me.member.id), line(&me.member.display_name));
        let url = client.base_url().trim_end_matches('/');
        format!("{id} ({name}), {} at {url}", me.role.name())
    })
}
