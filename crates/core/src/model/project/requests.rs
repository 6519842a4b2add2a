//! Commands about projects.

use std::sync::Arc;

use super::TaskState;
use crate::model::audit::{Action, Audit};
use crate::model::ids::{MemberKey, Uid};

/// A command about a project; absent fields stay as they are.
#[derive(Clone, veil::Redact)]
pub enum Asked {
    Create {
        #[redact(fixed = 3)]
        title: Arc<str>,
        #[redact(fixed = 3)]
        description: Arc<str>,
        /// In addition to the caller, who becomes a member and its lead.
        members: Vec<MemberKey>,
        links: Vec<Linking>,
        /// Posted once into the default channel.
        #[redact(fixed = 3)]
        kickoff: Option<Arc<str>>,
    },
    Change {
        project: Uid,
        #[redact(fixed = 3)]
        title: Option<Arc<str>>,
        #[redact(fixed = 3)]
        description: Option<Arc<str>>,
    },
    Delete {
        project: Uid,
    },
    SetMember {
        project: Uid,
        /// Its id within the project.
        id: Arc<str>,
        /// The member, if it is new.
        member: Option<MemberKey>,
        #[redact(fixed = 3)]
        title: Option<Arc<str>>,
        lead: Option<bool>,
    },
    RemoveMember {
        project: Uid,
        id: Arc<str>,
    },
    Link {
        project: Uid,
        link: Linking,
        #[redact(fixed = 3)]
        kickoff: Option<Arc<str>>,
    },
    Unlink {
        project: Uid,
        conversation: Uid,
    },
    AddTask {
        project: Uid,
        fields: TaskFields,
    },
    ChangeTask {
        project: Uid,
        task: Uid,
        fields: TaskFields,
    },
    RemoveTask {
        project: Uid,
        task: Uid,
    },
}

/// A channel that a project is to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Linking {
    pub conversation: Uid,
    pub default: Option<bool>,
    pub mirror: Option<bool>,
}

/// The fields of a task.
#[derive(Clone, veil::Redact, Default, PartialEq, Eq)]
pub struct TaskFields {
    #[redact(fixed = 3)]
    pub title: Option<Arc<str>>,
    #[redact(fixed = 3)]
    pub text: Option<Arc<str>>,
    pub state: Option<TaskState>,
    pub assignee: Option<Option<Arc<str>>>,
    pub depends_on: Option<Vec<Uid>>,
    pub thread: Option<Option<Uid>>,
}

impl Asked {
    /// The project it is about; none if it is yet to be created.
    pub fn project(&self) -> Option<Uid> {
        match self {
            Self::Create { .. } => None,
            Self::Change { project, .. }
            | Self::Delete { project }
            | Self::SetMember { project, .. }
            | Self::RemoveMember { project, .. }
            | Self::Link { project, .. }
            | Self::Unlink { project, .. }
            | Self::AddTask { project, .. }
            | Self::ChangeTask { project, .. }
            | Self::RemoveTask { project, .. } => Some(*project),
        }
    }

    /// Its audit entry, with the members and ids it names.
    pub(crate) fn audit(&self) -> Audit {
        let of = |act| Audit::firm(act).subject(self.project());
        match self {
            Self::Create { .. } => of(Action::CreateProject),
            Self::Change { .. } => of(Action::ChangeProject),
            Self::Delete { .. } => of(Action::RemoveProject),
            Self::SetMember { id, member, .. } => {
                of(Action::SetProjectMember).member(*member).name(&**id)
            }
            Self::RemoveMember { id, .. } => of(Action::RemoveProjectMember).name(&**id),
            Self::Link { .. } => of(Action::LinkChannel),
            Self::Unlink { .. } => of(Action::UnlinkChannel),
            // A refused task has no id.
            Self::AddTask { .. } => Audit::firm(Action::AddTask),
            Self::ChangeTask { task, fields, .. } => {
                of(Action::ChangeTask).subject(*task).name(fields.state.map(TaskState::name))
            }
            Self::RemoveTask { task, .. } => of(Action::ChangeTask).subject(*task).name("removed"),
        }
    }

    /// Every user-written text.
    pub fn texts(&mut self) -> Vec<&mut Arc<str>> {
        match self {
            Self::Create { title, description, kickoff, .. } => {
                [title, description].into_iter().chain(kickoff).collect()
            }
            Self::Change { title, description, .. } => {
                title.iter_mut().chain(description).collect()
            }
            Self::SetMember { title, .. } => title.iter_mut().collect(),
            Self::Link { kickoff, .. } => kickoff.iter_mut().collect(),
            Self::AddTask { fields, .. } | Self::ChangeTask { fields, .. } => {
                fields.title.iter_mut().chain(&mut fields.text).collect()
            }
            Self::Delete { .. }
            | Self::RemoveMember { .. }
            | Self::Unlink { .. }
            | Self::RemoveTask { .. } => Vec::new(),
        }
    }
}
