//! Who speaks about the subjects of a channel, and taking the turn away (channels spec "Autonomous thread turns").

use std::sync::Arc;

use arc_swap::ArcSwap;
use chorus_core::commands::turns;
use chorus_core::model::caller::By;
use chorus_core::model::error::Refusal;
use chorus_core::model::ids::Prefix;
use chorus_core::queries;
use chorus_core::state::directory::Directory;
use chorus_wire::rest::turns::{Holder, Subject, Turns, Waiting};

use super::commands::Commands;
use super::ids;
use crate::auth::Caller;
use crate::view;

/// Who has a turn in a channel.
pub(crate) struct TurnService {
    pub(super) commands: Arc<Commands>,
    pub(super) directory: Arc<ArcSwap<Directory>>,
}

impl TurnService {
    /// `GET /v1/channels/{id}/turns`.
    pub(crate) async fn turns(&self, caller: &Caller, id: &str) -> Result<Turns, Refusal> {
        caller.must_not_be_a_turn()?;
        let conversation = ids::conversation(id)?;
        // Whoever may read all of the workspace is shown this too.
        let by = if caller.viewer().is_none() { By::host() } else { caller.by };
        let found = self.commands.submit(by, queries::Turns { conversation }).await?;
        let directory = self.directory.load();
        Ok(Turns { subjects: found.iter().map(|s| shown(&directory, s)).collect() })
    }

    /// `DELETE /v1/channels/{id}/turns/{subject}/{member}`.
    pub(crate) async fn break_turn(
        &self,
        caller: &Caller,
        id: &str,
        subject: &str,
        member: &str,
    ) -> Result<(), Refusal> {
        caller.must_not_be_a_turn()?;
        let conversation = ids::conversation(id)?;
        let subject = match subject.starts_with("th_") {
            true => ids::thread(subject)?,
            false => ids::event(subject)?,
        };
        let member = ids::member_for(&self.directory.load(), caller, member)?.key;
        let command = turns::BreakTurn { conversation, subject, member };
        self.commands.submit(caller.by, command).await.map(drop)
    }
}

fn shown(directory: &Directory, subject: &turns::Subject) -> Subject {
    let turn = &subject.turn;
    let holders = turn.leases.iter().zip(&subject.causes).map(|(lease, cause)| Holder {
        member: view::id(directory, lease.member),
        event: cause.show(Prefix::Event),
        fence: lease.fence,
        granted_at: lease.granted_at.into(),
        accepted: lease.accepted,
        said: lease.said,
    });
    let waiting = subject.waiting.iter().map(|waits| Waiting {
        member: view::id(directory, waits.member),
        event: waits.event.show(Prefix::Event),
        since: waits.since.into(),
        owed: waits.obligation,
    });
    Subject {
        root: subject.root.show(Prefix::Event),
        thread: subject.thread.map(|t| t.show(Prefix::Thread)),
        budget: subject.budget,
        spent: turn.spent,
        holders: holders.collect(),
        waiting: waiting.collect(),
    }
}
