//! A job for hire, packed; after all members.

use chorus_core::codec;
use chorus_core::model::ids::Uid;
use chorus_core::model::job;
use chorus_store::history::{Reading, Snapshot};
use serde::{Deserialize, Serialize};

use super::{Import, Kind, Line, OfWorkspace, Out, Written};
use crate::history::error::Bad;
use crate::history::field::Bytes;

#[derive(Serialize, Deserialize)]
pub(in crate::history) struct Job {
    job: Bytes,
}

impl Job {
    fn read(&self) -> Result<job::Job, String> {
        codec::read_job(&self.job.0).map_err(|_| "the job cannot be read".to_owned())
    }
}

impl OfWorkspace for Job {
    fn export(out: &mut Out<'_>, reading: &Reading, _: &Snapshot) -> Written {
        let mut after = Uid::default();
        loop {
            let page = reading.jobs(after)?;
            let Some(last) = page.last() else { return Ok(()) };
            after = last.uid;
            for job in &page {
                out.put(&Line::Job(Self { job: Bytes(codec::job(job)) }))?;
            }
        }
    }
}

impl Kind for Job {
    fn check(&self) -> Result<(), String> {
        self.read().map(drop)
    }

    fn import(self, import: &mut Import) -> Result<(), Bad> {
        Ok(import.writing.job(self.read()?)?)
    }
}
