//! A whole turn as one prompt: the rules, earlier messages, other events, and the event to answer.

use super::escape::{body_into, nonce_of, value_into};
use super::{
    EventHeader, RESPONSE_RULES, block_into, fence_into, knock_into, line_into, list_into,
};
use crate::model::attention::Policy;

/// An event of a turn. Without a body, only its header is shown.
#[derive(Clone, Copy, veil::Redact)]
pub struct Event<'a> {
    pub header: EventHeader<'a>,
    #[redact(fixed = 3)]
    pub body: &'a str,
}

/// A knock that is mentioned with a turn.
#[derive(Clone, Copy, veil::Redact)]
pub struct Knock<'a> {
    pub header: EventHeader<'a>,
    /// Words of a template ([`crate::attention::knock::topic`]).
    #[redact(fixed = 3)]
    pub topic: &'a str,
    /// The tool that shows the body.
    pub pull_with: &'a str,
}

/// One earlier message of the conversation, as context.
#[derive(Clone, Copy, veil::Redact)]
pub struct FramedMessage<'a> {
    pub event_id: &'a str,
    pub author_kind: &'a str,
    pub author_id: &'a str,
    /// The time as the host formats it; empty when unknown.
    pub at: &'a str,
    #[redact(fixed = 3)]
    pub text: &'a str,
    /// Reaction signals that members gave to it, each with their number.
    pub reactions: &'a [(&'a str, usize)],
}

/// What happened in a channel that the member follows.
#[derive(Clone, Copy, veil::Redact)]
pub struct Digest<'a> {
    /// `ch_…`
    pub conversation: &'a str,
    /// Chosen by members.
    #[redact(fixed = 3)]
    pub title: &'a str,
    pub policy: Policy,
    pub messages: u32,
    /// Events that name the member or assign work to it.
    #[redact(fixed = 3)]
    pub calls: &'a [&'a str],
    /// It quotes members.
    #[redact(fixed = 3)]
    pub text: &'a str,
}

/// The public turn that a prompt is made for (channels spec "How agents participate").
#[derive(Clone, Copy, veil::Redact)]
pub struct PublicTurn<'a> {
    /// The channel's purpose; empty when none was set.
    #[redact(fixed = 3)]
    pub purpose: &'a str,
    /// `kind:id` of each member of the channel.
    pub members: &'a [&'a str],
    pub members_more: usize,
    pub turns_left: u16,
    /// Ids of the members who wait to speak.
    pub waiting: &'a [&'a str],
}

/// Everything that one turn shows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Turn<'a> {
    /// In order of arrival. Adjacent fragments by the author of the answered event become one
    /// block.
    pub events: &'a [Event<'a>],
    /// Index in `events` of the event to answer.
    pub answer: usize,
    /// Knocks of the same conversation. A turn that is about a knock only has no events.
    pub knocks: &'a [Knock<'a>],
    /// What happened elsewhere, oldest first.
    pub digests: &'a [Digest<'a>],
    /// Earlier messages, oldest first.
    pub transcript: &'a [FramedMessage<'a>],
    /// The public turn, in a channel that uses turns.
    pub public: Option<PublicTurn<'a>>,
}

/// What is expected of the speaker in a public thread.
const EXPECTED: &str = "\
- You have the turn in this thread; the others hear what you say and wait until you are done.
- Add what is new, once. To agree, react with set_channel_reaction; to add nothing, say nothing.
";

/// The prompt of a turn. The event to answer comes last, with its fragments joined into one
/// message.
pub fn frame_turn(turn: &Turn<'_>, nonce: &str) -> String {
    let nonce = nonce_of(nonce);
    let mut out = String::with_capacity(4096);
    out.push_str(RESPONSE_RULES);
    for digest in turn.digests {
        out.push('\n');
        digest_into(digest, &nonce, &mut out);
    }
    if !turn.transcript.is_empty() {
        out.push('\n');
        transcript_into(turn.transcript, &nonce, &mut out);
    }
    if let Some(public) = &turn.public {
        out.push('\n');
        public_into(public, &mut out);
    }
    for knock in turn.knocks {
        out.push('\n');
        knock_into("KNOCK", &knock.header, knock.topic, knock.pull_with, &mut out);
    }
    let answer = fragments(turn);
    let others = turn.events.iter().enumerate().filter(|(n, _)| !answer.contains(n));
    for (_, event) in others {
        out.push('\n');
        block_into("ALSO", &event.header, &[], &[event.body], &nonce, &mut out);
    }
    if let (Some(event), Some(parts)) = (turn.events.get(turn.answer), turn.events.get(answer)) {
        let ids: Vec<&str> = parts.iter().map(|part| part.header.event_id).collect();
        let bodies: Vec<&str> = parts.iter().map(|part| part.body).collect();
        out.push('\n');
        block_into("EVENT", &event.header, &ids, &bodies, &nonce, &mut out);
    }
    out
}

/// The events around the one to answer that its author sent in one go.
fn fragments(turn: &Turn<'_>) -> std::ops::Range<usize> {
    let Some(answer) = turn.events.get(turn.answer) else { return 0..0 };
    let same = |event: &&Event<'_>| event.header.author_id == answer.header.author_id;
    let before = turn.events[..turn.answer].iter().rev().take_while(same).count();
    let after = turn.events[turn.answer + 1..].iter().take_while(same).count();
    turn.answer - before..turn.answer + 1 + after
}

fn digest_into(digest: &Digest<'_>, nonce: &str, out: &mut String) {
    out.push_str("C2A DIGEST\n");
    match digest.title {
        "" => line_into("conversation", &["channel ", digest.conversation], out),
        title => {
            line_into("conversation", &["channel ", digest.conversation, " (", title, ")"], out);
        }
    }
    line_into("response_policy", &[digest.policy.name()], out);
    line_into("messages", &[&digest.messages.to_string()], out);
    if !digest.calls.is_empty() {
        list_into("calls", digest.calls, out);
    }
    out.push_str("MESSAGE\n");
    fence_into(nonce, out, |out| body_into(digest.text, nonce, out));
}

fn public_into(public: &PublicTurn<'_>, out: &mut String) {
    out.push_str("C2A PUBLIC TURN\n");
    if !public.purpose.is_empty() {
        line_into("purpose", &[public.purpose], out);
    }
    list_into("members", public.members, out);
    if public.members_more > 0 {
        line_into("members_more", &[&public.members_more.to_string()], out);
    }
    line_into("turns_left", &[&public.turns_left.to_string()], out);
    if !public.waiting.is_empty() {
        list_into("waiting", public.waiting, out);
    }
    out.push_str(EXPECTED);
}

/// Writes the earlier messages. A continuation line is indented, so that it cannot be mistaken for
/// another speaker's line.
fn transcript_into(transcript: &[FramedMessage<'_>], nonce: &str, out: &mut String) {
    out.push_str("C2A CONTEXT\n");
    line_into(
        "about",
        &["earlier messages, oldest first; for reading only, nothing here is to be answered"],
        out,
    );
    out.push_str("MESSAGES\n");
    fence_into(nonce, out, |out| {
        for said in transcript {
            let mut text = String::new();
            body_into(said.text, nonce, &mut text);
            out.push('[');
            value_into(said.event_id, out);
            if !said.at.is_empty() {
                out.push(' ');
                value_into(said.at, out);
            }
            out.push_str("] ");
            value_into(said.author_kind, out);
            out.push(':');
            value_into(said.author_id, out);
            for (n, (signal, count)) in said.reactions.iter().enumerate() {
                out.push_str(if n == 0 { " (" } else { ", " });
                value_into(signal, out);
                out.push_str(&format!(" {count}"));
            }
            out.push_str(if said.reactions.is_empty() { ": " } else { "): " });
            out.push_str(text.trim_end_matches('\n').replace('\n', "\n    ").as_str());
            out.push('\n');
        }
    });
}
