//! Of which messages which session of a program was told: beside a prompt, or by going on with a turn that had ended.
//!
//! One file for each program, in this user's state folder, held while it is read and written.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::runners;

/// A message that was told at a turn's end is this session's to answer for this long; then it is told to another as well.
const TAKEN: Duration = Duration::from_secs(10 * 60);
/// What was told so long ago is forgotten.
const KEPT: Duration = Duration::from_secs(7 * 24 * 3_600);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Where {
    /// Beside a prompt, or as a session begins.
    Beside,
    AtTheEnd,
}

#[derive(Debug, Serialize, Deserialize)]
struct Line {
    event: String,
    session: String,
    at_s: u64,
    place: Where,
}

/// What was told, in an open and locked file.
pub(super) struct Told {
    file: File,
    session: String,
    lines: Vec<Line>,
    now_s: u64,
}

impl Told {
    pub(super) fn open(program: &str, session: &str) -> io::Result<Self> {
        let folder = runners::state_folder().ok_or(io::ErrorKind::NotFound)?.join("hooks");
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        let path = folder.join(format!("{program}.json"));
        let mut options = OpenOptions::new();
        let mut file =
            options.read(true).write(true).create(true).truncate(false).mode(0o600).open(path)?;
        file.lock()?;
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        // One that was cut off tells once more.
        let lines = serde_json::from_str(&text).unwrap_or_default();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok(Self { file, session: session.to_owned(), lines, now_s: now.as_secs() })
    }

    /// Those of these messages that are to be told now, which are then taken as told.
    pub(super) fn news<'a>(
        mut self,
        place: Where,
        waiting: impl Iterator<Item = &'a str>,
    ) -> io::Result<Vec<String>> {
        self.lines.retain(|line| self.now_s.saturating_sub(line.at_s) < KEPT.as_secs());
        let news: Vec<_> =
            waiting.filter(|event| !self.is_told(place, event)).map(str::to_owned).collect();
        self.lines.extend(news.iter().map(|event| Line {
            event: event.clone(),
            session: self.session.clone(),
            at_s: self.now_s,
            place,
        }));
        self.file.rewind()?;
        self.file.set_len(0)?;
        self.file.write_all(&serde_json::to_vec(&self.lines)?)?;
        Ok(news)
    }

    fn is_told(&self, place: Where, event: &str) -> bool {
        let about = self.lines.iter().filter(|line| line.event == event && line.place == place);
        about.into_iter().any(|line| {
            let lately = self.now_s.saturating_sub(line.at_s) < TAKEN.as_secs();
            line.session == self.session || (place == Where::AtTheEnd && lately)
        })
    }
}
