//! Channels and threads.

use chorus_core::commands::retention;
use chorus_core::model::budget::Budgets;
use chorus_core::model::conversation::{Conversation, Participation};
use chorus_core::model::ids::{MemberKey, Prefix, Uid};
use chorus_core::model::turn::Rules;
use chorus_core::model::{stimulus, thread};
use chorus_core::state::directory::Directory;
use chorus_core::state::room::Head;
use chorus_store::Unread;
use chorus_wire::rest::channels::{Channel, Display, Held, Seat, SeatKind, StimuliRules, Turns};
use chorus_wire::rest::index::Indexed;
use chorus_wire::rest::threads::Thread;

use super::members::author_in;
use super::{id, thread_work};

pub(crate) fn channel(
    directory: &Directory,
    budgets: &Budgets,
    conversation: &Conversation,
    head: Head,
    roster: Option<&[(MemberKey, Participation)]>,
) -> Channel {
    let settings = &conversation.settings;
    let stream = settings.stream.and_then(|key| directory.stream(key));
    Channel {
        id: conversation.uid.show(Prefix::Conversation),
        kind: conversation.kind.into(),
        title: settings.title.to_string(),
        description: settings.description.to_string(),
        purpose: settings.purpose.to_string(),
        visibility: settings.visibility.into(),
        stream: stream.map(|s| s.uid.show(Prefix::Stream)),
        archived: settings.archived,
        lead: settings.lead.map(|m| id(directory, m)),
        created_at: conversation.created_at.into(),
        last_seq: head.seq.0,
        agent_budget: settings.agent_budget,
        keep: settings.keep.map(|keep| keep.to_string()),
        base_seq: base_seq(head),
        held: None,
        turns: turns(settings.turns.unwrap_or_default()),
        replies: settings.replies.into(),
        proactive: settings.proactive,
        stimuli: stimuli(settings.stimuli.unwrap_or_default(), settings.idle_followup),
        unattended: head.unattended,
        paused: budgets.of(conversation, None).is_some_and(|most| head.unattended >= most),
        pinned_assets: Vec::new(),
        members: roster.map(|seats| {
            let seat = |(m, p): &(_, _)| seat(directory, conversation, *m, *p);
            seats.iter().map(seat).collect()
        }),
    }
}

fn turns(rules: Rules) -> Turns {
    Turns {
        max_parallel_public_speakers: rules.speakers,
        replies_per_human_message: rules.replies,
        cooldown_ms: rules.cooldown_ms,
        acceptance_ms: rules.acceptance_ms,
    }
}

fn stimuli(rules: stimulus::Rules, idle_followup_ms: Option<i64>) -> StimuliRules {
    StimuliRules {
        max_pending: rules.pending,
        roots_per_hour: rules.roots_per_hour,
        max_active_roots: rules.active_roots,
        quiet_ms: rules.quiet_ms,
        idle_followup_ms,
    }
}

/// A conversation in the index of a member.
pub(crate) fn indexed(seat: &Unread) -> Indexed {
    let conversation = &seat.conversation;
    Indexed {
        id: conversation.uid.show(Prefix::Conversation),
        kind: conversation.kind.into(),
        title: conversation.settings.title.to_string(),
        archived: conversation.settings.archived,
        last_seq: seat.last.0,
        last_at: seat.last_at.into(),
        last_read_seq: seat.read.0,
        unread: seat.messages,
        mentions: seat.mentions,
        more: seat.more,
    }
}

/// Up to where a log was dropped, if it was.
pub(crate) fn base_seq(head: Head) -> Option<u64> {
    (head.base.0 > 0).then_some(head.base.0)
}

pub(crate) fn held(held: retention::Hold) -> Held {
    Held { seq: held.seq.0, by: held.by.name().to_owned() }
}

pub(crate) fn seat(
    directory: &Directory,
    conversation: &Conversation,
    member: MemberKey,
    participation: Participation,
) -> Seat {
    let mirrors = || directory.mirrors(conversation.key, member);
    let settings = &conversation.settings;
    let display = match settings.name_of(member) {
        Some(_) => Display::Manual,
        None => Display::FollowAgent,
    };
    let is_agent = directory.is_agent(member);
    Seat {
        member: id(directory, member),
        kind: if is_agent { SeatKind::Session } else { SeatKind::HumanActor },
        display_name: author_in(directory, conversation, member).display_name.into_owned(),
        display: is_agent.then_some(display),
        session_id: settings.pinned_session(member).map(|uid| uid.show(Prefix::Session)),
        participation: participation.into(),
        mirrored: mirrors().map(|(project, _, m)| project.mirrored_id(m)).collect(),
        by_mirror: mirrors().any(|(_, link, _)| link.seated.contains(&member)),
    }
}

/// A thread; `root` is the public id of its root message's event.
pub(crate) fn thread(
    directory: &Directory,
    budgets: &Budgets,
    conversation: &Conversation,
    thread: &thread::Thread,
    root: Option<Uid>,
) -> Thread {
    Thread {
        id: thread.uid.show(Prefix::Thread),
        conversation: conversation.uid.show(Prefix::Conversation),
        root: root.map(|uid| uid.show(Prefix::Event)),
        title: thread.title.to_string(),
        kind: thread.kind.into(),
        status: thread.status.into(),
        owner: thread.owner.map(|m| id(directory, m)),
        participants: thread.participants.iter().map(|m| id(directory, *m)).collect(),
        last_seq: thread.last_seq,
        unattended: thread.unattended,
        paused: is_paused(budgets, conversation, thread),
        work: thread_work::work(directory, &thread.work),
        created_at: thread.created_at.into(),
        updated_at: thread.updated_at.into(),
    }
}

/// Whether agents pause in a thread.
pub(crate) fn is_paused(
    budgets: &Budgets,
    conversation: &Conversation,
    thread: &thread::Thread,
) -> bool {
    budgets.of(conversation, Some(thread)).is_some_and(|most| thread.unattended >= most)
}
