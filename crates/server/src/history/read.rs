//! What the lines of an export say, as the core has it.

use std::sync::Arc;

use chorus_core::codec::{self, Coded};
use chorus_core::model::asset::{Asset, Kept};
use chorus_core::model::event::{Event, Idempotency};
use chorus_core::model::ids::{
    ConversationKey, EventRef, MemberKey, Prefix, Seq, SessionKey, ThreadKey, Timestamp, Uid,
};
use chorus_core::model::project::Project;
use chorus_core::model::thread::Thread;

use super::line::{self, Bytes};

pub(super) fn thread(t: &line::Thread<'_>) -> Result<Thread, String> {
    Ok(Thread {
        key: ThreadKey(t.key),
        uid: id(Prefix::Thread, &t.id)?,
        root: t.root.map(Seq),
        title: (*t.title).into(),
        kind: coded(t.kind)?,
        status: coded(t.status)?,
        owner: t.owner.map(MemberKey),
        last_seq: t.last_seq,
        participants: t.participants.iter().copied().map(MemberKey).collect(),
        created_at: Timestamp(t.created_at),
        updated_at: Timestamp(t.updated_at),
        // The replay counts it.
        unattended: 0,
        work: match &t.work {
            Some(work) => codec::read_work(&work.0).map_err(|_| "its work cannot be read")?.into(),
            None => Arc::default(),
        },
    })
}

pub(super) fn project(p: &line::Project) -> Result<Project, String> {
    let project = codec::read_project(&p.project.0).map_err(|_| "the project cannot be read")?;
    let tasks = p.tasks.iter().map(|task| codec::read_task(&task.0));
    let tasks = tasks.map(|task| task.map(|task| (task.uid, Arc::new(task))));
    let tasks = tasks.collect::<Result<_, _>>().map_err(|_| "a task cannot be read")?;
    Ok(Project { tasks, ..project })
}

pub(super) fn event(e: &line::Event<'_>) -> Result<Event, String> {
    let damaged = |what: &str| format!("{what} cannot be read");
    let told = e.told.as_ref().map(|told| codec::read_attention(&told.0)).transpose();
    let idempotency = e.idempotency.as_ref();
    let idempotency = idempotency.map(|(key, payload)| {
        Ok::<_, String>(Idempotency { key: key.array()?, payload: payload.array()? })
    });
    Ok(Event {
        conversation: ConversationKey(e.conversation),
        seq: Seq(e.seq),
        uid: id(Prefix::Event, &e.id)?,
        at: Timestamp(e.at),
        actor: MemberKey(e.actor),
        session: e.session.map(SessionKey),
        thread: e.thread.map(ThreadKey),
        thread_seq: e.thread_seq,
        reply_to: e.reply_to.map(Seq),
        cause: e.cause.map(|(c, seq)| EventRef { conversation: ConversationKey(c), seq: Seq(seq) }),
        hop: e.hop,
        idempotency: idempotency.transpose()?,
        attention: told.map_err(|_| damaged("who was told"))?.map(Arc::new),
        change: codec::read_body(e.code, &e.body.0).map_err(|_| damaged("its body"))?,
        salt: e.salt.as_ref().map(Bytes::array).transpose()?,
        content_hash: e.content_hash.array()?,
        hash: e.hash.array()?,
    })
}

pub(super) fn id(prefix: Prefix, text: &str) -> Result<Uid, String> {
    let wrong = || format!("{text:?} is no id that begins with {:?}", prefix.as_str());
    Uid::read(prefix, text).ok_or_else(wrong)
}

pub(super) fn coded<T: Coded>(code: u8) -> Result<T, String> {
    T::from_code(code).ok_or_else(|| format!("{code} is the code of nothing"))
}

pub(super) fn kept(a: line::Asset<'_>) -> Result<Kept, String> {
    let asset = Asset {
        uid: id(Prefix::Asset, &a.id)?,
        hash: a.sha256.array()?,
        name: (*a.name).into(),
        media: coded(a.media)?,
        bytes: a.data.0.len() as u64,
        by: MemberKey(a.by),
        at: Timestamp(a.at),
    };
    let thumbnail = a.thumbnail.map(|small| small.0.into());
    Ok(Kept { asset: Arc::new(asset), data: a.data.0.into(), thumbnail })
}
