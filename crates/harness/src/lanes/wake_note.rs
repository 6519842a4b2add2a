//! What the runner has sent for a wake, on disk before it is sent.
//!
//! Invariant: a note is written and synced before the prompt goes out, and is replaced as a whole. So a runner that was
//! killed in the middle, or its successor under a later fence, knows that something may have arrived and looks for it
//! ([`super::chooser`]).

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::chooser::{Attempt, End};
use super::outcome::{Lane, MessageId, fnv};

/// As many tries of one wake are kept; a wake has at most a few fences with a few lanes each.
const KEPT: usize = 32;

/// The notes of one runner, in its private folder.
#[derive(Clone, Debug)]
pub struct WakeNotes {
    folder: PathBuf,
}

/// What was sent for one wake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WakeNote {
    pub wake: String,
    /// The oldest first.
    pub sent: Vec<Sent>,
}

/// One try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    pub fence: u32,
    pub lane: Lane,
    pub message: String,
    /// When it was about to be sent.
    pub at: SystemTime,
    pub end: End,
}

impl WakeNotes {
    /// Notes in `folder`, which is made if it is missing.
    pub fn open(folder: &Path) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        Ok(Self { folder: folder.to_owned() })
    }

    /// The note of a wake; an empty one if nothing was sent for it.
    pub fn read(&self, wake: &str) -> io::Result<WakeNote> {
        match fs::read(self.file(wake)) {
            Ok(text) => WakeNote::parse(wake, &text)
                .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "it is no wake note")),
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                Ok(WakeNote { wake: wake.to_owned(), sent: Vec::new() })
            }
            Err(e) => Err(e),
        }
    }

    /// Replaces the note, and returns when that is on disk.
    pub fn write(&self, note: &WakeNote) -> io::Result<()> {
        let file = self.file(&note.wake);
        let new = file.with_extension("new");
        let mut options = OpenOptions::new();
        let mut open = options.write(true).create(true).truncate(true).mode(0o600).open(&new)?;
        open.write_all(note.text().as_bytes())?;
        open.sync_all()?;
        fs::rename(&new, &file)?;
        File::open(&self.folder)?.sync_all()
    }

    /// Forgets a wake that has ended.
    pub fn forget(&self, wake: &str) -> io::Result<()> {
        match fs::remove_file(self.file(wake)) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
            _ => Ok(()),
        }
    }

    fn file(&self, wake: &str) -> PathBuf {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let name = match wake.len() <= 100 && !wake.is_empty() && wake.chars().all(plain) {
            true => wake.to_owned(),
            false => format!("other-{:016x}", fnv(wake.as_bytes())),
        };
        self.folder.join(format!("{name}.json"))
    }
}

impl WakeNote {
    /// Notes that this is about to be sent. Write the note before you send.
    pub fn begins(&mut self, fence: u32, lane: Lane, message: &MessageId) {
        let at = SystemTime::now();
        self.sent.push(Sent { fence, lane, message: message.0.clone(), at, end: End::Open });
        let over = self.sent.len().saturating_sub(KEPT);
        self.sent.drain(..over);
    }

    /// Notes how the open tries by this lane ended.
    pub fn ended(&mut self, lane: Lane, end: End) {
        for sent in self.sent.iter_mut().filter(|sent| sent.lane == lane && sent.end == End::Open) {
            sent.end = end;
        }
    }

    /// Takes the open try by this lane back: surely nothing went out, because a person was typing.
    pub fn withdraw(&mut self, lane: Lane) {
        self.sent.retain(|sent| sent.lane != lane || sent.end != End::Open);
    }

    /// The lane by which a runner that has gone since, with its program, had begun a turn.
    pub fn begun_before(&self, fence: u32, began: SystemTime) -> Option<Lane> {
        let is_turn =
            |sent: &&Sent| sent.fence == fence && sent.end == End::Confirmed && sent.at < began;
        self.sent.iter().rev().find(is_turn).map(|sent| sent.lane)
    }

    /// Forgets keys that went into a terminal which has gone since.
    pub fn forget_keys(&mut self, began: SystemTime) {
        self.sent.retain(|sent| sent.lane != Lane::Pty || sent.at >= began);
    }

    /// The message of the open try by this lane, and when it was about to be sent.
    pub fn open(&self, lane: Lane) -> Option<(MessageId, SystemTime)> {
        let open = self.sent.iter().rev().find(|sent| sent.lane == lane && sent.end == End::Open);
        open.map(|sent| (MessageId(sent.message.clone()), sent.at))
    }

    /// The tries that matter for this message: its own, whatever is open, and keys, which go in once per fence whatever
    /// they say.
    pub fn attempts(&self, message: &MessageId) -> Vec<Attempt> {
        let matters = |sent: &&Sent| {
            sent.message == message.0 || sent.end == End::Open || sent.lane == Lane::Pty
        };
        let attempt = |sent: &Sent| Attempt { lane: sent.lane, fence: sent.fence, end: sent.end };
        self.sent.iter().filter(matters).map(attempt).collect()
    }

    fn text(&self) -> String {
        let sent = self.sent.iter().map(|sent| {
            json!({
                "fence": sent.fence, "lane": sent.lane.name(), "message": sent.message,
                "atMs": millis(sent.at), "end": end_name(sent.end),
            })
        });
        json!({"wake": self.wake, "sent": sent.collect::<Vec<_>>()}).to_string()
    }

    fn parse(wake: &str, text: &[u8]) -> Option<Self> {
        let note: Value = serde_json::from_slice(text).ok()?;
        let sent = note["sent"].as_array()?.iter().map(|sent| {
            Some(Sent {
                fence: u32::try_from(sent["fence"].as_u64()?).ok()?,
                lane: Lane::from_name(sent["lane"].as_str()?)?,
                message: sent["message"].as_str()?.to_owned(),
                at: UNIX_EPOCH + Duration::from_millis(sent["atMs"].as_u64()?),
                end: ENDS.into_iter().find(|end| end_name(*end) == sent["end"])?,
            })
        });
        let sent = sent.collect::<Option<_>>()?;
        (note["wake"] == wake).then(|| Self { wake: wake.to_owned(), sent })
    }
}

const ENDS: [End; 4] = [End::Open, End::Absent, End::Failed, End::Confirmed];

fn millis(at: SystemTime) -> u64 {
    let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

fn end_name(end: End) -> &'static str {
    match end {
        End::Open => "open",
        End::Absent => "absent",
        End::Failed => "failed",
        End::Confirmed => "confirmed",
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::lanes::outcome::WakeInput;

    fn message(fence: u32, prompt: &str) -> MessageId {
        WakeInput { wake: "wake_1", fence, prompt, summary: None }.message()
    }

    #[test]
    fn a_successor_finds_what_was_sent_and_not_what_has_ended() {
        let folder = tempfile::tempdir().unwrap();
        let notes = WakeNotes::open(&folder.path().join("wakes")).unwrap();
        let mut note = notes.read("wake_1").unwrap();
        assert_eq!(note.sent, []);
        let first = message(1, "read");
        note.begins(1, Lane::CodexSocket, &first);
        notes.write(&note).unwrap();

        // The runner is killed here. Its successor has the next fence.
        let notes = WakeNotes::open(&folder.path().join("wakes")).unwrap();
        let mut note = notes.read("wake_1").unwrap();
        assert_eq!(note.open(Lane::CodexSocket).unwrap().0, first);
        let next = message(2, "read");
        let open = Attempt { lane: Lane::CodexSocket, fence: 1, end: End::Open };
        assert_eq!(note.attempts(&next), [open]);
        note.ended(Lane::CodexSocket, End::Failed);
        notes.write(&note).unwrap();
        assert_eq!(notes.read("wake_1").unwrap(), note);
        assert_eq!(note.attempts(&next), [], "the next fence has all lanes again");
        notes.forget("wake_1").unwrap();
        notes.forget("wake_1").unwrap();
        assert_eq!(notes.read("wake_1").unwrap().sent, []);
    }

    #[test]
    fn more_mail_may_take_every_lane_but_the_keys() {
        let mut note = WakeNote { wake: "wake_1".into(), sent: Vec::new() };
        for lane in [Lane::CodexSocket, Lane::Pty] {
            note.begins(1, lane, &message(1, "read"));
            note.ended(lane, End::Confirmed);
        }
        let typed = Attempt { lane: Lane::Pty, fence: 1, end: End::Confirmed };
        assert_eq!(note.attempts(&message(1, "read more")), [typed]);
    }

    #[test]
    fn keys_that_a_person_kept_back_may_go_in_later() {
        let mut note = WakeNote { wake: "wake_1".into(), sent: Vec::new() };
        note.begins(1, Lane::Pty, &message(1, "read"));
        note.withdraw(Lane::Pty);
        assert_eq!(note.sent, []);
        note.begins(1, Lane::Pty, &message(1, "read"));
        note.ended(Lane::Pty, End::Absent);
        note.withdraw(Lane::Pty);
        assert_eq!(note.sent.len(), 1, "those went in");
    }

    #[test]
    fn a_turn_ends_with_its_runner_and_so_do_keys() {
        let mut note = WakeNote { wake: "wake_1".into(), sent: Vec::new() };
        for (fence, lane) in [(1, Lane::CodexSocket), (2, Lane::Pty)] {
            note.begins(fence, lane, &message(fence, "read"));
            note.ended(lane, End::Confirmed);
        }
        let (before, after) = (UNIX_EPOCH, SystemTime::now() + Duration::from_secs(1));
        assert_eq!(note.begun_before(1, after), Some(Lane::CodexSocket));
        assert_eq!(note.begun_before(2, after), Some(Lane::Pty));
        assert_eq!((note.begun_before(2, before), note.begun_before(3, after)), (None, None));
        note.forget_keys(before);
        assert_eq!(note.sent.len(), 2);
        note.forget_keys(after);
        assert_eq!(note.sent.len(), 1);
    }

    #[test]
    fn a_note_is_private_bounded_and_stays_in_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let notes = WakeNotes::open(folder.path()).unwrap();
        for wake in ["../out", "", "a/b", "wake_1"] {
            let mut note = notes.read(wake).unwrap();
            for fence in 0..40 {
                note.begins(fence, Lane::Pty, &message(fence, "read"));
            }
            notes.write(&note).unwrap();
            let read = notes.read(wake).unwrap();
            assert_eq!((read.sent.len(), read.sent[0].fence), (KEPT, 8), "{wake}");
        }
        let files: Vec<_> = fs::read_dir(folder.path()).unwrap().map(Result::unwrap).collect();
        assert_eq!(files.len(), 4);
        for file in files {
            assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
        fs::write(folder.path().join("wake_1.json"), "{").unwrap();
        assert_eq!(notes.read("wake_1").unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
