//! Sending a message, the same for every transport: REST and `chat.send_message` differ in which fields must be
//! there, not in what they mean (C2A "Outbound posture").

use std::sync::Arc;

use arc_swap::ArcSwap;
use chorus_core::commands::messages::{CloseRun, Logged, PostUnasked};
use chorus_core::model::attention::Directedness;
use chorus_core::model::conversation::ConversationKind;
use chorus_core::model::error::Refusal;
use chorus_core::model::event::{Message, MessageKind};
use chorus_core::model::ids::{Prefix, Uid};
use chorus_core::model::offer::Entry;
use chorus_core::model::requests::{Audience, Post};
use chorus_core::queries;
use chorus_core::state::directory::Directory;
use chorus_wire::attention::tools::{SendMessage, Sent, Visibility};
use chorus_wire::canonical;
use chorus_wire::part::{Content, Part};
use chorus_wire::rest::attention::Preview;
use chorus_wire::rest::messages::{MessageSource, NewMessage, Posted};
use chorus_wire::threads::PostMessage;
use serde_json::value::RawValue;

use super::assets::AssetService;
use super::commands::Commands;
use super::dispositions::TypingRates;
use super::idempotency::idempotency;
use super::identity::Identity;
use super::ids;
use super::names::Names;
use super::reads::Reads;
use crate::auth::Caller;
use crate::telemetry::Metrics;
use crate::view::deliveries;
use crate::view::members::told;
use crate::view::messages::message_id;

/// A message as either transport brings it.
pub(super) struct OutgoingMessage {
    conversation: String,
    thread: Option<String>,
    kind: MessageKind,
    text: Option<String>,
    content: Option<Vec<Part>>,
    in_reply_to: Option<String>,
    key: Option<String>,
    recipient: Option<String>,
    mentions: Vec<String>,
    visibility: Option<Visibility>,
    directedness: Option<Directedness>,
    metadata: Option<Box<RawValue>>,
    source: Option<MessageSource>,
    only: Vec<String>,
    not_to: Vec<String>,
    closing: bool,
    /// It belongs to no run.
    pub(super) unasked: bool,
}

/// Messages on their way in.
pub(crate) struct PostService {
    pub(super) commands: Arc<Commands>,
    pub(super) identity: Arc<Identity>,
    pub(super) reads: Arc<Reads>,
    pub(super) assets: Arc<AssetService>,
    pub(super) names: Arc<Names>,
    pub(super) directory: Arc<ArcSwap<Directory>>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) typing: Arc<TypingRates>,
}

impl PostService {
    /// `POST /v1/messages`.
    pub(crate) async fn post(&self, caller: &Caller, new: NewMessage) -> Result<Posted, Refusal> {
        let (entry, duplicate, redacted) =
            self.send(caller, OutgoingMessage::from(new), true).await?;
        let unknown_names = self.names.unknown_names(caller, &entry).await;
        let event = &entry.event;
        Ok(Posted {
            event_id: event.uid.show(Prefix::Event),
            message_id: message_id(event.uid),
            conversation: entry.conversation.uid.show(Prefix::Conversation),
            thread_id: entry.thread.as_ref().map(|t| t.uid.show(Prefix::Thread)),
            seq: event.seq.0,
            thread_seq: (event.thread_seq > 0).then_some(event.thread_seq),
            created_at: event.at.into(),
            duplicate,
            redacted,
            told: self.told(&entry),
            unknown_names,
        })
    }

    /// `chat.send_message`.
    pub(crate) async fn send_message(
        &self,
        caller: &Caller,
        args: SendMessage,
    ) -> Result<Sent, Refusal> {
        let caller = self.identity.in_turn(caller, args.turn.as_deref())?;
        let (entry, duplicate, redacted) =
            self.send(&caller, OutgoingMessage::from(args), true).await?;
        let unknown_names = self.names.unknown_names(&caller, &entry).await;
        let event = &entry.event;
        Ok(Sent {
            event_id: event.uid.show(Prefix::Event),
            conversation: entry.conversation.uid.show(Prefix::Conversation),
            thread_id: entry.thread.as_ref().map(|t| t.uid.show(Prefix::Thread)),
            sequence: event.seq.0,
            thread_sequence: (event.thread_seq > 0).then_some(event.thread_seq),
            created_at: event.at.into(),
            duplicate,
            redacted,
            told: self.told(&entry),
            unknown_names,
        })
    }

    /// Who would be told of a message; nothing is posted.
    pub(crate) async fn preview(
        &self,
        caller: &Caller,
        new: NewMessage,
    ) -> Result<Preview, Refusal> {
        let post = self.write(caller, OutgoingMessage::from(new), false).await?;
        let (conversation, text) = (post.conversation, post.message.text.clone());
        let attention = self.commands.submit(caller.by, queries::Preview(post)).await?;
        let directory = self.directory.load();
        Ok(Preview {
            intent: attention.intent.into(),
            rest: attention.rest.into(),
            flow: deliveries::flow(&directory, &attention),
            nobody: deliveries::nobody(&attention),
            told: told(&directory, &attention.told),
            unknown_names: self
                .names
                .unknown_names_in(caller, conversation, &text, &attention.told)
                .await,
        })
    }

    pub(super) async fn send(
        &self,
        caller: &Caller,
        mut letter: OutgoingMessage,
        key_needed: bool,
    ) -> Result<(Entry, bool, u32), Refusal> {
        letter.content = self.assets.keep_uploads(caller.by, letter.content.take()).await?;
        let (closing, unasked) = (letter.closing, letter.unasked);
        let mut post = self.write(caller, letter, key_needed).await?;
        // Here, so that the sender hears of it.
        let redacted = self.commands.redact(&mut post.message);
        let Logged { entry, duplicate } = match (closing, unasked) {
            (true, _) => self.commands.submit_redacted(caller.by, CloseRun(post)).await?,
            (false, true) => self.commands.submit_redacted(caller.by, PostUnasked(post)).await?,
            (false, false) => self.commands.submit_redacted(caller.by, post).await?,
        };
        self.metrics.posted();
        self.typing.posted(caller.by.member, entry.conversation.uid);
        Ok((entry, duplicate, redacted))
    }

    fn told(&self, entry: &Entry) -> Vec<chorus_wire::attention::entry::Told> {
        let attention = entry.event.attention.as_ref();
        attention.map_or_else(Vec::new, |a| told(&self.directory.load(), &a.told))
    }

    /// Checks a letter and resolves its ids. Does not wait, but for a conversation whose kind is unknown yet.
    async fn write(
        &self,
        caller: &Caller,
        letter: OutgoingMessage,
        key_needed: bool,
    ) -> Result<Post, Refusal> {
        let conversation = ids::conversation(&letter.conversation)?;
        if let Some(visibility) = letter.visibility {
            self.check_visibility(caller, conversation, &letter, visibility).await?;
        }
        let thread = letter.thread.as_deref().map(ids::thread).transpose()?;
        let in_reply_to = letter.in_reply_to.as_deref().map(ids::event).transpose()?;
        let blank = letter.text.as_ref().is_some_and(|text| text.trim().is_empty());
        let mut message = match letter.closing && blank && letter.content.is_none() {
            // A run that closes without words says what it has emitted; core refuses it where that is nothing.
            true => Message::default(),
            false => message(
                caller,
                letter.text,
                letter.content,
                letter.metadata.as_deref(),
                letter.source.as_ref(),
            )?,
        };
        message.kind = letter.kind;
        let directory = self.directory.load();
        let recipient = letter.recipient.as_deref();
        let recipient = recipient.map(|id| ids::member_for(&directory, caller, id)).transpose()?;
        let mut post = Post {
            conversation,
            thread,
            message,
            in_reply_to,
            idempotency: None,
            recipient: recipient.map(|m| m.key),
            mentions: ids::members_for(&directory, caller, &letter.mentions)?,
            directedness: letter.directedness,
            audience: match letter.visibility {
                Some(Visibility::Ephemeral) => {
                    Audience::Only(ids::members_for(&directory, caller, &letter.only)?)
                }
                _ if !letter.only.is_empty() => {
                    return Err(Refusal::invalid("only is for messages of visibility ephemeral"));
                }
                Some(_) => Audience::Everybody,
                None => Audience::AsAnswered,
            },
            left_out: ids::members_for(&directory, caller, &letter.not_to)?,
        };
        if post.recipient.is_some_and(|recipient| post.left_out.contains(&recipient)) {
            return Err(Refusal::invalid("recipient is in not_to; leave it out of one of them"));
        }
        match letter.key.as_deref() {
            Some(key) => post.idempotency = Some(idempotency(key, caller, &post)?),
            None if key_needed => {
                return Err(Refusal::invalid(
                    "idempotency_key is missing: choose one, and send the same for every retry",
                ));
            }
            None => {}
        }
        Ok(post)
    }

    /// What the sender thinks the audience is must be what the place makes it.
    async fn check_visibility(
        &self,
        caller: &Caller,
        conversation: Uid,
        letter: &OutgoingMessage,
        visibility: Visibility,
    ) -> Result<(), Refusal> {
        let kind = self.reads.kind(caller, conversation).await?;
        let (fits, where_to) = match visibility {
            Visibility::Dm => (kind == ConversationKind::Dm, "a direct conversation"),
            Visibility::Thread => (
                letter.thread.is_some()
                    || letter.in_reply_to.is_some()
                    || kind == ConversationKind::Thread,
                "a thread; name it, or the message you reply to",
            ),
            Visibility::Channel => (kind != ConversationKind::Dm, "a channel"),
            Visibility::Ephemeral => (true, "everywhere"),
        };
        if fits {
            return Ok(());
        }
        Err(Refusal::invalid(format!("this visibility is for {where_to}")))
    }
}

/// What is said, checked and in the form core keeps.
pub(super) fn message(
    caller: &Caller,
    text: Option<String>,
    content: Option<Vec<Part>>,
    metadata: Option<&RawValue>,
    source: Option<&MessageSource>,
) -> Result<Message, Refusal> {
    check_boards(caller, content.as_deref().unwrap_or_default())?;
    let content = Content::read(text, content)?;
    Ok(Message {
        kind: MessageKind::Chat,
        text: content.text.into(),
        parts: content.parts.map(Into::into),
        metadata: metadata.map(canonical::metadata).transpose()?.map(Into::into),
        source: source.map(source_json).transpose()?,
    })
}

/// Longest id of a board or of an item of one, in bytes.
const BOARD_BYTES: usize = 256;

/// A board is its session's: nobody else can say what is on it.
fn check_boards(caller: &Caller, parts: &[Part]) -> Result<(), Refusal> {
    let bad =
        |id: &String| id.is_empty() || id.len() > BOARD_BYTES || id.chars().any(char::is_control);
    for part in parts {
        let Part::BoardReference { board_id, item_id } = part else { continue };
        if caller.by.session.is_none() {
            return Err(Refusal::invalid(
                "a board reference is to a board of the sender's session; this sender has none",
            ));
        }
        if bad(board_id) || item_id.as_ref().is_some_and(bad) {
            return Err(Refusal::invalid(format!(
                "the ids of a board and its item are single lines of 1 to {BOARD_BYTES} bytes"
            )));
        }
    }
    Ok(())
}

/// Longest names of another platform, its workspace and its message, in bytes.
const SOURCE_BYTES: usize = 256;

pub(super) fn source_json(source: &MessageSource) -> Result<Arc<str>, Refusal> {
    let MessageSource { platform, workspace_id, id, author } = source;
    let texts = [Some(platform), workspace_id.as_ref(), id.as_ref(), author.as_ref()];
    let bad = |text: &&String| {
        text.is_empty() || text.len() > SOURCE_BYTES || text.chars().any(char::is_control)
    };
    if texts.into_iter().flatten().any(|text| bad(&text)) {
        return Err(Refusal::invalid(format!(
            "the names in source are single lines of 1 to {SOURCE_BYTES} bytes"
        )));
    }
    let json = serde_json::to_string(source)
        .map_err(|e| Refusal::invalid(format!("source cannot be kept: {e}")))?;
    Ok(json.into())
}

impl OutgoingMessage {
    /// What `post_message` says to a thread.
    pub(super) fn to_thread(conversation: String, args: PostMessage) -> Self {
        Self {
            conversation,
            thread: Some(args.thread_id),
            kind: args.kind.0,
            text: Some(args.body),
            content: None,
            in_reply_to: args.in_reply_to,
            key: args.idempotency_key,
            recipient: None,
            mentions: Vec::new(),
            visibility: None,
            directedness: None,
            metadata: args.metadata,
            source: None,
            only: Vec::new(),
            not_to: Vec::new(),
            closing: false,
            unasked: false,
        }
    }
}

impl From<NewMessage> for OutgoingMessage {
    fn from(new: NewMessage) -> Self {
        Self {
            conversation: new.conversation,
            thread: new.thread,
            kind: MessageKind::Chat,
            text: new.text,
            content: new.content,
            in_reply_to: new.in_reply_to,
            key: new.idempotency_key,
            recipient: new.recipient,
            mentions: new.mentions,
            visibility: new.visibility,
            directedness: new.directedness.map(|named| named.0),
            metadata: new.metadata,
            source: new.source,
            only: new.only,
            not_to: new.not_to,
            closing: false,
            unasked: false,
        }
    }
}

impl From<SendMessage> for OutgoingMessage {
    fn from(args: SendMessage) -> Self {
        Self {
            conversation: args.target.conversation,
            thread: args.target.thread,
            kind: MessageKind::Chat,
            text: args.text,
            content: args.content,
            in_reply_to: args.in_reply_to,
            key: Some(args.idempotency_key),
            recipient: args.recipient,
            mentions: args.mentions,
            visibility: Some(args.visibility),
            directedness: Some(args.directedness.0),
            metadata: args.metadata,
            source: None,
            only: args.only,
            not_to: Vec::new(),
            closing: args.closing,
            unasked: false,
        }
    }
}
