//! A program of the page, and what it prints.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::crash::host::log;

const PAGE: &str = include_str!("../../../../docs/hire.md");

/// The block of the page that is saved under this name.
pub(super) fn block(name: &str) -> Result<String, String> {
    let fence = format!("```python {name}\n");
    let (_, rest) = PAGE.split_once(&fence).ok_or_else(|| format!("docs/hire.md has no {name}"))?;
    let (text, _) = rest.split_once("\n```").ok_or_else(|| format!("{name} does not end"))?;
    Ok(text.to_owned())
}

#[derive(Default)]
struct Said {
    lines: Vec<String>,
    is_over: bool,
}

/// One that runs; it ends with this value.
pub(super) struct Program {
    name: String,
    child: Child,
    said: Arc<(Mutex<Said>, Condvar)>,
    reader: Option<JoinHandle<()>>,
}

impl Program {
    /// Saves the block and runs it in the folder.
    pub(super) fn start(
        folder: &Path,
        name: &str,
        words: &[&str],
        host: &str,
    ) -> Result<Self, String> {
        let failed = |e: std::io::Error| format!("{name}: {e}");
        fs::write(folder.join(name), block(name)? + "\n").map_err(failed)?;
        let mut child = Command::new("python3")
            .arg(name)
            .args(words)
            .current_dir(folder)
            .env("HOST_URL", host)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log(&folder.join(format!("{name}.log")))?)
            .spawn()
            .map_err(failed)?;
        let out = child.stdout.take().ok_or_else(|| format!("{name} has no output"))?;
        let said = Arc::<(Mutex<Said>, Condvar)>::default();
        let heard = said.clone();
        let reader = std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                heard.0.lock().unwrap_or_else(PoisonError::into_inner).lines.push(line);
                heard.1.notify_all();
            }
            heard.0.lock().unwrap_or_else(PoisonError::into_inner).is_over = true;
            heard.1.notify_all();
        });
        Ok(Self { name: name.to_owned(), child, said, reader: Some(reader) })
    }

    pub(super) fn lines(&self) -> Vec<String> {
        self.said.0.lock().unwrap_or_else(PoisonError::into_inner).lines.clone()
    }

    /// Waits until what it has printed is what is wanted.
    pub(super) fn wait<T>(
        &self,
        what: &str,
        limit: Duration,
        mut wanted: impl FnMut(&[String]) -> Option<T>,
    ) -> Result<T, String> {
        let began = Instant::now();
        let mut said = self.said.0.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(found) = wanted(&said.lines) {
                return Ok(found);
            }
            let left = limit.saturating_sub(began.elapsed());
            if said.is_over || left.is_zero() {
                let last = said.lines.iter().rev().take(8).collect::<Vec<_>>();
                return Err(format!("{} did not say {what}; it said last: {last:?}", self.name));
            }
            let waited = self.said.1.wait_timeout(said, left);
            said = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Waits for its end.
    pub(super) fn end(mut self, limit: Duration) -> Result<(ExitStatus, Vec<String>), String> {
        let began = Instant::now();
        loop {
            let ended = self.child.try_wait().map_err(|e| format!("{}: {e}", self.name))?;
            if let Some(status) = ended {
                // All that it wrote is read.
                let _ = self.reader.take().map(JoinHandle::join);
                return Ok((status, self.lines()));
            }
            if began.elapsed() > limit {
                return Err(format!("{} does not end; it said {:?}", self.name, self.lines()));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
