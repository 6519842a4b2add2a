//! Wakes.

use chorus_core::model::ids::{Prefix, Seq, Uid};
use chorus_core::model::wake::{self, Outcome};
use chorus_core::state::directory::Directory;
use chorus_wire::attention::wake as attention;
use chorus_wire::rest::wakes::{Wake, WakeAttempt, WakeThread};

use super::id;

/// Where the mail is that a wake covers.
pub(crate) struct Place {
    pub conversation: Uid,
    pub thread: Option<Uid>,
    pub through_seq: Seq,
}

pub(crate) fn wake(directory: &Directory, wake: &wake::Wake, places: &[Place]) -> Wake {
    let session = directory.sessions.get(&wake.session);
    Wake {
        id: wake.uid.show(Prefix::Wake),
        member: id(directory, wake.member),
        session: session.map(|s| s.uid.show(Prefix::Session)).unwrap_or_default(),
        state: wake.state.name().to_owned(),
        reason: wake.reason.to_string(),
        force: wake.force,
        fence: wake.fence,
        threads: places.iter().map(thread).collect(),
        attempts: wake.attempts.iter().map(attempt).collect(),
        outcome: wake.outcome.map(|outcome| Outcome::name(outcome).to_owned()),
        opened_at: wake.opened_at.into(),
        changed_at: wake.changed_at.into(),
        deferred_until: wake.deferred_until.map(Into::into),
        lines: wake.lines.as_deref().map(str::to_owned),
    }
}

fn thread(place: &Place) -> WakeThread {
    WakeThread {
        conversation: place.conversation.show(Prefix::Conversation),
        thread: place.thread.map(|uid| uid.show(Prefix::Thread)),
        through_seq: place.through_seq.0,
    }
}

fn attempt(attempt: &wake::Attempt) -> WakeAttempt {
    WakeAttempt {
        lane: attempt.lane.into(),
        result: attempt.result.into(),
        why: attempt.why.as_deref().map(str::to_owned),
        evidence: attempt.evidence.as_deref().map(str::to_owned),
        at: attempt.at.into(),
    }
}

/// What its runner is told.
pub(crate) fn outgoing(out: &wake::OutgoingWake) -> attention::Wake {
    let thread = |place: &wake::OutgoingThread| attention::WakeThread {
        conversation_id: place.conversation.show(Prefix::Conversation),
        thread_id: place.thread.map(|uid| uid.show(Prefix::Thread)),
        title: place.title.to_string(),
        through_seq: place.through_seq,
        read_seq: place.read_seq,
    };
    attention::Wake {
        wake_id: out.wake.uid.show(Prefix::Wake),
        fence: out.wake.fence,
        reason: out.wake.reason.to_string(),
        force: out.wake.force,
        again: out.again,
        threads: out.threads.iter().map(thread).collect(),
        prompt: out.prompt.to_string(),
        summary: Some(out.summary.to_string()).filter(|summary| !summary.is_empty()),
        skip: out.wake.skip.iter().copied().map(Into::into).collect(),
    }
}
