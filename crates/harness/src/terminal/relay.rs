//! The foreground: the person's terminal and the program, byte for byte.

use std::fs::File;
use std::io::{self, IsTerminal, Write, stdin, stdout};
use std::os::fd::{AsFd, OwnedFd};
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;
use nix::unistd::{pipe, read};
use tokio::signal::unix::{Signal as Listener, SignalKind, signal};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use super::raw::RawMode;
use super::{Exit, TerminalHandle, person_size};

/// What a program gets for putting its things away after a signal.
const LAST_WORDS: Duration = Duration::from_secs(5);
/// Ends the input of a program that reads lines.
const END_OF_INPUT: u8 = 0x04;

/// Connects stdin and stdout with the program until it exits. A terminal is in raw mode meanwhile; what is none is
/// passed through.
pub async fn relay(handle: &TerminalHandle) -> io::Result<Exit> {
    let mut signals = Signals::new()?;
    if let Some(size) = person_size() {
        handle.resize(size);
    }
    let raw = RawMode::enter()?;
    let (shown, output) = handle.foreground();
    let written = write_out(shown, output)?;
    let mut input = PersonInput::begin()?;
    tokio::pin!(written);
    let mut output_ended = false;
    let hung_up = loop {
        tokio::select! {
            biased;
            _ = handle.exited() => break None,
            said = signals.next() => match said {
                Said::Size => {
                    if let Some(size) = person_size() {
                        handle.resize(size);
                    }
                }
                Said::Back => {
                    RawMode::again()?;
                    if let Some(size) = person_size() {
                        handle.resize(size);
                    }
                }
                Said::End(signal) => break Some(signal),
            },
            bytes = input.bytes.recv(), if !input.ended => match bytes {
                // An error is the end of the program, which comes by itself.
                Some(bytes) => {
                    let _ = handle.person_input(bytes).await;
                }
                None if stdin().is_terminal() => break Some(Signal::SIGHUP),
                None => {
                    input.ended = true;
                    let _ = handle.person_input(vec![END_OF_INPUT]).await;
                }
            },
            result = &mut written, if !output_ended => {
                output_ended = true;
                if !matches!(result, Ok(Ok(()))) {
                    break Some(Signal::SIGHUP);
                }
            }
        }
    };
    drop(input);
    if let Some(signal) = hung_up {
        // Ended in between.
        let _ = handle.signal(signal);
        if timeout(LAST_WORDS, handle.exited()).await.is_err() {
            let _ = handle.signal(Signal::SIGKILL);
        }
    }
    let exit = handle.exited().await;
    if !output_ended && hung_up.is_none() {
        // All that the program printed comes before the terminal is put back.
        let _ = written.await;
    }
    drop(raw);
    Ok(exit)
}

pub(super) enum Said {
    Size,
    /// The process was stopped and goes on.
    Back,
    End(Signal),
}

pub(super) struct Signals {
    size: Listener,
    back: Listener,
    hangup: Listener,
    terminate: Listener,
    interrupt: Listener,
    quit: Listener,
}

impl Signals {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {
            size: signal(SignalKind::window_change())?,
            back: signal(SignalKind::from_raw(Signal::SIGCONT as i32))?,
            hangup: signal(SignalKind::hangup())?,
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            quit: signal(SignalKind::quit())?,
        })
    }

    pub(super) async fn next(&mut self) -> Said {
        tokio::select! {
            _ = self.size.recv() => Said::Size,
            _ = self.back.recv() => Said::Back,
            _ = self.hangup.recv() => Said::End(Signal::SIGHUP),
            _ = self.terminate.recv() => Said::End(Signal::SIGTERM),
            _ = self.interrupt.recv() => Said::End(Signal::SIGINT),
            _ = self.quit.recv() => Said::End(Signal::SIGQUIT),
        }
    }
}

/// Writes to stdout in a thread of its own: a blocking write of a terminal must not hold the runtime up, and making
/// the person's terminal non-blocking would do so for their shell too.
pub(super) fn write_out(
    shown: Vec<u8>,
    mut output: mpsc::Receiver<Bytes>,
) -> io::Result<oneshot::Receiver<io::Result<()>>> {
    let (done, told) = oneshot::channel();
    // Not the library's stdout, which looks for lines.
    let mut out = File::from(stdout().as_fd().try_clone_to_owned()?);
    thread::spawn(move || {
        let mut result = out.write_all(&shown);
        while result.is_ok() {
            let Some(bytes) = output.blocking_recv() else { break };
            result = out.write_all(&bytes);
        }
        let _ = done.send(result);
    });
    Ok(told)
}

/// Reads stdin in a thread of its own, until this is dropped; a key pressed after that is left to who reads next.
pub(super) struct PersonInput {
    pub(super) bytes: mpsc::Receiver<Vec<u8>>,
    pub(super) ended: bool,
    _stop: OwnedFd,
}

impl PersonInput {
    pub(super) fn begin() -> io::Result<Self> {
        let (stopped, stop) = pipe()?;
        let (sender, bytes) = mpsc::channel(16);
        thread::spawn(move || while_read(&stopped, &sender));
        Ok(Self { bytes, ended: false, _stop: stop })
    }
}

fn while_read(stopped: &OwnedFd, sender: &mpsc::Sender<Vec<u8>>) {
    let input = stdin();
    let mut buffer = vec![0; 4096];
    loop {
        let mut both = [
            PollFd::new(stopped.as_fd(), PollFlags::POLLIN),
            PollFd::new(input.as_fd(), PollFlags::POLLIN),
        ];
        match poll(&mut both, PollTimeout::NONE) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(_) => return,
        }
        if both[0].revents().is_some_and(|events| !events.is_empty()) {
            return;
        }
        if both[1].revents().is_none_or(|events| events.is_empty()) {
            continue;
        }
        match read(input.as_fd(), &mut buffer) {
            Ok(0) => return,
            Ok(count) => {
                if sender.blocking_send(buffer[..count].to_vec()).is_err() {
                    return;
                }
            }
            Err(Errno::EINTR | Errno::EAGAIN) => {}
            Err(_) => return,
        }
    }
}
