//! Viewers of a terminal over a Unix socket. Each is served by a task of its own: a slow one gets the screen anew instead
//! of what it missed, and one that takes nothing is dropped. None of them holds the program up.

use std::collections::BTreeSet;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener as StdListener;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use std::{fs, io};

use nix::unistd::geteuid;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;

use super::frames::{Frame, read_frame, write_frame, write_output};
use super::typing::Typing;
use super::{TerminalHandle, locked};

/// A viewer that takes nothing for so long is gone, whatever its socket says.
const STUCK: Duration = Duration::from_secs(30);

/// Serves viewers at `path` until the program exits, and tells them its exit. The folder must be private; a socket that
/// nobody listens at is replaced.
pub fn serve(handle: TerminalHandle, path: &Path) -> io::Result<JoinHandle<()>> {
    let listener = listen(path)?;
    let listener = UnixListener::from_std(listener)?;
    let file = Bound(path.to_owned());
    Ok(tokio::spawn(accept(handle, listener, file)))
}

fn listen(path: &Path) -> io::Result<StdListener> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let about = fs::metadata(folder)?;
    if about.uid() != geteuid().as_raw() || about.mode() & 0o077 != 0 {
        let why = format!("{} must be yours, and closed to others (0700)", folder.display());
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    }
    let listener = match StdListener::bind(path) {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            let socket = fs::symlink_metadata(path)?.file_type().is_socket();
            if !socket || std::os::unix::net::UnixStream::connect(path).is_ok() {
                return Err(error);
            }
            fs::remove_file(path)?;
            StdListener::bind(path)?
        }
        bound => bound?,
    };
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// Removes the socket when nobody listens any more.
struct Bound(PathBuf);

impl Drop for Bound {
    fn drop(&mut self) {
        // Removed by somebody else: as well.
        let _ = fs::remove_file(&self.0);
    }
}

/// The viewers there are, oldest first. The oldest one's terminal answers the program.
type Present = Arc<Mutex<BTreeSet<u64>>>;

async fn accept(handle: TerminalHandle, listener: UnixListener, _file: Bound) {
    let mut viewers = JoinSet::new();
    let present = Present::default();
    for number in 0.. {
        let stream = tokio::select! {
            _ = handle.exited() => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                // Too many open files: viewers that leave make room.
                Err(_) => {
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    continue;
                }
            },
        };
        while viewers.try_join_next().is_some() {}
        let ours = stream.peer_cred().is_ok_and(|peer| peer.uid() == geteuid().as_raw());
        if ours {
            let viewer = Viewer::new(number, handle.clone(), Arc::clone(&present));
            viewers.spawn(viewer.serve(stream));
        }
    }
    drop(listener);
    while viewers.join_next().await.is_some() {}
}

struct Viewer {
    number: u64,
    handle: TerminalHandle,
    present: Present,
    typing: Typing,
}

impl Drop for Viewer {
    fn drop(&mut self) {
        locked(&self.present).remove(&self.number);
    }
}

impl Viewer {
    fn new(number: u64, handle: TerminalHandle, present: Present) -> Self {
        locked(&present).insert(number);
        Self { number, handle, present, typing: Typing::default() }
    }

    async fn serve(self, stream: UnixStream) {
        let (from, to) = stream.into_split();
        let handle = self.handle.clone();
        tokio::select! {
            // Either end is the end of the viewer.
            _ = show(handle, to) => {}
            _ = self.take(from) => {}
        }
    }

    async fn take(mut self, mut from: OwnedReadHalf) -> io::Result<()> {
        while let Some(frame) = read_frame(&mut from).await? {
            match frame {
                Frame::Size(size) if !self.handle.has_foreground() => self.handle.resize(size),
                Frame::Input(bytes) => {
                    let keys = self.typing.feed(&bytes, Instant::now());
                    if keys || self.answers() {
                        self.handle.person_input(bytes).await?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Each terminal answers what the program asks; the program wants one answer.
    fn answers(&self) -> bool {
        !self.handle.has_foreground() && locked(&self.present).first() == Some(&self.number)
    }
}

async fn show(handle: TerminalHandle, mut to: OwnedWriteHalf) -> io::Result<()> {
    let (shown, mut output) = handle.watch();
    within(write_output(&mut to, &shown)).await?;
    loop {
        tokio::select! {
            biased;
            chunk = output.recv() => match chunk {
                Ok(bytes) => within(write_output(&mut to, &bytes)).await?,
                Err(RecvError::Lagged(_)) => {
                    let (shown, anew) = handle.watch();
                    output = anew;
                    within(write_output(&mut to, &shown)).await?;
                }
                Err(RecvError::Closed) => break,
            },
            _ = handle.exited() => {
                // The end is told after the last output.
                match output.try_recv() {
                    Ok(bytes) => within(write_output(&mut to, &bytes)).await?,
                    Err(TryRecvError::Lagged(_)) => {}
                    Err(_) => break,
                }
            }
        }
    }
    let exit = handle.exited().await;
    within(write_frame(&mut to, &Frame::Exit(exit))).await
}

async fn within(write: impl Future<Output = io::Result<()>>) -> io::Result<()> {
    timeout(STUCK, write).await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
}
