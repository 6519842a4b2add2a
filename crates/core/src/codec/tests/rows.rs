//! Values of what has a row of its own, as anything could have made them.

use std::sync::Arc;

use proptest::collection::{btree_map, btree_set, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::{count, member, message, seq, settings, text, time};
use crate::codec::Coded;
use crate::codec::work::tests::thread_work;
use crate::model::approval::{Arguments, Asked};
use crate::model::audit::Record;
use crate::model::digest::{Digest, Part};
use crate::model::endpoint::Secret;
use crate::model::event::Idempotency;
use crate::model::ids::{ConversationKey, EventRef, MemberKey, SessionKey, ThreadKey, Uid};
use crate::model::inbox::{Checks, Inbox, Remote, Trouble};
use crate::model::log_snapshot::LogSnapshot;
use crate::model::project::{Link, Project, ProjectMember, Task};
use crate::model::requests::{Audience, Post};
use crate::model::schedule::{Firing, Schedule, When};
use crate::model::stimulus::{Chain, Stimulus, StimulusState};
use crate::model::thread::Thread;
use crate::model::wake::{Attempt, Failure, Outcome, Wake, WakeState, WakeThread};

pub(super) fn coded<T: Coded + Clone + std::fmt::Debug + 'static>() -> impl Strategy<Value = T> {
    select((0..=u8::MAX).filter_map(T::from_code).collect::<Vec<_>>())
}

pub(super) fn uid() -> impl Strategy<Value = Uid> {
    any::<u128>().prop_map(Uid)
}

fn key() -> impl Strategy<Value = ThreadKey> {
    count().prop_map(ThreadKey)
}

fn conversation() -> impl Strategy<Value = ConversationKey> {
    count().prop_map(ConversationKey)
}

prop_compose! {
    pub(super) fn event()(conversation in conversation(), seq in seq()) -> EventRef {
        EventRef { conversation: ConversationKey(conversation.0.max(1)), seq }
    }
}

prop_compose! {
    pub(super) fn digests()(
        (after, through, statuses, asks) in (seq(), seq(), vec(seq(), 0..4), vec(seq(), 0..4)),
        (first_at, at, messages) in (time(), time(), any::<u32>()),
        authors in vec((member(), any::<u32>()), 0..4),
        threads in vec((key(), any::<u32>()), 0..4),
        members in vec((member(), coded(), vec(seq(), 0..3)), 0..4),
    ) -> Digest {
        let part = |(member, policy, calls)| Part { member, policy, calls };
        let members = members.into_iter().map(part).collect();
        Digest { after, through, first_at, at, messages, authors, threads, statuses, asks, members }
    }
}

prop_compose! {
    fn thread()(
        (key, uid, root, title) in (key(), uid(), option::of(seq()), text()),
        (kind, status, owner) in (coded(), coded(), option::of(member())),
        (last_seq, unattended) in (count(), any::<u32>()),
        participants in btree_set(member(), 0..4),
        (work, created_at, updated_at) in (option::of(thread_work()), time(), time()),
    ) -> Thread {
        let work = Arc::new(work.unwrap_or_default());
        Thread {
            key, uid, root, title, kind, status, owner, last_seq, participants, unattended, work,
            created_at, updated_at,
        }
    }
}

prop_compose! {
    pub(super) fn bases()(
        (seq, hash, at, unattended) in (seq(), any::<[u8; 32]>(), time(), any::<u32>()),
        settings in settings(),
        roster in btree_map(member(), coded(), 0..4),
        mut threads in vec(thread(), 0..3),
        gone in btree_set((member(), option::of(key())), 0..4),
    ) -> LogSnapshot {
        threads.sort_by_key(|thread| thread.key);
        let (roster, gone) = (roster.into_iter().collect(), gone.into_iter().collect());
        LogSnapshot { seq, hash, at, unattended, settings, roster, threads, gone }
    }
}

prop_compose! {
    fn chain()(cause in option::of(event()), hop in any::<u8>()) -> Chain {
        Chain { cause, hop }
    }
}

prop_compose! {
    pub(super) fn stimuli()(
        (uid, kind, source) in (uid(), coded(), member()),
        thread in option::of((key(), uid())),
        (text, title, targets) in (text(), text(), vec(member(), 0..4)),
        (private, opened, chain) in (any::<bool>(), any::<bool>(), option::of(chain())),
        (progress_key, dedupe_key) in (option::of(text()), option::of(text())),
        (initiative_key, reason) in (option::of(text()), option::of(text())),
        (created_at, due_at, ended) in (time(), time(), time()),
        (expires_at, salt) in (option::of(time()), any::<[u8; 16]>()),
        (state, attempts) in (coded::<StimulusState>(), any::<u8>()),
        (said, by) in (option::of(uid()), option::of(uid())),
    ) -> Stimulus {
        let ended_at = Some(ended).filter(|_| !state.is_open());
        Stimulus {
            uid, kind, source, thread, text, title, targets, private, chain, progress_key,
            dedupe_key, initiative_key, created_at, expires_at, salt, state, due_at, attempts,
            opened, said, by, reason, ended_at,
        }
    }
}

prop_compose! {
    fn firing()((at, stimulus, how) in (time(), uid(), coded())) -> Firing {
        Firing { at, stimulus, how }
    }
}

fn when() -> impl Strategy<Value = When> {
    prop_oneof![
        any::<i64>().prop_map(When::Every),
        (text(), text()).prop_map(|(expression, zone)| When::Cron { expression, zone }),
    ]
}

prop_compose! {
    pub(super) fn schedules()(
        (uid, when, source, maker) in (uid(), when(), member(), member()),
        thread in option::of((key(), uid())),
        (text, title, targets) in (text(), text(), vec(member(), 0..4)),
        (paused, chain, fired) in (any::<bool>(), option::of(chain()), any::<u32>()),
        (progress_key, initiative_key) in (option::of(text()), option::of(text())),
        (created_at, next_at) in (time(), option::of(time())),
        (firings, salt) in (vec(firing(), 0..4), any::<[u8; 16]>()),
    ) -> Schedule {
        Schedule {
            uid, when, source, maker, thread, text, title, targets, chain, progress_key,
            initiative_key, created_at, paused, next_at, fired, firings, salt,
        }
    }
}

prop_compose! {
    fn project_member()(
        (id, member, title, lead) in (text(), member(), text(), any::<bool>()),
    ) -> ProjectMember {
        ProjectMember { id, member, title, lead }
    }
}

prop_compose! {
    fn link()(
        (key, conversation) in (conversation(), uid()),
        (default, mirror, seated) in (any::<bool>(), any::<bool>(), vec(member(), 0..3)),
    ) -> Link {
        Link { key, conversation, default, mirror, seated }
    }
}

prop_compose! {
    pub(super) fn projects()(
        (uid, title, description) in (uid(), text(), text()),
        (created_by, created_at, kickoff) in (member(), time(), option::of(uid())),
        (members, links) in (vec(project_member(), 0..3), vec(link(), 0..3)),
    ) -> Project {
        let tasks = Default::default();
        Project { uid, title, description, created_by, created_at, kickoff, members, links, tasks }
    }
}

prop_compose! {
    pub(super) fn tasks()(
        (uid, title, text, state) in (uid(), text(), text(), coded()),
        (assignee, depends_on) in (option::of(text()), vec(uid(), 0..3)),
        thread in option::of((conversation(), key(), uid())),
        (created_by, created_at, updated_at) in (member(), time(), time()),
    ) -> Task {
        Task {
            uid, title, text, state, assignee, depends_on, thread, created_by, created_at,
            updated_at,
        }
    }
}

prop_compose! {
    pub(super) fn inboxes()(
        (uid, name, secret) in (uid(), text(), any::<[u8; 32]>()),
        [agent, people, agents, created_by] in any::<[u32; 4]>(),
        allow in vec(text(), 0..3),
        (signing, key) in (option::of(text()), option::of(text())),
        (created_at, rotated_at, channels) in (time(), option::of(time()), any::<u32>()),
        trouble in option::of((time(), text())),
    ) -> Inbox {
        Inbox {
            uid, name, secret, created_at, rotated_at, channels,
            agent: MemberKey(agent),
            people: MemberKey(people),
            agents: MemberKey(agents),
            created_by: MemberKey(created_by),
            checks: Checks { allow, signing: signing.map(Secret), key },
            trouble: trouble.map(|(at, what)| Trouble { at, what }),
        }
    }
}

prop_compose! {
    pub(super) fn remotes()((said, sent) in (seq(), seq())) -> Remote {
        Remote { said, sent, ..Remote::new(Uid(1), [0; 32]) }
    }
}

prop_compose! {
    fn record()(
        (at, by, session) in (time(), member(), option::of(any::<u32>().prop_map(SessionKey))),
        (authority, act, event) in (coded(), coded(), option::of(event())),
        (subject, member, name) in (option::of(uid()), option::of(member()), option::of(text())),
        (refused, took_ms) in (option::of(coded()), option::of(any::<u32>())),
        digest in option::of(any::<[u8; 16]>()),
    ) -> Record {
        Record {
            at, by, session, authority, act, event, subject, member, name, refused, took_ms,
            digest,
        }
    }
}

pub(super) fn audits() -> impl Strategy<Value = Vec<Record>> {
    vec(record(), 0..4)
}

prop_compose! {
    fn post()(
        (conversation, thread, in_reply_to) in (uid(), option::of(uid()), option::of(uid())),
        (message, recipient) in (message(), option::of(member())),
        idempotency in option::of(any::<[[u8; 16]; 2]>()),
        (mentions, directedness) in (vec(member(), 0..3), option::of(coded())),
        left_out in vec(member(), 0..3),
        audience in prop_oneof![
            Just(Audience::AsAnswered),
            Just(Audience::Everybody),
            vec(member(), 0..3).prop_map(Audience::Only),
        ],
    ) -> Post {
        let idempotency = idempotency.map(|[key, payload]| Idempotency { key, payload });
        Post {
            conversation, thread, message, in_reply_to, idempotency, recipient, mentions,
            directedness, audience, left_out,
        }
    }
}

pub(super) fn approvals() -> impl Strategy<Value = Asked> {
    let arguments = prop_oneof![
        text().prop_map(Arguments::Whole),
        any::<[u8; 32]>().prop_map(Arguments::Hashed),
    ];
    prop_oneof![
        (conversation(), post()).prop_map(|(to, post)| Asked::Send { to, post: Arc::new(post) }),
        (text(), arguments).prop_map(|(tool, arguments)| Asked::Call { tool, arguments }),
    ]
}

prop_compose! {
    fn attempt()(
        (lane, result, fence, at) in (coded(), coded(), any::<u32>(), time()),
        (why, evidence) in (option::of(text()), option::of(text())),
    ) -> Attempt {
        Attempt { lane, result, why, evidence, fence, at }
    }
}

prop_compose! {
    fn place()(
        (conversation, thread) in (conversation(), option::of(key())),
        (through_seq, sent_seq) in (seq(), seq()),
    ) -> WakeThread {
        WakeThread { conversation, thread, through_seq, sent_seq }
    }
}

prop_compose! {
    pub(super) fn wakes()(
        (uid, session, member) in (uid(), any::<u32>().prop_map(SessionKey), member()),
        (reason, asked_by, prompt) in (text(), option::of(member()), option::of(text())),
        (ended, state) in (option::of(coded::<Outcome>()), coded::<WakeState>()),
        (fence, force, no_progress) in (any::<u32>(), any::<bool>(), any::<u8>()),
        (threads, attempts) in (vec(place(), 0..3), vec(attempt(), 0..3)),
        failures in vec((coded(), time()), 0..3),
        skip in vec(coded(), 0..3),
        (lease_until, deferred_until) in (option::of(time()), option::of(time())),
        (deferred_since, silent_since) in (option::of(time()), option::of(time())),
        (woken, sent_at) in (vec(time(), 0..3), option::of(time())),
        (opened_at, changed_at, lines) in (time(), time(), option::of(text())),
    ) -> Wake {
        let failures = failures.into_iter().map(|(lane, at)| Failure { lane, at }).collect();
        let open = matches!(state, WakeState::Done | WakeState::Dead);
        let (state, outcome) = match (open, ended) {
            (true, None) => (state, Some(Outcome::Answered)),
            (true, ended) => (state, ended),
            (false, _) => (state, None),
        };
        Wake {
            uid, session, member, reason, asked_by, prompt, state, fence, force, threads, attempts,
            failures, skip, no_progress, lease_until, deferred_until, deferred_since, silent_since,
            woken, sent_at, opened_at, changed_at, outcome, lines,
        }
    }
}
