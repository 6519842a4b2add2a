//! Names in the place of ids: a channel by its title, with `#` or without, and a member by its `@handle`.
//!
//! A name is looked for among what the caller may see, and nothing else is ever suggested. Something that is an id is
//! left as it is: whoever uses it says whether there is such a thing.

use chorus_core::language::names::{Target, fold};
use chorus_core::model::conversation::ConversationKind;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::{MemberKey, Prefix, Uid};

use super::ids;
use super::members::concerns;
use super::names::Names;
use super::nearest::alike;
use crate::auth::Caller;

/// How many names are suggested for one that nobody has.
const SUGGESTED: usize = 3;
/// Characters of a name that are shown again: what was sent may be anything and long.
const SHOWN: usize = 64;

/// Whether this is a conversation's id, or nothing at all.
pub(crate) fn is_conversation_id(text: &str) -> bool {
    text.is_empty() || Uid::read(Prefix::Conversation, text).is_some()
}

impl Names {
    /// The id of the one channel of this title that the caller may see. Case does not matter, unless it tells two
    /// channels apart.
    pub(crate) async fn conversation_id(
        &self,
        caller: &Caller,
        name: &str,
    ) -> Result<String, Refusal> {
        if is_conversation_id(name) {
            return Ok(name.to_owned());
        }
        let titles = self.titles(caller).await?;
        let wanted = bare(name);
        let mut found: Vec<&(Uid, String)> =
            titles.iter().filter(|(_, title)| fold(bare(title)) == fold(wanted)).collect();
        if found.iter().any(|(_, title)| bare(title) == wanted) {
            found.retain(|(_, title)| bare(title) == wanted);
        }
        let id = |(uid, _): &(Uid, String)| uid.show(Prefix::Conversation);
        match &found[..] {
            [one] => Ok(id(one)),
            [] => {
                let near = near(wanted, titles.iter().map(|(_, title)| bare(title)), '#');
                let next = near.unwrap_or_else(|| "see chat.list_channels".to_owned());
                let why =
                    format!("no channel that you may see is called {}; {next}", shown(wanted));
                Err(Refusal::new(Code::NotFound, why))
            }
            several => {
                let ids: Vec<String> = several.iter().map(|one| id(one)).collect();
                let (n, ids) = (ids.len(), ids.join(", "));
                let why =
                    format!("{n} channels are called {}; name one by its id: {ids}", shown(wanted));
                Err(Refusal::new(Code::Conflict, why))
            }
        }
    }

    /// The id of a member: itself, or that of the member with this handle.
    pub(crate) async fn member_id(&self, caller: &Caller, name: &str) -> Result<String, Refusal> {
        if self.is_member_id(caller, name) {
            return Ok(name.to_owned());
        }
        let here = self.here(caller).await?;
        let directory = self.directory.load();
        let may_be_meant = |key: MemberKey| match &here {
            Some(here) => here.contains(&key),
            None => concerns(&directory, caller, key),
        };
        if ids::member(&directory, name).is_ok_and(|member| may_be_meant(member.key)) {
            return Ok(name.to_owned());
        }
        let present = || {
            let members = directory.members.iter();
            members.filter(|member| !member.removed && may_be_meant(member.key))
        };
        let bare = name.strip_prefix(['@', '＠']).unwrap_or(name);
        let by_handle = match directory.names.get(bare) {
            Some(Target::Member(key)) => present().find(|member| member.key == key),
            _ => None,
        };
        let by_id = || present().find(|member| *member.id == *bare);
        if let Some(member) = by_handle.or_else(by_id) {
            return Ok(member.id.to_string());
        }
        let near = near(bare, present().map(|member| &*member.handle), '@');
        let next = near.unwrap_or_else(|| "see chat.list_members".to_owned());
        Err(Refusal::new(Code::NotFound, format!("no such member: {}; {next}", shown(name))))
    }

    /// Whether a member goes by exactly this id. A turn's token knows the members of its conversation, who are looked up:
    /// of nobody else it learns whether there is one.
    pub(crate) fn is_member_id(&self, caller: &Caller, text: &str) -> bool {
        caller.turn.is_none() && ids::member(&self.directory.load(), text).is_ok()
    }

    /// The titles by which the caller may name a channel; a turn's token knows one place.
    async fn titles(&self, caller: &Caller) -> Result<Vec<(Uid, String)>, Refusal> {
        let Some(turn) = caller.turn else {
            let viewer = caller.viewer();
            return self.reads.read(move |readers| readers.channel_titles(viewer)).await;
        };
        let place = self.reads.place(caller, turn.conversation).await?.conversation;
        let is_channel = place.kind == ConversationKind::Channel;
        let title = place.settings.title.to_string();
        Ok(is_channel.then_some((place.uid, title)).into_iter().collect())
    }

    /// The members whom a turn's token may name: those of its conversation. Another token may name everybody.
    pub(super) async fn here(&self, caller: &Caller) -> Result<Option<Vec<MemberKey>>, Refusal> {
        let Some(turn) = caller.turn else { return Ok(None) };
        self.roster(caller, turn.conversation).await.map(Some)
    }

    /// The members of a conversation that the caller may see.
    pub(super) async fn roster(
        &self,
        caller: &Caller,
        conversation: Uid,
    ) -> Result<Vec<MemberKey>, Refusal> {
        let key = self.reads.place(caller, conversation).await?.conversation.key;
        let roster = self.reads.read(move |readers| readers.roster(key)).await?;
        Ok(roster.into_iter().map(|(member, _)| member).collect())
    }
}

fn bare(name: &str) -> &str {
    let name = name.trim();
    name.strip_prefix('#').unwrap_or(name)
}

fn shown(name: &str) -> String {
    format!("{:?}", name.chars().take(SHOWN).collect::<String>())
}

/// A question that names the nearest, the nearest first.
fn near<'a>(name: &str, names: impl Iterator<Item = &'a str>, sign: char) -> Option<String> {
    let mut found: Vec<(f64, &str)> = alike(name, names).collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    found.dedup_by_key(|(_, name)| *name);
    let named: Vec<String> = found
        .iter()
        .take(SUGGESTED)
        .map(|(_, name)| format!("{sign}{}", name.chars().take(SHOWN).collect::<String>()))
        .collect();
    (!named.is_empty()).then(|| format!("did you mean {}?", named.join(" or ")))
}
