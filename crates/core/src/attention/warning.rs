//! Whom the host warns that agents have come to the end of what they may say by themselves.

use crate::attention::incoming::IncomingMessage;
use crate::model::attention::{Decision, Directedness, Mode, Policy, Priority, Rule, Told};
use crate::model::conversation::Visibility;
use crate::model::ids::MemberKey;
use crate::state::directory::Directory;
use crate::state::room::Room;

/// The lead, otherwise a person on the roster, otherwise the first person in the workspace.
pub(super) fn word_to_a_person(room: &Room, directory: &Directory, rule: Rule) -> Option<Told> {
    let on_roster = |m: &MemberKey| room.roster().contains_key(m) && directory.is_person(*m);
    let lead = directory.lead.filter(|m| directory.is_person(*m));
    let person = lead.or_else(|| room.roster().keys().copied().filter(on_roster).min());
    Some(word_to(person.or_else(|| directory.first_person())?, rule))
}

/// The lead or a person on the roster, if one may read the message.
pub(super) fn word_to_a_reader(
    room: &Room,
    directory: &Directory,
    said: &IncomingMessage<'_>,
    rule: Rule,
) -> Option<Told> {
    let is_public = room.conversation().settings.visibility == Visibility::Public;
    let may_read = |m: &MemberKey| {
        let in_room = is_public || room.roster().contains_key(m);
        in_room && directory.is_person(*m) && said.only.is_none_or(|only| only.contains(m))
    };
    let lead = directory.lead.filter(may_read);
    let member = lead.or_else(|| room.roster().keys().copied().filter(may_read).min())?;
    Some(word_to(member, rule))
}

fn word_to(member: MemberKey, rule: Rule) -> Told {
    let decision = Decision {
        rule,
        directedness: Directedness::ToMyRole,
        policy: Policy::MayRespond,
        mode: Mode::Notify,
        priority: Priority::High,
        deadline_ms: None,
    };
    Told { member, decision }
}
