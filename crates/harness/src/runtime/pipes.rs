//! Reading what a runtime writes: bounded, never blocking it, and readable at any moment.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// The end of stderr that is kept for the note of a failure.
const TAIL_BYTES: usize = 1_024;
/// A longer line of stderr is looked at in pieces.
const LINE_BYTES: usize = 4_096;
/// A line of stderr that begins with this is told to the host as progress.
const PROGRESS: &str = "progress:";

/// What has been read so far; shared with the task that reads.
#[derive(Clone, Default)]
pub(super) struct Text(Arc<Mutex<Vec<u8>>>);

impl Text {
    /// As text; bytes that are no UTF-8 become U+FFFD.
    pub(super) fn get(&self) -> String {
        String::from_utf8_lossy(&self.bytes()).into_owned()
    }

    fn bytes(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads stdout to its end, keeping the first `limit` bytes.
pub(super) fn read_output<R>(mut pipe: R, limit: usize) -> (Text, JoinHandle<()>)
where
    R: AsyncRead + Unpin + Send + 'static,
{
    let text = Text::default();
    let kept = text.clone();
    let task = tokio::spawn(async move {
        let mut chunk = vec![0; 16 * 1024];
        while let Ok(n @ 1..) = pipe.read(&mut chunk).await {
            let mut kept = kept.bytes();
            let room = limit.saturating_sub(kept.len()).min(n);
            kept.extend_from_slice(&chunk[..room]);
        }
    });
    (text, task)
}

/// Reads stderr to its end: progress lines go to `progress`, and the tail of the others is kept.
pub(super) fn read_errors<R>(
    mut pipe: R,
    progress: mpsc::UnboundedSender<String>,
) -> (Text, JoinHandle<()>)
where
    R: AsyncRead + Unpin + Send + 'static,
{
    let text = Text::default();
    let kept = text.clone();
    let task = tokio::spawn(async move {
        let mut chunk = vec![0; LINE_BYTES];
        let mut line = Vec::new();
        while let Ok(n @ 1..) = pipe.read(&mut chunk).await {
            for &byte in &chunk[..n] {
                if byte == b'\n' || line.len() == LINE_BYTES {
                    take_line(&mut line, &kept, &progress);
                }
                if byte != b'\n' {
                    line.push(byte);
                }
            }
        }
        take_line(&mut line, &kept, &progress);
    });
    (text, task)
}

fn take_line(line: &mut Vec<u8>, tail: &Text, progress: &mpsc::UnboundedSender<String>) {
    let text = String::from_utf8_lossy(line).trim().to_owned();
    line.clear();
    if text.is_empty() {
        return;
    }
    if let Some(message) = text.strip_prefix(PROGRESS) {
        // Nobody listens any more when the turn is being stopped.
        let _ = progress.send(message.trim().to_owned());
        return;
    }
    tracing::debug!(target: "chorus_harness::stderr", "{text}");
    let mut tail = tail.bytes();
    if !tail.is_empty() {
        tail.push(b'\n');
    }
    tail.extend_from_slice(text.as_bytes());
    let excess = tail.len().saturating_sub(TAIL_BYTES);
    tail.drain(..excess);
}
