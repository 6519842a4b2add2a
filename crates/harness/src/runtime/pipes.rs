//! Reading what a runtime writes: bounded, never blocking it, and readable at any moment.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::Told;

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

    /// Adds a line, and forgets what came before the last [`TAIL_BYTES`].
    pub(super) fn push_line(&self, line: &str) {
        let mut tail = self.bytes();
        if !tail.is_empty() {
            tail.push(b'\n');
        }
        tail.extend_from_slice(line.as_bytes());
        let excess = tail.len().saturating_sub(TAIL_BYTES);
        tail.drain(..excess);
    }

    fn bytes(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads stdout to its end into `kept`, which gets the first `limit` bytes.
pub(super) fn read_output<R>(mut pipe: R, limit: usize, kept: Text) -> JoinHandle<()>
where
    R: AsyncRead + Unpin + Send + 'static,
{
    tokio::spawn(async move {
        let mut chunk = vec![0; 16 * 1024];
        while let Ok(n @ 1..) = pipe.read(&mut chunk).await {
            let mut kept = kept.bytes();
            let room = limit.saturating_sub(kept.len()).min(n);
            kept.extend_from_slice(&chunk[..room]);
        }
    })
}

/// Reads stdout to its end and hands on each line, without its end. One longer than `limit` bytes is dropped.
pub(super) fn read_lines<R>(
    mut pipe: R,
    limit: usize,
    mut take: impl FnMut(&[u8]) + Send + 'static,
) -> JoinHandle<()>
where
    R: AsyncRead + Unpin + Send + 'static,
{
    tokio::spawn(async move {
        let mut chunk = vec![0; 16 * 1024];
        let mut line = Vec::new();
        let mut too_long = false;
        while let Ok(n @ 1..) = pipe.read(&mut chunk).await {
            let mut pieces = chunk[..n].split(|byte| *byte == b'\n').peekable();
            while let Some(piece) = pieces.next() {
                too_long |= line.len() + piece.len() > limit;
                if too_long {
                    line.clear();
                } else {
                    line.extend_from_slice(piece);
                }
                if pieces.peek().is_some() {
                    take(&line);
                    line.clear();
                    too_long = false;
                }
            }
        }
        take(&line);
    })
}

/// Reads stderr to its end: progress lines are told, and the tail of the others is kept.
pub(super) fn read_errors<R>(
    mut pipe: R,
    tell: mpsc::UnboundedSender<Told>,
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
                    take_line(&mut line, &kept, &tell);
                }
                if byte != b'\n' {
                    line.push(byte);
                }
            }
        }
        take_line(&mut line, &kept, &tell);
    });
    (text, task)
}

fn take_line(line: &mut Vec<u8>, tail: &Text, tell: &mpsc::UnboundedSender<Told>) {
    let text = String::from_utf8_lossy(line).trim().to_owned();
    line.clear();
    if text.is_empty() {
        return;
    }
    if let Some(message) = text.strip_prefix(PROGRESS) {
        // Nobody listens any more when the turn is being stopped.
        let _ = tell.send(Told::Progress(message.trim().to_owned()));
        return;
    }
    tracing::debug!(target: "chorus_harness::stderr", "{text}");
    tail.push_line(&text);
}
