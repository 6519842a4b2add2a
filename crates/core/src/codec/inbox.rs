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
    Sent { said: r.said, sent: r.sent, host: 0 }.put(&mut out);
    out.0
}

/// What [`remote`] wrote: the newest message for the service, and the newest that was sent.
pub fn read_remote(bytes: &[u8]) -> Result<(Seq, Seq)> {
    read(bytes).map(|Sent { said, sent, host: _ }| (said, sent))
}

/// What is stored of a [`Remote`].
struct Sent {
    said: Seq,
    sent: Seq,
    /// The number of a host in rows of earlier versions. It means nothing any more, and none is
    /// written.
    host: u32,
}

record!(Sent { said, sent, host: Trailing });

impl Part<u32> for Own {
    fn is_absent(host: &u32) -> bool {
        *host == 0
    }

    fn put_part(host: &u32, out: &mut Writer) {
        host.put(out);
    }

    fn get_part(host: &mut u32, r: &mut Reader<'_>) -> Result<()> {
        *host = Some(r.small()?).filter(|host| *host > 0).ok_or(Corrupt)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::model::ids::Uid;

    #[test]
    fn how_far_was_sent_reads_back_and_a_host_in_earlier_rows_means_nothing() {
        let of = Remote { said: Seq(300), sent: Seq(2), ..Remote::new(Uid(1), [0; 32]) };
        let row = remote(&of);
        assert_eq!((row.len(), read_remote(&row)), (3, Ok((Seq(300), Seq(2)))));
        assert_eq!(read_remote(&[&*row, &[1]].concat()), Ok((Seq(300), Seq(2))));
        // One value has one form.
        assert_eq!(read_remote(&[&*row, &[0]].concat()), Err(Corrupt));
        assert_eq!(read_remote(&[&*row, &[1, 1]].concat()), Err(Corrupt));
    }
}
