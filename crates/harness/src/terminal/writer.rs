//! The one writer of a PTY: keys of persons, and injections between them.

use std::io;
use std::sync::Arc;
use std::time::Instant;

use pty_process::OwnedWritePty;
use tokio::io::AsyncWriteExt;
use tokio::sync::{mpsc, watch};
use tokio::time::sleep;

use super::handle::{Input, Order, Shared};
use super::injection::{Injected, Plan, Refusal, Step};
use super::{Size, gone, locked};

pub(super) struct Writer {
    pty: OwnedWritePty,
    keys: mpsc::Receiver<Input>,
    plans: mpsc::Receiver<Order>,
    size: watch::Receiver<Size>,
    shared: Arc<Shared>,
}

/// Why an injection went no further.
enum Interruption {
    /// A person's key, with what goes to the program first of all.
    Key(Vec<u8>),
    Failed,
}

impl Writer {
    pub(super) fn new(
        pty: OwnedWritePty,
        keys: mpsc::Receiver<Input>,
        plans: mpsc::Receiver<Order>,
        size: watch::Receiver<Size>,
        shared: Arc<Shared>,
    ) -> Self {
        Self { pty, keys, plans, size, shared }
    }

    pub(super) async fn run(mut self) {
        loop {
            tokio::select! {
                biased;
                () = self.shared.ended() => return,
                Some((bytes, _)) = self.keys.recv() => {
                    // A program that reads no more is seen by the reader.
                    let _ = self.put(&bytes).await;
                }
                Ok(()) = self.size.changed() => self.resize(),
                Some((plan, done)) = self.plans.recv() => {
                    let injected = self.inject(&plan).await;
                    // Who asked may have gone; what was typed is typed.
                    let _ = done.send(injected);
                }
                else => return,
            }
        }
    }

    fn resize(&mut self) {
        let size = *self.size.borrow_and_update();
        // The program may have ended in between.
        let _ = self.pty.resize(pty_process::Size::new(size.rows, size.columns));
    }

    /// Writes all of it, and goes on resizing while the program does not read.
    async fn put(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            tokio::select! {
                () = self.shared.ended() => return Err(gone()),
                written = self.pty.write(bytes) => bytes = &bytes[written?..],
                Ok(()) = self.size.changed() => self.resize(),
            }
        }
        Ok(())
    }

    async fn inject(&mut self, plan: &Plan) -> Injected {
        let seen = {
            let typing = locked(&self.shared.typing);
            if let Some(refusal) = plan.gate().refusal(&typing, Instant::now()) {
                return Injected::Refused(refusal);
            }
            typing.keys()
        };
        let mut before = false;
        for step in plan.steps() {
            let mut typed = 0;
            let interruption = match self.type_step(step, seen, &mut typed).await {
                Ok(()) => {
                    before = true;
                    continue;
                }
                Err(interruption) => interruption,
            };
            if before || typed > 0 {
                locked(&self.shared.typing).left_behind();
            }
            let Interruption::Key(key) = interruption else {
                return Injected::Refused(Refusal::Exited);
            };
            // The person's keys come after what of a paste was sent, and not into it.
            if plan.pastes() && !before && (1..step.bytes.len()).contains(&typed) {
                let _ = self.put(Plan::PASTE_END).await;
            }
            let _ = self.put(&key).await;
            return Injected::Stopped;
        }
        Injected::Typed
    }

    async fn type_step(
        &mut self,
        step: &Step,
        seen: u64,
        typed: &mut usize,
    ) -> Result<(), Interruption> {
        let mut replies = Vec::new();
        let mut rest = step.bytes.as_slice();
        while !rest.is_empty() {
            // Pressed, and still on its way to the queue.
            if locked(&self.shared.typing).keys() != seen {
                return Err(Interruption::Key(replies));
            }
            tokio::select! {
                biased;
                () = self.shared.ended() => return Err(Interruption::Failed),
                Some((bytes, key)) = self.keys.recv() => {
                    replies.extend(bytes);
                    if key {
                        return Err(Interruption::Key(replies));
                    }
                }
                Ok(()) = self.size.changed() => self.resize(),
                // Small pieces: each may be the last.
                written = self.pty.write(&rest[..rest.len().min(256)]) => match written {
                    Ok(written) => {
                        *typed += written;
                        rest = &rest[written..];
                    }
                    Err(_) => return Err(Interruption::Failed),
                },
            }
        }
        // What a terminal answers must not get into a paste.
        self.put(&replies).await.map_err(|_| Interruption::Failed)?;
        let until = sleep(step.pause);
        tokio::pin!(until);
        loop {
            tokio::select! {
                biased;
                () = self.shared.ended() => return Err(Interruption::Failed),
                Some((bytes, key)) = self.keys.recv() => {
                    if key {
                        return Err(Interruption::Key(bytes));
                    }
                    self.put(&bytes).await.map_err(|_| Interruption::Failed)?;
                }
                Ok(()) = self.size.changed() => self.resize(),
                () = &mut until => return Ok(()),
            }
        }
    }
}
