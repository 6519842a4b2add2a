//! Projects and their tasks for their rows.

use super::form::Elsewhere;
use super::stored::{Form, Stored};
use super::{Reader, Result, Writer};
use crate::model::ids::Uid;
use crate::model::project::{Link, Project, ProjectMember, Task};

row!(/** A project without its tasks. */ project, read_project: Project);

record!(Project {
    uid,
    title,
    description,
    created_by,
    created_at,
    kickoff: ZeroForNone,
    members,
    links,
    tasks: Elsewhere,
});

record!(ProjectMember { id, member, title, lead });

record!(Link { key, conversation, default, mirror, seated });

row!(task, read_task: Task);

record!(Task {
    uid,
    title,
    text,
    state,
    assignee,
    depends_on,
    thread,
    created_by,
    created_at,
    updated_at,
});

/// An id of zero stands for none.
struct ZeroForNone;

impl Form<Option<Uid>> for ZeroForNone {
    fn put(value: &Option<Uid>, out: &mut Writer) {
        value.unwrap_or_default().put(out);
    }

    fn get(r: &mut Reader<'_>) -> Result<Option<Uid>> {
        Ok(Some(Uid::get(r)?).filter(|uid| *uid != Uid::default()))
    }
}
