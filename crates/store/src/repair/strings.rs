//! Repairs endpoints and inboxes: those without an agent are removed, and delivery positions are
//! corrected to possible values.
//!
//! A connection string itself cannot be rebuilt: its keeper must make another.

use std::sync::Arc;

use chorus_core::model::ids::{ConversationKey, EventRef, MemberKey, Prefix, Seq};
use chorus_core::model::inbox::{Inbox, Remote};
use chorus_core::model::member::{Member, MemberKind};

use super::{Part, Record, Repair, Repairs, audit, conversation};
use crate::db::Result;
use crate::{directory, endpoint, inbox};

impl Repairs<'_> {
    pub(super) fn strings(&self) -> Result<Vec<Repair>> {
        self.at_once(Self::all_strings)
    }

    /// Makes repairs beside the conversations in one transaction, with their audit entries.
    pub(super) fn at_once(
        &self,
        mend: impl FnOnce(&Self) -> Result<Vec<Repair>>,
    ) -> Result<Vec<Repair>> {
        self.db.begin()?;
        match mend(self) {
            Ok(found) if !found.is_empty() => {
                let records = found.iter().map(|repair| {
                    let seq = Seq::default();
                    let place =
                        repair.conversation.map(|conversation| EventRef { conversation, seq });
                    Record::repaired(self.now, place, repair.part.name())
                });
                let end = audit::head(self.db, self.workspace)?;
                audit::append(
                    self.db,
                    self.workspace,
                    &end,
                    self.now,
                    &records.collect::<Vec<_>>(),
                )?;
                self.db.flush()?;
                self.db.commit()?;
                Ok(found)
            }
            other => {
                // Nothing was written, or the original error is reported.
                let ended = self.db.rollback();
                let found = other?;
                ended.map(|()| found)
            }
        }
    }

    fn all_strings(&self) -> Result<Vec<Repair>> {
        let (db, workspace) = (self.db, self.workspace);
        let mut found = Vec::new();
        let mut mended = |part, conversation, what: String| {
            found.push(Repair { part, conversation, seq: None, what });
        };
        for (member, read) in endpoint::each(db, workspace)? {
            if read.is_none() || !self.is_agent(member) {
                endpoint::remove(db, workspace, member)?;
                let why = if read.is_none() { "cannot be read" } else { "belongs to nobody here" };
                mended(
                    Part::Endpoint,
                    None,
                    format!("the one of member {member} {why}, and was removed"),
                );
            }
        }
        let mut kept: Vec<Arc<Inbox>> = Vec::new();
        for (uid, read) in inbox::each(db, workspace)? {
            let what = match read {
                Some(inbox) if self.is_agent(inbox.agent) => {
                    kept.push(Arc::new(inbox));
                    continue;
                }
                Some(_) => "is for nobody who is an agent here",
                None => "cannot be read",
            };
            inbox::remove(db, workspace, uid)?;
            for kind in [MemberKind::Human, MemberKind::Agent] {
                let id = Inbox::stand_in_id(uid, kind);
                let stands = self.everybody.members.iter().find(|m| *m.id == *id && !m.removed);
                if let Some(member) = stands {
                    let gone = Member { removed: true, ..Member::clone(member) };
                    directory::put_member(db, workspace, &gone)?;
                }
            }
            mended(
                Part::Inbox,
                None,
                format!("{} {what}, and was removed", uid.show(Prefix::Inbox)),
            );
        }
        let mut counts = vec![0; kept.len()];
        for (key, of, read) in inbox::each_remote(db, workspace)? {
            let Some(at) = kept.iter().position(|inbox| inbox.uid == of) else {
                inbox::remove_remote(db, workspace, key)?;
                let what = "its channel no longer belongs to an inbox".to_owned();
                mended(Part::Inbox, Some(key), what);
                continue;
            };
            counts[at] += 1;
            let head = conversation::head(db, workspace, key)?.map(|head| head.seq);
            if let Some(what) = self.mend_cursor(key, read, head.unwrap_or_default())? {
                mended(Part::Inbox, Some(key), what.to_owned());
            }
        }
        for (inbox, channels) in kept.iter().zip(counts) {
            if inbox.channels != channels {
                inbox::put(db, workspace, &Inbox { channels, ..Inbox::clone(inbox) })?;
                let of = inbox.uid.show(Prefix::Inbox);
                mended(Part::Inbox, None, format!("{of} has {channels} channels"));
            }
        }
        db.flush()?;
        let strays = inbox::remove_stray_callbacks(db, workspace)?;
        if strays > 0 {
            mended(
                Part::Inbox,
                None,
                format!("{strays} callbacks of no channel's messages were removed"),
            );
        }
        Ok(found)
    }

    /// Repairs how far a channel's messages were sent. If that is unreadable they count as sent,
    /// because sending all of them again would be worse.
    fn mend_cursor(
        &self,
        key: ConversationKey,
        (row, fits): (Option<Remote>, bool),
        head: Seq,
    ) -> Result<Option<&'static str>> {
        let (db, workspace) = (self.db, self.workspace);
        match row {
            None => {
                inbox::reset_remote(db, workspace, key, head)?;
                Ok(Some("how far it was sent back could not be read; nothing is sent again"))
            }
            Some(remote) if remote.said.max(remote.sent) > head => {
                let (said, sent) = (remote.said.min(head), remote.sent.min(head));
                inbox::put_remote(db, workspace, key, &Remote { said, sent, ..remote })?;
                Ok(Some("more messages were sent back than there are"))
            }
            Some(remote) if !fits => {
                inbox::put_remote(db, workspace, key, &remote)?;
                Ok(Some("the record of whether something must still be sent back was wrong"))
            }
            Some(_) => Ok(None),
        }
    }

    fn is_agent(&self, member: MemberKey) -> bool {
        let found = self.everybody.member(member).filter(|m| !m.removed);
        found.is_some_and(|m| m.is_agent())
    }
}
