//! `chorus task`: what is to be done in a project. A task is named by its id or its title.

use chorus_client::Client;
use chorus_core::model::project::TaskState;
use chorus_wire::rest::projects::{ListTasks, NewTask, Task, TaskPatch, Tasks};
use clap::Subcommand;

use super::Context;
use crate::failure::Result;
use crate::lookup;
use crate::print::{line, short, table};
use crate::values::word;

#[derive(Debug, Subcommand)]
pub(crate) enum Args {
    /// Add a task to a project
    Add {
        project: String,
        title: String,
        #[arg(long)]
        text: Option<String>,
        /// Who does it, a member of the project
        #[arg(long = "for", value_name = "MEMBER")]
        assignee: Option<String>,
        /// A task that is to be finished before; may be given again
        #[arg(long, value_name = "TASK")]
        after: Vec<String>,
        /// The thread in which it is worked on
        #[arg(long, value_name = "ID")]
        thread: Option<String>,
    },
    /// The tasks of a project
    #[command(visible_alias = "ls")]
    List {
        project: String,
        /// open, in_progress, blocked, done or cancelled
        #[arg(long, value_parser = word::<TaskState>)]
        state: Option<TaskState>,
        /// Of this member of the project
        #[arg(long = "for", value_name = "MEMBER")]
        assignee: Option<String>,
    },
    /// One task
    Show { project: String, task: String },
    /// A task is done; who waited for it is told
    Done { project: String, task: String },
    /// A task is in progress
    Start { project: String, task: String },
    /// Change a task; what is not given stays
    Set {
        project: String,
        task: String,
        #[arg(long)]
        title: Option<String>,
        #[arg(long)]
        text: Option<String>,
        /// open, in_progress, blocked, done or cancelled
        #[arg(long, value_parser = word::<TaskState>)]
        state: Option<TaskState>,
        #[arg(long = "for", value_name = "MEMBER")]
        assignee: Option<String>,
        /// Nobody does it
        #[arg(long, conflicts_with = "assignee")]
        no_assignee: bool,
        /// A task that is to be finished before; all of them, in place of those there were
        #[arg(long, value_name = "TASK")]
        after: Vec<String>,
        /// It waits for nothing
        #[arg(long, conflicts_with = "after")]
        after_none: bool,
        #[arg(long, value_name = "ID")]
        thread: Option<String>,
        /// It is worked on in no thread
        #[arg(long, conflicts_with = "thread")]
        no_thread: bool,
    },
    /// Remove a task that is finished
    Remove { project: String, task: String },
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    let client = context.target.client()?;
    let member = |name: String| lookup::member(&name).to_owned();
    let (project, task, patch) = match args {
        Args::Add { project, title, text, assignee, after, thread } => {
            let project = lookup::project(&client, &project).await?;
            let new = NewTask {
                title,
                text: text.unwrap_or_default(),
                state: None,
                assignee: assignee.map(member),
                depends_on: ids(&client, &project, &after).await?,
                thread,
            };
            return context.print.show(&client.add_task(&project, &new).await?, one);
        }
        Args::List { project, state, assignee } => {
            let project = lookup::project(&client, &project).await?;
            let query = ListTasks { state: state.map(Into::into), assignee: assignee.map(member) };
            return context.print.show(&client.tasks(&project, &query).await?, list);
        }
        Args::Show { project, task } => {
            let project = lookup::project(&client, &project).await?;
            let task = lookup::task(&client, &project, &task).await?;
            return context.print.show(&task, one);
        }
        Args::Remove { project, task } => {
            let project = lookup::project(&client, &project).await?;
            let task = lookup::task(&client, &project, &task).await?;
            client.remove_task(&project, &task.id).await?;
            return context.print.show(&task, |task| format!("removed {}", task.id));
        }
        Args::Done { project, task } => (project, task, state(TaskState::Done)),
        Args::Start { project, task } => (project, task, state(TaskState::InProgress)),
        Args::Set {
            project,
            task,
            title,
            text,
            state,
            assignee,
            no_assignee,
            after,
            after_none,
            thread,
            no_thread,
        } => {
            let depends_on = match after.is_empty() {
                true => after_none.then(Vec::new),
                false => {
                    let project = lookup::project(&client, &project).await?;
                    Some(ids(&client, &project, &after).await?)
                }
            };
            let set = |value: Option<String>, none: bool| match value {
                Some(value) => Some(Some(value)),
                None => none.then_some(None),
            };
            let assignee = set(assignee.map(member), no_assignee);
            let thread = set(thread, no_thread);
            (
                project,
                task,
                TaskPatch {
                    title,
                    text,
                    state: state.map(Into::into),
                    assignee,
                    depends_on,
                    thread,
                },
            )
        }
    };
    let project = lookup::project(&client, &project).await?;
    let task = lookup::task(&client, &project, &task).await?.id;
    context.print.show(&client.change_task(&project, &task, &patch).await?, one)
}

fn state(state: TaskState) -> TaskPatch {
    TaskPatch { state: Some(state.into()), ..TaskPatch::default() }
}

async fn ids(client: &Client, project: &str, names: &[String]) -> Result<Vec<String>> {
    let mut ids = Vec::new();
    for name in names {
        ids.push(lookup::task(client, project, name).await?.id);
    }
    Ok(ids)
}

fn one(task: &Task) -> String {
    let mut text = format!("{} {} {}", task.id, task.state.name(), line(&task.title));
    if let Some(assignee) = &task.assignee {
        text.push_str(&format!(", for {}", line(assignee)));
    }
    if !task.waits_for.is_empty() {
        text.push_str(&format!(", waits for {}", task.waits_for.join(", ")));
    }
    if let Some(thread) = &task.thread {
        text.push_str(&format!(", in {thread}"));
    }
    if !task.text.is_empty() {
        text.push_str(&format!("\n{}", line(&task.text)));
    }
    text
}

fn list(all: &Tasks) -> String {
    let row = |t: &Task| {
        let title = |id: &String| {
            let of = all.tasks.iter().find(|t| t.id == *id);
            of.map_or_else(|| id.clone(), |t| short(&t.title, 30))
        };
        vec![
            t.id.clone(),
            t.state.name().to_owned(),
            t.assignee.as_deref().map(line).unwrap_or_default(),
            short(&t.title, 60),
            t.waits_for.iter().map(title).collect::<Vec<_>>().join(", "),
        ]
    };
    let rows: Vec<_> = all.tasks.iter().map(row).collect();
    table(
        "no tasks yet; make one with: chorus task add PROJECT TITLE",
        &["TASK", "STATE", "FOR", "TITLE", "WAITS FOR"],
        &rows,
    )
}
