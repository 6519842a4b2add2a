//! Checks approvals, pending and decided: they belong to a member, name a valid source, and keep no
//! words after the decision.

use chorus_core::codec;
use chorus_core::model::approval::{Approval, Asked};
use chorus_core::model::ids::{ConversationKey, Prefix, Uid};

use crate::db::{Db, Error, Result};
use crate::doctor::report::{Problem, Report};
use crate::family::Whole;
use crate::{conversation, event, log_snapshot};

pub(super) fn look(whole: &Whole<'_>, report: &mut Report) -> Result<()> {
    let (db, workspace, everybody) = (whole.db, whole.tenant.key, whole.everybody);
    for approval in everybody.approvals.values() {
        let mut found = |what: &str| {
            let what = format!("the approval {}: {what}", approval.uid.show(Prefix::Approval));
            let conversation = approval.source.as_ref().map(|s| s.at.conversation);
            let seq = approval.source.as_ref().map(|s| s.at.seq);
            report.problems.push(Problem { conversation, seq, what });
        };
        let decided = approval.decided.as_ref();
        if everybody.member(approval.member).is_none() {
            found("its member does not exist");
        }
        if decided.is_some_and(|d| everybody.member(d.by).is_none()) {
            found("the member who decided it does not exist");
        }
        if approval.expires < approval.at || decided.is_some_and(|d| d.at < approval.at) {
            found("it ended before it was requested");
        }
        if decided.is_some()
            && codec::asked(&approval.emptied().asked) != codec::asked(&approval.asked)
        {
            found("it is decided but still has its content");
        }
        if !comes_from_there(db, workspace, approval)? {
            found("its source is not the event that it names");
        }
        if let Asked::Send { to, post } = &approval.asked
            && !is_conversation(db, workspace, *to, post.conversation)?
        {
            found("its conversation does not exist");
        }
    }
    Ok(())
}

fn comes_from_there(db: &dyn Db, workspace: i64, approval: &Approval) -> Result<bool> {
    let Some(source) = &approval.source else { return Ok(true) };
    let event = match event::get(db, workspace, source.at) {
        // Reported with its conversation.
        Err(Error::Corrupt(_)) => return Ok(true),
        event => event?,
    };
    let here = match event {
        Some(event) => event.uid == source.event,
        // A pending approval protects the log from being dropped; a decided one does not.
        None => log_snapshot::get(db, workspace, source.at.conversation)?
            .is_some_and(|base| source.at.seq <= base.seq),
    };
    Ok(here && is_conversation(db, workspace, source.at.conversation, source.conversation)?)
}

fn is_conversation(db: &dyn Db, workspace: i64, key: ConversationKey, uid: Uid) -> Result<bool> {
    match conversation::get(db, workspace, key) {
        Err(Error::Corrupt(_)) => Ok(true),
        found => Ok(found?.is_some_and(|found| found.uid == uid)),
    }
}
