//! Every value reads back, every encoding is the only one, and no bytes make a reader panic.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use proptest::collection::{btree_set, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::model::attention::{
    Attention, Decision, Directedness, Intent, Mode, Policy, Priority, Rule, Told,
};
use crate::model::conversation::{ConversationKind, Participation};
use crate::model::delivery::Clock;
use crate::model::digest::{Digest, Part};
use crate::model::event::{Change, Message, MessageKind, Reason, ThreadOpening};
use crate::model::flow::{Clues, Meant, Nobody};
use crate::model::ids::{MemberKey, Seq, ThreadKey, Timestamp, Uid};
use crate::model::reaction::Signal;
use crate::model::thread::{ThreadKind, ThreadStatus};
use crate::model::turn::{Lease, Output, Turn};

mod frozen;
mod market;
mod open;
mod rows;
mod settings;
use open::opened;
use settings::settings;

fn text() -> impl Strategy<Value = Arc<str>> {
    any::<String>().prop_map(Into::into)
}

fn member() -> impl Strategy<Value = MemberKey> {
    any::<u32>().prop_map(MemberKey)
}

fn time() -> impl Strategy<Value = Timestamp> {
    any::<i64>().prop_map(Timestamp)
}

/// Keys and seqs are counts: the largest number is never one.
fn count() -> impl Strategy<Value = u64> {
    0..u64::MAX
}

fn seq() -> impl Strategy<Value = Seq> {
    count().prop_map(Seq)
}

fn message() -> impl Strategy<Value = Message> {
    let kind = select(MessageKind::ALL.as_slice());
    let parts = (option::of(text()), option::of(text()), option::of(text()));
    (kind, text(), parts).prop_map(|(kind, text, (parts, metadata, source))| Message {
        kind,
        text,
        parts,
        metadata,
        source,
    })
}

fn opening() -> impl Strategy<Value = ThreadOpening> {
    let kind = select(ThreadKind::ALL.as_slice());
    let who = (option::of(member()), vec(member(), 0..5));
    (any::<u128>(), option::of(seq()), text(), kind, who).prop_map(
        |(uid, root, title, kind, (owner, participants))| ThreadOpening {
            uid: Uid(uid),
            root,
            title,
            kind,
            owner,
            participants,
        },
    )
}

fn change() -> impl Strategy<Value = Change> {
    let kind = select(ConversationKind::ALL.as_slice());
    let signal = || select(Signal::ALL.as_slice());
    prop_oneof![
        (kind, settings()).prop_map(|(kind, settings)| Change::Created { kind, settings }),
        settings().prop_map(Change::SettingsChanged),
        (member(), select(Participation::ALL.as_slice()))
            .prop_map(|(member, participation)| Change::Joined { member, participation }),
        member().prop_map(|member| Change::Left { member }),
        member().prop_map(|member| Change::Withdrew { member }),
        message().prop_map(Change::Posted),
        (seq(), message()).prop_map(|(message, content)| Change::Edited { message, content }),
        seq().prop_map(|message| Change::Deleted { message }),
        (seq(), signal(), option::of(text()))
            .prop_map(|(message, signal, detail)| Change::Reacted { message, signal, detail }),
        (seq(), signal()).prop_map(|(message, signal)| Change::Unreacted { message, signal }),
        opening().prop_map(Change::ThreadOpened),
        (select(ThreadStatus::ALL.as_slice()), text())
            .prop_map(|(status, reason)| Change::ThreadStatus { status, reason }),
        option::of(member()).prop_map(|owner| Change::ThreadOwner { owner }),
        (seq(), select(Reason::ALL.as_slice()), vec(seq(), 0..5))
            .prop_map(|(message, reason, events)| Change::Erased { message, reason, events }),
        Just(Change::Continued),
        work::tests::work_change().prop_map(|change| Change::ThreadWork(Box::new(change))),
        work::tests::promotion().prop_map(Change::Promoted),
    ]
}

fn directedness() -> impl Strategy<Value = Directedness> {
    use Directedness::{Ambient, ToMe, ToMyRole, ToOther};
    select(vec![ToMe, ToMyRole, ToOther, Ambient])
}

fn decision() -> impl Strategy<Value = Decision> {
    use Mode::{Buffered, Digest, Immediate, Notify, Silent, ToolMailbox};
    use Policy::{AckOnly, MayRespond, MustNotRespond, MustRespond};
    use Priority::{High, Low, Normal, Urgent};
    let policy = select(vec![MustRespond, MayRespond, AckOnly, MustNotRespond]);
    let mode = select(vec![Immediate, Buffered, Notify, ToolMailbox, Digest, Silent]);
    let priority = select(vec![Low, Normal, High, Urgent]);
    let deadline = option::of(any::<u32>());
    (select(Rule::ALL.as_slice()), directedness(), policy, mode, priority, deadline).prop_map(
        |(rule, directedness, policy, mode, priority, deadline_ms)| Decision {
            rule,
            directedness,
            policy,
            mode,
            priority,
            deadline_ms,
        },
    )
}

#[test]
fn reasons_of_events_from_before_rules_against_were_kept_read_and_hash_as_they_did() {
    let meant =
        Meant { member: MemberKey(3), confidence: 84, because: Clues(0b101), against: Clues::NONE };
    let plain = Attention::plain(Intent::Question, Directedness::ToOther, Vec::new());
    let attention = Attention { meant: Some(meant), ..plain };
    let bytes = super::attention(&attention);
    assert_eq!(bytes[2..], [3, 84, 5, 0]);
    assert_eq!(read_attention(&bytes), Ok(attention));
}

// covers: ATT-343
#[test]
fn who_was_told_from_before_what_a_sender_stated_was_kept_reads_and_hashes_as_it_did() {
    let plain = Attention::plain(Intent::Question, Directedness::ToOther, Vec::new());
    let old = attention(&plain);
    assert_eq!((old.len(), old[0] & 0xf0), (3, 0), "nothing is written where nothing was stated");
    assert_eq!(read_attention(&old), Ok(plain.clone()));
    let stated = Attention { stated: Some(Directedness::Ambient), ..plain };
    let new = attention(&stated);
    assert_eq!(new.len(), old.len() + 1);
    assert_eq!(read_attention(&new), Ok(stated));
}

fn decided() -> impl Strategy<Value = Attention> {
    use Intent::{
        Approval, Assignment, Blocker, Cancel, Question, Request, Social, Statement, Status, Thanks,
    };
    let intents = [Request, Question, Assignment, Approval, Blocker, Cancel, Thanks, Social];
    let intents = intents.into_iter().chain([Status, Statement]).collect::<Vec<_>>();
    let told = (member(), decision()).prop_map(|(member, decision)| Told { member, decision });
    let only = option::of(vec(member(), 0..4).prop_map(Arc::from));
    let clues = || (0..1u16 << 14).prop_map(Clues);
    let meant = (member(), 0..=100u8, clues(), clues()).prop_map(
        |(member, confidence, because, against)| Meant { member, confidence, because, against },
    );
    let nobody = (0..=100u8, clues(), clues()).prop_map(|(confidence, because, against)| Nobody {
        confidence,
        because,
        against,
    });
    let guess = (option::of(meant), option::of(nobody), option::of(directedness()));
    let all = (select(intents), directedness(), vec(told, 0..5), only, guess);
    all.prop_map(|(intent, rest, told, only, (meant, nobody, stated))| Attention {
        intent,
        rest,
        told,
        only,
        meant,
        nobody,
        stated,
    })
}

fn lease() -> impl Strategy<Value = Lease> {
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let (who, times) = ((member(), seq(), any::<u32>()), (time(), time(), any::<u8>()));
    (who, flags, times).prop_map(
        |((member, cause, fence), (accepted, said, prepaid, nodded), (at, since, superseded))| {
            Lease {
                member,
                cause,
                fence,
                granted_at: at,
                accepted,
                said,
                prepaid,
                nodded,
                superseded,
                since,
            }
        },
    )
}

fn turns() -> impl Strategy<Value = Turn> {
    let numbers = (any::<u32>(), any::<u16>(), any::<u16>(), any::<bool>());
    let spoke = vec((member(), time()), 0..4);
    let counted = option::of((member(), seq()));
    let output = (member(), seq(), any::<u32>(), message());
    let output = output.prop_map(|(member, cause, fence, message)| Output {
        member,
        cause,
        fence,
        message: Arc::new(message),
    });
    let lists = (vec(member(), 0..4), vec(lease(), 0..3), vec(output, 0..3));
    (numbers, counted, spoke, lists).prop_map(
        |((fence, addressees, spent, alone), counted, spoke, (passed, leases, outputs))| Turn {
            leases,
            fence,
            addressees,
            spent,
            counted,
            spoke,
            passed,
            alone,
            outputs,
        },
    )
}

proptest! {
    #[test]
    fn turns_read_back(it in turns()) {
        prop_assert_eq!(read_turn(&turn(&it)), Ok(it));
    }

    #[test]
    fn a_body_reads_back(change in change()) {
        prop_assert_eq!(read_body(change.code(), &body(&change)), Ok(change));
    }

    #[test]
    fn an_attention_reads_back(value in decided()) {
        prop_assert_eq!(read_attention(&attention(&value)), Ok(value));
    }

    #[test]
    fn a_digest_reads_back(
        (range, times, messages) in ((seq(), seq()), (time(), time()), any::<u32>()),
        authors in vec((member(), any::<u32>()), 0..4),
        threads in vec((count().prop_map(ThreadKey), any::<u32>()), 0..4),
        (statuses, asks) in (vec(seq(), 0..4), vec(seq(), 0..4)),
        members in vec((member(), vec(seq(), 0..3)), 0..4),
    ) {
        let policy = Policy::MayRespond;
        let part = |(member, calls)| Part { member, policy, calls };
        let members = members.into_iter().map(part).collect();
        let ((after, through), (first_at, at)) = (range, times);
        let value =
            Digest { after, through, first_at, at, messages, authors, threads, statuses, asks, members };
        prop_assert_eq!(read_digest(&digest(&value)), Ok(value));
    }

    #[test]
    fn an_open_event_reads_back(value in opened()) {
        prop_assert_eq!(read_open(&open(&value)), Ok(value));
    }

    #[test]
    fn lists_read_back(
        set in btree_set(member(), 0..9),
        list in vec((member(), select(Signal::ALL.as_slice())), 0..9),
    ) {
        prop_assert_eq!(read_members(&members(&set)), Ok(set));
        prop_assert_eq!(read_reactions(&reactions(&list)), Ok(list));
    }

    /// Garbage is refused, or it is the one encoding of what it is read as.
    #[test]
    fn garbage_is_refused_or_canonical(code in 0u8..14, bytes in vec(any::<u8>(), 0..64)) {
        if let Ok(change) = read_body(code, &bytes) {
            prop_assert_eq!(body(&change), bytes.clone());
        }
        if let Ok(value) = read_attention(&bytes) {
            prop_assert_eq!(attention(&value), bytes.clone());
        }
        if let Ok(value) = read_open(&bytes) {
            prop_assert_eq!(open(&value), bytes.clone());
        }
        if let Ok(value) = read_members(&bytes) {
            prop_assert_eq!(members(&value), bytes.clone());
        }
        if let Ok(value) = read_reactions(&bytes) {
            prop_assert_eq!(reactions(&value), bytes);
        }
    }

    /// One damaged byte in a real encoding: refused, or canonical.
    #[test]
    fn damage_is_refused_or_canonical(value in opened(), at in any::<usize>(), mask in 1u8..) {
        let mut bytes = open(&value);
        let at = at % bytes.len();
        bytes[at] ^= mask;
        if let Ok(other) = read_open(&bytes) {
            prop_assert_eq!(open(&other), bytes);
        }
    }
}

#[test]
fn numbers_have_one_form() {
    for (bytes, expect) in [
        (&[0x00][..], Some(0)),
        (&[0x7f], Some(127)),
        (&[0x80, 0x01], Some(128)),
        (&[0x80, 0x00], None),
        (&[0xff; 10], None),
        (&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01], Some(u64::MAX)),
        (&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x03], None),
        (&[0x80], None),
        (&[], None),
    ] {
        assert_eq!(Reader(bytes).number().ok(), expect, "{bytes:x?}");
    }
}

#[test]
fn bytes_behind_a_value_are_refused() {
    let mut bytes = body(&Change::Left { member: MemberKey(7) });
    bytes.push(0);
    assert_eq!(read_body(4, &bytes), Err(Corrupt));
}

/// Rows and bodies from before a field was there read as they did, and have the same bytes again.
#[test]
fn what_an_older_program_wrote_reads_back() {
    let settings = [&[3][..], b"ops", &[0, 0, 1, 0, 0]].concat();
    let Ok(Change::SettingsChanged(read)) = read_body(2, &settings) else { panic!("settings") };
    assert_eq!((&*read.title, read.lead), ("ops", None));
    assert_eq!(body(&Change::SettingsChanged(read)), settings);
    // Member 7, by mention, to me, must respond, buffered, normal, no deadline; it waits.
    let delivery = [7, 3, 1, 1, 2, 2, 0, 1, 1, 1, 0, 0, 0, 0, 0];
    // Seq 1 by member 2 at 0, a question nobody was told of; one delivery, no claim.
    let row = [&[1, 0, 9, 0, 0, 2, 0, 2, 4, 0, 1][..], &delivery, &[0]].concat();
    let read = read_open(&row).expect("an old row");
    assert_eq!(read.deliveries[0].clock, Clock::default());
    assert_eq!(open(&read), row);
}

/// A lease had the output of its run in it before outputs stood at the end of the row.
#[test]
fn an_output_of_an_older_program_is_read() {
    let lease = Lease {
        member: MemberKey(7),
        cause: Seq(3),
        fence: 1,
        granted_at: Timestamp(5),
        accepted: true,
        said: false,
        nodded: false,
        prepaid: false,
        superseded: 0,
        since: Timestamp(5),
    };
    let mut old = turn(&Turn { leases: vec![lease.clone()], ..Turn::default() });
    assert_eq!(old.pop(), Some(0), "no output");
    let message = Message { text: "it is green".into(), ..Message::default() };
    let mut out = Writer(old);
    out.byte(1);
    message.put(&mut out);
    let read = read_turn(&out.0).expect("an old row");
    assert_eq!(read.leases, [lease]);
    let [output] = &read.outputs[..] else { panic!("{read:?}") };
    assert_eq!((output.member, output.cause, &*output.message), (MemberKey(7), Seq(3), &message));
    assert_eq!(read_turn(&turn(&read)), Ok(read));
}
