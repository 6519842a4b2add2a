//! The beginning of a conversation: its settings, who sits in it, and how far each has read.

use std::borrow::Cow;
use std::sync::Arc;

use chorus_core::codec::{self, Coded};
use chorus_core::model::conversation::{self, Keep, Settings};
use chorus_core::model::cursor::ReadCursor;
use chorus_core::model::ids::{
    ConversationKey, MemberKey, Prefix, Seq, StreamKey, ThreadKey, Timestamp,
};
use chorus_core::state::room;
use chorus_store::history::{Part, Reading};
use serde::{Deserialize, Serialize};

use super::{Import, Kind, Line, OfConversation, Out, Written};
use crate::history::error::Bad;
use crate::history::field::{Bytes, coded, id};

#[derive(Serialize, Deserialize)]
pub(in crate::history) struct Conversation<'a> {
    key: u64,
    id: Cow<'a, str>,
    kind: u8,
    title: Cow<'a, str>,
    description: Cow<'a, str>,
    purpose: Cow<'a, str>,
    visibility: u8,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stream: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lead: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent_budget: Option<u32>,
    /// Days, 0 for all; absent where the host's default holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    keep: Option<u32>,
    /// What has no field of its own, packed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    settings: Option<Bytes>,
    archived: bool,
    created_at: i64,
    /// Member and participation.
    roster: Vec<(u32, u8)>,
    /// Member and the seq it has read up to.
    read: Vec<(u32, u64)>,
    /// Member, thread, and the seq of the thread it has read up to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    read_threads: Vec<(u32, u64, u64)>,
}

impl<'a> Conversation<'a> {
    /// Without who sits in it, and how far each has read.
    pub(in crate::history) fn of(conversation: &'a conversation::Conversation) -> Self {
        let conversation::Conversation { key, uid, kind, settings, created_at } = conversation;
        Self {
            key: key.0,
            id: uid.show(Prefix::Conversation).into(),
            kind: kind.code(),
            title: (&*settings.title).into(),
            description: (&*settings.description).into(),
            purpose: (&*settings.purpose).into(),
            visibility: settings.visibility.code(),
            stream: settings.stream.map(|s| s.0),
            lead: settings.lead.map(|l| l.0),
            agent_budget: settings.agent_budget,
            keep: settings.keep.map(Keep::stored),
            settings: Some(codec::later_settings(settings)).filter(|s| !s.is_empty()).map(Bytes),
            archived: settings.archived,
            created_at: created_at.0,
            roster: Vec::new(),
            read: Vec::new(),
            read_threads: Vec::new(),
        }
    }

    fn settings(&self) -> Result<Settings, String> {
        let mut settings = Settings {
            title: (*self.title).into(),
            description: (*self.description).into(),
            purpose: (*self.purpose).into(),
            visibility: coded(self.visibility)?,
            stream: self.stream.map(StreamKey),
            lead: self.lead.map(MemberKey),
            agent_budget: self.agent_budget,
            keep: self.keep.map(Keep::from_stored),
            archived: self.archived,
            ..Settings::default()
        };
        if let Some(later) = &self.settings {
            codec::read_later_settings(&later.0, &mut settings).map_err(|e| e.to_string())?;
        }
        Ok(settings)
    }
}

impl OfConversation for Conversation<'_> {
    fn export(out: &mut Out<'_>, _: &Reading, part: &Part) -> Written {
        let roster = part.roster.iter().map(|(m, p)| (m.0, p.code())).collect();
        let (mut read, mut read_threads) = (Vec::new(), Vec::new());
        for ((member, thread), cursor) in &part.cursors {
            match thread {
                None => read.push((member.0, cursor.read.0)),
                Some(thread) => read_threads.push((member.0, thread.0, cursor.read.0)),
            }
        }
        let line = Conversation::of(&part.conversation);
        out.put(&Line::Conversation(Conversation { roster, read, read_threads, ..line }))
    }
}

impl Kind for Conversation<'_> {
    fn check(&self) -> Result<(), String> {
        self.settings().map(drop)
    }

    fn import(self, import: &mut Import) -> Result<(), Bad> {
        let conversation = conversation::Conversation {
            settings: self.settings()?,
            key: ConversationKey(self.key),
            uid: id(Prefix::Conversation, &self.id)?,
            kind: coded(self.kind)?,
            created_at: Timestamp(self.created_at),
        };
        import.writing.conversation(conversation.clone())?;
        let roster = self.roster.into_iter().map(|(m, p)| Ok((MemberKey(m), coded(p)?)));
        let cursors = self
            .read
            .into_iter()
            .map(|(m, seq)| ((MemberKey(m), None), ReadCursor { read: Seq(seq) }));
        let of_threads = self.read_threads.into_iter().map(|(m, thread, seq)| {
            ((MemberKey(m), Some(ThreadKey(thread))), ReadCursor { read: Seq(seq) })
        });
        import.part = Some(Part {
            conversation: Arc::new(conversation),
            head: room::Head::default(),
            roster: roster.collect::<Result<_, String>>()?,
            threads: Vec::new(),
            cursors: cursors.chain(of_threads).collect(),
            schedules: Vec::new(),
            base: None,
        });
        Ok(())
    }
}
