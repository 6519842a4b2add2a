//! How it is known that a turn has ended.

use std::time::Duration;

use tokio::time::sleep;

use super::hand::Hand;
use crate::lanes::{Kind, Lane, LaneContext, Turn, TurnEnd, WakeInput, Waking};

/// A turn of a program that tells nothing of itself has ended when it printed nothing for this long.
const STILL: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(500);
/// What a program said last, before it ended, is read within this time.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// The end of a turn. A program that tells nothing of itself has ended it when it is still.
pub(super) async fn ended(
    lane: Lane,
    turn: &Turn,
    input: &WakeInput<'_>,
    lanes: &LaneContext<'_, Hand>,
    hand: &Hand,
) -> TurnEnd {
    let still = async {
        let is_silent = matches!(hand.program.kind, Kind::Other | Kind::Acp) && lane == Lane::Pty;
        loop {
            sleep(LOOK).await;
            let Some(terminal) = hand.terminal.get() else { continue };
            if is_silent && terminal.quiet_for() >= STILL {
                return TurnEnd {
                    completed: true,
                    evidence: "it prints nothing".to_owned(),
                    last: String::new(),
                };
            }
        }
    };
    let gone = async {
        match hand.terminal.get() {
            Some(terminal) if lane != Lane::Acp && lane != Lane::Command => {
                terminal.exited().await;
                // What it said last is read by the lane, which is given a moment.
                sleep(LAST_WORDS).await;
            }
            _ => std::future::pending().await,
        }
    };
    tokio::select! {
        end = lane.watch_end(turn, input, lanes) => end,
        end = still => end,
        () = gone => TurnEnd { completed: false, evidence: "the program has ended".to_owned(), last: String::new() },
    }
}
