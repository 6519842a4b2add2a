//! A command that writes a text of its own for a digest, or a thread's summary: for those who want a model to
//! write it.

use std::process::Stdio;
use std::time::Duration;

use chorus_core::model::limits::DIGEST_TEXT_BYTES;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use serde::Serialize;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::sync::Semaphore;

/// Commands of one writer that run at once: a model's worth of work each, and anybody may ask.
const AT_ONCE: usize = 2;

/// Who writes such texts, if anybody does.
pub(crate) struct Scribe {
    command: Option<String>,
    timeout: Duration,
    places: Semaphore,
}

impl Scribe {
    pub(crate) fn new(command: Option<String>, timeout: Duration) -> Self {
        Self { command, timeout, places: Semaphore::new(AT_ONCE) }
    }

    /// Whether anybody does.
    pub(crate) fn is_there(&self) -> bool {
        self.command.is_some()
    }

    /// What the command makes of `what`, given as JSON. None without a command, and when it fails, is too slow, too busy with others, or prints
    /// too much or nothing; then the log says so, and the host's own text stands.
    pub(crate) async fn write<T: Serialize>(&self, name: &str, what: &T) -> Option<String> {
        let command = self.command.as_deref()?;
        let place = tokio::time::timeout(self.timeout, self.places.acquire()).await;
        let Ok(Ok(_place)) = place else {
            tracing::warn!(name, "the command is too busy; the host's text stands");
            return None;
        };
        let mut child = match start(command) {
            Ok(child) => child,
            Err(why) => {
                tracing::warn!(name, %why, "the command for texts could not be started");
                return None;
            }
        };
        let group = child.id().and_then(|pid| i32::try_from(pid).ok()).filter(|pid| *pid > 1);
        let done = tokio::time::timeout(self.timeout, run(&mut child, what)).await;
        if !matches!(done, Ok(Ok(_)))
            && let Some(group) = group
        {
            // All that it has started ends with it; when it has ended there is nobody to hear this.
            let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
        }
        match done {
            Ok(Ok(text)) => Some(text),
            Ok(Err(why)) => {
                tracing::warn!(name, %why, "the command failed; the host's text stands");
                None
            }
            Err(_) => {
                let after = self.timeout;
                tracing::warn!(name, ?after, "the command took too long; the host's text stands");
                None
            }
        }
    }
}

/// What opens the database, by the names of its own programs.
const SECRETS: [&str; 6] =
    ["DATABASE_URL", "PGPASSWORD", "PGPASSFILE", "PGSERVICEFILE", "PGSSLKEY", "PGSSLPASSWORD"];

fn start(command: &str) -> std::io::Result<Child> {
    let mut shell = Command::new("sh");
    // It may need keys of its own, for a model; ours are not its business.
    for (name, _) in std::env::vars_os() {
        let name_of = name.to_string_lossy();
        if name_of.starts_with("CHORUS_") || SECRETS.contains(&&*name_of) {
            shell.env_remove(&name);
        }
    }
    shell
        .args(["-c", command])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
}

async fn run<T: Serialize>(child: &mut Child, what: &T) -> Result<String, String> {
    let json = serde_json::to_vec(what).map_err(|e| e.to_string())?;
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let give = async {
        if let Some(mut stdin) = stdin {
            // A command that does not read what it is given may still have something to say.
            let _ = stdin.write_all(&json).await;
        }
    };
    let take = async {
        let mut said = Vec::new();
        if let Some(stdout) = stdout {
            // One byte more than may be said shows that too much was.
            let most = DIGEST_TEXT_BYTES as u64 + 1;
            stdout.take(most).read_to_end(&mut said).await.map_err(|e| e.to_string())?;
        }
        Ok::<_, String>(said)
    };
    let ((), said) = tokio::join!(give, take);
    let said = said?;
    if said.len() > DIGEST_TEXT_BYTES {
        return Err(format!("it printed more than {DIGEST_TEXT_BYTES} bytes"));
    }
    let status = child.wait().await.map_err(|e| e.to_string())?;
    if !status.success() {
        return Err(format!("it ended with {status}"));
    }
    let text = String::from_utf8(said).map_err(|_| "it printed no UTF-8".to_owned())?;
    let text = text.trim().to_owned();
    if text.is_empty() { Err("it printed nothing".to_owned()) } else { Ok(text) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use chorus_core::model::attention::Policy;
    use chorus_core::model::ids::Timestamp;
    use chorus_wire::rest::digests::Digest;

    use super::*;

    fn digest() -> Digest {
        Digest {
            id: "ch_1:9:scout".into(),
            conversation: "ch_1".into(),
            title: "ops".into(),
            member: "scout".into(),
            after_seq: 2,
            through_seq: 9,
            first_at: Timestamp(0).into(),
            created_at: Timestamp(900_000).into(),
            policy: Policy::MustNotRespond.into(),
            messages: 3,
            authors: vec![],
            threads: vec![],
            items: vec![],
            text: "3 messages".into(),
            written: None,
        }
    }

    async fn wrote(command: &str, timeout: Duration) -> Option<String> {
        Scribe::new(Some(command.to_owned()), timeout).write("test", &digest()).await
    }

    // covers: ATT-152
    #[tokio::test]
    async fn a_command_that_fails_is_slow_or_says_too_much_writes_nothing() {
        let patient = Duration::from_secs(20);
        assert_eq!(wrote("echo quiet day", patient).await.as_deref(), Some("quiet day"));
        // It is given the digest.
        let through = wrote(r#"grep -o '"through_seq":9'"#, patient).await;
        assert_eq!(through.as_deref(), Some("\"through_seq\":9"));
        for bad in ["echo half; exit 3", "true", "yes | head -c 20000", "printf '\\377'", "no-such"]
        {
            assert_eq!(wrote(bad, patient).await, None, "{bad}");
        }
        assert_eq!(wrote("sleep 600", Duration::from_millis(50)).await, None);
        let none = Scribe::new(None, patient);
        assert_eq!(none.write("test", &digest()).await, None);
    }
}
