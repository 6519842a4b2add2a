//! `chorus delete`: takes a message away, and with it what anybody still owed for it.

use serde_json::json;

use super::Context;
use crate::failure::Result;
use crate::short_ids;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// msg_… or evt_… id
    message: String,
    /// As this member (operators only)
    #[arg(long = "as", value_name = "MEMBER")]
    act_as: Option<String>,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    let client = context.client_as(args.act_as.as_deref()).await?;
    client.delete_message(&args.message).await?;
    let id = args.message;
    context.print.show(&json!({ "deleted": id }), |_| format!("deleted {}", short_ids::shown(&id)))
}
