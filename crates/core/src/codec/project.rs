//! Projects and their tasks for their rows.

use super::{Corrupt, Reader, Result, Writer};
use crate::model::ids::{ConversationKey, MemberKey, ThreadKey, Timestamp, Uid};
use crate::model::project::{Link, Project, ProjectMember, Task};

/// A project without its tasks.
pub fn project(p: &Project) -> Vec<u8> {
    let mut out = Writer::default();
    put_uid(&mut out, p.uid);
    out.text(&p.title);
    out.text(&p.description);
    out.number(p.created_by.0.into());
    out.signed(p.created_at.0);
    put_uid(&mut out, p.kickoff.unwrap_or_default());
    out.number(p.members.len() as u64);
    for member in &p.members {
        out.text(&member.id);
        out.number(member.member.0.into());
        out.text(&member.title);
        out.byte(member.lead.into());
    }
    out.number(p.links.len() as u64);
    for link in &p.links {
        out.number(link.key.0);
        put_uid(&mut out, link.conversation);
        out.byte(link.default.into());
        out.byte(link.mirror.into());
        out.number(link.seated.len() as u64);
        link.seated.iter().for_each(|m| out.number(m.0.into()));
    }
    out.0
}

pub fn read_project(bytes: &[u8]) -> Result<Project> {
    let mut reader = Reader(bytes);
    let r = &mut reader;
    let uid = get_uid(r)?;
    let (title, description) = (r.text()?, r.text()?);
    let (created_by, created_at) = (MemberKey(r.small()?), Timestamp(r.signed()?));
    let kickoff = Some(get_uid(r)?).filter(|uid| *uid != Uid::default());
    let count = r.count()?;
    let members = (0..count).map(|_| {
        let (id, member) = (r.text()?, MemberKey(r.small()?));
        Ok(ProjectMember { id, member, title: r.text()?, lead: flag(r)? })
    });
    let members = members.collect::<Result<_>>()?;
    let count = r.count()?;
    let links = (0..count).map(|_| {
        let (key, conversation) = (ConversationKey(r.number()?), get_uid(r)?);
        let (default, mirror) = (flag(r)?, flag(r)?);
        let seats = r.count()?;
        let seated = (0..seats).map(|_| r.small().map(MemberKey)).collect::<Result<_>>()?;
        Ok(Link { key, conversation, default, mirror, seated })
    });
    let links = links.collect::<Result<_>>()?;
    reader.end()?;
    let tasks = Default::default();
    Ok(Project { uid, title, description, created_by, created_at, kickoff, members, links, tasks })
}

pub fn task(t: &Task) -> Vec<u8> {
    let mut out = Writer::default();
    put_uid(&mut out, t.uid);
    out.text(&t.title);
    out.text(&t.text);
    out.code(t.state);
    out.optional_text(t.assignee.as_deref());
    out.number(t.depends_on.len() as u64);
    t.depends_on.iter().for_each(|on| put_uid(&mut out, *on));
    match t.thread {
        Some((key, thread, uid)) => {
            out.byte(1);
            out.number(key.0);
            out.number(thread.0);
            put_uid(&mut out, uid);
        }
        None => out.byte(0),
    }
    out.number(t.created_by.0.into());
    out.signed(t.created_at.0);
    out.signed(t.updated_at.0);
    out.0
}

pub fn read_task(bytes: &[u8]) -> Result<Task> {
    let mut reader = Reader(bytes);
    let r = &mut reader;
    let uid = get_uid(r)?;
    let (title, text, state) = (r.text()?, r.text()?, r.code()?);
    let assignee = r.optional_text()?;
    let count = r.count()?;
    let depends_on = (0..count).map(|_| get_uid(r)).collect::<Result<_>>()?;
    let thread = match flag(r)? {
        true => Some((ConversationKey(r.number()?), ThreadKey(r.number()?), get_uid(r)?)),
        false => None,
    };
    let task = Task {
        uid,
        title,
        text,
        state,
        assignee,
        depends_on,
        thread,
        created_by: MemberKey(r.small()?),
        created_at: Timestamp(r.signed()?),
        updated_at: Timestamp(r.signed()?),
    };
    reader.end()?;
    Ok(task)
}

fn put_uid(out: &mut Writer, uid: Uid) {
    out.0.extend_from_slice(&uid.0.to_be_bytes());
}

fn get_uid(reader: &mut Reader<'_>) -> Result<Uid> {
    let bytes = reader.bytes(16)?.try_into().map_err(|_| Corrupt)?;
    Ok(Uid(u128::from_be_bytes(bytes)))
}

fn flag(reader: &mut Reader<'_>) -> Result<bool> {
    match reader.byte()? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Corrupt),
    }
}
