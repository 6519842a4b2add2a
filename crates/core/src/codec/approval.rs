//! What an approval is about, packed for its row.

use super::form::{Present, Trailing};
use super::stored::Stored;
use super::{Corrupt, Reader, Result, Writer};
use crate::model::approval::{Arguments, Asked};
use crate::model::event::Idempotency;
use crate::model::requests::{Audience, Post};

row!(asked, read_asked: Asked);

/// The tag says also which arguments a call has, so `cases!` cannot say it.
impl Stored for Asked {
    fn put(&self, out: &mut Writer) {
        match self {
            Self::Send { to, post } => {
                out.byte(1);
                to.put(out);
                post.put(out);
            }
            Self::Call { tool, arguments: Arguments::Whole(arguments) } => {
                out.byte(2);
                tool.put(out);
                arguments.put(out);
            }
            Self::Call { tool, arguments: Arguments::Hashed(hash) } => {
                out.byte(3);
                tool.put(out);
                hash.put(out);
            }
        }
    }

    fn get(r: &mut Reader<'_>) -> Result<Self> {
        Ok(match r.byte()? {
            1 => Self::Send { to: Stored::get(r)?, post: Stored::get(r)? },
            2 => Self::Call { tool: r.text()?, arguments: Arguments::Whole(r.text()?) },
            3 => Self::Call { tool: r.text()?, arguments: Arguments::Hashed(Stored::get(r)?) },
            _ => return Err(Corrupt),
        })
    }
}

record!(Post {
    conversation: Present,
    thread,
    message,
    in_reply_to,
    idempotency,
    recipient,
    mentions,
    directedness,
    audience,
    left_out: Trailing,
});

record!(Idempotency { key, payload });

cases!(Audience {
    0 = AsAnswered,
    1 = Everybody,
    2 = Only(members),
});
