//! Reading a history into a folder of its own. Every line is judged before the folder gets its name: each
//! event by its hash and the chain, each conversation by its replay, all of it by the signature.

use std::fmt;
use std::io::{self, BufRead, Read};
use std::sync::Arc;

use chorus_core::codec;
use chorus_core::model::conversation::{Conversation, Keep, Settings};
use chorus_core::model::cursor::ReadCursor;
use chorus_core::model::ids::{
    ConversationKey, MemberKey, Prefix, RoleKey, Seq, SessionKey, StreamKey, ThreadKey, Timestamp,
};
use chorus_core::model::member::{Member, Role, Session, Stream};
use chorus_core::state::room::Head;
use chorus_store::backup::BackupError;
use chorus_store::history::{Part, Refused, Writing};
use chorus_store::{Place, Tenant};
use sha2::{Digest, Sha256};

use super::line::{self, Bytes, Counts, Line};
use super::read::{coded, event, id, kept, project, thread};
use super::{FORMAT, verifies};

/// Longest line in bytes: a conversation's roster of 100,000, or the longest message twice.
const LINE_BYTES: u64 = 8 * 1024 * 1024;

/// What was imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    pub workspace_id: String,
    pub exported_at: String,
    pub counts: Counts,
    /// The public key of the host that signed it, in base64.
    pub key: String,
}

/// Why nothing was imported.
#[derive(Debug)]
pub enum Wrong {
    /// The file is not a whole export; lines are counted from 1.
    Line {
        number: u64,
        why: String,
    },
    Store(BackupError),
    Read(io::Error),
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line { number, why } => write!(f, "line {number}: {why}"),
            Self::Store(error) => error.fmt(f),
            Self::Read(error) => write!(f, "the export cannot be read: {error}"),
        }
    }
}

impl std::error::Error for Wrong {}

/// What is wrong with a line.
enum Bad {
    Unfit(String),
    Failed(BackupError),
}

impl From<String> for Bad {
    fn from(why: String) -> Self {
        Self::Unfit(why)
    }
}

impl From<&str> for Bad {
    fn from(why: &str) -> Self {
        Self::Unfit(why.to_owned())
    }
}

impl From<Refused> for Bad {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Unfit(why) => Self::Unfit(why),
            Refused::Failed(error) => Self::Failed(error),
        }
    }
}

/// Fills a place of an export: a folder that must not be there or be empty, or an empty database. With `signed_by`, only one
/// that was signed with this key.
pub fn import(
    from: &mut dyn BufRead,
    place: &Place,
    signed_by: Option<&str>,
    now: Timestamp,
) -> Result<Imported, Wrong> {
    let mut lines = Source { from, number: 0, line: Vec::new() };
    let first = lines.next()?.to_vec();
    let header = match read(&first) {
        Ok(Line::Header(header)) => header,
        Ok(_) => return Err(lines.wrong("an export begins with its header".into())),
        Err(why) => return Err(lines.wrong(why)),
    };
    let begun = begin(&header, place, signed_by, now);
    let mut writing = begun.map_err(|bad| lines.bad(bad))?;
    let mut state = State { counts: Counts::default(), digest: Sha256::new(), part: None, rank: 0 };
    loop {
        let bytes = lines.next()?;
        let line = read(bytes);
        if let Ok(Line::End(end)) = line {
            let checked = state.check(&header, &first, &end);
            checked.map_err(|bad| lines.bad(bad))?;
            if lines.more()? {
                return Err(lines.wrong("there is something behind the end".into()));
            }
            let counts = state.counts;
            writing.finish().map_err(|refused| lines.bad(refused.into()))?;
            let (workspace_id, exported_at) = (header.workspace_id, header.exported_at);
            let key = base64_of(&header.key);
            return Ok(Imported { workspace_id, exported_at, counts, key });
        }
        state.digest.update(bytes);
        let taken = line.map_err(Bad::Unfit).and_then(|line| state.take(&mut writing, line));
        taken.map_err(|bad| lines.bad(bad))?;
    }
}

fn begin(
    header: &line::Header,
    place: &Place,
    signed_by: Option<&str>,
    now: Timestamp,
) -> Result<Writing, Bad> {
    if !(1..=FORMAT).contains(&header.format) {
        return Err("the export is of a newer program: use that one".into());
    }
    if signed_by.is_some_and(|key| key != base64_of(&header.key)) {
        return Err("it is signed with another key than the one named".into());
    }
    let tenant = Tenant {
        key: 0,
        uid: id(Prefix::Workspace, &header.workspace_id)?,
        name: header.workspace.as_str().into(),
        epoch: 1,
        lead: header.lead.map(MemberKey),
    };
    Writing::begin(place, tenant, now).map_err(Bad::Failed)
}

fn base64_of(bytes: &Bytes) -> String {
    serde_json::to_value(bytes).ok().and_then(|v| Some(v.as_str()?.to_owned())).unwrap_or_default()
}

pub(super) fn read(bytes: &[u8]) -> Result<Line<'_>, String> {
    serde_json::from_slice(bytes).map_err(|e| format!("it is no line of an export: {e}"))
}

/// The file, line by line.
struct Source<'a> {
    from: &'a mut dyn BufRead,
    number: u64,
    line: Vec<u8>,
}

impl Source<'_> {
    /// The next line, with its end.
    fn next(&mut self) -> Result<&[u8], Wrong> {
        self.line.clear();
        let mut limited = (&mut *self.from).take(LINE_BYTES);
        limited.read_until(b'\n', &mut self.line).map_err(Wrong::Read)?;
        self.number += 1;
        if self.line.is_empty() {
            let why = "the export ends here, before its last line: it was cut short".to_owned();
            return Err(self.wrong(why));
        }
        if self.line.last() != Some(&b'\n') {
            let why = match self.line.len() as u64 {
                LINE_BYTES => "it is too long for a line of an export",
                _ => "the export ends in the middle of this line: it was cut short",
            };
            return Err(self.wrong(why.to_owned()));
        }
        Ok(&self.line)
    }

    fn more(&mut self) -> Result<bool, Wrong> {
        Ok(!self.from.fill_buf().map_err(Wrong::Read)?.is_empty())
    }

    fn wrong(&self, why: String) -> Wrong {
        Wrong::Line { number: self.number, why }
    }

    fn bad(&self, bad: Bad) -> Wrong {
        match bad {
            Bad::Unfit(why) => self.wrong(why),
            Bad::Failed(error) => Wrong::Store(error),
        }
    }
}

/// What was read so far.
struct State {
    counts: Counts,
    digest: Sha256,
    /// The conversation at hand, as its own lines say it is.
    part: Option<Part>,
    /// Lines come in the order of their kinds.
    rank: u8,
}

impl State {
    fn take(&mut self, writing: &mut Writing, line: Line<'_>) -> Result<(), Bad> {
        self.counts.count(&line);
        let rank = match line {
            Line::Header(_) | Line::End(_) => return Err("a second header".into()),
            Line::Member(_) => 1,
            Line::Role(_) => 2,
            Line::Stream(_) => 3,
            Line::Session(_) => 4,
            Line::Asset(_) => 5,
            Line::Project(_) => 7,
            _ => 6,
        };
        if rank < self.rank {
            return Err("it is out of order".into());
        }
        self.rank = rank;
        match line {
            Line::Member(m) => Ok(writing.member(Member {
                key: MemberKey(m.key),
                id: (*m.id).into(),
                kind: coded(m.kind)?,
                handle: (*m.handle).into(),
                display_name: (*m.display_name).into(),
                owner: m.owner.as_deref().map(Into::into),
                identities: m.identities.as_deref().map(Into::into),
                removed: m.removed,
            })?),
            Line::Role(r) => Ok(writing.role(Role {
                key: RoleKey(r.key),
                name: (*r.name).into(),
                members: r.members.into_iter().map(MemberKey).collect(),
                removed: r.removed,
            })?),
            Line::Stream(s) => Ok(writing.stream(Stream {
                key: StreamKey(s.key),
                uid: id(Prefix::Stream, &s.id)?,
                name: (*s.name).into(),
                owner: s.owner.map(MemberKey),
            })?),
            Line::Session(s) => Ok(writing.session(Session {
                key: SessionKey(s.key),
                uid: id(Prefix::Session, &s.id)?,
                member: MemberKey(s.member),
                runtime: (*s.runtime).into(),
                managed: s.managed,
                resumable: s.resumable,
                host: 0,
                connected: false,
                seen_at: Timestamp(s.seen_at),
            })?),
            Line::Asset(a) => Ok(writing.asset(&kept(a)?)?),
            Line::Conversation(c) => self.begin_conversation(writing, c),
            Line::Thread(t) => {
                let thread = thread(&t)?;
                self.part(t.conversation)?.threads.push(thread);
                Ok(())
            }
            Line::Base(b) => {
                self.part(b.conversation)?;
                let (seq, hash, at) = (Seq(b.seq), b.hash.array()?, Timestamp(b.at));
                let base = codec::read_base(seq, hash, at, &b.state.0);
                Ok(writing.base(&base.map_err(|_| "its state cannot be read")?)?)
            }
            Line::Event(e) => {
                self.part(e.conversation)?;
                Ok(writing.event(event(&e)?)?)
            }
            Line::Schedule(s) => {
                let part = self.part(s.conversation)?;
                let schedule = codec::read_schedule(&s.state.0);
                let schedule = schedule.map_err(|_| "a schedule cannot be read")?;
                if schedule.uid != id(Prefix::Schedule, &s.id)? {
                    return Err("its id is another than that of its state".into());
                }
                part.schedules.push(schedule);
                Ok(())
            }
            Line::Head(h) => {
                let part = self.part(h.conversation)?;
                part.head.seq = Seq(h.seq);
                part.head.hash = h.hash.array()?;
                writing.end(part)?;
                self.part = None;
                Ok(())
            }
            Line::Project(p) => {
                if self.part.is_some() {
                    return Err("the conversation before it has no head".into());
                }
                Ok(writing.project(project(&p)?)?)
            }
            Line::Header(_) | Line::End(_) => Ok(()),
        }
    }

    fn begin_conversation(
        &mut self,
        writing: &mut Writing,
        c: line::Conversation<'_>,
    ) -> Result<(), Bad> {
        let mut settings = Settings {
            title: (*c.title).into(),
            description: (*c.description).into(),
            purpose: (*c.purpose).into(),
            visibility: coded(c.visibility)?,
            stream: c.stream.map(StreamKey),
            lead: c.lead.map(MemberKey),
            agent_budget: c.agent_budget,
            keep: c.keep.map(Keep::from_stored),
            archived: c.archived,
            ..Settings::default()
        };
        if let Some(later) = &c.settings {
            codec::read_later_settings(&later.0, &mut settings).map_err(|e| e.to_string())?;
        }
        let conversation = Conversation {
            key: ConversationKey(c.key),
            uid: id(Prefix::Conversation, &c.id)?,
            kind: coded(c.kind)?,
            settings,
            created_at: Timestamp(c.created_at),
        };
        writing.conversation(conversation.clone())?;
        let roster = c.roster.into_iter().map(|(m, p)| Ok((MemberKey(m), coded(p)?)));
        let cursors = c
            .read
            .into_iter()
            .map(|(m, seq)| ((MemberKey(m), None), ReadCursor { read: Seq(seq) }));
        let of_threads = c.read_threads.into_iter().map(|(m, thread, seq)| {
            ((MemberKey(m), Some(ThreadKey(thread))), ReadCursor { read: Seq(seq) })
        });
        self.part = Some(Part {
            conversation: Arc::new(conversation),
            head: Head::default(),
            roster: roster.collect::<Result<_, String>>()?,
            threads: Vec::new(),
            cursors: cursors.chain(of_threads).collect(),
            schedules: Vec::new(),
            base: None,
        });
        Ok(())
    }

    fn part(&mut self, conversation: u64) -> Result<&mut Part, Bad> {
        let part = self.part.as_mut().filter(|p| p.conversation.key.0 == conversation);
        part.ok_or_else(|| "it does not belong to the conversation before it".into())
    }

    /// Whether the end is that of what was read.
    fn check(&self, header: &line::Header, first: &[u8], end: &line::End) -> Result<(), Bad> {
        if self.part.is_some() {
            return Err("the conversation before it has no head".into());
        }
        let sha256: [u8; 32] = self.digest.clone().finalize().into();
        if end.sha256.0 != sha256 {
            return Err("the lines before it are not those that were exported".into());
        }
        if end.counts != self.counts {
            return Err("it counts other lines than there are".into());
        }
        if !verifies(&header.key.array()?, first, &sha256, &end.signature.array()?) {
            return Err("the signature is not that of the header's key over this export".into());
        }
        Ok(())
    }
}
