//! The disk that forgets: every file as programs see it, and what of it has reached the plates.
//!
//! Invariant: the real file holds exactly what was synced. At a power cut each unsynced write is lost or
//! kept by a coin of its own, as a drive may write its cache back in any order; a write itself is whole
//! (SQLite is told so: "powersafe overwrite"). Making and deleting files is durable at once.

use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A disk with a power switch. One disk serves one test.
#[derive(Debug)]
pub struct Disk(Mutex<State>);

#[derive(Debug)]
struct State {
    files: HashMap<PathBuf, Image>,
    /// Rises with every power cut: handles from before it are dead.
    generation: u64,
    powered: bool,
    /// Operations until the power goes.
    fuse: Option<u64>,
    coin: u64,
}

#[derive(Debug, Default)]
struct Image {
    /// What programs read.
    now: Vec<u8>,
    unsynced: Vec<Change>,
}

#[derive(Debug)]
enum Change {
    Write { at: u64, bytes: Vec<u8> },
    Truncate(u64),
}

/// The power is off, or the real file failed.
#[derive(Debug)]
pub(super) struct Gone;

impl From<io::Error> for Gone {
    fn from(_: io::Error) -> Self {
        Self
    }
}

type Result<T> = std::result::Result<T, Gone>;

impl Disk {
    pub(super) fn new(seed: u64) -> Self {
        let files = HashMap::new();
        let state = State { files, generation: 0, powered: true, fuse: None, coin: seed | 1 };
        Self(Mutex::new(state))
    }

    /// The power goes after so many further writes and syncs.
    pub fn cut_after(&self, operations: u64) {
        self.state().fuse = Some(operations);
    }

    /// The power goes now. Every handle is dead from here on.
    pub fn cut(&self) {
        self.state().cut();
    }

    pub fn is_on(&self) -> bool {
        self.state().powered
    }

    /// The power is back; programs find what the plates have.
    pub fn power_on(&self) {
        let mut state = self.state();
        state.powered = true;
        state.fuse = None;
    }

    pub(super) fn generation(&self) -> u64 {
        self.state().generation
    }

    /// Takes a file in as it is on the plates, unless it is known.
    pub(super) fn open(&self, path: &Path) -> Result<()> {
        let mut state = self.state();
        state.alive()?;
        if !state.files.contains_key(path) {
            let now = fs::read(path)?;
            state.files.insert(path.to_owned(), Image { now, unsynced: Vec::new() });
        }
        Ok(())
    }

    pub(super) fn delete(&self, path: &Path) -> Result<()> {
        let mut state = self.state();
        state.alive()?;
        state.files.remove(path);
        Ok(())
    }

    /// Whether a file is there and not empty; none for a file that is not known.
    pub(super) fn has_content(&self, path: &Path) -> Result<Option<bool>> {
        let state = self.state();
        state.alive()?;
        Ok(state.files.get(path).map(|image| !image.now.is_empty()))
    }

    pub(super) fn size(&self, generation: u64, path: &Path) -> Result<u64> {
        let mut state = self.state();
        Ok(state.image(generation, path)?.now.len() as u64)
    }

    /// Fills `into` from `at`; says how many bytes there were. The rest is zero.
    pub(super) fn read(
        &self,
        generation: u64,
        path: &Path,
        at: u64,
        into: &mut [u8],
    ) -> Result<usize> {
        let mut state = self.state();
        let now = &state.image(generation, path)?.now;
        let from = usize::try_from(at).unwrap_or(usize::MAX).min(now.len());
        let found = into.len().min(now.len() - from);
        into[..found].copy_from_slice(&now[from..from + found]);
        into[found..].fill(0);
        Ok(found)
    }

    pub(super) fn write(&self, generation: u64, path: &Path, at: u64, bytes: &[u8]) -> Result<()> {
        self.change(generation, path, Change::Write { at, bytes: bytes.to_vec() })
    }

    pub(super) fn truncate(&self, generation: u64, path: &Path, size: u64) -> Result<()> {
        self.change(generation, path, Change::Truncate(size))
    }

    /// Everything written so far reaches the plates.
    pub(super) fn sync(&self, generation: u64, path: &Path) -> Result<()> {
        let mut state = self.state();
        state.burn(generation)?;
        let changes = std::mem::take(&mut state.image(generation, path)?.unsynced);
        to_plates(path, &changes)?;
        Ok(())
    }

    fn change(&self, generation: u64, path: &Path, change: Change) -> Result<()> {
        let mut state = self.state();
        state.burn(generation)?;
        let image = state.image(generation, path)?;
        match &change {
            Change::Truncate(size) => image.now.truncate(usize::try_from(*size).map_err(|_| Gone)?),
            Change::Write { at, bytes } => {
                let at = usize::try_from(*at).map_err(|_| Gone)?;
                let end = at + bytes.len();
                if image.now.len() < end {
                    image.now.resize(end, 0);
                }
                image.now[at..end].copy_from_slice(bytes);
            }
        }
        image.unsynced.push(change);
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn alive(&self) -> Result<()> {
        if self.powered { Ok(()) } else { Err(Gone) }
    }

    fn image(&mut self, generation: u64, path: &Path) -> Result<&mut Image> {
        self.alive()?;
        if generation != self.generation {
            return Err(Gone);
        }
        self.files.get_mut(path).ok_or(Gone)
    }

    /// Counts one operation; the one at which the fuse ends does not happen any more.
    fn burn(&mut self, generation: u64) -> Result<()> {
        self.alive()?;
        if generation != self.generation {
            return Err(Gone);
        }
        match &mut self.fuse {
            Some(0) => {
                self.cut();
                Err(Gone)
            }
            Some(left) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn cut(&mut self) {
        self.powered = false;
        self.generation += 1;
        self.fuse = None;
        let mut files: Vec<_> = std::mem::take(&mut self.files).into_iter().collect();
        files.sort_by(|a, b| a.0.cmp(&b.0));
        for (path, image) in files {
            let kept: Vec<_> = image.unsynced.into_iter().filter(|_| self.toss()).collect();
            // A file that cannot be written to keeps what it had, which is a power cut too.
            let _ = to_plates(&path, &kept);
        }
    }

    /// xorshift: a coin that falls the same for the same seed.
    fn toss(&mut self) -> bool {
        self.coin ^= self.coin << 13;
        self.coin ^= self.coin >> 7;
        self.coin ^= self.coin << 17;
        self.coin & 1 == 1
    }
}

fn to_plates(path: &Path, changes: &[Change]) -> io::Result<()> {
    if changes.is_empty() {
        return Ok(());
    }
    let file = OpenOptions::new().write(true).open(path)?;
    for change in changes {
        match change {
            Change::Write { at, bytes } => file.write_all_at(bytes, *at)?,
            Change::Truncate(size) => file.set_len(*size)?,
        }
    }
    Ok(())
}
