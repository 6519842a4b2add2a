//! Repairs wakes, pauses of agents and what sessions say of themselves. None is in a log, and
//! nothing is lost with what is removed: what an agent owes is in its deliveries, a runner says
//! again who it is, and only the pause of nobody is removed.

use chorus_core::model::ids::Prefix;

use super::{Part, Repair, Repairs};
use crate::db::Result;
use crate::{pause, registration, wake};

impl Repairs<'_> {
    pub(super) fn wakes(&self) -> Result<Vec<Repair>> {
        self.at_once(|of| {
            let (db, workspace, everybody) = (of.db, of.workspace, &of.everybody);
            let mut found = Vec::new();
            let mut mended = |part, what| {
                found.push(Repair { part, conversation: None, seq: None, what });
            };
            for (key, what) in registration::problems(db, workspace, everybody)? {
                registration::remove(db, workspace, key)?;
                mended(Part::Session, format!("what session {key} says of itself {what}"));
            }
            for member in pause::of_nobody(db, workspace, everybody)? {
                pause::remove(db, workspace, member)?;
                let what = format!("the one of member {member} belongs to nobody, and was removed");
                mended(Part::Pause, what);
            }
            for (uid, what) in wake::problems(db, workspace, everybody)? {
                wake::remove(db, workspace, uid)?;
                let id = uid.show(Prefix::Wake);
                mended(Part::Wake, format!("{id} {what}, and was removed"));
            }
            Ok(found)
        })
    }
}
