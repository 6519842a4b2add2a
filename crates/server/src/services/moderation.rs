//! What came of a channel's rules lately, in numbers (channels spec, moderation).

use chorus_core::model::error::Refusal;
use chorus_wire::rest::moderation::{AskModeration, Moderation};

use super::{App, ids};
use crate::auth::Caller;

/// What is counted unless said, in milliseconds: a day.
const LATELY_MS: i64 = 24 * 3_600_000;
/// Counting reads all of the time that is asked for.
const LONGEST_MS: i64 = 31 * LATELY_MS;

impl App {
    /// `GET /v1/channels/{id}/moderation`, for whoever may see the channel.
    pub(crate) async fn moderation(
        &self,
        caller: &Caller,
        id: &str,
        query: AskModeration,
    ) -> Result<Moderation, Refusal> {
        caller.must_not_be_a_turn()?;
        let channel = self.place(caller, ids::conversation(id)?).await?.conversation;
        let now = self.now();
        let since = query.since.unwrap_or(now.plus(-LATELY_MS).into());
        if now.since(since.0) > LONGEST_MS {
            return Err(Refusal::invalid("since is at most 31 days ago"));
        }
        let found = self.read(move |readers| readers.moderation(&channel, since.0)).await?;
        let ratio = found.replies as f64 / found.human_messages as f64;
        Ok(Moderation {
            since,
            human_messages: found.human_messages,
            replies: found.replies,
            replies_per_human_message: Some(ratio).filter(|ratio| ratio.is_finite()),
            turns_granted: found.turns_granted,
            turns_refused: found.turns_refused,
            turns_expired: found.turns_expired,
            duplicates_prevented: found.duplicates_prevented,
            silence_chosen: found.silence_chosen,
        })
    }
}
