//! The bytes of every type, and what is read from damaged ones, are the same as ever: rows, exports and
//! hashes depend on them. A constant here changes only when a type gains a field or a case.

use std::fmt::Debug;

use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use sha2::{Digest as _, Sha256};

use super::market::{accounts, entries, jobs, listings, reputation_changes, spendings};
use super::rows::{
    approvals, audits, bases, digests, inboxes, projects, remotes, schedules, stimuli, tasks, wakes,
};
use super::*;
use crate::codec::work::tests::thread_work;
use crate::model::asset::Media;
use crate::model::audit::Action;
use crate::model::caller::Authority;
use crate::model::conversation::{Replies, Settings, Visibility};
use crate::model::disposition::Disposition;
use crate::model::endpoint::State as EndpointState;
use crate::model::error::Code;
use crate::model::job::{JobState, Outcome as JobOutcome, Payment};
use crate::model::ledger::EntryKind;
use crate::model::member::{MemberKind, Proof, SessionStatus};
use crate::model::project::TaskState;
use crate::model::registry::Why;
use crate::model::schedule::Fired;
use crate::model::stimulus::{StimulusKind, StimulusState};
use crate::model::thread::work::{BindingKind, WorkStatus};
use crate::model::wake::{Lane, Outcome, ReportResult, WakeState};

/// Values of each type.
const VALUES: usize = 128;
/// Places in a value's bytes that are damaged.
const PLACES: usize = 40;

/// A hash over the bytes of many values, and over what each damaged copy of them is read as.
fn hash<T: Debug>(
    values: impl Strategy<Value = T>,
    put: impl Fn(&T) -> Vec<u8>,
    again: impl Fn(&T, &[u8]) -> Result<Vec<u8>>,
) -> String {
    let random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config::default(), random);
    let mut hash = Sha256::new();
    for _ in 0..VALUES {
        let value = values.new_tree(&mut runner).unwrap().current();
        let bytes = put(&value);
        hash.update((bytes.len() as u64).to_be_bytes());
        hash.update(&bytes);
        let mut read = |bytes: &[u8]| match again(&value, bytes) {
            Ok(bytes) => hash.update([&[1], &*bytes].concat()),
            Err(Corrupt) => hash.update([0]),
        };
        read(&bytes);
        for end in [0, 1, 0x80] {
            read(&[&*bytes, &[end]].concat());
        }
        for at in (0..bytes.len()).step_by(bytes.len() / PLACES + 1) {
            read(&bytes[..at]);
            for mask in [1, 2, 0x10, 0x80] {
                let mut damaged = bytes.clone();
                damaged[at] ^= mask;
                read(&damaged);
            }
        }
    }
    short(hash)
}

/// A hash over all codes of an enum.
fn codes<T: Coded + Debug>() -> String {
    let mut hash = Sha256::new();
    for (code, value) in (0..=u8::MAX).filter_map(|c| T::from_code(c).map(|value| (c, value))) {
        assert_eq!(value.code(), code);
        hash.update(format!("{code} {value:?};"));
    }
    short(hash)
}

fn short(hash: Sha256) -> String {
    hash.finalize()[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

fn check(now: &[(&str, String)], frozen: &[(&str, &str)]) {
    let now = now.iter().map(|(name, hash)| (*name, &**hash)).collect::<Vec<_>>();
    assert_eq!(now, frozen);
}

#[test]
fn bytes_of_every_type_are_as_they_were() {
    let at = Timestamp(1_700_000_000_000);
    let (seq, chain) = (Seq(9), [3; 32]);
    let later = |bytes: &[u8]| {
        let mut read = Settings::default();
        read_later_settings(bytes, &mut read).map(|()| later_settings(&read))
    };
    let now = [
        ("body", hash(change(), body, |c, b| read_body(c.code(), b).map(|c| body(&c)))),
        ("later_settings", hash(settings(), later_settings, |_, b| later(b))),
        ("attention", hash(decided(), attention, |_, b| read_attention(b).map(|v| attention(&v)))),
        ("open", hash(opened(), open, |_, b| read_open(b).map(|v| open(&v)))),
        ("turn", hash(turns(), turn, |_, b| read_turn(b).map(|v| turn(&v)))),
        ("digest", hash(digests(), digest, |_, b| read_digest(b).map(|v| digest(&v)))),
        ("work", hash(thread_work(), work, |_, b| read_work(b).map(|v| work(&v)))),
        ("base", hash(bases(), base, |_, b| read_base(seq, chain, at, b).map(|v| base(&v)))),
        ("stimulus", hash(stimuli(), stimulus, |_, b| read_stimulus(b).map(|v| stimulus(&v)))),
        ("schedule", hash(schedules(), schedule, |_, b| read_schedule(b).map(|v| schedule(&v)))),
        ("project", hash(projects(), project, |_, b| read_project(b).map(|v| project(&v)))),
        ("task", hash(tasks(), task, |_, b| read_task(b).map(|v| task(&v)))),
        ("inbox", hash(inboxes(), inbox, |_, b| read_inbox(b).map(|v| inbox(&v)))),
        ("remote", hash(remotes(), remote, |_, b| read_remote(b).map(|v| format!("{v:?}").into()))),
        (
            "audit",
            hash(audits(), |v| audit(at, v), |_, b| read_audit(at, b).map(|v| audit(at, &v))),
        ),
        ("wake", hash(wakes(), wake, |_, b| read_wake(b).map(|v| wake(&v)))),
        ("asked", hash(approvals(), asked, |_, b| read_asked(b).map(|v| asked(&v)))),
        ("job", hash(jobs(), job, |_, b| read_job(b).map(|v| job(&v)))),
        ("listing", hash(listings(), listing, |_, b| read_listing(b).map(|v| listing(&v)))),
        ("entry", hash(entries(), entry, |_, b| read_entry(b).map(|v| entry(&v)))),
        ("account", hash(accounts(), account, |_, b| read_account(b).map(|v| account(&v)))),
        ("spending", hash(spendings(), spending, |_, b| read_spending(b).map(|v| spending(&v)))),
        (
            "reputation_change",
            hash(reputation_changes(), reputation_change, |_, b| {
                read_reputation_change(b).map(|v| reputation_change(&v))
            }),
        ),
        (
            "members",
            hash(btree_set(member(), 0..9), members, |_, b| read_members(b).map(|v| members(&v))),
        ),
        (
            "reactions",
            hash(
                vec((member(), select(Signal::ALL.as_slice())), 0..9),
                |v| reactions(v),
                |_, b| read_reactions(b).map(|v| reactions(&v)),
            ),
        ),
    ];
    check(
        &now,
        &[
            ("body", "fe5fe507bee1831f"),
            ("later_settings", "a2d83daab0dfbb98"),
            ("attention", "f98506e95517faf6"),
            ("open", "940c7bc5424d1480"),
            ("turn", "e6584356399562a2"),
            ("digest", "c1809d8cfb58f059"),
            ("work", "55921a570a25e139"),
            ("base", "7289c4dd6c714ae2"),
            ("stimulus", "a0397fd66d2e5498"),
            ("schedule", "9f4d2fbf0720b2a8"),
            ("project", "38eb21983247d6e8"),
            ("task", "cdddabd92c61f84b"),
            ("inbox", "14a7b78592723a18"),
            ("remote", "368684e1c93f09c4"),
            ("audit", "ac2c628b399c34ba"),
            ("wake", "ee917fed668f3a12"),
            ("asked", "4331aa9d8fe5a0c2"),
            ("job", "1ced900a3142bc7f"),
            ("listing", "f9da6e079f2c3a41"),
            ("entry", "e84e72619110acfd"),
            ("account", "88867dd5556c86e8"),
            ("spending", "fa6422fd49e63fc6"),
            ("reputation_change", "3c5303bbf6050d7c"),
            ("members", "8e3e619c6fa4c83d"),
            ("reactions", "e7d36ba6d05dc059"),
        ],
    );
}

#[test]
fn codes_of_every_enum_are_as_they_were() {
    macro_rules! all {
        ($($name:ident),* $(,)?) => { [$((stringify!($name), codes::<$name>())),*] };
    }
    let now = all![
        Action,
        Authority,
        BindingKind,
        Code,
        ConversationKind,
        Directedness,
        Disposition,
        EndpointState,
        EntryKind,
        Fired,
        Intent,
        JobOutcome,
        JobState,
        Lane,
        Media,
        MemberKind,
        MessageKind,
        Mode,
        Outcome,
        Participation,
        Payment,
        Policy,
        Priority,
        Proof,
        Reason,
        Replies,
        ReportResult,
        Rule,
        SessionStatus,
        Signal,
        StimulusKind,
        StimulusState,
        TaskState,
        ThreadKind,
        ThreadStatus,
        Visibility,
        WakeState,
        Why,
        WorkStatus,
    ];
    check(
        &now,
        &[
            ("Action", "c34c41a566b6b925"),
            ("Authority", "c6d140e2a6b59806"),
            ("BindingKind", "7dcdb68fe6bbf160"),
            ("Code", "cf04ccdfba1c961c"),
            ("ConversationKind", "14aa24340aab10dd"),
            ("Directedness", "42806612b7f3fa28"),
            ("Disposition", "42a0736c95f86941"),
            ("EndpointState", "7ed75c4704fb3d15"),
            ("EntryKind", "a4a42d77cdb5d632"),
            ("Fired", "0eb577165832ca77"),
            ("Intent", "fd5a9cead71c28a6"),
            ("JobOutcome", "9b7a4d9ed45ac45a"),
            ("JobState", "380deed4f0bab5f2"),
            ("Lane", "4cdf1defb5074b1e"),
            ("Media", "8acd11598725a349"),
            ("MemberKind", "a80e1ac239ee785d"),
            ("MessageKind", "3d54113eaa3e4dfb"),
            ("Mode", "548a9ba38f3b08bc"),
            ("Outcome", "796dbe43b4eb2d08"),
            ("Participation", "2c717965def933a4"),
            ("Payment", "4fb1eb6eb9a80964"),
            ("Policy", "4a3258c4f5fc8d8b"),
            ("Priority", "487ad600e035d9ad"),
            ("Proof", "c9a57a225fb56606"),
            ("Reason", "67ec36641a872155"),
            ("Replies", "1e3af5eb74e04111"),
            ("ReportResult", "afbd348e6729b298"),
            ("Rule", "8dbc92024355f343"),
            ("SessionStatus", "cc94a1b2a1bf51eb"),
            ("Signal", "596fd76370d6513c"),
            ("StimulusKind", "ecc38c6584a174e1"),
            ("StimulusState", "4883a84629d706be"),
            ("TaskState", "c76e423ce6397a6f"),
            ("ThreadKind", "5bd3986131225c15"),
            ("ThreadStatus", "74b5a8629c69e14d"),
            ("Visibility", "4c5d58c281cca427"),
            ("WakeState", "f9e64817d2c9ad9f"),
            ("Why", "db368735e80b80e3"),
            ("WorkStatus", "a2cdd6350f184774"),
        ],
    );
}
