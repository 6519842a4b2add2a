//! Checks inboxes: each is valid by itself, and the channels that deliver to them belong to
//! conversations.

use chorus_core::model::ids::{Prefix, Timestamp};

use super::{all, load, stray_callbacks};
use crate::db::{Error, Result};
use crate::doctor::report::{Problem, Report};
use crate::family::Whole;
use crate::{conversation, directory};

pub(super) fn look(whole: &Whole<'_>, report: &mut Report) -> Result<()> {
    let (db, tenant) = (whole.db, whole.tenant);
    let mut everybody = directory::load(db, tenant, Timestamp(0))?;
    let mut found = |conversation, what| {
        report.problems.push(Problem { conversation, seq: None, what });
    };
    let loaded = load(db, tenant.key, &mut everybody, Timestamp(0));
    let remotes = match loaded.and_then(|()| all(db, tenant.key)) {
        Err(Error::Corrupt(what)) => {
            found(None, what);
            return Ok(());
        }
        remotes => remotes?,
    };
    for inbox in everybody.inboxes.values() {
        let of = inbox.uid.show(Prefix::Inbox);
        for flaw in inbox.flaws(&everybody) {
            found(None, format!("the inbox {of}: {flaw}"));
        }
        let channels = remotes.iter().filter(|(_, remote)| remote.inbox == inbox.uid).count();
        if channels != inbox.channels as usize {
            found(None, format!("the inbox {of} counts {} channels of {channels}", inbox.channels));
        }
    }
    for (key, remote) in remotes {
        if !everybody.inboxes.contains_key(&remote.inbox) {
            found(Some(key), "it is a channel of an inbox that is not there".to_owned());
        }
        let head = conversation::head(db, tenant.key, key)?;
        if head.is_none_or(|head| head.seq < remote.said.max(remote.sent)) {
            found(Some(key), "more messages were sent back than there are".to_owned());
        }
    }
    let strays = stray_callbacks(db, tenant.key)?;
    if strays > 0 {
        found(None, format!("{strays} callbacks are of no channel's messages"));
    }
    Ok(())
}
