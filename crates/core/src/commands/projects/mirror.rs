//! Mirrors the members of projects into the rosters of channels.
//!
//! Invariant: a mirrored member is a member of the channel. A membership that was created by a
//! mirror is removed with the last mirror that needs it; one that existed before or was given since
//! stays.

use std::sync::Arc;

use crate::commands::context::{Context, Result};
use crate::commands::conversations::conversation::derived;
use crate::model::caller::Authority;
use crate::model::conversation::{Participation, Visibility};
use crate::model::error::{Code, Refusal};
use crate::model::event::Change;
use crate::model::ids::{ConversationKey, MemberKey};
use crate::model::project::{Link, Project};

impl Context<'_> {
    /// Updates the rosters of a project's channels to its present members and links. `gone` are the
    /// removed links.
    pub(super) fn mirror(&mut self, project: &mut Project, gone: Vec<Link>) -> Result<()> {
        self.mirror_from(project, gone, 0).map(drop)
    }

    /// As [`Context::mirror`], for a command that has logged `nth` events before. Returns the new
    /// number.
    pub(super) fn mirror_from(
        &mut self,
        project: &mut Project,
        gone: Vec<Link>,
        mut nth: usize,
    ) -> Result<usize> {
        let mut links = std::mem::take(&mut project.links);
        let stay = links.len();
        links.extend(gone.into_iter().map(|link| Link { mirror: false, ..link }));
        for link in links.iter().filter(|l| l.mirror || !l.seated.is_empty()) {
            self.load(link.key)?;
        }
        for link in &mut links {
            let wanted: Vec<_> = match link.mirror {
                true => project.members.iter().map(|m| m.member).collect(),
                false => Vec::new(),
            };
            let leave = link.seated.iter().copied().filter(|m| !wanted.contains(m));
            for member in leave.collect::<Vec<_>>() {
                link.seated.retain(|m| *m != member);
                if self.hand_seat_over(project, link.key, member) {
                    continue;
                }
                self.log_plain(link.key, derived(self.drawn.uid, nth), Change::Left { member })?;
                self.drop_deliveries(link.key, member)?;
                nth += 1;
            }
            for member in wanted {
                if !self.room(link.key).roster().contains_key(&member) {
                    let participation = Participation::default();
                    let change = Change::Joined { member, participation };
                    self.log_plain(link.key, derived(self.drawn.uid, nth), change)?;
                    link.seated.push(member);
                    nth += 1;
                }
            }
        }
        links.truncate(stay);
        project.links = links;
        Ok(nth)
    }

    /// Whether another project also mirrors the member there. The membership then belongs to that
    /// mirror.
    fn hand_seat_over(&mut self, from: &Project, key: ConversationKey, member: MemberKey) -> bool {
        let mut others = self.directory().mirrors(key, member).map(|(project, _, _)| project);
        let other = others.find(|p| p.uid != from.uid).cloned();
        drop(others);
        let Some(other) = other else { return false };
        let mut other = Project::clone(&other);
        for link in other.links.iter_mut().filter(|l| l.key == key && !l.seated.contains(&member)) {
            link.seated.push(member);
        }
        self.put_project(other);
        true
    }

    /// Gives the member a membership independent of mirrors. A member who is only mirrored into a
    /// private channel cannot do that for itself.
    pub(crate) fn sit_by_right(&mut self, key: ConversationKey, member: MemberKey) {
        let public = self.room(key).conversation().settings.visibility == Visibility::Public;
        if !public && self.by.authority < Authority::Orchestrator {
            return;
        }
        let mirrors = self.directory().mirrors(key, member);
        let by = mirrors.filter(|(_, link, _)| link.seated.contains(&member));
        for project in by.map(|(project, _, _)| project.clone()).collect::<Vec<_>>() {
            let mut project = Project::clone(&project);
            project.links.iter_mut().for_each(|l| {
                if l.key == key {
                    l.seated.retain(|m| *m != member);
                }
            });
            self.put_project(project);
        }
    }

    pub(crate) fn must_not_be_mirrored(
        &self,
        key: ConversationKey,
        member: MemberKey,
    ) -> Result<()> {
        let Some((project, _, as_member)) = self.directory().mirrors(key, member).next() else {
            return Ok(());
        };
        let id = project.mirrored_id(as_member);
        let why =
            format!("it is on the roster as {id}: take it out of the project, or end the mirror");
        Err(Refusal::new(Code::Conflict, why).into())
    }

    /// Refuses to archive a channel that is a project's default while the project has other
    /// channels.
    pub(crate) fn must_not_be_default(&self, key: ConversationKey) -> Result<()> {
        let is_default =
            |p: &&Arc<Project>| p.links.len() > 1 && p.default_link().is_some_and(|l| l.key == key);
        if self.room(key).conversation().settings.archived
            || !self.directory().projects.values().any(|p| is_default(&p))
        {
            return Ok(());
        }
        let why = "it is the default channel of a project that has others; make another the default first";
        Err(Refusal::new(Code::Conflict, why).into())
    }
}
