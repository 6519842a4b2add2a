//! `chat.list_channels` and `chat.list_members`: what an agent can name, in few words.

use std::sync::Arc;

use chorus_core::model::error::Refusal;
use chorus_core::model::ids::{MemberKey, Prefix};
use chorus_core::model::member::Member;
use chorus_wire::attention::listing::{
    ChannelList, ChannelListed, ListChannels, ListMembers, MemberList, MemberListed,
};
use chorus_wire::rest::channels::{Channel, ListChannels as Asked};

use super::channels::ChannelService;
use super::ids;
use super::members::{MemberService, concerns};
use super::names::Names;
use crate::auth::Caller;
use crate::view;

impl ChannelService {
    /// `chat.list_channels`. A turn's token is shown its own conversation.
    pub(crate) async fn list_channels(
        &self,
        caller: &Caller,
        args: ListChannels,
    ) -> Result<ChannelList, Refusal> {
        let of_turn = caller.turn.map(|turn| turn.conversation.show(Prefix::Conversation));
        let found = match args.conversation.or(of_turn) {
            Some(id) => vec![self.channel(caller, &id).await?],
            None => {
                let mut found = self.channels(caller, Asked::default()).await?.channels;
                found.retain(|channel| !channel.archived);
                found
            }
        };
        let show = |channel: Channel| ChannelListed {
            conversation: channel.id,
            kind: channel.kind,
            title: channel.title,
            purpose: Some(channel.purpose).filter(|purpose| !purpose.is_empty()),
            visibility: channel.visibility,
            last_sequence: channel.last_seq,
        };
        Ok(ChannelList { channels: found.into_iter().map(show).collect() })
    }
}

impl MemberService {
    /// `chat.list_members`. A turn's token is shown those of its own conversation.
    pub(crate) async fn list_members(
        &self,
        caller: &Caller,
        names: &Names,
        args: ListMembers,
    ) -> Result<MemberList, Refusal> {
        let here = match args.conversation.as_deref() {
            Some(id) => Some(names.roster(caller, ids::conversation(id)?).await?),
            None => names.here(caller).await?,
        };
        let directory = self.directory.load();
        let is_shown = |key: MemberKey| match &here {
            Some(here) => here.contains(&key),
            None => concerns(&directory, caller, key),
        };
        let members = directory.members.iter();
        let members = members.filter(|member| !member.removed && is_shown(member.key));
        let show = |member: &Arc<Member>| {
            let member = view::members::member(&directory, member);
            MemberListed {
                member: member.id,
                kind: member.kind,
                handle: member.handle,
                display_name: member.display_name,
                roles: member.roles,
            }
        };
        Ok(MemberList { members: members.map(show).collect() })
    }
}
