//! The work of a thread, and what an event changes of it. Parts that are not there take no space: each that is has a
//! tag before it, and tags rise.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Corrupt, Reader, Result, Writer};
use crate::model::event::Promotion;
use crate::model::ids::{MemberKey, Seq, SessionKey, Timestamp, Uid};
use crate::model::thread::work::{
    Binding, Progress, Report, Spur, Summary, ThreadWork, WorkChange,
};

const STATUS: u8 = 1;
const TOPIC_KIND: u8 = 2;
const OWNER_SESSION: u8 = 3;
const INITIATIVE: u8 = 4;
const BIND: u8 = 5;
const UNBIND: u8 = 6;
const PROGRESS: u8 = 7;
const FORGET: u8 = 8;
const SPUR: u8 = 9;
const SUMMARY: u8 = 10;
const PROMOTED: u8 = 11;
const SAID: u8 = 12;
/// Where the parts end.
const END: u8 = 0;

/// A thread's work for its row; empty when it is plain.
pub fn work(work: &ThreadWork) -> Vec<u8> {
    let mut out = Writer::default();
    if !work.is_plain() {
        put_work(&mut out, work);
    }
    out.0
}

/// Reads what [`work`] wrote.
pub fn read_work(bytes: &[u8]) -> Result<ThreadWork> {
    let mut reader = Reader(bytes);
    if bytes.is_empty() {
        return Ok(ThreadWork::default());
    }
    let work = get_work(&mut reader)?;
    reader.end()?;
    if work.is_plain() { Err(Corrupt) } else { Ok(work) }
}

pub(super) fn put_work(out: &mut Writer, work: &ThreadWork) {
    out.code(work.status);
    if let Some(kind) = &work.topic_kind {
        out.byte(TOPIC_KIND);
        out.text(kind);
    }
    if let Some(session) = work.owner_session {
        out.byte(OWNER_SESSION);
        out.number(session.0.into());
    }
    if let Some(key) = &work.initiative_key {
        out.byte(INITIATIVE);
        out.text(key);
    }
    put_bindings(out, BIND, work.bindings.iter());
    if !work.progress.is_empty() {
        out.byte(PROGRESS);
        out.number(work.progress.len() as u64);
        for Progress { key, text, percent, at, by, said: _ } in &work.progress {
            put_report(out, key, text, *percent);
            out.signed(at.0);
            out.number(by.0.into());
        }
    }
    if let Some(spur) = &work.spur {
        out.byte(SPUR);
        put_spur(out, spur);
    }
    if let Some(Summary { text, at }) = &work.summary {
        out.byte(SUMMARY);
        out.text(text);
        out.signed(at.0);
    }
    if !work.promoted.is_empty() {
        out.byte(PROMOTED);
        out.number(work.promoted.len() as u64);
        work.promoted.iter().for_each(|seq| out.number(seq.0));
    }
    if work.progress.iter().any(|p| p.said.is_some()) {
        out.byte(SAID);
        for Progress { said, .. } in &work.progress {
            out.byte(said.is_some().into());
            out.0.extend(said.iter().flat_map(|uid| uid.0.to_be_bytes()));
        }
    }
    out.byte(END);
}

pub(super) fn get_work(r: &mut Reader<'_>) -> Result<ThreadWork> {
    let mut work = ThreadWork { status: r.code()?, ..ThreadWork::default() };
    let mut last = 0;
    while let Some(tag) = next(r, &mut last)? {
        match tag {
            TOPIC_KIND => work.topic_kind = Some(r.text()?),
            OWNER_SESSION => work.owner_session = Some(SessionKey(r.small()?)),
            INITIATIVE => work.initiative_key = Some(r.text()?),
            BIND => {
                let bindings = get_bindings(r)?;
                if !bindings.is_sorted_by(|a, b| a < b) {
                    return Err(Corrupt);
                }
                work.bindings = bindings.into_iter().collect::<BTreeSet<_>>();
            }
            PROGRESS => {
                let count = some(r)?;
                let read = (0..count).map(|_| {
                    let Report { key, text, percent } = get_report(r)?;
                    let (at, by) = (Timestamp(r.signed()?), MemberKey(r.small()?));
                    Ok(Progress { key, text, percent, at, by, said: None })
                });
                work.progress = read.collect::<Result<_>>()?;
            }
            SPUR => work.spur = Some(get_spur(r)?),
            SUMMARY => work.summary = Some(Summary { text: r.text()?, at: Timestamp(r.signed()?) }),
            PROMOTED => {
                let count = some(r)?;
                let seqs = (0..count).map(|_| r.number().map(Seq)).collect::<Result<Vec<_>>>()?;
                if !seqs.is_sorted_by(|a, b| a < b) {
                    return Err(Corrupt);
                }
                work.promoted = seqs.into_iter().collect();
            }
            SAID => {
                for progress in &mut work.progress {
                    progress.said = if flag(r)? { Some(get_uid(r)?) } else { None };
                }
                if work.progress.iter().all(|p| p.said.is_none()) {
                    return Err(Corrupt);
                }
            }
            _ => return Err(Corrupt),
        }
    }
    Ok(work)
}

pub(super) fn put_change(out: &mut Writer, change: &WorkChange) {
    if let Some(status) = change.status {
        out.byte(STATUS);
        out.code(status);
    }
    if let Some(kind) = &change.topic_kind {
        out.byte(TOPIC_KIND);
        out.optional_text(kind.as_deref());
    }
    if let Some(session) = change.owner_session {
        out.byte(OWNER_SESSION);
        out.option(session.map(|s| s.0.into()));
    }
    if let Some(key) = &change.initiative_key {
        out.byte(INITIATIVE);
        out.optional_text(key.as_deref());
    }
    put_bindings(out, BIND, change.bind.iter());
    put_bindings(out, UNBIND, change.unbind.iter());
    if let Some(Report { key, text, percent }) = &change.progress {
        out.byte(PROGRESS);
        put_report(out, key, text, *percent);
    }
    if !change.forget.is_empty() {
        out.byte(FORGET);
        out.number(change.forget.len() as u64);
        change.forget.iter().for_each(|key| out.text(key));
    }
    if let Some(spur) = &change.spur {
        out.byte(SPUR);
        put_spur(out, spur);
    }
    out.byte(END);
}

pub(super) fn get_change(r: &mut Reader<'_>) -> Result<WorkChange> {
    let mut change = WorkChange::default();
    let mut last = 0;
    while let Some(tag) = next(r, &mut last)? {
        match tag {
            STATUS => change.status = Some(r.code()?),
            TOPIC_KIND => change.topic_kind = Some(r.optional_text()?),
            OWNER_SESSION => {
                let session = r.option()?.map(u32::try_from).transpose();
                change.owner_session = Some(session.map_err(|_| Corrupt)?.map(SessionKey));
            }
            INITIATIVE => change.initiative_key = Some(r.optional_text()?),
            BIND => change.bind = get_bindings(r)?,
            UNBIND => change.unbind = get_bindings(r)?,
            PROGRESS => change.progress = Some(get_report(r)?),
            FORGET => {
                let count = some(r)?;
                change.forget = (0..count).map(|_| r.text()).collect::<Result<_>>()?;
            }
            SPUR => change.spur = Some(get_spur(r)?),
            _ => return Err(Corrupt),
        }
    }
    Ok(change)
}

pub(super) fn put_promotion(out: &mut Writer, promotion: &Promotion) {
    match promotion {
        Promotion::Message { message, note } => {
            out.byte(1);
            out.number(message.0);
            out.optional_text(note.as_deref());
        }
        Promotion::Result { text } => {
            out.byte(2);
            out.text(text);
        }
    }
}

pub(super) fn get_promotion(r: &mut Reader<'_>) -> Result<Promotion> {
    match r.byte()? {
        1 => Ok(Promotion::Message { message: Seq(r.number()?), note: r.optional_text()? }),
        2 => Ok(Promotion::Result { text: r.text()? }),
        _ => Err(Corrupt),
    }
}

/// The tag of the next part, higher than the one before; none at the end.
fn next(r: &mut Reader<'_>, last: &mut u8) -> Result<Option<u8>> {
    let tag = r.byte()?;
    if tag == END {
        return Ok(None);
    }
    if tag <= *last {
        return Err(Corrupt);
    }
    *last = tag;
    Ok(Some(tag))
}

/// A list that stands there has something in it.
fn some(r: &mut Reader<'_>) -> Result<usize> {
    match r.count()? {
        0 => Err(Corrupt),
        count => Ok(count),
    }
}

fn put_bindings<'a>(
    out: &mut Writer,
    tag: u8,
    bindings: impl ExactSizeIterator<Item = &'a Binding>,
) {
    if bindings.len() == 0 {
        return;
    }
    out.byte(tag);
    out.number(bindings.len() as u64);
    for binding in bindings {
        out.code(binding.kind);
        out.text(&binding.id);
    }
}

fn get_bindings(r: &mut Reader<'_>) -> Result<Vec<Binding>> {
    let count = some(r)?;
    (0..count).map(|_| Ok(Binding { kind: r.code()?, id: r.text()? })).collect()
}

fn put_report(out: &mut Writer, key: &Arc<str>, text: &Arc<str>, percent: Option<u8>) {
    out.text(key);
    out.text(text);
    out.option(percent.map(Into::into));
}

fn get_report(r: &mut Reader<'_>) -> Result<Report> {
    let (key, text) = (r.text()?, r.text()?);
    let percent = r.option()?.map(u8::try_from).transpose().map_err(|_| Corrupt)?;
    Ok(Report { key, text, percent })
}

fn put_spur(out: &mut Writer, spur: &Spur) {
    out.0.extend_from_slice(&spur.uid.0.to_be_bytes());
    out.code(spur.kind);
    out.signed(spur.at.0);
    out.number(spur.thread_seq);
    out.byte(spur.opened.into());
}

fn get_spur(r: &mut Reader<'_>) -> Result<Spur> {
    Ok(Spur {
        uid: get_uid(r)?,
        kind: r.code()?,
        at: Timestamp(r.signed()?),
        thread_seq: r.number()?,
        opened: flag(r)?,
    })
}

fn get_uid(r: &mut Reader<'_>) -> Result<Uid> {
    let uid: [u8; 16] = r.bytes(16)?.try_into().map_err(|_| Corrupt)?;
    Ok(Uid(u128::from_be_bytes(uid)))
}

fn flag(r: &mut Reader<'_>) -> Result<bool> {
    match r.byte()? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Corrupt),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::collection::{btree_set, vec};
    use proptest::option;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;
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
