//! `chorus project`: who works together on what, in which channels.

use chorus_wire::rest::projects::{
    Link, LinkPut, NewLink, NewProject, Project, ProjectMember, ProjectMemberPut, ProjectPatch,
    Projects,
};
use clap::Subcommand;

use super::Context;
use crate::failure::Result;
use crate::lookup;
use crate::print::{line, table};

#[derive(Debug, Subcommand)]
pub(crate) enum Args {
    /// Make a project
    Create {
        title: String,
        /// Who is in it, beside whoever makes it
        members: Vec<String>,
        #[arg(long, value_name = "TEXT")]
        description: Option<String>,
        /// A channel that it uses; may be given again, and the first is the default
        #[arg(long, value_name = "CHANNEL")]
        channel: Vec<String>,
        /// Put its members on the rosters of these channels
        #[arg(long, requires = "channel")]
        mirror: bool,
        /// Said once in the default channel
        #[arg(long, value_name = "TEXT", requires = "channel")]
        kickoff: Option<String>,
    },
    /// Projects that the caller may see
    #[command(visible_alias = "ls")]
    List,
    /// One project, its members and channels
    Show { project: String },
    /// Change a project; what is not given stays
    Set {
        project: String,
        #[arg(long)]
        title: Option<String>,
        #[arg(long, value_name = "TEXT")]
        description: Option<String>,
    },
    /// Take members into a project
    Add {
        project: String,
        #[arg(required = true)]
        members: Vec<String>,
        /// What they do there
        #[arg(long)]
        title: Option<String>,
        /// Whether they are told where nobody else is to be
        #[arg(long)]
        lead: Option<bool>,
    },
    /// Take members out of a project
    Remove {
        project: String,
        #[arg(required = true)]
        members: Vec<String>,
    },
    /// Link a channel, or change how it is linked; what is not given stays
    Link {
        project: String,
        channel: String,
        /// Make it the default channel
        #[arg(long)]
        default: bool,
        /// Whether the project's members are on its roster
        #[arg(long)]
        mirror: Option<bool>,
        /// Said once in the default channel
        #[arg(long, value_name = "TEXT")]
        kickoff: Option<String>,
    },
    /// End the link of a channel
    Unlink { project: String, channel: String },
    /// Remove a project whose tasks are finished
    Delete { project: String },
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    let client = context.target.client()?;
    let id = match args {
        Args::Create { title, members, description, channel, mirror, kickoff } => {
            let mut channels = Vec::new();
            for name in channel {
                let channel = lookup::conversation(&client, &name).await?;
                let mirror_members = mirror.then_some(true);
                channels.push(NewLink { channel, default: None, mirror_members });
            }
            let members = members.iter().map(|m| lookup::member(m).to_owned()).collect();
            let description = description.unwrap_or_default();
            let new = NewProject { title, description, members, channels, kickoff };
            return context.print.show(&client.create_project(&new).await?, one);
        }
        Args::List => return context.print.show(&client.projects().await?, list),
        Args::Show { project } => lookup::project(&client, &project).await?,
        Args::Set { project, title, description } => {
            let id = lookup::project(&client, &project).await?;
            client.change_project(&id, &ProjectPatch { title, description }).await?;
            id
        }
        Args::Add { project, members, title, lead } => {
            let id = lookup::project(&client, &project).await?;
            for member in members {
                let put = ProjectMemberPut { member: None, title: title.clone(), lead };
                client.set_project_member(&id, lookup::member(&member), &put).await?;
            }
            id
        }
        Args::Remove { project, members } => {
            let id = lookup::project(&client, &project).await?;
            for member in members {
                client.remove_project_member(&id, lookup::member(&member)).await?;
            }
            id
        }
        Args::Link { project, channel, default, mirror, kickoff } => {
            let id = lookup::project(&client, &project).await?;
            let channel = lookup::conversation(&client, &channel).await?;
            let default = default.then_some(true);
            let put = LinkPut { default, mirror_members: mirror, kickoff };
            client.link_channel(&id, &channel, &put).await?;
            id
        }
        Args::Unlink { project, channel } => {
            let id = lookup::project(&client, &project).await?;
            let channel = lookup::conversation(&client, &channel).await?;
            client.unlink_channel(&id, &channel).await?;
            id
        }
        Args::Delete { project } => {
            let id = lookup::project(&client, &project).await?;
            client.remove_project(&id).await?;
            let gone = serde_json::json!({"project": id, "deleted": true});
            return context.print.show(&gone, |_| format!("deleted {id}"));
        }
    };
    context.print.show(&client.project(&id).await?, one)
}

fn one(project: &Project) -> String {
    let mut text = format!("{} {}\n", project.id, line(&project.title));
    if !project.description.is_empty() {
        text.push_str(&format!("{}\n", line(&project.description)));
    }
    text.push_str(&format!("tasks: {}\n", tasks(project)));
    let member = |m: &ProjectMember| {
        let lead = if m.lead { "lead" } else { "" };
        vec![line(&m.member_id), line(&m.member), lead.to_owned(), line(&m.title)]
    };
    let rows: Vec<_> = project.members.iter().map(member).collect();
    text.push_str(&table("", &["MEMBER", "WHO", "LEAD", "TITLE"], &rows));
    let link = |l: &Link| {
        let name = match &l.title {
            Some(title) => format!("#{}", line(title)),
            None => l.channel.clone(),
        };
        let word = |is: bool, word: &str| if is { word.to_owned() } else { String::new() };
        vec![name, word(l.default, "default"), word(l.mirror_members, "mirrors the members")]
    };
    let rows: Vec<_> = project.channels.iter().map(link).collect();
    text.push_str(&table("", &["CHANNEL", "DEFAULT", "MEMBERS"], &rows));
    text
}

fn tasks(project: &Project) -> String {
    if project.tasks.is_empty() {
        return "none".to_owned();
    }
    let counts = project.tasks.iter().map(|(state, n)| format!("{n} {}", state.replace('_', " ")));
    counts.collect::<Vec<_>>().join(", ")
}

fn list(all: &Projects) -> String {
    let row =
        |p: &Project| vec![p.id.clone(), line(&p.title), p.members.len().to_string(), tasks(p)];
    let rows: Vec<_> = all.projects.iter().map(row).collect();
    table(
        "no projects yet; make one with: chorus project create TITLE",
        &["PROJECT", "TITLE", "MEMBERS", "TASKS"],
        &rows,
    )
}
