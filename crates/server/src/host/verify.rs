//! Walks all logs while the host works, to find what the disk has changed before anybody builds upon it.
//!
//! At the start and once a day, by a thread that works a tenth of the time: a post waits for it no longer than for any
//! other reader, and a million events take a minute or two.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use chorus_store::Readers;
use chorus_store::verify::Walk;
use tokio::sync::watch;

/// Events of one step: a few milliseconds.
const EVENTS: usize = 250;
/// What it rests after a step, in lengths of that step.
const REST: u32 = 9;
/// How long until all logs are walked again.
const AGAIN: Duration = Duration::from_secs(24 * 3_600);

/// The thread, which ends when this is dropped.
pub(super) struct Verifier {
    thread: JoinHandle<()>,
    _stop: Sender<()>,
    rounds: watch::Receiver<u64>,
}

impl Verifier {
    pub(super) fn start(readers: Readers) -> std::io::Result<Self> {
        let (stop, stopped) = mpsc::channel();
        let (done, rounds) = watch::channel(0);
        let thread = std::thread::Builder::new().name("verify".to_owned()).spawn(move || {
            while round(&readers, &stopped) {
                done.send_modify(|rounds| *rounds += 1);
                if !rest(&stopped, AGAIN) {
                    return;
                }
            }
        })?;
        Ok(Self { thread, _stop: stop, rounds })
    }

    /// How often it has come to the end of all logs.
    pub(super) fn rounds(&self) -> watch::Receiver<u64> {
        self.rounds.clone()
    }

    /// Ends it; over when the thread is to be waited for.
    pub(super) fn end(self) -> JoinHandle<()> {
        self.thread
    }
}

/// Walks all logs once; false when the host stops.
fn round(readers: &Readers, stopped: &Receiver<()>) -> bool {
    let rooms = match readers.heads() {
        Ok(rooms) => rooms,
        Err(why) => {
            tracing::warn!(%why, "the logs cannot be walked now");
            return true;
        }
    };
    for (key, _) in rooms {
        let mut walk = Walk::new(key);
        loop {
            let began = Instant::now();
            let walked = readers.verify(&mut walk, EVENTS);
            if !rest(stopped, began.elapsed() * REST) {
                return false;
            }
            match walked {
                Ok(true) => {}
                Ok(false) => break,
                Err(why) => {
                    tracing::warn!(%why, conversation = key.0, "a log cannot be walked now");
                    break;
                }
            }
        }
    }
    true
}

/// False when the host stops.
fn rest(stopped: &Receiver<()>, long: Duration) -> bool {
    stopped.recv_timeout(long) == Err(RecvTimeoutError::Timeout)
}
