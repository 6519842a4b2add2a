//! Restores the member `operator`, which earlier versions let anybody who administered the
//! workspace remove.
//!
//! Its previous tokens are ended: the host writes a new one when it starts.

use std::sync::Arc;

use chorus_core::model::ids::MemberKey;
use chorus_core::model::member::Member;
use chorus_core::model::token::OPERATOR;

use super::{Part, Record, Repair, Repairs, audit, directory};
use crate::db::Result;
use crate::token;

impl Repairs<'_> {
    /// In one transaction. If the member never existed, the host's start creates it.
    pub(super) fn operator(&self, lead: Option<MemberKey>) -> Result<Vec<Repair>> {
        let gone = self.everybody.members.iter().find(|m| *m.id == *OPERATOR && m.removed);
        let Some(gone) = gone else { return Ok(Vec::new()) };
        self.db.begin()?;
        match self.make_operator(gone, lead) {
            Ok(repair) => Ok(vec![repair]),
            Err(error) => {
                // The original error is reported.
                let _ = self.db.rollback();
                Err(error)
            }
        }
    }

    fn make_operator(&self, gone: &Member, lead: Option<MemberKey>) -> Result<Repair> {
        let (db, workspace) = (self.db, self.workspace);
        let member = Member { removed: false, handle: self.free_handle(), ..gone.clone() };
        directory::put_member(db, workspace, &member)?;
        token::end_all(db, workspace, member.key, self.now)?;
        if lead.is_none() {
            directory::set_lead(db, workspace, Some(member.key))?;
        }
        let records = [Record::repaired(self.now, None, Part::Operator.name())];
        let end = audit::head(db, workspace)?;
        audit::append(db, workspace, &end, self.now, &records)?;
        db.flush()?;
        db.commit()?;
        let what = format!("it is a member again, under the handle @{}", member.handle);
        Ok(Repair { part: Part::Operator, conversation: None, seq: None, what })
    }

    /// Its own handle, unless another member has it now.
    fn free_handle(&self) -> Arc<str> {
        let numbered = (2..).map(|n| format!("{OPERATOR}-{n}"));
        let mut all = std::iter::once(OPERATOR.to_owned()).chain(numbered);
        let free = all.find(|handle| !self.everybody.names.is_taken(handle));
        free.unwrap_or_default().into()
    }
}
