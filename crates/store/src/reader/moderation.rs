//! The effects of a channel's rules over a time, counted from its log and the audit log. No row is
//! written for it.

use std::collections::BTreeSet;

use chorus_core::model::audit::{Action, Record};
use chorus_core::model::conversation::Conversation;
use chorus_core::model::disposition::Disposition;
use chorus_core::model::ids::{Prefix, Timestamp};

use crate::db::{Db, Result};
use crate::{audit, conversation, event};

/// The numbers of one channel since a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moderation {
    /// Messages that people posted.
    pub human_messages: u64,
    /// Messages of agents that answer something.
    pub replies: u64,
    pub turns_granted: u64,
    /// Agents' messages that were refused because it was not their turn.
    pub turns_refused: u64,
    pub turns_expired: u64,
    /// Repeated posts, and stimuli that newer ones about the same subject replaced.
    pub duplicates_prevented: u64,
    /// Deliveries that agents ended without a message.
    pub silence_chosen: u64,
}

pub(super) fn moderation(
    db: &dyn Db,
    workspace: i64,
    channel: &Conversation,
    since: Timestamp,
) -> Result<Moderation> {
    let Some(head) = conversation::head(db, workspace, channel.key)? else {
        return Ok(Moderation::default());
    };
    let all = (head.base, head.seq);
    let (human_messages, replies) = event::posted_since(db, workspace, channel.key, all, since)?;
    let mut found = Moderation { human_messages, replies, ..Moderation::default() };
    // Repeated entries count once.
    let mut quiet = BTreeSet::new();
    audit::since(db, workspace, since, &mut |record| {
        let of_event = record.event.is_some_and(|event| event.conversation == channel.key);
        let of_channel =
            record.subject == Some(channel.uid) && record.act.prefix() == Prefix::Conversation;
        match record.act {
            // The owner of the event is looked up below.
            Action::Dispose if is_quiet(&record) => {
                quiet.extend(record.subject.map(|event| (event, record.by)));
            }
            _ if !(of_event || of_channel) => {}
            Action::GrantTurn => found.turns_granted += 1,
            Action::RefuseTurn => found.turns_refused += 1,
            Action::ExpireTurn => found.turns_expired += 1,
            Action::Deduplicate => found.duplicates_prevented += 1,
            _ => {}
        }
    })?;
    for (uid, _) in quiet {
        let at = event::find(db, workspace, uid)?;
        found.silence_chosen += u64::from(at.is_some_and(|at| at.conversation == channel.key));
    }
    Ok(found)
}

/// Whether the recipient states that it stays silent.
fn is_quiet(record: &Record) -> bool {
    let quiet = [Disposition::Acknowledged, Disposition::Ignored].map(Disposition::name);
    record.refused.is_none() && record.name.as_deref().is_some_and(|name| quiet.contains(&name))
}
