//! What the rest of the runner holds of a terminal.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use std::{fmt, io};

use bytes::Bytes;
use chorus_wire::attention::screen::Screen;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::sync::{broadcast, mpsc, oneshot, watch};

use super::injection::{Gate, Injected, Plan, Refusal};
use super::screen::Model;
use super::typing::Typing;
use super::{Exit, Size, gone, locked};

/// Chunks that a viewer may be behind before it is redrawn.
const BEHIND: usize = 64;
/// Chunks on their way to the foreground.
const FOREGROUND: usize = 8;

/// Of a program that was left alone: 128 and SIGHUP.
pub(super) const HUNG_UP: Exit = Exit { code: 129 };

pub(super) type Input = (Vec<u8>, bool);
pub(super) type Order = (Plan, oneshot::Sender<Injected>);

pub(super) struct Shared {
    pub(super) pid: u32,
    pub(super) model: Mutex<Model>,
    pub(super) output: broadcast::Sender<Bytes>,
    pub(super) foreground: Mutex<Option<mpsc::Sender<Bytes>>>,
    pub(super) typing: Mutex<Typing>,
    pub(super) exit: watch::Sender<Option<Exit>>,
    /// Bytes for the program, and whether a person pressed a key in them.
    pub(super) input: mpsc::Sender<Input>,
    injections: mpsc::Sender<Order>,
    sizes: watch::Sender<Size>,
}

impl Shared {
    pub(super) fn new(
        pid: u32,
        size: Size,
        input: mpsc::Sender<Input>,
        injections: mpsc::Sender<Order>,
        sizes: watch::Sender<Size>,
    ) -> Self {
        Self {
            pid,
            model: Mutex::new(Model::new(size, Instant::now())),
            output: broadcast::Sender::new(BEHIND),
            foreground: Mutex::new(None),
            typing: Mutex::new(Typing::default()),
            exit: watch::Sender::new(None),
            input,
            injections,
            sizes,
        }
    }

    pub(super) async fn ended(&self) {
        // The sender is ours: there is no error.
        let _ = self.exit.subscribe().wait_for(Option::is_some).await;
    }

    pub(super) fn end(&self, exit: Exit) {
        *locked(&self.foreground) = None;
        self.exit.send_if_modified(|told| {
            let first = told.is_none();
            told.get_or_insert(exit);
            first
        });
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("pid", &self.pid).finish_non_exhaustive()
    }
}

/// A terminal, seen from anywhere. It does not keep the program alive.
#[derive(Clone, Debug)]
pub struct TerminalHandle(pub(super) Arc<Shared>);

impl TerminalHandle {
    /// The text on the screen.
    #[must_use]
    pub fn screen(&self) -> String {
        locked(&self.0.model).text()
    }

    /// What the screen shows, with colors.
    #[must_use]
    pub fn shown(&self) -> Screen {
        locked(&self.0.model).shown()
    }

    /// The last `count` lines of the screen that have text.
    #[must_use]
    pub fn last_lines(&self, count: usize) -> String {
        let screen = self.screen();
        let lines: Vec<&str> = screen.trim_end().lines().collect();
        lines[lines.len().saturating_sub(count)..].join("\n")
    }

    #[must_use]
    pub fn is_alive(&self) -> bool {
        self.0.exit.borrow().is_none()
    }

    #[must_use]
    pub fn pid(&self) -> u32 {
        self.0.pid
    }

    /// Waits for the end of the program. If its [`Terminal`](super::Terminal) was dropped before, that is a hangup.
    pub async fn exited(&self) -> Exit {
        self.0.ended().await;
        self.0.exit.borrow().unwrap_or(HUNG_UP)
    }

    pub fn resize(&self, size: Size) {
        let size = size.or_default();
        self.0.sizes.send_if_modified(|now| {
            let other = *now != size;
            if other {
                *now = size;
                locked(&self.0.model).resize(size);
            }
            other
        });
    }

    #[must_use]
    pub fn size(&self) -> Size {
        *self.0.sizes.borrow()
    }

    /// Sends a signal to the program and what it started in its own process group.
    pub fn signal(&self, signal: Signal) -> io::Result<()> {
        let pid = i32::try_from(self.0.pid).ok().filter(|pid| *pid > 0 && self.is_alive());
        killpg(Pid::from_raw(pid.ok_or_else(gone)?), signal)?;
        Ok(())
    }

    /// How long the program has printed nothing.
    #[must_use]
    pub fn quiet_for(&self) -> Duration {
        locked(&self.0.model).printed().elapsed()
    }

    /// How long no person has pressed a key; nothing if none ever did.
    #[must_use]
    pub fn keys_quiet_for(&self) -> Option<Duration> {
        locked(&self.0.typing).last_key().map(|at| at.elapsed())
    }

    /// Whether the prompt of the program may hold text that was not sent.
    #[must_use]
    pub fn has_draft(&self) -> bool {
        locked(&self.0.typing).has_draft()
    }

    /// What a person typed, or their terminal answered, to the program unchanged.
    pub async fn person_input(&self, bytes: Vec<u8>) -> io::Result<()> {
        // Noted before it is queued: an injection that is decided in between must know of it.
        let keys = locked(&self.0.typing).feed(&bytes, Instant::now());
        self.0.input.send((bytes, keys)).await.map_err(|_| gone())
    }

    /// Types a plan, if a person has not typed within the gate's quiet window and left no draft. One at a time.
    pub async fn inject(&self, plan: Plan) -> Injected {
        let (done, told) = oneshot::channel();
        if !self.is_alive() || self.0.injections.send((plan, done)).await.is_err() {
            return Injected::Refused(Refusal::Exited);
        }
        told.await.unwrap_or(Injected::Refused(Refusal::Exited))
    }

    /// Tries [`inject`](Self::inject) again every five seconds while a person types, for sixty at most.
    /// `deferred` is told of each refusal that is not the last word.
    pub async fn inject_when_quiet(
        &self,
        plan: Plan,
        mut deferred: impl FnMut(Refusal),
    ) -> Injected {
        let begun = Instant::now();
        loop {
            let injected = self.inject(plan.clone()).await;
            let Injected::Refused(refusal @ (Refusal::Typing | Refusal::Draft)) = injected else {
                return injected;
            };
            let Some(pause) = plan.gate().next_try(begun, Instant::now()) else { return injected };
            deferred(refusal);
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                _ = self.exited() => return Injected::Refused(Refusal::Exited),
            }
        }
    }

    /// Why nothing may be typed now, without typing.
    #[must_use]
    pub fn refusal(&self, gate: &Gate) -> Option<Refusal> {
        if !self.is_alive() {
            return Some(Refusal::Exited);
        }
        gate.refusal(&locked(&self.0.typing), Instant::now())
    }

    /// Makes the caller the foreground: it gets all output and holds the program up when it is slow.
    pub(super) fn foreground(&self) -> (Vec<u8>, mpsc::Receiver<Bytes>) {
        let (sender, receiver) = mpsc::channel(FOREGROUND);
        let mut model = locked(&self.0.model);
        let shown = model.first_output().unwrap_or_else(|| model.redraw());
        if self.is_alive() {
            *locked(&self.0.foreground) = Some(sender);
        }
        (shown, receiver)
    }

    /// The screen now, and all output after it.
    pub(super) fn watch(&self) -> (Vec<u8>, broadcast::Receiver<Bytes>) {
        let mut model = locked(&self.0.model);
        (model.redraw(), self.0.output.subscribe())
    }

    /// Whether a foreground answers what the program asks of its terminal.
    pub(super) fn has_foreground(&self) -> bool {
        locked(&self.0.foreground).is_some()
    }
}
