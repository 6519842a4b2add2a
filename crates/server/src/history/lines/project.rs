//! A project with its tasks, packed; after all conversations, of which it speaks.

use std::sync::Arc;

use chorus_core::codec;
use chorus_core::model::project;
use chorus_store::history::{Reading, Snapshot};
use serde::{Deserialize, Serialize};

use super::{Import, Kind, Line, OfWorkspace, Out, Written};
use crate::history::error::Bad;
use crate::history::field::Bytes;

#[derive(Serialize, Deserialize)]
pub(in crate::history) struct Project {
    project: Bytes,
    tasks: Vec<Bytes>,
}

impl Project {
    fn read(&self) -> Result<project::Project, String> {
        let project = codec::read_project(&self.project.0);
        let project = project.map_err(|_| "the project cannot be read")?;
        let tasks = self.tasks.iter().map(|task| codec::read_task(&task.0));
        let tasks = tasks.map(|task| task.map(|task| (task.uid, Arc::new(task))));
        let tasks = tasks.collect::<Result<_, _>>().map_err(|_| "a task cannot be read")?;
        Ok(project::Project { tasks, ..project })
    }
}

impl OfWorkspace for Project {
    fn export(out: &mut Out<'_>, _: &Reading, snapshot: &Snapshot) -> Written {
        for project in snapshot.directory.projects.values() {
            let tasks = project.tasks.values().map(|t| Bytes(codec::task(t))).collect();
            let project = Bytes(codec::project(project));
            out.put(&Line::Project(Self { project, tasks }))?;
        }
        Ok(())
    }
}

impl Kind for Project {
    fn check(&self) -> Result<(), String> {
        self.read().map(drop)
    }

    fn import(self, import: &mut Import) -> Result<(), Bad> {
        Ok(import.writing.project(self.read()?)?)
    }
}
