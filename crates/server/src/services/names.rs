//! Names that fit nobody: the sender is told at once, with the name that was probably meant.

use std::sync::Arc;

use arc_swap::ArcSwap;
use chorus_core::language::names::{self, Mention, Target};
use chorus_core::model::attention::Told;
use chorus_core::model::ids::{MemberKey, Uid};
use chorus_core::model::offer::Entry;
use chorus_core::state::directory::Directory;
use chorus_wire::attention::entry::UnknownName;

use super::nearest::nearest;
use super::reads::Reads;
use crate::auth::Caller;

/// Names that nobody goes by.
pub(crate) struct Names {
    pub(super) reads: Arc<Reads>,
    pub(super) directory: Arc<ArcSwap<Directory>>,
}

impl Names {
    /// Names with `@` in a message that was said, which fit nobody.
    pub(super) async fn unknown_names(&self, caller: &Caller, entry: &Entry) -> Vec<UnknownName> {
        let text = entry.event.change.message().map_or("", |message| &*message.text);
        let told = entry.event.attention.as_ref().map_or(&[][..], |attention| &attention.told);
        self.unknown_names_in(caller, entry.conversation.uid, text, told).await
    }

    /// Names with `@` in a text for a conversation, which fit nobody. Who is told of it is there, so that nothing is read
    /// for most messages; and what cannot be read suggests nothing: the message is said already.
    pub(super) async fn unknown_names_in(
        &self,
        caller: &Caller,
        conversation: Uid,
        text: &str,
        told: &[Told],
    ) -> Vec<UnknownName> {
        if !text.contains(['@', '＠']) {
            return Vec::new();
        }
        let directory = self.directory.load_full();
        let (mentions, unknown) = names::mentions_and_unknown(text, &directory.names);
        let me = caller.by.member;
        let is_told = |member| member == me || told.iter().any(|told| told.member == member);
        let mut untold = named(text, mentions);
        untold.retain(|(_, member)| !is_told(*member));
        if unknown.is_empty() && untold.is_empty() {
            return Vec::new();
        }
        let Ok(place) = self.reads.place(caller, conversation).await else { return Vec::new() };
        let key = place.conversation.key;
        let Ok(roster) = self.reads.read(move |readers| readers.roster(key)).await else {
            return Vec::new();
        };
        let here: Vec<MemberKey> = roster.into_iter().map(|(member, _)| member).collect();
        let mut found: Vec<UnknownName> = Vec::new();
        // Who is here is seen by whoever speaks here; who else there is, by whoever may list the members.
        let lists = caller.turn.is_none();
        let nearest = |name: &str| nearest(name, of_members(&directory, &here, me, lists));
        for name in unknown {
            let nearest = nearest(name);
            // With a point in it, it is as likely the name of a file, a host or a module.
            if nearest.is_some() || !name.contains('.') {
                found.push(nobody(name, nearest));
            }
        }
        for (name, member) in untold {
            if here.contains(&member) || found.iter().any(|f| f.name == name) {
                continue;
            }
            found.push(if lists { absent(name) } else { nobody(name, nearest(name)) });
        }
        found
    }
}

/// The members whom the text names with a sign.
fn named(text: &str, mentions: Vec<Mention>) -> Vec<(&str, MemberKey)> {
    let of_members = mentions.into_iter().filter_map(|mention| {
        let name = text[mention.start..mention.end].strip_prefix(['@', '＠'])?;
        match mention.target {
            Target::Member(member) => Some((name, member)),
            Target::Role(_) => None,
        }
    });
    of_members.collect()
}

/// The names to which members of a conversation answer: their handles, and those of roles that one of them has.
fn of_members<'a>(
    directory: &'a Directory,
    here: &'a [MemberKey],
    sender: MemberKey,
    roles: bool,
) -> impl Iterator<Item = &'a str> {
    let may_be_told = move |member: &MemberKey| {
        *member != sender
            && !directory.is_stand_in(*member)
            && directory.member(*member).is_some_and(|m| !m.removed)
    };
    let members = here.iter().copied().filter(may_be_told);
    let handles = members.filter_map(move |member| Some(&*directory.member(member)?.handle));
    let held = directory.roles.iter().filter(move |role| roles && !role.removed);
    let held = held.filter(move |role| role.members.iter().any(|member| here.contains(member)));
    handles.chain(held.map(|role| &*role.name))
}

fn nobody(name: &str, nearest: Option<&str>) -> UnknownName {
    let mut message = format!("nobody here is called @{name}");
    if let Some(nearest) = nearest {
        message.push_str(&format!("; did you mean @{nearest}?"));
    }
    UnknownName { name: name.to_owned(), nearest: nearest.map(str::to_owned), message }
}

fn absent(name: &str) -> UnknownName {
    let message = format!("@{name} is not in this conversation, and is not told");
    UnknownName { name: name.to_owned(), nearest: None, message }
}
