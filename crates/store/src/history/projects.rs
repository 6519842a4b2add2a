//! Projects in an import.

use chorus_core::model::project::Project;

use super::{Refused, Writing, unfit};
use crate::{conversation, project, thread};

impl Writing {
    /// Writes a project with its tasks; after the conversations that it is linked to.
    pub fn project(&mut self, of: Project) -> Result<(), Refused> {
        self.known(of.created_by)?;
        if let Some(flaw) = of.flaws(&self.directory).first() {
            return unfit(format!("a project is not sound: {flaw}"));
        }
        let (db, workspace) = (self.db()?, self.tenant.key);
        for link in &of.links {
            let stored = conversation::get(db, workspace, link.key)?;
            let roster = conversation::roster(db, workspace, link.key)?;
            let seated = |member| roster.iter().any(|(seat, _)| *seat == member);
            if stored.is_none_or(|c| c.uid != link.conversation) {
                return unfit("a project is linked to a channel that does not exist");
            }
            if link.mirror && !of.members.iter().all(|m| seated(m.member)) {
                return unfit("a project mirrors a member who is not on the roster");
            }
        }
        for task in of.tasks.values() {
            self.known(task.created_by)?;
            let Some((key, at, uid)) = task.thread else { continue };
            if !thread::all(db, workspace, key)?.iter().any(|t| t.key == at && t.uid == uid) {
                return unfit("a task is worked on in a thread that does not exist");
            }
        }
        project::put(db, workspace, &of)?;
        of.tasks.values().try_for_each(|t| project::put_task(db, workspace, of.uid, t))?;
        self.wrote()
    }
}
