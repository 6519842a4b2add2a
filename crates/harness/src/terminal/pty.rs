//! The program in its PTY: the tasks that read it, write it, and wait for its end.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use pty_process::OwnedReadPty;
use tokio::io::{AsyncRead, AsyncReadExt, ReadBuf};
use tokio::process::Child;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::handle::{HUNG_UP, Shared, TerminalHandle};
use super::writer::Writer;
use super::{Exit, Launch, Size, locked};

/// Output of one turn of the reader, and with it the unit in which viewers get it.
const CHUNK: usize = 64 * 1024;
/// How long the output of a program that has ended is waited for, while another process still holds the terminal.
const LAST_OUTPUT: Duration = Duration::from_millis(100);
/// How often the model of the screen is brought up to date.
const PARSE_EVERY: Duration = Duration::from_millis(100);

/// A running program in its PTY. When this is dropped the program is hung up.
#[derive(Debug)]
pub struct Terminal {
    handle: TerminalHandle,
    reader: JoinHandle<()>,
    writer: JoinHandle<()>,
}

impl Terminal {
    #[must_use]
    pub fn handle(&self) -> TerminalHandle {
        self.handle.clone()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.reader.abort();
        self.writer.abort();
        self.handle.0.end(HUNG_UP);
    }
}

/// Starts the program in a PTY of that size. Must be called in a tokio runtime.
pub fn spawn(launch: &Launch, size: Size) -> io::Result<Terminal> {
    let size = size.or_default();
    let (pty, pts) = pty_process::open().map_err(other)?;
    pty.resize(pty_process::Size::new(size.rows, size.columns)).map_err(other)?;
    let mut command = pty_process::Command::new(&launch.program)
        .args(&launch.arguments)
        .envs(launch.environment.iter().map(|(name, value)| (name, value)))
        .current_dir(&launch.folder);
    if std::env::var_os("TERM").is_none() && !launch.environment.iter().any(|(n, _)| n == "TERM") {
        command = command.env("TERM", "xterm-256color");
    }
    let child = command.spawn(pts).map_err(other)?;
    let pid = child.id().unwrap_or_default();
    let (input, keys) = mpsc::channel(64);
    let (injections, plans) = mpsc::channel(1);
    let (sizes, sized) = watch::channel(size);
    let shared = Arc::new(Shared::new(pid, size, input, injections, sizes));
    let (read, write) = pty.into_split();
    let writer = Writer::new(write, keys, plans, sized, Arc::clone(&shared));
    Ok(Terminal {
        handle: TerminalHandle(Arc::clone(&shared)),
        writer: tokio::spawn(writer.run()),
        reader: tokio::spawn(supervise(read, child, shared)),
    })
}

fn other(error: pty_process::Error) -> io::Error {
    match error {
        pty_process::Error::Io(error) => error,
        pty_process::Error::Rustix(error) => error.into(),
        error => io::Error::other(error),
    }
}

/// Reads until the program has ended and all it printed is handed on; only then its end is told.
async fn supervise(mut pty: OwnedReadPty, mut child: Child, shared: Arc<Shared>) {
    let mut buffer = vec![0; CHUNK];
    let mut ended = None;
    loop {
        let read = if ended.is_some() {
            match timeout(LAST_OUTPUT, pty.read(&mut buffer)).await {
                Ok(read) => read,
                Err(_) => break,
            }
        } else {
            tokio::select! {
                biased;
                read = pty.read(&mut buffer) => read,
                status = child.wait() => {
                    ended = Some(exit_of(status));
                    continue;
                }
                () = tokio::time::sleep(PARSE_EVERY), if locked(&shared.model).is_behind() => {
                    locked(&shared.model).catch_up();
                    continue;
                }
            }
        };
        // The end of a terminal is EIO on Linux and an empty read elsewhere.
        let Ok(read @ 1..) = read else { break };
        let read = more(&mut pty, &mut buffer, read).await;
        publish(&shared, &buffer[..read]).await;
    }
    let exit = match ended {
        Some(exit) => exit,
        None => exit_of(child.wait().await),
    };
    locked(&shared.model).catch_up();
    shared.end(exit);
}

fn exit_of(status: io::Result<std::process::ExitStatus>) -> Exit {
    status.map_or(Exit { code: 1 }, Exit::from)
}

/// Reads on while there is something at once: a PTY gives 4 KiB at most in one read.
async fn more(pty: &mut OwnedReadPty, buffer: &mut [u8], mut filled: usize) -> usize {
    while filled < buffer.len() {
        let read = poll_fn(|context| {
            let mut rest = ReadBuf::new(&mut buffer[filled..]);
            Poll::Ready(match Pin::new(&mut *pty).poll_read(context, &mut rest) {
                Poll::Ready(Ok(())) => rest.filled().len(),
                // An error comes again at the next read, which then ends the loop.
                Poll::Ready(Err(_)) | Poll::Pending => 0,
            })
        })
        .await;
        if read == 0 {
            break;
        }
        filled += read;
    }
    filled
}

async fn publish(shared: &Shared, output: &[u8]) {
    let mut copy = None;
    let foreground = {
        let mut model = locked(&shared.model);
        let queries = model.print(output);
        if shared.output.receiver_count() > 0 {
            let bytes = copy.get_or_insert_with(|| Bytes::copy_from_slice(output));
            // Nobody is left to listen: nothing to do.
            let _ = shared.output.send(bytes.clone());
        }
        let foreground = locked(&shared.foreground).clone();
        if foreground.is_none() && shared.output.receiver_count() == 0 && !queries.is_empty() {
            let replies = model.replies(&queries);
            // A program whose input is full does not wait for an answer.
            let _ = shared.input.try_send((replies, false));
        }
        foreground
    };
    if let Some(foreground) = foreground {
        let bytes = copy.unwrap_or_else(|| Bytes::copy_from_slice(output));
        if foreground.send(bytes).await.is_err() {
            *locked(&shared.foreground) = None;
        }
    }
}
