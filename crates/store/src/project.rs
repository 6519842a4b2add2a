//! Projects and their tasks. They are part of the directory, which holds all of them in memory.

mod check;

use std::sync::Arc;

use chorus_core::codec;
use chorus_core::model::ids::{Prefix, Timestamp, Uid};
use chorus_core::model::project::{Project, Task};
use chorus_core::state::directory::Directory;
use chorus_core::state::workspace::Changes;

use crate::db::{Db, Error, Result, Table};
use crate::family::Family;
use crate::row::uid;
use crate::schema::Since;

pub(crate) static PROJECT: Table = Table::new("project", 2, &["workspace", "uid", "packed"]);

pub(crate) static TASK: Table =
    Table::new("project_task", 3, &["workspace", "project", "uid", "packed"]);

pub(crate) static FAMILY: Family = Family::of(Since { sqlite: 5, postgres: 1 }, &[&PROJECT, &TASK])
    .recorded(record)
    .loaded(load)
    .checked(check::look);

/// Removed and overwritten rows are zeroed with their words.
fn record(db: &dyn Db, workspace: i64, changes: &Changes) -> Result<()> {
    if changes.projects.is_empty() && changes.tasks.is_empty() {
        return Ok(());
    }
    db.thoroughly(&mut || {
        for (uid, project) in &changes.projects {
            match project {
                Some(project) => put(db, workspace, project)?,
                None => remove(db, workspace, *uid)?,
            }
        }
        for (project, uid, task) in &changes.tasks {
            match task {
                Some(task) => put_task(db, workspace, *project, task)?,
                None => remove_task(db, workspace, *project, *uid)?,
            }
        }
        Ok(())
    })
}

/// Loads the projects of the workspace into its directory.
pub(crate) fn load(
    db: &dyn Db,
    workspace: i64,
    directory: &mut Directory,
    _: Timestamp,
) -> Result<()> {
    let unread = |prefix, of: Uid| Error::corrupt(format!("{} cannot be read", of.show(prefix)));
    let sql = format!("{} WHERE workspace = $1 ORDER BY uid", PROJECT.select());
    let projects = db.all(&sql, &[workspace.into()], |row| {
        let of = uid(row, 1)?;
        let project = codec::read_project(row.blob(2)?).ok().filter(|p| p.uid == of);
        project.ok_or_else(|| unread(Prefix::Project, of))
    })?;
    let sql = format!("{} WHERE workspace = $1 ORDER BY project, uid", TASK.select());
    let tasks = db.all(&sql, &[workspace.into()], |row| {
        let of = uid(row, 2)?;
        let task = codec::read_task(row.blob(3)?).ok().filter(|t| t.uid == of);
        Ok((uid(row, 1)?, task.ok_or_else(|| unread(Prefix::Task, of))?))
    })?;
    let mut tasks = tasks.into_iter().peekable();
    directory.projects = Default::default();
    for mut project in projects {
        while let Some((_, task)) = tasks.next_if(|(of, _)| *of == project.uid) {
            project.tasks.insert(task.uid, Arc::new(task));
        }
        directory.projects.insert_mut(project.uid, Arc::new(project));
    }
    match tasks.next() {
        Some((_, task)) => {
            let task = task.uid.show(Prefix::Task);
            Err(Error::corrupt(format!("{task} belongs to no project")))
        }
        None => Ok(()),
    }
}

pub(crate) fn put(db: &dyn Db, workspace: i64, project: &Project) -> Result<()> {
    let bytes = codec::project(project);
    db.put(&PROJECT, &[workspace.into(), (&project.uid.0.to_be_bytes()).into(), (&*bytes).into()])
}

pub(crate) fn remove(db: &dyn Db, workspace: i64, project: Uid) -> Result<()> {
    db.remove(&PROJECT, &[workspace.into(), (&project.0.to_be_bytes()).into()])
}

pub(crate) fn put_task(db: &dyn Db, workspace: i64, project: Uid, task: &Task) -> Result<()> {
    let (project, uid) = (project.0.to_be_bytes(), task.uid.0.to_be_bytes());
    let bytes = codec::task(task);
    db.put(&TASK, &[workspace.into(), (&project).into(), (&uid).into(), (&*bytes).into()])
}

pub(crate) fn remove_task(db: &dyn Db, workspace: i64, project: Uid, task: Uid) -> Result<()> {
    let (project, task) = (project.0.to_be_bytes(), task.0.to_be_bytes());
    db.remove(&TASK, &[workspace.into(), (&project).into(), (&task).into()])
}
