//! `chorus thread work`: how the work of a thread stands.

use chorus_client::Client;
use chorus_core::model::thread::work::{BindingKind, WorkStatus};
use chorus_wire::rest::thread_work::{Binding, Progress, Report, Work, WorkPatch};
use chorus_wire::rest::threads::Thread;

use crate::failure::Result;
use crate::print::line;
use crate::values::word;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    thread: String,
    /// proposed, active, reviewing, completed or superseded; it never goes back
    #[arg(long, value_parser = word::<WorkStatus>)]
    status: Option<WorkStatus>,
    /// What it is about, in a word of your own
    #[arg(long, value_name = "WORD")]
    topic: Option<String>,
    /// Names the undertaking: a channel has one live thread of it
    #[arg(long, value_name = "KEY")]
    initiative: Option<String>,
    /// The session that does it
    #[arg(long, value_name = "SESSION")]
    owner_session: Option<String>,
    /// Bind it to a schedule, run, sidechain_agent, task or observation: KIND:ID; may be given again
    #[arg(long, value_name = "KIND:ID", value_parser = binding)]
    bind: Vec<Binding>,
    #[arg(long, value_name = "KIND:ID", value_parser = binding)]
    unbind: Vec<Binding>,
    /// The newest word on a stream of progress
    #[arg(long, value_name = "KEY", requires = "text")]
    progress: Option<String>,
    #[arg(long, value_name = "TEXT", requires = "progress")]
    text: Option<String>,
    /// How much of it is done
    #[arg(long, requires = "progress", value_parser = clap::value_parser!(u8).range(0..=100))]
    percent: Option<u8>,
    /// A stream of progress that is over; may be given again
    #[arg(long, value_name = "KEY")]
    forget: Vec<String>,
}

/// Changes it; the thread as it is then.
pub(super) async fn run(args: Args, client: &Client) -> Result<Thread> {
    let percent = args.percent;
    let report = args.progress.zip(args.text);
    let patch = WorkPatch {
        status: args.status.map(Into::into),
        topic_kind: args.topic.map(Some),
        owner_session: args.owner_session.map(Some),
        initiative_key: args.initiative.map(Some),
        bind: args.bind,
        unbind: args.unbind,
        progress: report.map(|(key, text)| Report { key, text, percent }),
        forget: args.forget,
    };
    Ok(client.change_work(&args.thread, &patch).await?)
}

/// How it stands, on a line of its own; then what it is bound to and how far it is.
pub(super) fn shown(work: &Work) -> String {
    let mut text = format!("\n  work {}", work.status.name());
    let named = [(" on ", &work.topic_kind), (", initiative ", &work.initiative_key)];
    for (what, name) in named {
        text.extend(name.iter().map(|name| format!("{what}{}", line(name))));
    }
    for Binding { kind, id } in &work.bindings {
        text.push_str(&format!("\n  {} {}", kind.name(), line(id)));
    }
    text.extend(work.progress.iter().map(|progress| format!("\n  {}", one_progress(progress))));
    text.extend(work.summary.iter().map(|summary| format!("\n  result: {}", line(&summary.text))));
    text
}

pub(super) fn one_progress(progress: &Progress) -> String {
    let percent = progress.percent.map(|percent| format!(" {percent} %")).unwrap_or_default();
    format!("{}:{percent} {}", line(&progress.key), line(&progress.text))
}

fn binding(text: &str) -> std::result::Result<Binding, String> {
    let (kind, id) = text.split_once(':').ok_or("write it as KIND:ID")?;
    Ok(Binding { kind: word::<BindingKind>(kind)?.into(), id: id.to_owned() })
}
