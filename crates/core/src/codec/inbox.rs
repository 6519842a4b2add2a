//! Inboxes, and the channels that deliver to them, for their rows.

use super::form::{Present, Trailing};
use super::stored::{Own, Part, Stored};
use super::{Corrupt, Reader, Result, Writer, read};
use crate::model::endpoint::Secret;
use crate::model::ids::Seq;
use crate::model::inbox::{Checks, Inbox, Remote, Trouble};

row!(inbox, read_inbox: Inbox);

record!(Inbox {
    uid: Present,
    agent,
    people,
    agents,
    created_by,
    name,
    secret,
    checks,
    created_at,
    rotated_at,
    channels,
    trouble,
});

record!(Checks { allow, signing, key });

record!(Trouble { at, what });

impl Stored for Secret {
    fn put(&self, out: &mut Writer) {
        self.0.put(out);
    }

    fn get(r: &mut Reader<'_>) -> Result<Self> {
        r.text().map(Self)
    }
}

/// How far what was said in a channel elsewhere was sent; its callbacks have rows of their own.
pub fn remote(r: &Remote) -> Vec<u8> {
    let mut out = Writer::default();
    Sent { said: r.said, sent: r.sent, sender: r.sender }.put(&mut out);
    out.0
}

/// What [`remote`] wrote: the newest message for the service, the newest that was sent, and which host sends.
pub fn read_remote(bytes: &[u8]) -> Result<(Seq, Seq, u32)> {
    read(bytes).map(|Sent { said, sent, sender }| (said, sent, sender))
}

/// What is stored of a [`Remote`].
struct Sent {
    said: Seq,
    sent: Seq,
    sender: u32,
}

record!(Sent { said, sent, sender: Trailing });

/// A host that shares with nobody has no number.
impl Part<u32> for Own {
    fn is_absent(sender: &u32) -> bool {
        *sender == 0
    }

    fn put_part(sender: &u32, out: &mut Writer) {
        sender.put(out);
    }

    fn get_part(sender: &mut u32, r: &mut Reader<'_>) -> Result<()> {
        *sender = Some(r.small()?).filter(|host| *host > 0).ok_or(Corrupt)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::model::ids::Uid;

    #[test]
    fn who_sends_back_reads_back_and_is_nobody_in_rows_from_before() {
        let of = |sender| Remote {
            said: Seq(300),
            sent: Seq(2),
            sender,
            ..Remote::new(Uid(1), [0; 32])
        };
        for sender in [0, 1, 200, u32::MAX] {
            assert_eq!(read_remote(&remote(&of(sender))), Ok((Seq(300), Seq(2), sender)));
        }
        let before = remote(&of(0));
        assert_eq!(before.len(), 3);
        // One value has one form.
        assert_eq!(read_remote(&[&*before, &[0]].concat()), Err(Corrupt));
        assert_eq!(read_remote(&[&*before, &[1, 1]].concat()), Err(Corrupt));
    }
}
