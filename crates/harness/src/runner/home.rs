//! The folder of one runner on this machine: what it must know to go on after its process has ended, readable by
//! its user alone; and the lock of the one process that is the runner now.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

/// How often the lock of a runner that was told to end is looked at.
const LOOK: Duration = Duration::from_millis(50);
/// How long a runner has to end.
const END: Duration = Duration::from_secs(10);

/// What a runner is of, kept for the next process.
#[derive(Clone, Serialize, Deserialize)]
pub struct Saved {
    /// The host's base address.
    pub url: String,
    /// The token of the agent's session. It ends with the session, unless it was given to the user.
    pub token: String,
    #[serde(default)]
    pub token_given: bool,
    pub agent: String,
    /// `wk_…`
    pub workspace: String,
    /// `sess_…`
    pub session: String,
    /// The name of the program: `codex`.
    pub program: String,
    /// What the person gave it as arguments.
    pub arguments: Vec<String>,
    /// Where it works.
    pub folder: PathBuf,
    /// The program's own id of its session, by which it is resumed.
    pub resume_id: Option<String>,
    /// Its screen is shown to nobody through the host.
    #[serde(default)]
    pub private: bool,
}

impl std::fmt::Debug for Saved {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Never the token.
        f.debug_struct("Saved").field("agent", &self.agent).field("session", &self.session).finish()
    }
}

/// Whether the program of a runner runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    Awake,
    Asleep,
}

/// The process that is a runner now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder {
    pub pid: i32,
    pub life: Life,
}

/// The open folder; no other process is this runner while it is held.
#[derive(Debug)]
pub struct Home {
    folder: PathBuf,
    lock: File,
}

/// Why the folder cannot be used.
#[derive(Debug)]
pub enum Error {
    /// Another process is this runner.
    InUse(Option<Holder>),
    Io(PathBuf, io::Error),
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::InUse(_) => f.write_str("this agent already runs here"),
            Self::Io(path, why) => write!(f, "{}: {why}", path.display()),
        }
    }
}

impl std::error::Error for Error {}

impl Home {
    /// Makes the folder where it is missing, and takes it.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        let wrong = |e| Error::Io(folder.to_owned(), e);
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(wrong)?;
        let lock = private(&folder.join("lock")).map_err(wrong)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(Error::InUse(holder(folder))),
            Err(TryLockError::Error(e)) => return Err(wrong(e)),
        }
        let home = Self { folder: folder.to_owned(), lock };
        home.note(Life::Asleep)?;
        Ok(home)
    }

    /// Takes the folder from a runner whose program sleeps. One whose program runs keeps it.
    pub async fn take_over(folder: &Path) -> Result<Self, Error> {
        match Self::open(folder) {
            Err(Error::InUse(Some(Holder { pid, life: Life::Asleep }))) => {
                end(folder, pid).await;
                Self::open(folder)
            }
            done => done,
        }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether nobody has removed it.
    pub fn is_there(&self) -> bool {
        self.folder.join("lock").exists()
    }

    /// Says whether the program runs, for others who look.
    pub fn note(&self, life: Life) -> Result<(), Error> {
        let word = match life {
            Life::Awake => "awake",
            Life::Asleep => "asleep",
        };
        let mut lock = &self.lock;
        let written = lock.set_len(0).and_then(|()| {
            io::Seek::rewind(&mut lock)?;
            writeln!(lock, "{} {word}", std::process::id())
        });
        written.map_err(|e| Error::Io(self.folder.join("lock"), e))
    }

    pub fn save(&self, saved: &Saved) -> Result<(), Error> {
        let path = self.folder.join("run.json");
        let new = self.folder.join("run.json.new");
        let wrong = |e| Error::Io(path.clone(), e);
        let text = serde_json::to_vec_pretty(saved).map_err(|e| wrong(e.into()))?;
        let mut file = private(&new).map_err(wrong)?;
        file.set_len(0).map_err(wrong)?;
        file.write_all(&text).and_then(|()| file.sync_all()).map_err(wrong)?;
        fs::rename(&new, &path).map_err(wrong)
    }
}

/// What a runner left; none where there never was one.
pub fn saved(folder: &Path) -> Result<Option<Saved>, Error> {
    let path = folder.join("run.json");
    match fs::read(&path) {
        Ok(text) => serde_json::from_slice(&text).map(Some).map_err(|e| Error::Io(path, e.into())),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(Error::Io(path, e)),
    }
}

/// The process that is the runner of this folder; none where nobody is.
pub fn holder(folder: &Path) -> Option<Holder> {
    let path = folder.join("lock");
    let lock = File::open(&path).ok()?;
    if !matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)) {
        return None;
    }
    let text = fs::read_to_string(&path).ok()?;
    let (pid, word) = text.trim().split_once(' ')?;
    let life = if word == "awake" { Life::Awake } else { Life::Asleep };
    Some(Holder { pid: pid.parse().ok().filter(|pid| *pid > 1)?, life })
}

/// Tells the runner of a folder to end, and waits until it has; whether it did.
pub async fn end(folder: &Path, pid: i32) -> bool {
    if kill(Pid::from_raw(pid), Signal::SIGTERM).is_err() {
        return holder(folder).is_none();
    }
    let gone = async {
        while holder(folder).is_some() {
            tokio::time::sleep(LOOK).await;
        }
    };
    tokio::time::timeout(END, gone).await.is_ok()
}

fn private(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn saved_by_test() -> Saved {
        Saved {
            url: "http://127.0.0.1:7600".to_owned(),
            token: "secret".to_owned(),
            token_given: false,
            agent: "scout".to_owned(),
            workspace: "wk_1".to_owned(),
            session: "sess_1".to_owned(),
            program: "codex".to_owned(),
            arguments: Vec::new(),
            folder: PathBuf::from("/tmp"),
            resume_id: None,
            private: false,
        }
    }

    #[test]
    fn one_process_is_the_runner_and_others_see_how_it_is() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(holder(folder.path()), None);
        let home = Home::open(folder.path()).unwrap();
        home.note(Life::Awake).unwrap();
        let pid = i32::try_from(std::process::id()).unwrap();
        assert_eq!(holder(folder.path()), Some(Holder { pid, life: Life::Awake }));
        assert!(matches!(Home::open(folder.path()), Err(Error::InUse(Some(_)))));
        home.note(Life::Asleep).unwrap();
        assert_eq!(holder(folder.path()).unwrap().life, Life::Asleep);
        drop(home);
        assert_eq!(holder(folder.path()), None);
    }

    #[test]
    fn what_is_kept_is_private_and_comes_back() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::open(folder.path()).unwrap();
        assert!(saved(folder.path()).unwrap().is_none());
        home.save(&saved_by_test()).unwrap();
        let mode = fs::metadata(folder.path().join("run.json")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(saved(folder.path()).unwrap().unwrap().session, "sess_1");
        assert!(!format!("{:?}", saved_by_test()).contains("secret"));
        fs::write(folder.path().join("run.json"), "{").unwrap();
        assert!(matches!(saved(folder.path()), Err(Error::Io(..))));
    }
}
