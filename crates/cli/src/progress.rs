//! How far something is that takes its time: shown on a terminal, after two seconds, and gone when
//! it ends.

use std::io::IsTerminal;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::printer::Printer;

/// What is over sooner shows nothing.
const PATIENCE: Duration = Duration::from_secs(2);
const TICK: Duration = Duration::from_millis(100);

pub(crate) struct Progress {
    /// To be told of every byte.
    pub(crate) bytes: ProgressBar,
    /// It is over when this is dropped.
    _going: Sender<()>,
}

impl Progress {
    /// `what` is being done, on so many bytes where that is known.
    pub(crate) fn begin(print: Printer, what: &'static str, bytes: Option<u64>) -> Self {
        let template = match bytes {
            Some(_) => "{msg} {wide_bar} {bytes} of {total_bytes}, {eta} left",
            None => "{spinner} {msg} {elapsed} {bytes}",
        };
        Self::shown(print, what, bytes, template)
    }

    /// `what` is being waited for.
    pub(crate) fn wait(print: Printer, what: &'static str) -> Self {
        Self::shown(print, what, None, "{spinner} {msg} {elapsed}")
    }

    fn shown(
        print: Printer,
        what: &'static str,
        bytes: Option<u64>,
        template: &'static str,
    ) -> Self {
        let bar = ProgressBar::with_draw_target(bytes, ProgressDrawTarget::hidden());
        let (going, over) = channel();
        if !print.json && std::io::stderr().is_terminal() {
            let bar = bar.clone();
            thread::spawn(move || {
                if over.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                    bar.set_style(style(template));
                    bar.set_message(what);
                    bar.set_draw_target(ProgressDrawTarget::stderr());
                    bar.enable_steady_tick(TICK);
                }
            });
        }
        Self { bytes: bar, _going: going }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bytes.finish_and_clear();
    }
}

fn style(template: &str) -> ProgressStyle {
    // The templates are ours; one that could not be read would only look plainer.
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
}
