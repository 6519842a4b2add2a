//! `chorus stimuli`: requests to open or continue a public thread without a person asking.

use chorus_core::model::stimulus::{StimulusKind, StimulusState};
use chorus_wire::rest::stimuli::{
    ListStimuli, NewStimulus, Stimulus, StimulusScope, StimulusVisibility,
};
use clap::Subcommand;

use super::Context;
use crate::failure::Result;
use crate::lookup;
use crate::print::{clock, line, short, table};
use crate::values::word;

#[derive(Debug, Subcommand)]
pub(crate) enum Args {
    /// What waits to be said in a channel, and what was lately
    #[command(visible_alias = "ls")]
    List {
        channel: String,
        /// pending, claimed, dispatched, coalesced, superseded or cancelled
        #[arg(long, value_parser = word::<StimulusState>)]
        state: Option<StimulusState>,
    },
    /// Ask for a word in public; it is said when the channel's budgets allow
    Create {
        channel: String,
        text: String,
        /// agent_idea, schedule_fire, task_completed, observation_materialized, …
        #[arg(long, value_parser = word::<StimulusKind>, default_value = "agent_idea")]
        kind: StimulusKind,
        /// Continue this thread instead of opening a subject
        #[arg(long)]
        thread: Option<String>,
        #[arg(long)]
        title: Option<String>,
        /// The member whose word it is
        #[arg(long, value_name = "MEMBER")]
        source: Option<String>,
        /// Whom it is for; may be given again
        #[arg(long, value_name = "MEMBER")]
        target: Vec<String>,
        /// Show it to its targets only
        #[arg(long, requires = "thread", requires = "target")]
        private: bool,
        /// What has the same key is replaced by it
        #[arg(long, value_name = "KEY")]
        progress: Option<String>,
        #[arg(long, value_name = "KEY")]
        dedupe: Option<String>,
        /// The undertaking whose live thread it continues
        #[arg(long, value_name = "KEY")]
        initiative: Option<String>,
    },
    /// Call a stimulus off that was not said yet
    Cancel { channel: String, stimulus: String },
    /// Ask again for one that was cancelled
    Retry { channel: String, stimulus: String },
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    let client = context.target.client()?;
    let member = |name: String| lookup::member(&name).to_owned();
    match args {
        Args::List { channel, state } => {
            let channel = lookup::conversation(&client, &channel).await?;
            let all =
                client.stimuli(&channel, &ListStimuli { state: state.map(Into::into) }).await?;
            context.print.show(&all, |all| list(&all.stimuli))
        }
        Args::Create {
            channel,
            text,
            kind,
            thread,
            title,
            source,
            target,
            private,
            progress,
            dedupe,
            initiative,
        } => {
            let channel = lookup::conversation(&client, &channel).await?;
            let new = NewStimulus {
                kind: kind.into(),
                text,
                scope: if thread.is_some() {
                    StimulusScope::Thread
                } else {
                    StimulusScope::Channel
                },
                thread,
                title,
                source: source.map(member),
                targets: target.into_iter().map(member).collect(),
                visibility: if private {
                    StimulusVisibility::Targets
                } else {
                    StimulusVisibility::Public
                },
                progress_key: progress,
                dedupe_key: dedupe,
                initiative_key: initiative,
                expires_at: None,
            };
            context.print.show(&client.add_stimulus(&channel, &new).await?, one)
        }
        Args::Cancel { channel, stimulus } => {
            let channel = lookup::conversation(&client, &channel).await?;
            context.print.show(&client.steer_stimulus(&channel, &stimulus, "cancel").await?, one)
        }
        Args::Retry { channel, stimulus } => {
            let channel = lookup::conversation(&client, &channel).await?;
            context.print.show(&client.steer_stimulus(&channel, &stimulus, "retry").await?, one)
        }
    }
}

fn one(stimulus: &Stimulus) -> String {
    format!("{} {} {}", stimulus.id, stimulus.kind.name(), became(stimulus))
}

/// What became of it, and what is to.
fn became(stimulus: &Stimulus) -> String {
    let state = stimulus.state.name();
    match (&stimulus.event_id, &stimulus.superseded_by, &stimulus.reason, stimulus.due_at) {
        (Some(event), ..) => format!("{state} as {event}"),
        (_, Some(by), ..) => format!("{state} by {by}"),
        (_, _, Some(reason), _) => format!("{state}: {}", line(reason)),
        (.., Some(due)) => format!("{state}, due {}", clock(due.0)),
        _ => state.to_owned(),
    }
}

fn list(stimuli: &[Stimulus]) -> String {
    let row = |s: &Stimulus| {
        let text = s.text.as_deref().map(|text| short(text, 60)).unwrap_or_default();
        vec![s.id.clone(), s.kind.name().to_owned(), line(&s.source), became(s), text]
    };
    let rows: Vec<_> = stimuli.iter().map(row).collect();
    table("nothing waits to be said here", &["STIMULUS", "KIND", "SOURCE", "STATE", "TEXT"], &rows)
}
