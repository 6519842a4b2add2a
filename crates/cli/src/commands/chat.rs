//! `chorus chat`: one channel in a terminal: what is said above, what one types below.

use std::collections::{HashMap, HashSet};
use std::io::IsTerminal;

use chorus_client::Client;
use chorus_core::model::error::Code;
use chorus_wire::rest::events::Event;
use chorus_wire::rest::messages::NewMessage;
use rustyline::error::ReadlineError;
use rustyline::{DefaultEditor, ExternalPrinter};
use serde_json::Value;
use tokio::sync::mpsc;

use super::tail::{self, News};
use super::{Context, post};
use crate::failure::{Failure, Result};
use crate::print::{harmless, line};
use crate::printer::Shade;
use crate::{lines, lookup};

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Title or ch_… id
    channel: String,
    /// As this member (operators only)
    #[arg(long = "as", value_name = "MEMBER")]
    act_as: Option<String>,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    if context.print.json || !std::io::stdin().is_terminal() {
        let usage = Failure::usage("chat is for a person at a terminal");
        return Err(usage.next("use chorus post and chorus tail"));
    }
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
    if is_dumb || !std::io::stdout().is_terminal() {
        let usage = Failure::usage(
            "chat needs a terminal on which the cursor moves; TERM says that this is none",
        );
        return Err(usage.next("use chorus post and chorus tail"));
    }
    let client = context.client_as(args.act_as.as_deref()).await?;
    let channel = lookup::channel(&client, &args.channel).await?;
    let title = lookup::shown(&channel);
    let titles = HashMap::from([(channel.id.clone(), title.clone())]);
    let (past, head) = tail::history(&client, &channel, None).await?;
    for event in &past {
        context.print.text(&lines::event(&context.print, &titles, event))?;
    }
    context.print.note("type a message; @NAME asks somebody; /help; Ctrl-D ends");

    let failed = |error: ReadlineError| Failure::here("cannot use the terminal", error);
    let mut editor = DefaultEditor::new().map_err(failed)?;
    let printer = editor.create_external_printer().map_err(failed)?;
    let (say, mut said) = mpsc::unbounded_channel();
    let prompt = format!("{title}> ");
    std::thread::spawn(move || {
        while let Ok(typed) = editor.readline(&prompt) {
            // Where the history cannot be kept, typing goes on without it.
            let _ = editor.add_history_entry(&typed);
            if say.send(typed).is_err() {
                return;
            }
        }
    });
    let (tell, mut told) = mpsc::channel(256);
    tokio::spawn(tail::follow(client.clone(), channel.id.clone(), head, true, tell));
    let mut room = Room { context, titles, printer, answering: HashSet::new(), away: false };
    loop {
        tokio::select! {
            Some(news) = told.recv() => room.news(news)?,
            typed = said.recv() => match typed {
                Some(typed) if typed.trim().is_empty() => {}
                Some(typed) if is_command(&typed) => match typed.trim() {
                    "/quit" => return Ok(()),
                    "/help" => room.dim(HELP)?,
                    other => room.dim(&format!("there is no {}; {HELP}", line(other)))?,
                },
                Some(typed) if typed.starts_with("//") => {
                    room.post(&client, &channel.id, typed[1..].to_owned()).await?;
                }
                Some(typed) => room.post(&client, &channel.id, typed).await?,
                None => return Ok(()),
            },
        }
    }
}

const HELP: &str = "/help shows this, /quit ends; //TEXT says /TEXT; everything else is said";

/// A line that is for this program and is not said.
fn is_command(typed: &str) -> bool {
    typed.starts_with('/') && !typed.starts_with("//")
}

/// What says that somebody is at work.
const WORK: [&str; 2] = ["progress", "activity"];

/// The channel as it is shown.
struct Room<'a, P> {
    context: &'a Context,
    titles: HashMap<String, String>,
    printer: P,
    /// Agents that are at work, and were shown to be.
    answering: HashSet<String>,
    /// The host was away when it was last tried.
    away: bool,
}

impl<P: ExternalPrinter> Room<'_, P> {
    fn news(&mut self, news: News) -> Result {
        match news {
            News::Event(event) => self.event(&event),
            News::Activity(_, name, data) if WORK.contains(&name.as_str()) => self.activity(&data),
            // Receipts and typing are for pages that are looked at.
            News::Activity(..) => Ok(()),
            News::Failed(error) => Err(error.into()),
            News::Away(is) if is != self.away => {
                self.away = is;
                self.dim(tail::presence(is))
            }
            News::Away(_) => Ok(()),
        }
    }

    fn event(&mut self, event: &Event) -> Result {
        self.answering.remove(&event.actor.id);
        let text = lines::event(&self.context.print, &self.titles, event);
        self.show(&text)
    }

    /// One dim line when an agent begins to answer.
    fn activity(&mut self, data: &Value) -> Result {
        let Some(member) = data["member"].as_str() else { return Ok(()) };
        if !self.answering.insert(member.to_owned()) {
            return Ok(());
        }
        self.dim(&format!("           {} is answering", line(member)))
    }

    async fn post(&mut self, client: &Client, conversation: &str, text: String) -> Result {
        let message = NewMessage {
            conversation: conversation.to_owned(),
            text: Some(text),
            idempotency_key: Some(post::new_key()?),
            ..NewMessage::default()
        };
        match client.post(&message).await {
            Ok(posted) => {
                let unknown = lines::unknown_names(&posted.unknown_names);
                if unknown.is_empty() { Ok(()) } else { self.dim(unknown.trim()) }
            }
            Err(error) if error.code() == Some(Code::Unauthorized) => Err(error.into()),
            // It was not said: the person may try again.
            Err(error) => self.dim(&format!("not posted: {error}")),
        }
    }

    fn dim(&mut self, text: &str) -> Result {
        let text = self.context.print.shade(Shade::Dim, text);
        self.show(&text)
    }

    fn show(&mut self, text: &str) -> Result {
        let text = format!("{}\n", harmless(text, self.context.print.colour));
        self.printer.print(text).map_err(|e| Failure::here("cannot write to the terminal", e))
    }
}
