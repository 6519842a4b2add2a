//! The agents: `chorus join` in a process each, with a shell script as the runtime.
//!
//! The script says something else in each run, so that a turn run twice would try to say two things.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use super::host::{bare, log};

/// Notes the run, takes a while, answers. `busy` tells that a turn is under way; one that is stopped, to be
/// begun again with more, is none.
const SCRIPT: &str = "\
trap 'rm -f busy.$$; exit 1' TERM
cat >/dev/null
echo \"$CHORUS_EVENT_ID\" >>runs
: >busy.$$
sleep 0.0$(( $$ % 9 + 1 ))
rm -f busy.$$
echo \"Looked at it: all is well (run $$).\"
";
/// How long a turn is waited for before the harness is killed outside of one.
const TURN: Duration = Duration::from_millis(1_500);

/// What follows the event in the log of a harness that was killed in each of the three turns it had.
const GIVEN_UP: &str = " attempts=3";

pub(crate) struct Harness {
    pub(crate) agent: String,
    pub(crate) token: String,
    chorus: PathBuf,
    url: String,
    folder: PathBuf,
    /// What `chorus join` is given beside what it needs.
    options: Vec<String>,
    child: Option<Child>,
}

impl Harness {
    pub(crate) fn new(
        folder: &Path,
        chorus: &Path,
        url: String,
        agent: &str,
        token: String,
    ) -> Result<Self, String> {
        // Whatever is typed meanwhile, a turn begins soon.
        let options = ["--quiet-ms", "50", "--cap-ms", "400"].map(str::to_owned).to_vec();
        Self::with(folder, chorus, url, agent, token, SCRIPT, options)
    }

    /// One whose runtime is another script, in its own folder, and that is joined with these options.
    pub(crate) fn with(
        folder: &Path,
        chorus: &Path,
        url: String,
        agent: &str,
        token: String,
        script: &str,
        options: Vec<String>,
    ) -> Result<Self, String> {
        let folder = folder.join(agent);
        fs::create_dir_all(&folder)
            .and_then(|()| fs::write(folder.join("script.sh"), script))
            .map_err(|e| format!("{}: {e}", folder.display()))?;
        let (agent, chorus) = (agent.to_owned(), chorus.to_owned());
        Ok(Self { agent, token, chorus, url, folder, options, child: None })
    }

    /// Starts it on the state folder it has.
    pub(crate) fn start(&mut self) -> Result<(), String> {
        let runtime = format!("cmd:cd '{}' && exec sh script.sh", self.folder.display());
        let child = bare(&self.chorus)
            .args(["join", "--agent", &self.agent, "--runtime", &runtime, "--url", &self.url])
            .args(&self.options)
            .args(["--while-parent-lives", "--state-dir"])
            .arg(self.folder.join("state"))
            .env("CHORUS_TOKEN", &self.token)
            .env("CHORUS_LOG", "info")
            .env("NO_COLOR", "1")
            .stdout(Stdio::null())
            .stderr(log(&self.folder.join("harness.log"))?)
            .spawn()
            .map_err(|e| format!("chorus join: {e}"))?;
        self.child = Some(child);
        Ok(())
    }

    /// SIGKILL in the middle of a turn, or, when none begins for a while, between two. Says whether it was
    /// in one.
    pub(crate) fn kill_in_turn(&mut self) -> Result<bool, String> {
        let began = Instant::now();
        while !self.is_busy() && began.elapsed() < TURN {
            std::thread::sleep(Duration::from_millis(2));
        }
        let busy = self.is_busy();
        self.kill()?;
        Ok(busy)
    }

    pub(crate) fn kill(&mut self) -> Result<(), String> {
        self.still_runs()?;
        let mut child = self.child.take().ok_or("there is no harness to kill")?;
        child.kill().and_then(|()| child.wait()).map_err(|e| format!("kill: {e}"))?;
        Ok(())
    }

    /// A host that crashes is no reason for a harness to end.
    pub(crate) fn still_runs(&mut self) -> Result<(), String> {
        let Some(child) = &mut self.child else { return Ok(()) };
        match child.try_wait() {
            Ok(Some(status)) => {
                let said = fs::read_to_string(self.folder.join("harness.log")).unwrap_or_default();
                let tail: Vec<_> = said.lines().rev().take(5).collect();
                Err(format!("the harness of {} ended: {status}: {tail:?}", self.agent))
            }
            _ => Ok(()),
        }
    }

    /// The events whose turns were begun, once for each run that got as far as its script.
    pub(crate) fn runs(&self) -> Vec<String> {
        let runs = fs::read_to_string(self.folder.join("runs")).unwrap_or_default();
        runs.lines().map(str::to_owned).collect()
    }

    /// Events that a restarted harness found begun as often as it may be: it gives them up, and says so.
    pub(crate) fn given_up(&self) -> Vec<String> {
        let said = fs::read_to_string(self.folder.join("harness.log")).unwrap_or_default();
        let events = said.lines().filter_map(|line| {
            let (_, event) = line.split_once(" taken up again event=")?;
            event.strip_suffix(GIVEN_UP)
        });
        events.map(str::to_owned).collect()
    }

    fn is_busy(&self) -> bool {
        let files = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        files.map(|file| file.file_name()).any(|name| name.to_string_lossy().starts_with("busy."))
    }
}

impl Drop for Harness {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
