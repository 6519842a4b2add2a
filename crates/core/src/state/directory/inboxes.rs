//! Inboxes of the directory, by their secret and by the stand-in member that speaks for people
//! elsewhere.

use std::sync::Arc;

use super::Directory;
use crate::model::event::Hash;
use crate::model::ids::{MemberKey, Uid};
use crate::model::inbox::Inbox;
use crate::model::member::MemberKind;

impl Inbox {
    /// What is wrong with this inbox; empty for a sound one.
    pub fn flaws(&self, directory: &Directory) -> Vec<String> {
        let mut flaws = Vec::new();
        let kind = |key| directory.member(key).filter(|m| !m.removed).map(|m| m.kind);
        if kind(self.agent) != Some(MemberKind::Agent) {
            flaws.push("it is for nobody who is an agent here".to_owned());
        }
        let of = [(self.people, MemberKind::Human), (self.agents, MemberKind::Agent)];
        for (key, stands) in of {
            if kind(key) != Some(stands) {
                flaws.push(format!("its stand-in {key} does not exist"));
            }
        }
        flaws
    }
}

impl Directory {
    /// The inbox whose connection string has a secret with this hash.
    pub fn inbox_of(&self, secret: &Hash) -> Option<&Arc<Inbox>> {
        let uid = self.by_secret.get(secret)?;
        self.inboxes.get(uid)
    }

    /// Whether the member speaks for people elsewhere. Such a member is never notified and never
    /// owes anything.
    pub fn is_stand_in(&self, member: MemberKey) -> bool {
        self.stand_ins.contains_key(&member)
    }

    /// The inbox for which a member speaks.
    pub fn inbox_of_stand_in(&self, member: MemberKey) -> Option<&Arc<Inbox>> {
        self.inboxes.get(self.stand_ins.get(&member)?)
    }

    /// Sets the inbox; none removes it.
    pub fn set_inbox(&mut self, uid: Uid, inbox: Option<Arc<Inbox>>) {
        if let Some(old) = self.inboxes.get(&uid).cloned() {
            self.by_secret.remove_mut(&old.secret);
            for member in old.stand_ins() {
                self.stand_ins.remove_mut(&member);
            }
            self.inboxes.remove_mut(&uid);
        }
        if let Some(inbox) = inbox {
            self.by_secret.insert_mut(inbox.secret, uid);
            for member in inbox.stand_ins() {
                self.stand_ins.insert_mut(member, uid);
            }
            self.inboxes.insert_mut(uid, inbox);
        }
    }
}
