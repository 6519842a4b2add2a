//! `chorus post`: say something in a channel; or, with `--preview`, see who would be told of it.

use chorus_client::Client;
use chorus_core::model::attention::Directedness;
use chorus_wire::part::Part;
use chorus_wire::rest::members::Agent;
use chorus_wire::rest::messages::{NewMessage, Posted, Visibility};
use serde::Deserialize;

use super::{Context, asset};
use crate::failure::{Failure, Result};
use crate::print::line;
use crate::values::word;
use crate::{lines, lookup, short_ids};

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Title or ch_… id
    channel: String,
    /// What to say; `-` reads it from standard input
    #[arg(required = true)]
    text: Vec<String>,
    #[arg(long, value_name = "ID")]
    thread: Option<String>,
    /// The message it answers
    #[arg(long, value_name = "MESSAGE")]
    reply_to: Option<String>,
    /// Say it as this member (operators only)
    #[arg(long = "as", value_name = "MEMBER")]
    act_as: Option<String>,
    /// Only show who would be told, and why
    #[arg(long)]
    preview: bool,
    /// The same for every retry of this message [default: a new one]
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// For this member alone
    #[arg(long, value_name = "MEMBER")]
    recipient: Option<String>,
    /// Name somebody without writing @; may be given again
    #[arg(long, value_name = "MEMBER")]
    mention: Vec<String>,
    /// Leave this member out, whatever names it; may be given again
    #[arg(long, value_name = "MEMBER")]
    not_to: Vec<String>,
    /// The audience intended; lowers what is owed, never raises it
    #[arg(long, value_parser = word::<Directedness>)]
    directedness: Option<Directedness>,
    /// dm, thread, channel or ephemeral
    #[arg(long, value_parser = visibility)]
    visibility: Option<Visibility>,
    /// Shown to these members only, and kept from everybody else; alone, to whom the message it answers is
    /// shown
    #[arg(
        long,
        value_name = "MEMBERS",
        value_delimiter = ',',
        num_args = 0..=1,
        conflicts_with = "visibility"
    )]
    ephemeral: Option<Vec<String>>,
    /// A file to go with it; may be given again
    #[arg(long, value_name = "FILE", conflicts_with = "preview")]
    attach: Vec<std::path::PathBuf>,
    /// A JSON object kept with the message
    #[arg(long, value_name = "JSON", value_parser = object)]
    metadata: Option<Box<serde_json::value::RawValue>>,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    let client = context.client_as(args.act_as.as_deref()).await?;
    let member = |name: String| lookup::member(&name).to_owned();
    let key = if args.preview { args.key } else { Some(args.key.map_or_else(new_key, Ok)?) };
    let said = text(args.text)?;
    let mut content = Vec::new();
    for file in &args.attach {
        let (name, data) = asset::read(file, None)?;
        let asset_id = client.add_asset(&name, data).await?.asset_id;
        content.push(Part::Asset { asset_id });
    }
    let (said, content) = match content.is_empty() {
        true => (Some(said), None),
        false => {
            content.insert(0, Part::text(said));
            (None, Some(content))
        }
    };
    let message = NewMessage {
        conversation: lookup::conversation(&client, &args.channel).await?,
        thread: args.thread,
        text: said,
        content,
        in_reply_to: args.reply_to,
        idempotency_key: key,
        recipient: args.recipient.map(member),
        mentions: args.mention.into_iter().map(member).collect(),
        directedness: args.directedness.map(Into::into),
        visibility: match args.ephemeral {
            Some(_) => Some(Visibility::Ephemeral),
            None => args.visibility,
        },
        not_to: args.not_to.into_iter().map(member).collect(),
        only: args.ephemeral.into_iter().flatten().map(member).collect(),
        metadata: args.metadata,
        ..NewMessage::default()
    };
    if args.preview {
        let preview = client.preview(&message).await?;
        return context.print.show(&preview, |preview| {
            let told = lines::told_table(&preview.told, preview.rest.0);
            let unknown = lines::unknown_names(&preview.unknown_names);
            format!("read as: {}\n{told}{unknown}", preview.intent.name())
        });
    }
    let posted = client.post(&message).await?;
    let offline = match context.print.json {
        true => Vec::new(),
        // What was said is said, whatever becomes of this question.
        false => offline(&client, &posted).await.unwrap_or_default(),
    };
    context.print.show(&posted, |posted| receipt(posted) + &offline.concat())
}

/// A line for each agent that was told and is not there to hear it. Those behind connection strings have no session.
async fn offline(client: &Client, posted: &Posted) -> Result<Vec<String>> {
    // Nothing is delivered of what is silent.
    let told: Vec<_> = posted.told.iter().filter(|told| told.mode.tells()).collect();
    let is_told = |agent: &Agent| told.iter().any(|told| told.member == agent.member.id);
    if told.is_empty() {
        return Ok(Vec::new());
    }
    let mut agents = client.agents().await?.agents;
    agents.retain(|agent| !agent.online && is_told(agent));
    if agents.is_empty() {
        return Ok(Vec::new());
    }
    let behind = match client.endpoints().await {
        Ok(all) => all.endpoints,
        Err(_) => Vec::new(),
    };
    agents.retain(|agent| behind.iter().all(|endpoint| endpoint.member != agent.member.id));
    let line = |agent: &Agent| {
        let id = line(&agent.member.id);
        format!(
            "\n  {id} is offline; it is told when it is back: chorus run --agent {id} …, chorus join --agent {id} …"
        )
    };
    Ok(agents.iter().map(line).collect())
}

fn receipt(posted: &Posted) -> String {
    let again = if posted.duplicate { " (posted before under this key)" } else { "" };
    let mut text = format!("{} seq {}{again}", short_ids::shown(&posted.event_id), posted.seq);
    for told in &posted.told {
        text.push_str(&format!("\n  told {}", lines::told(told)));
    }
    if posted.redacted > 0 {
        text.push_str(&format!("\n  {} secret(s) were blacked out", posted.redacted));
    }
    if posted.told.is_empty() && !posted.duplicate {
        text.push_str("\n  told nobody");
    }
    text.push_str(&lines::unknown_names(&posted.unknown_names));
    text
}

/// The words as they were written; the shell has taken their spaces.
pub(crate) fn text(words: Vec<String>) -> Result<String> {
    if words != ["-"] {
        return Ok(words.join(" "));
    }
    let mut text = String::new();
    std::io::Read::read_to_string(&mut std::io::stdin().lock(), &mut text)
        .map_err(|e| Failure::here("cannot read standard input", e))?;
    Ok(text.trim_end_matches('\n').to_owned())
}

/// 128 random bits: no two messages share it by chance.
pub(crate) fn new_key() -> Result<String> {
    let mut bytes = [0u8; 16];
    getrandom::fill(&mut bytes).map_err(|e| Failure::here("no randomness", e))?;
    Ok(format!("cli:{:032x}", u128::from_be_bytes(bytes)))
}

fn visibility(text: &str) -> std::result::Result<Visibility, String> {
    let text = serde_json::Value::from(text);
    Visibility::deserialize(text).map_err(|_| "dm, thread, channel or ephemeral".to_owned())
}

fn object(text: &str) -> std::result::Result<Box<serde_json::value::RawValue>, String> {
    serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text)
        .and_then(|_| serde_json::from_str(text))
        .map_err(|e| format!("not a JSON object: {e}"))
}
