//! What retention drops, written before it goes: a file for each stretch of a conversation, in the lines of an export.
//!
//! Invariant: a file has its name only once it is whole and on the disk, and what is in it is dropped only after that. One
//! whose events were not dropped, because the host ended between, is written again from the log, which may have had
//! something erased since.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chorus_core::model::conversation::Conversation;
use chorus_core::model::event::Event;
use chorus_core::model::ids::{MemberKey, Prefix};
use chorus_core::model::log_snapshot::LogSnapshot;
use chorus_core::state::directory::Directory;

use super::lines::{self, Base, Head, Line, Member};

/// Events that are about to be dropped; there is one at least.
pub(crate) struct Stretch {
    pub(crate) directory: Arc<Directory>,
    pub(crate) conversation: Arc<Conversation>,
    /// What the first follows from.
    pub(crate) base: Option<LogSnapshot>,
    pub(crate) events: Vec<Arc<Event>>,
}

/// Which file or folder could not be written, and why.
#[derive(Debug)]
pub(crate) struct Unwritten(pub(crate) PathBuf, pub(crate) io::Error);

/// Writes the stretch into `folder`, durably.
pub(crate) fn archive(folder: &Path, stretch: &Stretch) -> Result<(), Unwritten> {
    let (Some(first), Some(last)) = (stretch.events.first(), stretch.events.last()) else {
        return Ok(());
    };
    let folder = folder.join(stretch.conversation.uid.show(Prefix::Conversation));
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |why| Unwritten(path, why)
    };
    make_folder(&folder).map_err(failed(&folder))?;
    // Names stand in the order of the log.
    let begins = format!("{:012}-", first.seq.0);
    let name = format!("{begins}{:012}.jsonl", last.seq.0);
    let (path, partial) = (folder.join(&name), folder.join(format!("{name}.partial")));
    write(&partial, stretch, last).map_err(failed(&partial))?;
    fs::rename(&partial, &path).map_err(failed(&path))?;
    // What began here before was not dropped, or this would begin later.
    let same = fs::read_dir(&folder).map_err(failed(&folder))?.flatten();
    for other in same.filter(|e| e.file_name().to_string_lossy().starts_with(&begins)) {
        if other.file_name() != *name {
            fs::remove_file(other.path()).map_err(failed(&other.path()))?;
        }
    }
    sync_folder(&folder).map_err(failed(&folder))
}

/// Makes it and what is missing above it, so that a crash does not take it away again.
fn make_folder(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let above = folder.parent().filter(|above| !above.as_os_str().is_empty());
    let above = above.unwrap_or(Path::new("."));
    make_folder(above)?;
    fs::create_dir(folder)?;
    sync_folder(above)
}

fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

fn write(path: &Path, stretch: &Stretch, last: &Event) -> io::Result<()> {
    let file =
        fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    let mut out = BufWriter::new(file);
    let mut put = |line: &Line<'_>| {
        serde_json::to_writer(&mut out, line).map_err(io::Error::other)?;
        out.write_all(b"\n")
    };
    let actors: BTreeSet<MemberKey> = stretch.events.iter().map(|event| event.actor).collect();
    for member in actors.iter().filter_map(|key| stretch.directory.member(*key)) {
        put(&Line::Member(Member::of(member)))?;
    }
    // Who sits in it, and how far each has read, is not of this stretch.
    put(&Line::Conversation(lines::Conversation::of(&stretch.conversation)))?;
    if let Some(base) = &stretch.base {
        put(&Line::Base(Base::of(last.conversation, base)))?;
    }
    for event in &stretch.events {
        put(&Line::Event(lines::Event::of(event)))?;
    }
    put(&Line::Head(Head::of(last.conversation, last.seq, &last.hash)))?;
    out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
}
