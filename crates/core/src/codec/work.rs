//! The work of a thread, and what an event changes of it. Parts that are not there take no space.

use super::form::{Elsewhere, ZeroTag};
use super::stored::{Part, Stored};
use super::{Corrupt, Reader, Result, Writer, read};
use crate::model::thread::work::{
    Binding, Progress, Report, Spur, Summary, ThreadWork, WorkChange,
};

/// A thread's work for its row; empty when it is plain.
pub fn work(work: &ThreadWork) -> Vec<u8> {
    let mut out = Writer::default();
    if !work.is_plain() {
        work.put(&mut out);
    }
    out.0
}

/// Reads what [`work`] wrote.
pub fn read_work(bytes: &[u8]) -> Result<ThreadWork> {
    if bytes.is_empty() {
        return Ok(ThreadWork::default());
    }
    let work: ThreadWork = read(bytes)?;
    if work.is_plain() { Err(Corrupt) } else { Ok(work) }
}

record!(ThreadWork { status } tagged {
    2 = topic_kind,
    3 = owner_session,
    4 = initiative_key,
    5 = bindings,
    7 = progress,
    9 = spur,
    10 = summary,
    11 = promoted,
    12 => Said,
} until ZeroTag);

record!(WorkChange {} tagged {
    1 = status,
    2 = topic_kind,
    3 = owner_session,
    4 = initiative_key,
    5 = bind,
    6 = unbind,
    7 = progress,
    8 = forget,
    9 = spur,
} until ZeroTag);

record!(Binding { kind, id });

record!(Report { key, text, percent });

record!(Progress { key, text, percent, at, by, said: Elsewhere });

record!(Spur { uid, kind, at, thread_seq, opened });

record!(Summary { text, at });

/// The message of each progress, for those that have one. It came later than the rest of a progress.
struct Said;

impl Part<ThreadWork> for Said {
    fn is_absent(work: &ThreadWork) -> bool {
        work.progress.iter().all(|progress| progress.said.is_none())
    }

    fn put_part(work: &ThreadWork, out: &mut Writer) {
        work.progress.iter().for_each(|progress| progress.said.put(out));
    }

    fn get_part(work: &mut ThreadWork, r: &mut Reader<'_>) -> Result<()> {
        for progress in &mut work.progress {
            progress.said = Stored::get(r)?;
        }
        if Self::is_absent(work) { Err(Corrupt) } else { Ok(()) }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::Arc;

    use proptest::collection::{btree_set, vec};
    use proptest::option;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;
    use crate::model::event::Promotion;
    use crate::model::ids::{MemberKey, Seq, SessionKey, Timestamp, Uid};
    use crate::model::stimulus::StimulusKind;
    use crate::model::thread::work::{BindingKind, WorkStatus};

    fn text() -> impl Strategy<Value = Arc<str>> {
        ".{0,6}".prop_map(|text: String| text.into())
    }

    fn binding() -> impl Strategy<Value = Binding> {
        (select(BindingKind::ALL.as_slice()), text()).prop_map(|(kind, id)| Binding { kind, id })
    }

    fn report() -> impl Strategy<Value = Report> {
        (text(), text(), option::of(any::<u8>())).prop_map(|(key, text, percent)| Report {
            key,
            text,
            percent,
        })
    }

    fn progress() -> impl Strategy<Value = Progress> {
        (report(), any::<i64>(), any::<u32>(), option::of(any::<u128>().prop_map(Uid))).prop_map(
            |(Report { key, text, percent }, at, by, said)| Progress {
                key,
                text,
                percent,
                at: Timestamp(at),
                by: MemberKey(by),
                said,
            },
        )
    }

    fn spur() -> impl Strategy<Value = Spur> {
        let kind = select(StimulusKind::ALL.as_slice());
        (any::<u128>(), kind, any::<i64>(), any::<u64>(), any::<bool>()).prop_map(
            |(uid, kind, at, thread_seq, opened)| {
                let (uid, at) = (Uid(uid), Timestamp(at));
                Spur { uid, kind, at, thread_seq, opened }
            },
        )
    }

    prop_compose! {
        pub(crate) fn thread_work()(
            status in select(WorkStatus::ALL.as_slice()),
            (topic_kind, initiative_key) in (option::of(text()), option::of(text())),
            owner_session in option::of(any::<u32>().prop_map(SessionKey)),
            bindings in btree_set(binding(), 0..3),
            progress in vec(progress(), 0..3),
            summary in option::of((text(), any::<i64>())),
            promoted in btree_set(any::<u64>().prop_map(Seq), 0..3),
            spur in option::of(spur()),
        ) -> ThreadWork {
            let summary = summary.map(|(text, at)| Summary { text, at: Timestamp(at) });
            let (keys, work) = ((topic_kind, initiative_key), (bindings, progress));
            ThreadWork {
                status, topic_kind: keys.0, owner_session, initiative_key: keys.1,
                bindings: work.0, progress: work.1, summary, promoted, spur,
            }
        }
    }

    prop_compose! {
        pub(crate) fn work_change()(
            status in option::of(select(WorkStatus::ALL.as_slice())),
            (topic_kind, initiative_key) in (option::of(option::of(text())), option::of(option::of(text()))),
            owner_session in option::of(option::of(any::<u32>().prop_map(SessionKey))),
            (bind, unbind) in (vec(binding(), 0..3), vec(binding(), 0..3)),
            progress in option::of(report()),
            forget in vec(text(), 0..3),
            spur in option::of(spur()),
        ) -> WorkChange {
            WorkChange { status, topic_kind, owner_session, initiative_key, bind, unbind, progress, forget, spur }
        }
    }

    pub(crate) fn promotion() -> impl Strategy<Value = Promotion> {
        prop_oneof![
            (any::<u64>(), option::of(text()))
                .prop_map(|(seq, note)| Promotion::Message { message: Seq(seq), note }),
            text().prop_map(|text| Promotion::Result { text }),
        ]
    }

    proptest! {
        #[test]
        fn work_reads_back_and_nothing_else_does(state in thread_work(), cut in any::<prop::sample::Index>()) {
            let bytes = work(&state);
            prop_assert_eq!(read_work(&bytes), Ok(state));
            let cut = cut.index(bytes.len() + 1);
            prop_assert_eq!(read_work(&bytes[..cut]).is_ok(), cut == 0 || cut == bytes.len());
        }
    }
}
