//! What goes out: journaled replies and dispositions, each until the host has answered it.
//!
//! A reply is always sent with the key and the text that were journaled, so that a repetition is the same
//! message (C2A "Reliability"). What the host refuses for good is not sent again.

use chorus_client::Error;
use chorus_client::c2a::Connection;
use chorus_core::model::attention::Directedness;
use chorus_core::model::conversation::ConversationKind;
use chorus_core::model::disposition::Disposition;
use chorus_core::model::error::Code;
use chorus_core::model::reaction::Signal;
use chorus_wire::attention::deliver::Deliver;
use chorus_wire::attention::tools::{React, SendMessage, SendTarget, Visibility};
use chorus_wire::error::sentence;

use crate::journal::Outgoing;
use crate::turns::Turn;

/// What came of one thing sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    /// The host has the reply, from now or from before.
    Replied { key: String },
    /// The host will never take this reply. `tell` when it does not know how the event ended by that.
    Dropped { key: String, disposition: Disposition, note: String, tell: bool },
    /// The host knows the disposition, or wants none.
    Told,
    /// The event is open, and the host takes no reply to it now. To be sent again when it offers it again.
    Withheld { note: String },
    /// To be sent again.
    Later { note: String },
}

/// What the host knows of a run that owed an answer and printed none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Silence {
    /// It has said nothing in any way.
    Nothing,
    /// It has put something out, which is posted now.
    Posted,
    /// It has ended its event, or put it off.
    Disposed,
}

/// Asks the host what a silent run has done by itself. Where it cannot be asked, the next run looks first.
pub(crate) async fn silence(connection: &Connection, turn: &Turn) -> Silence {
    let Some(anchor) = turn.anchor() else { return Silence::Disposed };
    // It changes nothing, and says how the event stands.
    let stands =
        connection.disposition(&anchor.event_id, Disposition::Claimed, None, token(anchor)).await;
    if stands.is_ok_and(|stands| stands.disposition != Disposition::Claimed) {
        return Silence::Disposed;
    }
    if anchor.channel.is_none() {
        return Silence::Nothing;
    }
    // A run closes without words: what it has emitted is posted, and if that is nothing this is refused.
    let key = format!("silent:{}:{}", anchor.event_id, turn.attempt);
    let closing = reply(anchor, &key, String::new());
    match connection.call_tool("chat.send_message", &closing).await {
        Ok(_) => Silence::Posted,
        Err(_) => Silence::Nothing,
    }
}

pub(crate) async fn send(connection: &Connection, outgoing: Outgoing) -> Sent {
    match outgoing {
        Outgoing::Reply { event, key, body, delivery } => {
            let Some(delivery) = read(&delivery) else { return unreadable(key, &event) };
            let message = reply(&delivery, &key, body);
            let answer = connection.call_tool("chat.send_message", &message).await;
            match answer.map(drop) {
                Err(error) if error.code() == Some(Code::ReplyBudgetSpent) => {
                    // It changes nothing, and says how an event has ended that is not open any more.
                    let claimed = Disposition::Claimed;
                    let stands = connection.disposition(&event, claimed, None, message.turn).await;
                    budget_spent(
                        key,
                        sentence(&error.to_string()),
                        stands.map(|result| result.disposition.0),
                    )
                }
                answer => judge(key, answer),
            }
        }
        Outgoing::Disposition { event, disposition, note, signal, delivery } => {
            let turn = read(&delivery).and_then(|delivery| token(&delivery));
            // A claim that the runtime has put off is not declined by its silence: the host says how it stands.
            if signal == Some(Signal::Declined)
                && let Ok(ended) =
                    connection.disposition(&event, disposition, note.clone(), turn.clone()).await
                && ended.disposition == Disposition::Deferred
            {
                return Sent::Told;
            }
            if let Some(signal) = signal {
                let react = React {
                    in_reply_to: event.clone(),
                    signal: signal.into(),
                    eta: None,
                    remove: false,
                    turn: turn.clone(),
                };
                match connection.call_tool("chat.react", &react).await {
                    Ok(_) => return Sent::Told,
                    Err(error) if is_passing(&error) => {
                        return Sent::Later { note: error.to_string() };
                    }
                    Err(error) if is_of_other_keys(&error) => {
                        return Sent::Withheld { note: error.to_string() };
                    }
                    // Where reactions are refused the bare disposition may still be taken.
                    Err(error) => tracing::debug!(%event, %error, "the reaction was refused"),
                }
            }
            match connection.disposition(&event, disposition, note, turn).await {
                Ok(_) => Sent::Told,
                Err(error) if is_passing(&error) => Sent::Later { note: error.to_string() },
                Err(error) if is_of_other_keys(&error) => {
                    Sent::Withheld { note: error.to_string() }
                }
                Err(error) => {
                    tracing::debug!(%event, %error, "the disposition was refused");
                    Sent::Told
                }
            }
        }
    }
}

/// The reply to a delivery, as a message: in its place, to who asked.
fn reply(delivery: &Deliver, key: &str, text: String) -> SendMessage {
    let thread = delivery.conversation.thread_id.clone().map(|thread| thread.into_owned());
    let visibility = match (*delivery.conversation.kind, &thread) {
        (ConversationKind::Dm, _) => Visibility::Dm,
        (_, Some(_)) | (ConversationKind::Thread, _) => Visibility::Thread,
        _ => Visibility::Channel,
    };
    SendMessage {
        target: SendTarget { conversation: delivery.conversation.id.clone().into_owned(), thread },
        in_reply_to: Some(delivery.event_id.clone()),
        idempotency_key: key.to_owned(),
        visibility,
        directedness: Directedness::ToMe.into(),
        text: Some(text),
        content: None,
        only: Vec::new(),
        mentions: Vec::new(),
        recipient: None,
        metadata: None,
        turn: token(delivery),
        closing: true,
    }
}

fn judge(key: String, answer: Result<(), Error>) -> Sent {
    let Err(error) = answer else { return Sent::Replied { key } };
    if is_passing(&error) {
        return Sent::Later { note: error.to_string() };
    }
    if is_of_other_keys(&error) {
        return Sent::Withheld { note: error.to_string() };
    }
    // The note is for people; the code is in the log.
    tracing::debug!(%key, %error, "a reply was refused");
    let note = sentence(&error.to_string());
    let (disposition, tell) = match error.code() {
        // An earlier run of this delivery has answered under this key.
        Some(Code::IdempotencyConflict) => return Sent::Replied { key },
        Some(Code::StaleTurn) => (Disposition::Superseded, false),
        Some(Code::ClaimedByOther | Code::PolicyForbidsReply) => (Disposition::Ignored, false),
        Some(Code::ApprovalRequired) => (Disposition::Deferred, true),
        _ => (Disposition::Failed, true),
    };
    Sent::Dropped { key, disposition, note, tell }
}

/// What becomes of a reply for which there is no budget, by how the event `stands` with the host: its line of
/// talk is paused, and the answer still owed; or the runtime has said in its turn already all that it may.
fn budget_spent(key: String, note: String, stands: Result<Disposition, Error>) -> Sent {
    match stands {
        // `deferred` still becomes `responded` when the answer comes.
        Ok(Disposition::Claimed | Disposition::Deferred) => Sent::Withheld { note },
        Ok(disposition) => Sent::Dropped { key, disposition, note, tell: false },
        // A host that was down in the meantime has forgotten the offer, and makes it again.
        Err(error) if error.code() == Some(Code::Conflict) => Sent::Withheld { note },
        Err(error) => judge(key, Err(error)),
    }
}

/// Whether the same may be taken later. What we cannot read counts as that: the host may have taken it, and
/// a repetition does no harm.
pub(crate) fn is_passing(error: &Error) -> bool {
    error.is_retryable() || matches!(error, Error::Protocol(_))
}

/// Whether the host has other keys than when it gave the turn's token: it offers the event again with another.
fn is_of_other_keys(error: &Error) -> bool {
    error.code() == Some(Code::Unauthorized)
}

fn unreadable(key: String, event: &str) -> Sent {
    let note = format!("the journaled delivery of {event} cannot be read");
    Sent::Dropped { key, disposition: Disposition::Failed, note, tell: true }
}

fn read(delivery: &str) -> Option<Deliver> {
    serde_json::from_str(delivery).ok()
}

/// The token of the turn a delivery grants.
pub(crate) fn token(delivery: &Deliver) -> Option<String> {
    delivery.turn.as_ref().map(|grant| grant.token.clone().into_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use chorus_wire::error::ErrorBody;

    use super::*;

    // covers: ATT-108, ATT-110
    #[test]
    fn each_refusal_of_a_reply_has_its_end() {
        use Disposition::{Deferred, Failed, Ignored, Superseded};
        let ends = [
            (Code::StaleTurn, Some((Superseded, false))),
            (Code::ClaimedByOther, Some((Ignored, false))),
            (Code::PolicyForbidsReply, Some((Ignored, false))),
            (Code::ApprovalRequired, Some((Deferred, true))),
            (Code::NotFound, Some((Failed, true))),
            (Code::RateLimited, None),
            (Code::TurnHeldByOther, None),
            (Code::Unavailable, None),
            (Code::OutcomeUnknown, None),
        ];
        for (code, end) in ends {
            let error = Error::from_body(ErrorBody::new(code, "no", "req_1"));
            let expected = match end {
                Some((disposition, tell)) => {
                    let (key, note) = ("k".into(), "no".into());
                    Sent::Dropped { key, disposition, note, tell }
                }
                None => Sent::Later { note: error.to_string() },
            };
            assert_eq!(judge("k".into(), Err(error)), expected, "{code:?}");
        }
        let rekeyed = Error::from_body(ErrorBody::new(Code::Unauthorized, "no", ""));
        let withheld = Sent::Withheld { note: rekeyed.to_string() };
        assert_eq!(judge("k".into(), Err(rekeyed)), withheld);
        let own_key = Error::from_body(ErrorBody::new(Code::IdempotencyConflict, "no", ""));
        for answer in [Ok(()), Err(own_key)] {
            assert_eq!(judge("k".into(), answer), Sent::Replied { key: "k".into() });
        }
    }

    // covers: ATT-94, ATT-110, ATT-173
    #[test]
    fn without_a_budget_the_reply_waits_while_the_event_is_open_and_is_dropped_once_it_is_answered()
    {
        use Disposition::{Claimed, Deferred, Failed, Ignored, Responded, Superseded};
        let no = |code| Err(Error::from_body(ErrorBody::new(code, "no", "")));
        let gone = || Err(Error::Unreachable { url: String::new(), cause: String::new() });
        let dropped = |disposition, tell| Some((disposition, tell));
        let ends = [
            (Ok(Claimed), "withheld", None),
            (Ok(Deferred), "withheld", None),
            (no(Code::Conflict), "withheld", None),
            (Ok(Responded), "dropped", dropped(Responded, false)),
            (Ok(Superseded), "dropped", dropped(Superseded, false)),
            (Ok(Ignored), "dropped", dropped(Ignored, false)),
            (no(Code::StaleTurn), "dropped", dropped(Superseded, false)),
            (no(Code::NotFound), "dropped", dropped(Failed, true)),
            (no(Code::Unavailable), "later", None),
            (gone(), "later", None),
        ];
        for (stands, what, end) in ends {
            let shown = format!("{stands:?}");
            let is = match budget_spent("k".into(), "spent".into(), stands) {
                Sent::Withheld { .. } => ("withheld", None),
                Sent::Dropped { disposition, tell, .. } => ("dropped", Some((disposition, tell))),
                Sent::Later { .. } => ("later", None),
                other => panic!("{shown}: {other:?}"),
            };
            assert_eq!(is, (what, end), "{shown}");
        }
    }
}
