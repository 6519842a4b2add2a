//! Inboxes, and the channels that deliver to them, for their rows.

use super::stimulus::{get_time, get_uid, put_time, put_uid};
use super::{Corrupt, Reader, Result, Writer};
use crate::model::endpoint::Secret;
use crate::model::ids::{MemberKey, Seq, Timestamp};
use crate::model::inbox::{Checks, Inbox, Remote, Trouble};

pub fn inbox(i: &Inbox) -> Vec<u8> {
    let mut out = Writer::default();
    put_uid(&mut out, Some(i.uid));
    for member in [i.agent, i.people, i.agents, i.created_by] {
        out.number(member.0.into());
    }
    out.text(&i.name);
    out.0.extend_from_slice(&i.secret);
    out.number(i.checks.allow.len() as u64);
    i.checks.allow.iter().for_each(|network| out.text(network));
    out.optional_text(i.checks.signing.as_ref().map(|s| &*s.0));
    out.optional_text(i.checks.key.as_deref());
    out.signed(i.created_at.0);
    put_time(&mut out, i.rotated_at);
    out.number(i.channels.into());
    put_time(&mut out, i.trouble.as_ref().map(|t| t.at));
    if let Some(trouble) = &i.trouble {
        out.text(&trouble.what);
    }
    out.0
}

pub fn read_inbox(bytes: &[u8]) -> Result<Inbox> {
    let mut reader = Reader(bytes);
    let r = &mut reader;
    let uid = get_uid(r)?.ok_or(Corrupt)?;
    let mut members = [MemberKey::default(); 4];
    for member in &mut members {
        *member = MemberKey(r.small()?);
    }
    let [agent, people, agents, created_by] = members;
    let name = r.text()?;
    let secret = r.bytes(32)?.try_into().map_err(|_| Corrupt)?;
    let count = r.count()?;
    let allow = (0..count).map(|_| r.text()).collect::<Result<_>>()?;
    let signing = r.optional_text()?.map(Secret);
    let key = r.optional_text()?;
    let created_at = Timestamp(r.signed()?);
    let (rotated_at, channels) = (get_time(r)?, r.small()?);
    let trouble = match get_time(r)? {
        Some(at) => Some(Trouble { at, what: r.text()? }),
        None => None,
    };
    reader.end()?;
    let checks = Checks { allow, signing, key };
    Ok(Inbox {
        uid,
        agent,
        name,
        secret,
        people,
        agents,
        checks,
        created_by,
        created_at,
        rotated_at,
        channels,
        trouble,
    })
}

/// How far what was said in a channel elsewhere was sent; its callbacks have rows of their own.
pub fn remote(r: &Remote) -> Vec<u8> {
    let mut out = Writer::default();
    out.number(r.said.0);
    out.number(r.sent.0);
    if r.sender > 0 {
        out.number(r.sender.into());
    }
    out.0
}

/// What [`remote`] wrote: the newest message for the service, the newest that was sent, and which host sends.
pub fn read_remote(bytes: &[u8]) -> Result<(Seq, Seq, u32)> {
    let mut reader = Reader(bytes);
    let (said, sent) = (Seq(reader.number()?), Seq(reader.number()?));
    // A host that shares with nobody has no number.
    let sender = match reader.0.is_empty() {
        true => 0,
        false => Some(reader.small()?).filter(|host| *host > 0).ok_or(Corrupt)?,
    };
    reader.end()?;
    Ok((said, sent, sender))
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
