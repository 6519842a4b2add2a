//! What a run does in its public turn: it puts something out, nods, and reads the thread (channels spec "How agents
//! participate").

use chorus_core::commands::messages as commands;
use chorus_core::model::error::Refusal;
use chorus_core::model::ids::{MemberKey, Prefix};
use chorus_core::model::offer::Offer;
use chorus_wire::attention::channel::{self, ChannelDelivery, Expectations};
use chorus_wire::attention::initialize::Glyphs;
use chorus_wire::attention::tools::ReadThread;
use chorus_wire::channels::{
    ChannelThread, EmitOutput, Emitted, ReactionSet, ReadChannelThread, SetChannelReaction,
};

use super::App;
use super::send::message;
use crate::auth::Caller;
use crate::view;
use crate::view::messages::{self, Shown};

/// Messages of its thread that a turn is shown.
const RECENT: u32 = 20;

impl App {
    /// `emit_output`.
    pub(crate) async fn emit_output(
        &self,
        caller: &Caller,
        args: EmitOutput,
    ) -> Result<Emitted, Refusal> {
        let caller = self.in_turn(caller, args.turn.as_deref())?;
        let content = self.keep_uploads(caller.by, args.content).await?;
        let mut output = message(&caller, args.text, content, None, None)?;
        let redacted = self.redact(&mut output);
        self.submit_redacted(caller.by, commands::EmitOutput { message: output }).await?;
        Ok(Emitted { kept: true, redacted })
    }

    /// `set_channel_reaction`.
    pub(crate) async fn set_channel_reaction(
        &self,
        caller: &Caller,
        args: SetChannelReaction,
    ) -> Result<ReactionSet, Refusal> {
        let caller = self.in_turn(caller, args.turn.as_deref())?;
        let set = self.react(&caller, &args.message_id, args.signal.0, None, !args.remove).await?;
        Ok(ReactionSet { event_id: set.event_id, disposition: set.disposition })
    }

    /// `read_channel_thread`.
    pub(crate) async fn read_channel_thread(
        &self,
        caller: &Caller,
        args: ReadChannelThread,
        glyphs: Option<&Glyphs>,
    ) -> Result<ChannelThread, Refusal> {
        let (thread, root) = match (args.thread_id, args.message_id) {
            (Some(thread), None) => (Some(thread), None),
            (None, Some(message)) => self.thread_of_message(caller, &message).await?,
            _ => return Err(Refusal::invalid("give one of thread_id and message_id")),
        };
        if let Some(root) = root {
            // Nobody has answered it yet: it is all there is of its thread.
            let directory = self.directory();
            return Ok(ChannelThread {
                channel_id: root.conversation.uid.show(Prefix::Conversation),
                thread_id: None,
                messages: vec![messages::entry(&directory, &root, caller.by.member, glyphs)],
                has_more: false,
            });
        }
        let asked = ReadThread { thread_id: thread, limit: args.limit, ..ReadThread::default() };
        let window = self.read_thread(caller, asked, glyphs).await?;
        Ok(ChannelThread {
            channel_id: window.conversation,
            thread_id: window.thread_id,
            messages: window.messages,
            has_more: window.has_more,
        })
    }

    /// What an offer says of the public turn that it is run in, if it is; without what was said there lately where
    /// that cannot be read now.
    pub(crate) async fn channel_delivery(
        &self,
        caller: &Caller,
        offer: &Offer,
    ) -> Option<ChannelDelivery> {
        let turn = offer.channel.as_deref()?;
        let message_id = Some(offer.entry.event.uid.show(Prefix::Event));
        let asked =
            ReadChannelThread { message_id, limit: Some(RECENT), ..ReadChannelThread::default() };
        let (recent, has_more) = match self.read_channel_thread(caller, asked, None).await {
            Ok(thread) => (thread.messages, thread.has_more),
            Err(refusal) => {
                tracing::debug!(code = ?refusal.code, "a turn's thread could not be read");
                (Vec::new(), true)
            }
        };
        let directory = self.directory();
        let conversation = &offer.entry.conversation;
        let member = |key: &MemberKey| {
            messages::owned(view::members::author_in(&directory, conversation, *key))
        };
        Some(ChannelDelivery {
            kind: channel::KIND.to_owned(),
            purpose: offer.entry.conversation.settings.purpose.to_string(),
            members: turn.members.iter().map(member).collect(),
            members_more: turn.members_more,
            recent,
            has_more,
            expectations: Expectations {
                speakers: turn.speakers,
                turns_left: turn.left,
                waiting: turn.waiting.iter().map(|m| view::id(&directory, *m)).collect(),
                output: channel::OUTPUT.map(str::to_owned).to_vec(),
            },
        })
    }

    /// The thread that a message is in or began; the message itself where it began none yet.
    async fn thread_of_message(
        &self,
        caller: &Caller,
        message: &str,
    ) -> Result<(Option<String>, Option<Shown>), Refusal> {
        let shown = self.shown(caller, message).await?;
        let thread = match shown.thread {
            Some(thread) => Some(thread),
            None => {
                // Every version of a message has the message's thread.
                let message = shown.event.edit_of().unwrap_or(shown.event.seq);
                let (key, seq) = (shown.event.conversation, message);
                let found = self.read(move |readers| readers.thread_by_root(key, seq)).await?;
                found.map(|t| t.uid)
            }
        };
        match thread {
            Some(uid) => Ok((Some(uid.show(Prefix::Thread)), None)),
            None => Ok((None, Some(shown))),
        }
    }
}
