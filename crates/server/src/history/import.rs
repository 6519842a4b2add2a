//! Reading a history into a folder of its own. Every line is judged before the folder gets its name: each
//! event by its hash and the chain, each conversation by its replay, all of it by the signature.

use std::io::{BufRead, Read};

use chorus_core::model::ids::{MemberKey, Prefix, Timestamp};
use chorus_store::history::Writing;
use chorus_store::{Place, Tenant};
use sha2::{Digest, Sha256};

use super::error::{Bad, Wrong};
use super::field::id;
use super::lines::{Counts, End, Header, Import, Line, Rank};
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
    let writing = begun.map_err(|bad| lines.bad(bad))?;
    let mut state = State {
        counts: Counts::default(),
        digest: Sha256::new(),
        import: Import { writing, part: None },
        rank: Rank::Header,
    };
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
            state.import.writing.finish().map_err(|refused| lines.bad(refused.into()))?;
            let (workspace_id, exported_at) = (header.workspace_id, header.exported_at);
            let key = header.key.base64();
            return Ok(Imported { workspace_id, exported_at, counts, key });
        }
        state.digest.update(bytes);
        let taken = line.map_err(Bad::Unfit).and_then(|line| state.take(line));
        taken.map_err(|bad| lines.bad(bad))?;
    }
}

fn begin(
    header: &Header,
    place: &Place,
    signed_by: Option<&str>,
    now: Timestamp,
) -> Result<Writing, Bad> {
    if !(1..=FORMAT).contains(&header.format) {
        return Err("the export is of a newer program: use that one".into());
    }
    if signed_by.is_some_and(|key| key != header.key.base64()) {
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
    import: Import,
    /// Lines come in the order of their kinds.
    rank: Rank,
}

impl State {
    fn take(&mut self, line: Line<'_>) -> Result<(), Bad> {
        self.counts.count(&line);
        let rank = line.rank();
        if rank == Rank::Header {
            return Err("a second header".into());
        }
        if rank < self.rank {
            return Err("it is out of order".into());
        }
        self.rank = rank;
        if rank > Rank::Conversations {
            self.must_be_between()?;
        }
        line.import(&mut self.import)
    }

    fn must_be_between(&self) -> Result<(), Bad> {
        match self.import.part {
            Some(_) => Err("the conversation before it has no head".into()),
            None => Ok(()),
        }
    }

    /// Whether the end is that of what was read.
    fn check(&self, header: &Header, first: &[u8], end: &End) -> Result<(), Bad> {
        self.must_be_between()?;
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
