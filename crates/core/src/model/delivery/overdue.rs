//! Overdue events, and the members they concern (design section 5, "Deadlines").

use super::{Delivery, Open};
use crate::model::attention::Policy;
use crate::model::ids::MemberKey;

impl Open {
    /// Whether an obligation was not met in time: it has moved on and is still owed, or nobody was
    /// left.
    pub fn is_overdue(&self) -> bool {
        self.deliveries.iter().any(Delivery::is_overdue)
    }

    /// The members who lost an obligation: they had to answer, and now may.
    pub fn left(&self) -> impl Iterator<Item = MemberKey> {
        let had = |d: &&Delivery| {
            let decided = self.attention.told.iter().find(|t| t.member == d.member);
            let obliged = decided.is_some_and(|t| t.decision.policy == Policy::MustRespond);
            (obliged || d.is_escalated()) && !d.is_obligation()
        };
        self.deliveries.iter().filter(had).map(|d| d.member)
    }

    /// Whether an overdue obligation concerns the member: it holds or held it, wrote the event, or
    /// is a lead.
    pub fn concerns(&self, member: MemberKey, leads: [Option<MemberKey>; 2]) -> bool {
        let holds = |d: &Delivery| d.member == member && (d.is_obligation() || d.is_escalated());
        self.author == member
            || (leads.contains(&Some(member)) && self.attention.is_shown_to(member))
            || self.deliveries.iter().any(holds)
            || self.left().any(|m| m == member)
    }
}
