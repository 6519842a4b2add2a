//! Writing a history: everybody, then conversation by conversation, and a signature over all of it.

use std::fmt;
use std::io::{self, Write};

use chorus_core::codec::{self, Coded};
use chorus_core::model::conversation::{Conversation, Keep};
use chorus_core::model::event::Event;
use chorus_core::model::ids::{ConversationKey, Prefix, Timestamp};
use chorus_core::model::log_snapshot::LogSnapshot;
use chorus_core::model::member::Member;
use chorus_store::Place;
use chorus_store::backup::BackupError;
use chorus_store::history::{Erased, Part, Reading, Snapshot};
use sha2::{Digest, Sha256};

use super::line::{self, Bytes, Counts, Line};
use super::{FORMAT, Signing};

/// What was exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exported {
    pub counts: Counts,
}

/// Why there is no export.
#[derive(Debug)]
pub enum ExportError {
    Store(BackupError),
    /// A message was erased after the moment of which the export is.
    Meanwhile,
    Write(io::Error),
}

impl fmt::Display for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(error) => error.fmt(f),
            Self::Meanwhile => f.write_str("a message was erased meanwhile; export again"),
            Self::Write(error) => write!(f, "the export cannot be written: {error}"),
        }
    }
}

impl std::error::Error for ExportError {}

impl From<BackupError> for ExportError {
    fn from(error: BackupError) -> Self {
        Self::Store(error)
    }
}

impl From<io::Error> for ExportError {
    fn from(error: io::Error) -> Self {
        Self::Write(error)
    }
}

type Result<T> = std::result::Result<T, ExportError>;

/// Writes the history that a place holds, with a host on it or without, as of one moment.
pub fn export(
    place: &Place,
    sign: &Signing,
    now: Timestamp,
    out: &mut dyn Write,
) -> Result<Exported> {
    let mut reading = Reading::open(place)?;
    let snapshot = reading.snapshot()?;
    let header = header(&snapshot, sign, now)?;
    out.write_all(&header)?;
    let mut lines =
        Lines { out, digest: Sha256::new(), counts: Counts::default(), line: Vec::new() };
    everybody(&mut lines, &snapshot)?;
    assets(&mut lines, &reading)?;
    for part in &snapshot.conversations {
        conversation(&mut lines, &reading, part)?;
    }
    for project in snapshot.directory.projects.values() {
        let tasks = project.tasks.values().map(|t| Bytes(codec::task(t))).collect();
        let project = Bytes(codec::project(project));
        lines.put(&Line::Project(line::Project { project, tasks }))?;
    }
    let Lines { out, digest, counts, .. } = lines;
    let sha256: [u8; 32] = digest.finalize().into();
    let signature = Bytes::of(&sign.sign(&header, &sha256));
    let end = Line::End(line::End { counts, sha256: Bytes::of(&sha256), signature });
    out.write_all(&json(&end)?)?;
    out.flush()?;
    Ok(Exported { counts })
}

fn header(snapshot: &Snapshot, sign: &Signing, now: Timestamp) -> Result<Vec<u8>> {
    json(&Line::Header(line::Header {
        format: FORMAT,
        workspace_id: snapshot.tenant.uid.show(Prefix::Workspace),
        workspace: snapshot.tenant.name.to_string(),
        lead: snapshot.tenant.lead.map(|l| l.0),
        exported_at: chorus_wire::time::format(now),
        program: env!("CARGO_PKG_VERSION").to_owned(),
        key: Bytes::of(&sign.key()),
    }))
}

fn json(line: &Line<'_>) -> Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec(line).map_err(io::Error::other)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// The lines between header and end.
struct Lines<'a> {
    out: &'a mut dyn Write,
    digest: Sha256,
    counts: Counts,
    line: Vec<u8>,
}

impl Lines<'_> {
    fn put(&mut self, line: &Line<'_>) -> Result<()> {
        self.counts.count(line);
        self.line.clear();
        serde_json::to_writer(&mut self.line, line).map_err(io::Error::other)?;
        self.line.push(b'\n');
        self.digest.update(&self.line);
        Ok(self.out.write_all(&self.line)?)
    }
}

/// Files, one after the other: each is in memory while it is written.
fn assets(lines: &mut Lines<'_>, reading: &Reading) -> Result<()> {
    for asset in reading.assets()? {
        let Some(kept) = reading.kept(asset)? else { continue };
        let asset = &kept.asset;
        lines.put(&Line::Asset(line::Asset {
            id: asset.uid.show(Prefix::Asset).into(),
            name: (&*asset.name).into(),
            media: asset.media.code(),
            by: asset.by.0,
            at: asset.at.0,
            sha256: Bytes::of(&asset.hash),
            data: Bytes::of(&kept.data),
            thumbnail: kept.thumbnail.as_deref().filter(|small| !small.is_empty()).map(Bytes::of),
        }))?;
    }
    Ok(())
}

fn everybody(lines: &mut Lines<'_>, snapshot: &Snapshot) -> Result<()> {
    let directory = &snapshot.directory;
    for m in directory.members.iter() {
        lines.put(&Line::Member(member_line(m)))?;
    }
    for r in &directory.roles {
        lines.put(&Line::Role(line::Role {
            key: r.key.0,
            name: (&*r.name).into(),
            members: r.members.iter().map(|m| m.0).collect(),
            removed: r.removed,
        }))?;
    }
    for s in &directory.streams {
        lines.put(&Line::Stream(line::Stream {
            key: s.key.0,
            id: s.uid.show(Prefix::Stream).into(),
            name: (&*s.name).into(),
            owner: s.owner.map(|o| o.0),
        }))?;
    }
    for s in directory.sessions.values() {
        lines.put(&Line::Session(line::Session {
            key: s.key.0,
            id: s.uid.show(Prefix::Session).into(),
            member: s.member.0,
            runtime: (&*s.runtime).into(),
            managed: s.managed,
            resumable: s.resumable,
            seen_at: s.seen_at.0,
        }))?;
    }
    Ok(())
}

fn conversation(lines: &mut Lines<'_>, reading: &Reading, part: &Part) -> Result<()> {
    let key = part.conversation.key;
    let roster = part.roster.iter().map(|(m, p)| (m.0, p.code())).collect();
    let (mut read, mut read_threads) = (Vec::new(), Vec::new());
    for ((member, thread), cursor) in &part.cursors {
        match thread {
            None => read.push((member.0, cursor.read.0)),
            Some(thread) => read_threads.push((member.0, thread.0, cursor.read.0)),
        }
    }
    let line = conversation_line(&part.conversation);
    lines.put(&Line::Conversation(line::Conversation { roster, read, read_threads, ..line }))?;
    for t in &part.threads {
        lines.put(&Line::Thread(line::Thread {
            conversation: key.0,
            key: t.key.0,
            id: t.uid.show(Prefix::Thread).into(),
            root: t.root.map(|s| s.0),
            title: (&*t.title).into(),
            kind: t.kind.code(),
            status: t.status.code(),
            owner: t.owner.map(|o| o.0),
            last_seq: t.last_seq,
            participants: t.participants.iter().map(|m| m.0).collect(),
            created_at: t.created_at.0,
            updated_at: t.updated_at.0,
            work: (!t.work.is_plain()).then(|| Bytes(codec::work(&t.work))),
        }))?;
    }
    if let Some(base) = &part.base {
        lines.put(&Line::Base(base_line(key, base)))?;
    }
    let (mut after, mut erased) = (part.head.base, Erased::default());
    loop {
        let page = reading.events(part, after)?;
        let Some(last) = page.last() else { break };
        after = last.seq;
        for e in &page {
            erased.see(e);
            lines.put(&Line::Event(event_line(e)))?;
        }
    }
    if erased.unsaid().is_some() {
        return Err(ExportError::Meanwhile);
    }
    for s in &part.schedules {
        lines.put(&Line::Schedule(line::Schedule {
            conversation: key.0,
            id: s.uid.show(Prefix::Schedule).into(),
            title: (&*s.title).into(),
            state: Bytes(codec::schedule(s)),
        }))?;
    }
    let (seq, hash) = (part.head.seq.0, Bytes::of(&part.head.hash));
    lines.put(&Line::Head(line::Head { conversation: key.0, seq, hash }))
}

pub(super) fn member_line(m: &Member) -> line::Member<'_> {
    line::Member {
        key: m.key.0,
        id: (&*m.id).into(),
        kind: m.kind.code(),
        handle: (&*m.handle).into(),
        display_name: (&*m.display_name).into(),
        owner: m.owner.as_deref().map(Into::into),
        identities: m.identities.as_deref().map(Into::into),
        removed: m.removed,
    }
}

/// Without who sits in it, and how far each has read.
pub(super) fn conversation_line(conversation: &Conversation) -> line::Conversation<'_> {
    let Conversation { key, uid, kind, settings, created_at } = conversation;
    line::Conversation {
        key: key.0,
        id: uid.show(Prefix::Conversation).into(),
        kind: kind.code(),
        title: (&*settings.title).into(),
        description: (&*settings.description).into(),
        purpose: (&*settings.purpose).into(),
        visibility: settings.visibility.code(),
        stream: settings.stream.map(|s| s.0),
        lead: settings.lead.map(|l| l.0),
        agent_budget: settings.agent_budget,
        keep: settings.keep.map(Keep::stored),
        settings: Some(codec::later_settings(settings)).filter(|s| !s.is_empty()).map(Bytes),
        archived: settings.archived,
        created_at: created_at.0,
        roster: Vec::new(),
        read: Vec::new(),
        read_threads: Vec::new(),
    }
}

pub(super) fn base_line(conversation: ConversationKey, base: &LogSnapshot) -> line::Base {
    line::Base {
        conversation: conversation.0,
        seq: base.seq.0,
        hash: Bytes::of(&base.hash),
        at: base.at.0,
        state: Bytes(codec::base(base)),
    }
}

pub(super) fn event_line(e: &Event) -> line::Event<'_> {
    let message = e.change.message().filter(|_| !e.is_erased()).map(|m| line::Message {
        text: &m.text,
        parts: m.parts.as_deref(),
        metadata: m.metadata.as_deref(),
        source: m.source.as_deref(),
    });
    line::Event {
        conversation: e.conversation.0,
        seq: e.seq.0,
        id: e.uid.show(Prefix::Event).into(),
        at: e.at.0,
        actor: e.actor.0,
        session: e.session.map(|s| s.0),
        thread: e.thread.map(|t| t.0),
        thread_seq: e.thread_seq,
        kind: e.change.name().into(),
        code: e.change.code(),
        reply_to: e.reply_to.map(|s| s.0),
        cause: e.cause.map(|c| (c.conversation.0, c.seq.0)),
        hop: e.hop,
        idempotency: e.idempotency.map(|i| (Bytes::of(&i.key), Bytes::of(&i.payload))),
        told: e.attention.as_deref().map(|a| Bytes(codec::attention(a))),
        content_hash: Bytes::of(&e.content_hash),
        hash: Bytes::of(&e.hash),
        salt: e.salt.as_ref().map(|salt| Bytes::of(salt)),
        body: Bytes(codec::body(&e.change)),
        message,
    }
}
