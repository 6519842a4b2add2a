//! Trying a lane, looking it up and watching it: one place from which the runner reaches all of them.

use std::future::Future;
use std::time::SystemTime;

use super::context::LaneContext;
use super::flags::Begin;
use super::outcome::{
    Found, Kind, Lane, MessageId, Outcome, Reason, Turn, TurnEnd, WakeInput, Why,
};
use super::terminal::{Starter, Typist};
use super::{acp, command, gemini_chats, pty, started};

/// What a runner does by a lane.
pub trait Waking {
    /// Brings the prompt in by this lane. Ends within half a minute, or with a command's end.
    fn try_wake<T: Typist + Starter + Sync>(
        self,
        input: &WakeInput<'_>,
        context: &LaneContext<'_, T>,
    ) -> impl Future<Output = Outcome> + Send;

    /// Looks whether an earlier message of this lane arrived: that with this id, begun at that time.
    fn look_up<T: Typist + Starter + Sync>(
        self,
        message: &MessageId,
        since: SystemTime,
        input: &WakeInput<'_>,
        context: &LaneContext<'_, T>,
    ) -> impl Future<Output = Found> + Send;

    /// Waits for the end of the turn that a wake by this lane started. Where nothing tells of it, it ends with the
    /// program.
    fn watch_end<T: Typist + Starter + Sync>(
        self,
        turn: &Turn,
        input: &WakeInput<'_>,
        context: &LaneContext<'_, T>,
    ) -> impl Future<Output = TurnEnd> + Send;
}

impl Waking for Lane {
    async fn try_wake<T: Typist + Starter + Sync>(
        self,
        input: &WakeInput<'_>,
        context: &LaneContext<'_, T>,
    ) -> Outcome {
        match self {
            Self::CodexSocket => context.codex().wake(input.prompt, &input.message()).await,
            Self::ClaudeInbox => context.claude().wake(input.prompt).await,
            Self::Acp => acp::wake(input, context).await,
            Self::Pty => pty::wake(input.prompt, context).await,
            Self::Resume => match context.session {
                Some(session) => {
                    let begin = Begin::Resume { session, prompt: input.prompt };
                    started::wake(begin, input.prompt, context).await
                }
                None => Outcome::Failed { why: Reason::NoResumeId.into() },
            },
            Self::NewSession => {
                let (id, opening) = (uuid::Uuid::now_v7().to_string(), input.opening());
                let begin = Begin::New { id: &id, prompt: &opening };
                started::wake(begin, &opening, context).await
            }
            Self::Command => command::wake(input, context).await,
        }
    }

    async fn look_up<T: Typist + Starter + Sync>(
        self,
        message: &MessageId,
        since: SystemTime,
        input: &WakeInput<'_>,
        context: &LaneContext<'_, T>,
    ) -> Found {
        // An agent without a terminal ends with its runner, and a command is not asked.
        match self {
            Self::Acp => return Found::Absent,
            Self::Command => {
                return Found::CannotTell(Why::new(Reason::NoProof, "a command cannot be asked"));
            }
            _ => {}
        }
        let opening = input.opening();
        let prompt = if self == Self::NewSession { opening.as_str() } else { input.prompt };
        match context.launch.kind {
            Kind::Codex => context.codex().look_up(message, prompt, since).await,
            Kind::Claude => context.claude().look_up(prompt, Some(since)),
            Kind::Gemini => gemini_chats::look_up(context.home, prompt, since),
            Kind::Acp | Kind::Other => {
                Found::CannotTell(Why::new(Reason::NoProof, "this program cannot be asked"))
            }
        }
    }

    async fn watch_end<T: Typist + Starter + Sync>(
        self,
        turn: &Turn,
        input: &WakeInput<'_>,
        context: &LaneContext<'_, T>,
    ) -> TurnEnd {
        let opening = input.opening();
        let prompt = if self == Self::NewSession { opening.as_str() } else { input.prompt };
        match (self, context.launch.kind) {
            (Self::Acp, _) => context.seats.acp.watch_end().await,
            (Self::Command, _) => context.seats.command.watch_end().await,
            (_, Kind::Codex) => context.codex().watch_end(turn).await,
            (_, Kind::Claude) => context.claude().watch_end(turn, prompt).await,
            (_, Kind::Gemini) => gemini_chats::watch_end(context.home, prompt, turn).await,
            (_, Kind::Acp | Kind::Other) => std::future::pending().await,
        }
    }
}
