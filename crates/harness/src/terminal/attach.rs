//! The viewer's own side: the person's terminal on the socket.

use std::io;
use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use tokio::net::UnixStream;
use tokio::net::unix::OwnedWriteHalf;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::frames::{DetachKeys, Frame, read_frame, write_frame};
use super::raw::RawMode;
use super::relay::{PersonInput, Said, Signals, write_out};
use super::{Exit, person_size};

/// How long the first Ctrl-\ is held back.
const SECOND_KEY: Duration = Duration::from_secs(1);

/// How long a terminal that takes nothing is waited for before it is put back.
const LAST_OUTPUT: Duration = Duration::from_secs(2);

/// How viewing ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detached {
    /// Ctrl-\ twice. The program goes on.
    ByKeys,
    Exited(Exit),
    /// The runner, or the person's terminal, has gone, or the runner dropped a viewer that took nothing.
    Gone,
}

/// Shows the terminal served at `path` on stdin and stdout, in raw mode, until Ctrl-\ is pressed twice.
pub async fn attach(path: &Path) -> io::Result<Detached> {
    let (mut from, mut to) = UnixStream::connect(path).await?.into_split();
    let mut signals = Signals::new()?;
    let raw = RawMode::enter()?;
    let (sender, output) = mpsc::channel(8);
    let written = write_out(Vec::new(), output)?;
    // Frames are read in a task: a frame half read must not be lost to a key.
    let (ends, mut ended) = mpsc::channel(1);
    let reader = tokio::spawn(async move {
        let end = loop {
            match read_frame(&mut from).await {
                Ok(Some(Frame::Output(bytes))) => {
                    if sender.send(Bytes::from(bytes)).await.is_err() {
                        break Detached::Gone;
                    }
                }
                Ok(Some(Frame::Exit(exit))) => break Detached::Exited(exit),
                Ok(Some(_)) => {}
                Ok(None) | Err(_) => break Detached::Gone,
            }
        };
        // Who waited may have left.
        let _ = ends.send(end).await;
    });
    let detached = follow(&mut to, &mut signals, &mut ended).await;
    reader.abort();
    // The reader had the last sender: what came before the end is written, and then the terminal is put back.
    let _ = reader.await;
    let _ = timeout(LAST_OUTPUT, written).await;
    drop(raw);
    detached
}

async fn follow(
    to: &mut OwnedWriteHalf,
    signals: &mut Signals,
    ended: &mut mpsc::Receiver<Detached>,
) -> io::Result<Detached> {
    let mut input = PersonInput::begin()?;
    let mut keys = DetachKeys::default();
    let gone = Ok(Detached::Gone);
    if !send_size(to).await {
        return gone;
    }
    loop {
        tokio::select! {
            biased;
            end = ended.recv() => return Ok(end.unwrap_or(Detached::Gone)),
            said = signals.next() => match said {
                Said::Size => {
                    send_size(to).await;
                }
                Said::Back => {
                    RawMode::again()?;
                    send_size(to).await;
                }
                Said::End(_) => return gone,
            },
            bytes = input.bytes.recv(), if !input.ended => {
                let Some(bytes) = bytes else {
                    input.ended = true;
                    continue;
                };
                let (bytes, detach) = keys.feed(&bytes);
                send(to, bytes).await;
                if detach {
                    return Ok(Detached::ByKeys);
                }
            }
            () = tokio::time::sleep(SECOND_KEY), if keys.is_holding() => {
                send(to, keys.release()).await;
            }
        }
    }
}

async fn send_size(to: &mut OwnedWriteHalf) -> bool {
    match person_size() {
        Some(size) => write_frame(to, &Frame::Size(size)).await.is_ok(),
        None => true,
    }
}

/// A socket that is closed is told by its reader, which may have an exit to read before.
async fn send(to: &mut OwnedWriteHalf, bytes: Vec<u8>) {
    let _ = write_frame(to, &Frame::Input(bytes)).await;
}
