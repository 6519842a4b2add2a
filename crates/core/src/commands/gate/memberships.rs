//! Agents adding members to private conversations: a new member can read the earlier messages.

use std::sync::Arc;

use super::disclosure::{Origin, quote};
use super::shown::Readers;
use crate::commands::command::Seats;
use crate::commands::context::{Context, Result};
use crate::model::caller::Authority;
use crate::model::conversation::Visibility;
use crate::model::ids::{ConversationKey, EventRef, MemberKey, Prefix};
use crate::model::project::{Asked, Linking, Project};
use crate::state::workspace::Failure;

impl Context<'_> {
    /// Whether the caller may add members: not below an orchestrator, and not in a turn.
    pub(super) fn adds_members(&self) -> bool {
        self.by.authority >= Authority::Orchestrator && self.by.turn.is_none()
    }

    /// Holds a command that would add somebody to a conversation with messages they cannot read
    /// yet, until a person agrees. One conversation at a time.
    pub(super) fn may_seat(&mut self, seats: Result<Seats>) -> Result<()> {
        let seats = match seats {
            Ok(seats) => seats,
            // Its target is unknown: the command reports that itself.
            Err(Failure::Refused(_)) => return Ok(()),
            Err(unavailable) => return Err(unavailable),
        };
        for (key, mut members) in seats {
            self.load(key)?;
            let room = self.room(key);
            members.retain(|m| *m != self.by.member && !room.roster().contains_key(m));
            members.sort_unstable();
            members.dedup();
            let is_private = room.conversation().settings.visibility != Visibility::Public;
            if !is_private || members.is_empty() || !self.has_messages(key) {
                continue;
            }
            let newest = EventRef { conversation: key, seq: room.head().seq };
            let channel = room.conversation().uid.show(Prefix::Conversation);
            let readers = Readers { members, ..Readers::default() };
            let mut arguments = String::from("{\"channel\":");
            quote(&channel, &mut arguments);
            arguments.push_str(",\"members\":");
            quote(&self.named_readers(&readers), &mut arguments);
            arguments.push('}');
            let source = Some(Origin { at: newest, only: None });
            self.ask_once("set_seat".into(), arguments.into(), source)?;
        }
        Ok(())
    }

    /// An event that is no longer in memory may have been a message.
    fn has_messages(&self, key: ConversationKey) -> bool {
        let room = self.room(key);
        let all_known = room.tail().len() as u64 >= room.head().seq.0;
        !all_known || room.tail().iter().any(|event| event.change.message().is_some())
    }

    /// The members that a project's mirrors would add after this change.
    pub(crate) fn mirrored_by(&mut self, asked: &Asked) -> Result<Seats> {
        let project = asked.project().and_then(|uid| self.directory().projects.get(&uid)).cloned();
        let seen =
            |p: &Arc<Project>| p.has(self.by.member) || self.by.authority == Authority::Operator;
        let project = project.filter(seen);
        let known: Vec<MemberKey> =
            project.iter().flat_map(|p| p.members.iter().map(|m| m.member)).collect();
        let mut seats = Seats::new();
        let mut of_links = |links: &[Linking], members: &[MemberKey]| -> Result<()> {
            for link in links.iter().filter(|link| link.mirror == Some(true)) {
                seats.push((self.room_by_uid(link.conversation)?, members.to_vec()));
            }
            Ok(())
        };
        match asked {
            Asked::Create { members, links, .. } => of_links(links, members)?,
            Asked::Link { link, .. } => of_links(&[*link], &known)?,
            _ => {}
        }
        // Every other change of the project updates its rosters, too.
        if let (Asked::SetMember { member, .. }, Some(project)) = (asked, &project) {
            let mirrors = project.links.iter().filter(|link| link.mirror);
            seats.extend(
                mirrors.map(|link| {
                    (link.key, known.iter().copied().chain(*member).collect::<Vec<_>>())
                }),
            );
        }
        Ok(seats)
    }
}
