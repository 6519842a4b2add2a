//! What an event says, packed: the bytes that its `content_hash` is over. The kind of the change and what
//! every event has stand beside it, in columns.

use super::form::{Duration, Each, EndOfBytes, Present};
use super::stored::{Cases, Parts, Stored};
use super::{Corrupt, Reader, Result, Writer};
use crate::model::conversation::{Keep, Replies, Settings, Terms};
use crate::model::event::{Change, Message, Promotion, ThreadOpening};
use crate::model::{stimulus, turn};

pub fn body(change: &Change) -> Vec<u8> {
    let mut out = Writer::with_room(48 + change.message().map_or(0, |m| m.text.len()));
    change.put_fields(&mut out);
    out.0
}

/// Reads the body of a change whose [`Change::code`] is `code`.
pub fn read_body(code: u8, bytes: &[u8]) -> Result<Change> {
    let mut reader = Reader(bytes);
    let change = Change::get_fields(code, &mut reader)?;
    reader.end()?;
    Ok(change)
}

cases!(Change {
    1 = Created { kind, settings },
    2 = SettingsChanged(settings),
    3 = Joined { member, participation },
    4 = Left { member },
    5 = Posted(message),
    6 = Edited { message, content },
    7 = Deleted { message },
    8 = Reacted { message, signal, detail },
    9 = Unreacted { message, signal },
    10 = ThreadOpened(opening),
    11 = ThreadStatus { status, reason },
    12 = ThreadOwner { owner },
    13 = Erased { message, reason, events },
    14 = Continued,
    15 = ThreadWork(change),
    16 = Promoted(promotion),
    20 = Withdrew { member },
});

record!(Message { kind, text, parts, metadata, source });

record!(ThreadOpening { uid, root, title, kind, owner, participants });

cases!(Promotion {
    1 = Message { message, note },
    2 = Result { text },
});

/// The last tag of a setting that has a column of its own.
const LAST_COLUMN: u8 = 3;

// Settings from before a part was there still have the bytes that were hashed. They end what they stand in.
record!(Settings {
    title,
    description,
    purpose,
    visibility,
    stream,
    archived,
} tagged {
    1 = lead,
    2 = agent_budget,
    3 = keep,
    4 = turns,
    5 = replies,
    6 = pins: Each<Present>,
    7 = stimuli,
    8 = proactive,
    9 = idle_followup: Duration,
    10 = seats,
} until EndOfBytes);

default_is_absent!(Replies);

record!(turn::Rules { speakers, replies, cooldown_ms: Duration, acceptance_ms: Duration });

record!(stimulus::Rules { pending, roots_per_hour, active_roots, quiet_ms: Duration });

record!(Terms { name, session } if |it| *it != Terms::default());

impl Stored for Keep {
    fn put(&self, out: &mut Writer) {
        self.stored().put(out);
    }

    fn get(r: &mut Reader<'_>) -> Result<Self> {
        u32::get(r).map(Self::from_stored)
    }
}

/// The settings of a conversation that have no column of their own.
pub fn later_settings(settings: &Settings) -> Vec<u8> {
    let mut out = Writer::default();
    settings.put_parts(LAST_COLUMN, &mut out);
    out.0
}

/// Adds what [`later_settings`] made to settings. What has a column is not said here a second time.
pub fn read_later_settings(bytes: &[u8], settings: &mut Settings) -> Result<()> {
    if bytes.first().is_some_and(|tag| *tag <= LAST_COLUMN) {
        return Err(Corrupt);
    }
    settings.get_parts(&mut Reader(bytes))
}
