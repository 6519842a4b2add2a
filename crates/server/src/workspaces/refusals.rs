//! Why nobody is let into a workspace, or cannot make one.

use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::workspace_name::WorkspaceName;
use chorus_store::catalog::Entry;
use chorus_store::db::Error;

use super::NotEntered;

pub(super) fn no_such(name: &str) -> Refusal {
    let shown: String = name.chars().take(60).collect();
    Refusal::new(Code::NotFound, format!("this host has no workspace {shown:?}"))
}

/// It was deleted, or is at another host.
pub(super) fn gone(entry: &Entry) -> Refusal {
    let name = &entry.name;
    let Some(to) = &entry.moved_to else { return no_such(name) };
    let why = format!(
        "the workspace {name} has moved to {to}; the tokens that you have here are good there"
    );
    Refusal::new(Code::NotFound, why)
}

pub(super) fn taken(name: &str) -> Refusal {
    let why = format!("there is a workspace {name} already; `chorus workspace list` shows it");
    Refusal::new(Code::Conflict, why)
}

pub(super) fn not_now(why: &str) -> NotEntered {
    NotEntered::NotNow(Refusal::new(Code::Unavailable, why))
}

/// What is wrong names files of the host, and is for whoever runs it.
pub(super) fn unavailable(name: &WorkspaceName) -> Refusal {
    let why = format!(
        "the workspace {name} cannot be used now; `chorus workspace list` tells whoever runs the host why"
    );
    Refusal::new(Code::Unavailable, why)
}

pub(super) fn unreadable(why: Error) -> Refusal {
    tracing::error!(%why, "the list of workspaces cannot be used");
    Refusal::new(
        Code::Unavailable,
        "the list of workspaces cannot be used now; the host's log says why",
    )
}

/// Another one has the name, or one that looks like it.
pub(super) fn taken_by(name: &str, other: &str) -> Refusal {
    if other == name {
        return taken(name);
    }
    let why = format!(
        "{name} can be taken for the workspace {other}, which there is already; choose another name"
    );
    Refusal::new(Code::Conflict, why)
}
