//! How the work of a thread stands, in the wire's words.

use chorus_core::model::ids::{Prefix, SessionKey};
use chorus_core::model::thread::work::{self, ThreadWork, WorkChange};
use chorus_core::state::directory::Directory;
use chorus_wire::rest::thread_work::{
    Binding, LastTrigger, Progress, Report, Summary, Work, WorkPatch,
};

use super::id;

/// None when nothing was said of it.
pub(crate) fn work(directory: &Directory, work: &ThreadWork) -> Option<Work> {
    let summary = work.summary.as_ref();
    let shown = || Work {
        status: work.status.into(),
        topic_kind: work.topic_kind.as_deref().map(str::to_owned),
        owner_session: work.owner_session.and_then(|key| session(directory, key)),
        initiative_key: work.initiative_key.as_deref().map(str::to_owned),
        bindings: work.bindings.iter().map(binding).collect(),
        progress: work.progress.iter().map(|p| progress(directory, p)).collect(),
        summary: summary.map(|s| Summary { text: s.text.to_string(), at: s.at.into() }),
        stimulus: work.spur.map(|spur| LastTrigger {
            id: spur.uid.show(Prefix::Stimulus),
            kind: spur.kind.into(),
            at: spur.at.into(),
        }),
    };
    (!work.is_plain()).then(shown)
}

pub(crate) fn progress(directory: &Directory, progress: &work::Progress) -> Progress {
    Progress {
        key: progress.key.to_string(),
        text: progress.text.to_string(),
        percent: progress.percent,
        at: progress.at.into(),
        by: id(directory, progress.by),
        event_id: progress.said.map(|uid| uid.show(Prefix::Event)),
    }
}

/// What an event changed.
pub(crate) fn change(directory: &Directory, change: &WorkChange) -> WorkPatch {
    let text = |text: &Option<std::sync::Arc<str>>| text.as_deref().map(str::to_owned);
    WorkPatch {
        status: change.status.map(Into::into),
        topic_kind: change.topic_kind.as_ref().map(text),
        owner_session: change.owner_session.map(|s| s.and_then(|key| session(directory, key))),
        initiative_key: change.initiative_key.as_ref().map(text),
        bind: change.bind.iter().map(binding).collect(),
        unbind: change.unbind.iter().map(binding).collect(),
        progress: change.progress.as_ref().map(|report| Report {
            key: report.key.to_string(),
            text: report.text.to_string(),
            percent: report.percent,
        }),
        forget: change.forget.iter().map(|key| key.to_string()).collect(),
    }
}

fn binding(binding: &work::Binding) -> Binding {
    Binding { kind: binding.kind.into(), id: binding.id.to_string() }
}

fn session(directory: &Directory, key: SessionKey) -> Option<String> {
    directory.sessions.get(&key).map(|session| session.uid.show(Prefix::Session))
}
