//! From what a person writes to what the host calls it: channels by title, members by `@handle`.
//!
//! A title names a channel and nothing else: direct and thread conversations, which anybody may make and call what it
//! likes, are named by their ids.

use std::collections::HashMap;

use chorus_client::Client;
use chorus_core::model::conversation::ConversationKind;
use chorus_core::model::error::Code;
use chorus_core::model::member::MemberKind;
use chorus_wire::rest::channels::Channel;
use chorus_wire::rest::members::{Member, NewMember};
use chorus_wire::rest::projects::{ListTasks, Task};

use crate::failure::{Failure, Result};
use crate::print::line;

/// The conversation's id: `ch_…` as it is, or the one channel of exactly that title, `#` or not.
pub(crate) async fn conversation(client: &Client, name: &str) -> Result<String> {
    if is_id(name) {
        return Ok(name.to_owned());
    }
    Ok(channel(client, name).await?.id)
}

/// As [`conversation`], with what the host says of it.
pub(crate) async fn channel(client: &Client, name: &str) -> Result<Channel> {
    if is_id(name) {
        return Ok(client.channel(name).await?);
    }
    let title = bare(name);
    let mut found: Vec<Channel> = client.channels().await?.channels;
    let is_channel = |one: &Channel| one.kind == ConversationKind::Channel;
    let open = found.iter().filter(|one| is_channel(one) && !one.archived);
    let near = near(title, open.map(shown));
    let is_direct = found.iter().any(|one| !is_channel(one) && bare(&one.title) == title);
    found.retain(|channel| is_channel(channel) && bare(&channel.title) == title);
    if found.iter().any(|channel| !channel.archived) {
        found.retain(|channel| !channel.archived);
    }
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => {
            let title = line(title);
            if is_direct {
                let why = format!("{title:?} is a direct conversation, which is named by its id");
                let next = "see: chorus channel list --mail";
                return Err(Failure::new(Code::NotFound, why).next(next));
            }
            let message = format!("no channel is called {title:?}");
            let next = match near.as_slice() {
                [] => "see: chorus channel list".to_owned(),
                near => format!("did you mean {}?", near.join(" or ")),
            };
            Err(Failure::new(Code::NotFound, message).next(next))
        }
        n => {
            let ids: Vec<_> = found.iter().map(|channel| channel.id.as_str()).collect();
            let message = format!("{n} channels are called {:?}", line(title));
            let next = format!("name one by its id: {}", ids.join(", "));
            Err(Failure::new(Code::Conflict, message).next(next))
        }
    }
}

/// The names most like this one, the nearest first; none where none is like it.
pub(crate) fn near(name: &str, names: impl Iterator<Item = String>) -> Vec<String> {
    let name = name.to_lowercase();
    let score =
        |other: &str| strsim::normalized_damerau_levenshtein(&name, &bare(other).to_lowercase());
    let mut scored: Vec<_> = names.map(|other| (score(&other), other)).collect();
    scored.retain(|(score, _)| *score >= 0.5);
    scored.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    scored.truncate(3);
    scored.into_iter().map(|(_, name)| name).collect()
}

/// The names as the host takes them, once it is known that each is of a member: asked before anything is made.
pub(crate) async fn members(client: &Client, names: &[String]) -> Result<Vec<String>> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let known = client.members().await?.members;
    names.iter().map(|name| known_member(&known, member(name)).map(str::to_owned)).collect()
}

/// As [`members`], of one.
pub(crate) async fn known(client: &Client, name: &str) -> Result<String> {
    let known = client.members().await?.members;
    known_member(&known, member(name)).map(str::to_owned)
}

fn known_member<'a>(known: &[Member], name: &'a str) -> Result<&'a str> {
    let is = |member: &Member| member.id == name || member.handle.eq_ignore_ascii_case(name);
    if known.iter().any(is) {
        return Ok(name);
    }
    let near = near(name, known.iter().map(|member| member.id.clone()));
    let missing = Failure::new(Code::NotFound, format!("no member is called {:?}", line(name)));
    let list = "see: chorus member list";
    Err(match near.first() {
        Some(near) => missing.next(format!("did you mean {}? {list}", line(near))),
        None => missing.next(list),
    })
}

/// The project's id: `prj_…` as it is, or the one project of exactly that title.
pub(crate) async fn project(client: &Client, name: &str) -> Result<String> {
    if name.strip_prefix("prj_").is_some_and(|hex| hex.len() == 32) {
        return Ok(name.to_owned());
    }
    let mut found = client.projects().await?.projects;
    found.retain(|project| project.title == name);
    let found = found.into_iter().map(|project| (project.id.clone(), project)).collect();
    Ok(only("project", name, found, "see: chorus project list")?.id)
}

/// The task of a project with this id, or the one of exactly this title.
pub(crate) async fn task(client: &Client, project: &str, name: &str) -> Result<Task> {
    let mut found = client.tasks(project, &ListTasks::default()).await?.tasks;
    found.retain(|task| task.id == name || task.title == name);
    let found = found.into_iter().map(|task| (task.id.clone(), task)).collect();
    only("task", name, found, "see: chorus task list PROJECT")
}

fn only<T>(what: &str, name: &str, mut found: Vec<(String, T)>, see: &str) -> Result<T> {
    let name = line(name);
    match (found.len(), found.pop()) {
        (1, Some((_, one))) => Ok(one),
        (_, None) => {
            let message = format!("no {what} is called {name:?}");
            Err(Failure::new(Code::NotFound, message).next(see))
        }
        (n, Some((last, _))) => {
            let mut ids: Vec<_> = found.into_iter().map(|(id, _)| id).collect();
            ids.push(last);
            let message = format!("{n} {what}s are called {name:?}");
            let next = format!("name one by its id: {}", ids.join(", "));
            Err(Failure::new(Code::Conflict, message).next(next))
        }
    }
}

/// The channel that `chorus init` makes, in which everybody begins.
pub(crate) const GENERAL: &str = "general";

/// The ids of the channels that were named; of #general where none was and it is there.
pub(crate) async fn channels_or_general(client: &Client, names: &[String]) -> Result<Vec<String>> {
    let mut ids = Vec::new();
    for name in names {
        ids.push(conversation(client, name).await?);
    }
    if names.is_empty() {
        let channels = client.channels().await?.channels;
        let general = channels.into_iter().find(|one| !one.archived && bare(&one.title) == GENERAL);
        ids.extend(general.map(|channel| channel.id));
    }
    Ok(ids)
}

/// The agent of this id; none where nobody has it. A person is never taken for an agent: what a program does there would be
/// the person's, and what only the person is to be asked it would be asked.
pub(crate) async fn agent(client: &Client, id: &str) -> Result<Option<Member>> {
    let known = client.members().await?.members.into_iter().find(|member| member.id == id);
    known.map(must_be_agent).transpose()
}

pub(crate) fn must_be_agent(member: Member) -> Result<Member> {
    if member.kind == MemberKind::Agent {
        return Ok(member);
    }
    let why = format!("{} is a person, and a program works as an agent", member.id);
    let refused = Failure::new(Code::ValidationError, why);
    Err(refused.next("name another member with --agent; one that is new is made an agent"))
}

/// Makes an agent of this id.
pub(crate) async fn make_agent(client: &Client, id: &str) -> Result {
    let new = NewMember {
        id: id.to_owned(),
        kind: MemberKind::Agent.into(),
        handle: None,
        display_name: None,
        owner_id: None,
        identities: Vec::new(),
        token_role: None,
    };
    client.add_member(&new).await?;
    Ok(())
}

/// The whole id of a short one. What stands for nothing is left as it is: whoever takes it says so.
pub(crate) async fn whole_id(client: &Client, short: &str) -> Result<String> {
    let mut ids = client.ids(short).await?.ids;
    match ids.len() {
        0 => Ok(short.to_owned()),
        1 => Ok(ids.remove(0)),
        several => {
            let why = format!("{short} stands for {several} ids");
            let next = format!("name one: {}", ids.join(", "));
            Err(Failure::new(Code::Conflict, why).next(next))
        }
    }
}

/// A member id as people write it, with or without `@`.
pub(crate) fn member(name: &str) -> &str {
    name.strip_prefix('@').unwrap_or(name)
}

/// Titles of conversations by id, as they are shown in front of a line.
pub(crate) async fn titles(client: &Client) -> Result<HashMap<String, String>> {
    let channels = client.channels().await?.channels;
    Ok(channels.into_iter().map(|channel| (channel.id.clone(), shown(&channel))).collect())
}

/// `#title` of a channel, the title of another conversation, or the id of one without.
pub(crate) fn shown(channel: &Channel) -> String {
    called(&channel.id, &channel.title, channel.kind.0)
}

/// As [`shown`], of what is known of it.
pub(crate) fn called(id: &str, title: &str, kind: ConversationKind) -> String {
    match (bare(title), kind) {
        ("", _) => id.to_owned(),
        (title, ConversationKind::Channel) => format!("#{}", line(title)),
        (title, _) => line(title),
    }
}

fn bare(name: &str) -> &str {
    name.strip_prefix('#').unwrap_or(name)
}

fn is_id(name: &str) -> bool {
    name.strip_prefix("ch_").is_some_and(|hex| hex.len() == 32)
}
