//! What an approval is about, packed for its row.

use std::sync::Arc;

use super::body::{get_message, put_message};
use super::{Corrupt, Reader, Result, Writer};
use crate::model::approval::{Arguments, Asked};
use crate::model::event::Idempotency;
use crate::model::ids::{ConversationKey, MemberKey, Uid};
use crate::model::requests::{Audience, Post};

pub fn asked(asked: &Asked) -> Vec<u8> {
    let mut out = Writer::default();
    match asked {
        Asked::Send { to, post } => {
            out.byte(1);
            out.number(to.0);
            put_post(&mut out, post);
        }
        Asked::Call { tool, arguments } => {
            out.byte(match arguments {
                Arguments::Whole(_) => 2,
                Arguments::Hashed(_) => 3,
            });
            out.text(tool);
            match arguments {
                Arguments::Whole(arguments) => out.text(arguments),
                Arguments::Hashed(hash) => out.0.extend_from_slice(hash),
            }
        }
    }
    out.0
}

pub fn read_asked(bytes: &[u8]) -> Result<Asked> {
    let mut reader = Reader(bytes);
    let asked = match reader.byte()? {
        1 => {
            let to = ConversationKey(reader.number()?);
            Asked::Send { to, post: Arc::new(get_post(&mut reader)?) }
        }
        2 => Asked::Call { tool: reader.text()?, arguments: Arguments::Whole(reader.text()?) },
        3 => {
            let tool = reader.text()?;
            let hash = reader.bytes(32)?.try_into().map_err(|_| Corrupt)?;
            Asked::Call { tool, arguments: Arguments::Hashed(hash) }
        }
        _ => return Err(Corrupt),
    };
    reader.end()?;
    Ok(asked)
}

fn put_post(out: &mut Writer, post: &Post) {
    put_uid(out, Some(post.conversation));
    put_uid(out, post.thread);
    put_message(out, &post.message);
    put_uid(out, post.in_reply_to);
    match post.idempotency {
        Some(idempotency) => {
            out.byte(1);
            out.0.extend_from_slice(&idempotency.key);
            out.0.extend_from_slice(&idempotency.payload);
        }
        None => out.byte(0),
    }
    out.option(post.recipient.map(|m| m.0.into()));
    out.number(post.mentions.len() as u64);
    post.mentions.iter().for_each(|m| out.number(m.0.into()));
    match post.directedness {
        Some(directedness) => {
            out.byte(1);
            out.code(directedness);
        }
        None => out.byte(0),
    }
    match &post.audience {
        Audience::AsAnswered => out.byte(0),
        Audience::Everybody => out.byte(1),
        Audience::Only(members) => {
            out.byte(2);
            out.number(members.len() as u64);
            members.iter().for_each(|m| out.number(m.0.into()));
        }
    }
}

fn get_post(reader: &mut Reader<'_>) -> Result<Post> {
    Ok(Post {
        conversation: get_uid(reader)?.ok_or(Corrupt)?,
        thread: get_uid(reader)?,
        message: get_message(reader)?,
        in_reply_to: get_uid(reader)?,
        idempotency: match reader.byte()? {
            0 => None,
            1 => Some(Idempotency { key: get_half(reader)?, payload: get_half(reader)? }),
            _ => return Err(Corrupt),
        },
        recipient: reader.option()?.map(get_member).transpose()?,
        mentions: get_members(reader)?,
        directedness: match reader.byte()? {
            0 => None,
            1 => Some(reader.code()?),
            _ => return Err(Corrupt),
        },
        audience: match reader.byte()? {
            0 => Audience::AsAnswered,
            1 => Audience::Everybody,
            2 => Audience::Only(get_members(reader)?),
            _ => return Err(Corrupt),
        },
    })
}

fn get_members(reader: &mut Reader<'_>) -> Result<Vec<MemberKey>> {
    let count = reader.count()?;
    (0..count).map(|_| reader.number().and_then(get_member)).collect()
}

fn put_uid(out: &mut Writer, uid: Option<Uid>) {
    match uid {
        Some(uid) => {
            out.byte(1);
            out.0.extend_from_slice(&uid.0.to_be_bytes());
        }
        None => out.byte(0),
    }
}

fn get_uid(reader: &mut Reader<'_>) -> Result<Option<Uid>> {
    match reader.byte()? {
        0 => Ok(None),
        1 => get_half(reader).map(|bytes| Some(Uid(u128::from_be_bytes(bytes)))),
        _ => Err(Corrupt),
    }
}

fn get_half(reader: &mut Reader<'_>) -> Result<[u8; 16]> {
    reader.bytes(16)?.try_into().map_err(|_| Corrupt)
}

fn get_member(key: u64) -> Result<MemberKey> {
    u32::try_from(key).map(MemberKey).map_err(|_| Corrupt)
}
