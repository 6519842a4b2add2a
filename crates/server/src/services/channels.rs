//! Conversations of every kind: made, changed, listed; seats taken and given up.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use arc_swap::ArcSwap;
use chorus_core::commands::conversations::{
    self as commands, ChangeConversation, CreateConversation, RemoveSeat, SetSeat,
};
use chorus_core::language::names::confusables::look_alike;
use chorus_core::language::names::fold;
use chorus_core::model::budget::Budgets;
use chorus_core::model::conversation::{
    Conversation, ConversationKind, Keep, Replies, Settings, TermsPatch, Visibility,
};
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::Uid;
use chorus_core::model::requests::SettingsPatch;
use chorus_core::model::turn::RulesPatch;
use chorus_core::model::{limits, stimulus};
use chorus_core::state::directory::Directory;
use chorus_wire::rest::channels::{
    Channel, ChannelPatch, Channels, Display, Leave, ListChannels, NewChannel, Seat, SeatPut,
    StimuliPatch, TurnsPatch,
};
use chorus_wire::rest::search::Scope;

use super::commands::Commands;
use super::reads::Reads;
use super::retention::RetentionService;
use super::{ids, streams};
use crate::auth::Caller;
use crate::view::{assets, conversations};

/// Channels and their memberships.
pub(crate) struct ChannelService {
    pub(super) commands: Arc<Commands>,
    pub(super) reads: Arc<Reads>,
    pub(super) retention: Arc<RetentionService>,
    pub(super) budgets: Budgets,
    pub(super) directory: Arc<ArcSwap<Directory>>,
}

impl ChannelService {
    pub(crate) async fn add_channel(
        &self,
        caller: &Caller,
        new: NewChannel,
    ) -> Result<Channel, Refusal> {
        caller.must_not_be_a_turn()?;
        let kind = new.kind.map_or(ConversationKind::Channel, |kind| kind.0);
        let (settings, members) = {
            let directory = self.directory.load();
            let stream =
                new.stream.as_deref().map(|id| streams::key(&directory, id)).transpose()?;
            let members = ids::members_for(&directory, caller, &new.members)?;
            let seats: BTreeSet<_> = members.iter().chain([&caller.by.member]).copied().collect();
            let agents = seats.into_iter().filter(|member| directory.is_agent(*member)).count();
            let replies = new.replies.map_or(Replies::of_new(kind, agents), |replies| replies.0);
            let settings = Settings { replies, ..settings(kind, &new, stream)? };
            (settings, members)
        };
        self.must_not_be_taken(caller, kind, &settings.title, None).await?;
        let command = CreateConversation { kind, settings, members };
        let conversation = self.commands.submit(caller.by, command).await?;
        self.channel_by(caller, conversation.uid).await
    }

    pub(crate) async fn change_channel(
        &self,
        caller: &Caller,
        id: &str,
        patch: ChannelPatch,
    ) -> Result<Channel, Refusal> {
        caller.must_not_be_a_turn()?;
        let conversation = ids::conversation(id)?;
        let lead = match patch.lead {
            Some(Some(id)) => Some(Some(ids::member_for(&self.directory.load(), caller, &id)?.key)),
            Some(None) => Some(None),
            None => None,
        };
        let keep = match patch.keep {
            Some(Some(text)) => Some(Some(keep(&text)?)),
            Some(None) => Some(None),
            None => None,
        };
        let pins = patch.pinned_assets.map(|pins| pins.iter().map(|id| ids::asset(id)).collect());
        let pins = pins.transpose()?;
        let settings = SettingsPatch {
            title: patch.title,
            description: patch.description,
            purpose: patch.purpose,
            visibility: patch.visibility.map(|named| named.0),
            archived: patch.archived,
            lead,
            agent_budget: patch.agent_budget,
            keep,
            turns: patch.turns.map(turns).unwrap_or_default(),
            replies: patch.replies.map(|named| named.0),
            idle_followup: patch.stimuli.as_ref().and_then(|s| s.idle_followup_ms),
            stimuli: patch.stimuli.map(stimuli).unwrap_or_default(),
            proactive: patch.proactive,
            pins,
        };
        if let Some(title) = &settings.title {
            let kind = self.reads.place(caller, conversation).await?.conversation.kind;
            self.must_not_be_taken(caller, kind, title, Some(conversation)).await?;
        }
        self.commands.submit(caller.by, ChangeConversation { conversation, settings }).await?;
        self.channel_by(caller, conversation).await
    }

    /// A channel is asked for by its title: another's title may be no look-alike of it, and that of a direct
    /// conversation not even the same. Only channels that the caller sees count, so that a refusal tells of no other.
    async fn must_not_be_taken(
        &self,
        caller: &Caller,
        kind: ConversationKind,
        title: &str,
        of: Option<Uid>,
    ) -> Result<(), Refusal> {
        let is_asked_for = matches!(kind, ConversationKind::Channel | ConversationKind::Dm);
        if !is_asked_for
            || bare(title).is_empty()
            || (kind != ConversationKind::Channel && title == kind.name())
        {
            return Ok(());
        }
        let viewer = caller.viewer();
        let titles = self.reads.read(move |readers| readers.channel_titles(viewer)).await?;
        let mut others = titles.iter().filter(|(uid, _)| Some(*uid) != of);
        let taken = others.find(|(_, other)| look_alike(bare(other), bare(title)));
        let Some((_, other)) = taken else { return Ok(()) };
        let why = match fold(bare(other)) == fold(bare(title)) {
            true => format!("there is a channel {other:?} already; choose another title"),
            false => format!("the title {title:?} looks like that of the channel {other:?}"),
        };
        Err(Refusal::new(Code::Conflict, why))
    }

    pub(crate) async fn channel(&self, caller: &Caller, id: &str) -> Result<Channel, Refusal> {
        self.channel_by(caller, ids::conversation(id)?).await
    }

    async fn channel_by(&self, caller: &Caller, uid: Uid) -> Result<Channel, Refusal> {
        let place = self.reads.place(caller, uid).await?;
        let key = place.conversation.key;
        let pins = place.conversation.settings.pins.clone();
        let (roster, pinned) = self
            .reads
            .read(move |readers| {
                let pins = pins.iter().map(|pin| readers.asset(*pin, None));
                let pinned = pins.collect::<Result<Vec<_>, _>>()?;
                Ok((readers.roster(key)?, pinned))
            })
            .await?;
        let held = match self.retention.drops(&place.conversation) {
            true => self.retention.droppable(uid).await?.held,
            false => None,
        };
        let directory = self.directory.load();
        let (conversation, head) = (&place.conversation, place.head);
        let shown =
            conversations::channel(&directory, &self.budgets, conversation, head, Some(&roster));
        let pinned = pinned.iter().flatten().map(|asset| assets::asset(&directory, asset));
        let pinned_assets = pinned.collect();
        Ok(Channel { held: held.map(conversations::held), pinned_assets, ..shown })
    }

    /// Those the caller may see.
    pub(crate) async fn channels(
        &self,
        caller: &Caller,
        asked: ListChannels,
    ) -> Result<Channels, Refusal> {
        caller.must_not_be_a_turn()?;
        let viewer = caller.viewer();
        let scope = asked.scope.unwrap_or(Scope::All);
        let (mut found, heads) = self
            .reads
            .read(move |readers| Ok((readers.conversations(viewer)?, readers.heads()?)))
            .await?;
        found.retain(|conversation| scope.holds(conversation.kind));
        let heads: HashMap<_, _> = heads.into_iter().collect();
        let directory = self.directory.load();
        let show = |conversation: &Arc<Conversation>| {
            let head = heads.get(&conversation.key).copied().unwrap_or_default();
            conversations::channel(&directory, &self.budgets, conversation, head, None)
        };
        Ok(Channels { channels: found.iter().map(show).collect() })
    }

    /// Seats a member, or changes how it takes part.
    pub(crate) async fn seat(
        &self,
        caller: &Caller,
        id: &str,
        member: &str,
        put: SeatPut,
    ) -> Result<Seat, Refusal> {
        caller.must_not_be_a_turn()?;
        let conversation = ids::conversation(id)?;
        let member = ids::member_for(&self.directory.load(), caller, member)?.key;
        let participation = put.participation.unwrap_or_default();
        let terms = terms(put)?;
        let command = SetSeat { conversation, member, participation: participation.0, terms };
        let conversation = self.commands.change(caller.by, command).await?;
        Ok(conversations::seat(&self.directory.load(), &conversation, member, participation.0))
    }

    /// Asks an agent to leave, or leaves as one; with a turn's token too.
    pub(crate) async fn leave(&self, caller: &Caller, id: &str, ask: Leave) -> Result<(), Refusal> {
        let conversation = ids::conversation(id)?;
        let member = match ask.member.as_deref() {
            Some(id) => ids::member_for(&self.directory.load(), caller, id)?.key,
            None => caller.by.member,
        };
        let thread = ask.thread.as_deref().map(ids::thread).transpose()?;
        self.commands
            .submit(caller.by, commands::Leave { conversation, thread, member })
            .await
            .map(drop)
    }

    pub(crate) async fn unseat(
        &self,
        caller: &Caller,
        id: &str,
        member: &str,
    ) -> Result<(), Refusal> {
        caller.must_not_be_a_turn()?;
        let conversation = ids::conversation(id)?;
        let member = ids::member_for(&self.directory.load(), caller, member)?.key;
        self.commands.submit(caller.by, RemoveSeat { conversation, member }).await.map(drop)
    }
}

/// What is to be set about a seat.
fn terms(put: SeatPut) -> Result<TermsPatch, Refusal> {
    let name = match (put.display, put.display_name) {
        (None | Some(Display::Manual), Some(name)) => Some(Some(name.into())),
        (Some(Display::Manual), None) => {
            return Err(Refusal::invalid("`manual` goes with a `display_name`"));
        }
        (Some(Display::FollowAgent), Some(_)) => {
            return Err(Refusal::invalid("`follow_agent` goes without a `display_name`"));
        }
        (Some(Display::FollowAgent), None) => Some(None),
        (None, None) => None,
    };
    let session = match put.session_id {
        Some(Some(id)) => Some(Some(ids::session(&id)?)),
        Some(None) => Some(None),
        None => None,
    };
    Ok(TermsPatch { name, session })
}

/// A title as a channel is asked for by it.
fn bare(title: &str) -> &str {
    let title = title.trim();
    title.strip_prefix('#').unwrap_or(title)
}

fn turns(patch: TurnsPatch) -> RulesPatch {
    RulesPatch {
        speakers: patch.max_parallel_public_speakers,
        replies: patch.replies_per_human_message,
        cooldown_ms: patch.cooldown_ms,
        acceptance_ms: patch.acceptance_ms,
    }
}

fn stimuli(patch: StimuliPatch) -> stimulus::RulesPatch {
    stimulus::RulesPatch {
        pending: patch.max_pending,
        roots_per_hour: patch.roots_per_hour,
        active_roots: patch.max_active_roots,
        quiet_ms: patch.quiet_ms,
    }
}

fn keep(text: &str) -> Result<Keep, Refusal> {
    let most = limits::KEEP_DAYS;
    let what = || format!("{text:?}: keep is all, or days from 1d to {most}d, or null");
    Keep::read(text).ok_or_else(|| Refusal::invalid(what()))
}

fn settings(
    kind: ConversationKind,
    new: &NewChannel,
    stream: Option<chorus_core::model::ids::StreamKey>,
) -> Result<Settings, Refusal> {
    if matches!(kind, ConversationKind::System | ConversationKind::Tool) {
        return Err(Refusal::invalid("a conversation is a channel, a dm or a thread"));
    }
    let title = match (kind, new.title.trim()) {
        (ConversationKind::Channel, "") => {
            return Err(Refusal::invalid("a channel has a title"));
        }
        // Every conversation has one; what nobody named is called by its kind.
        (_, "") => kind.name(),
        (_, title) => title,
    };
    let visibility = match (kind, new.visibility) {
        (_, Some(visibility)) => visibility.0,
        (ConversationKind::Channel, None) => Visibility::Public,
        _ => Visibility::Private,
    };
    Ok(Settings {
        title: title.into(),
        description: new.description.as_deref().unwrap_or_default().into(),
        purpose: new.purpose.as_deref().unwrap_or_default().into(),
        visibility,
        stream,
        ..Settings::default()
    })
}
