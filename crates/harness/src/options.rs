//! What a harness is started with.

use std::path::PathBuf;
use std::time::Duration;

use chorus_core::model::limits;
use tokio::sync::mpsc::UnboundedSender;

use crate::runtime::Runtime;

/// Options of [`crate::run`].
#[derive(Clone, Debug)]
pub struct Options {
    /// The host's base address: `http://127.0.0.1:7600`.
    pub url: String,
    /// The agent's token. It never reaches the runtime.
    pub token: String,
    /// The agent's member id; the token must be of the same.
    pub agent: String,
    /// The journal's folder; one harness at a time.
    pub state: PathBuf,
    pub runtime: Runtime,
    /// Where the runtime works.
    pub folder: PathBuf,
    /// The session to go on with, instead of the one in the journal.
    pub session: Option<String>,
    /// The compose window: a turn begins this long after a text that looks complete …
    pub quiet: Duration,
    /// … at most this long after one that does not …
    pub unfinished: Duration,
    /// … and, while its author types or goes on, at most this long after the first.
    pub cap: Duration,
    pub knocks: Knocks,
    /// Longest run of the runtime; never more than 30 minutes, whatever is said here.
    pub turn_timeout: Duration,
    /// Conversations worked on at once.
    pub parallel: usize,
    /// Messages of the conversation shown before the new ones.
    pub context: u32,
    /// Proof of life is given this often while a turn runs.
    pub keepalive: Duration,
    /// Is told when the host goes away and when it is back.
    pub notices: Option<UnboundedSender<Notice>>,
}

/// What whoever started the harness may want to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The host cannot be reached; it is tried again.
    Away,
    /// The host answers again.
    Back,
}

/// What a knock without a claim is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Knocks {
    /// A line in the next turn of its conversation, and no turn of its own.
    Hold,
    /// A turn that is shown the knock, without the body.
    Turn,
}

impl Options {
    /// The defaults for an agent; design section 5 has the window, the cap and the keepalive.
    pub fn new(
        url: impl Into<String>,
        token: impl Into<String>,
        agent: impl Into<String>,
        state: impl Into<PathBuf>,
        runtime: Runtime,
    ) -> Self {
        Self {
            url: url.into(),
            token: token.into(),
            agent: agent.into(),
            state: state.into(),
            runtime,
            folder: PathBuf::from("."),
            session: None,
            quiet: Duration::from_millis(limits::COMPOSE_QUIET_MS.unsigned_abs()),
            unfinished: Duration::from_millis(limits::COMPOSE_UNFINISHED_MS.unsigned_abs()),
            cap: Duration::from_millis(limits::FRAGMENT_CAP_MS.unsigned_abs()),
            knocks: Knocks::Hold,
            turn_timeout: Duration::from_secs(30 * 60),
            parallel: 4,
            context: 20,
            keepalive: Duration::from_secs(20),
            notices: None,
        }
    }
}
