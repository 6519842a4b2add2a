//! The topic of a knock: a few words from the host about a message whose body is withheld (C2A
//! "Injection mode `notify`").
//!
//! It cannot contain any user's words, because it takes none: it is a template over the host's own
//! decisions. So it never leaks the withheld body (design section 5, "Framing").

use crate::model::attention::{Intent, Rule};
use crate::model::reaction::Signal;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Posted,
    Edited,
    Reacted(Signal),
}

/// The text of a knock: `question from a person in a thread you own`.
pub fn topic(intent: Intent, rule: Rule, kind: Kind, author_is_agent: bool) -> String {
    let who = if author_is_agent { "an agent" } else { "a person" };
    match kind {
        Kind::Reacted(signal) => {
            format!("{who} reacted to your message: {}, {}", signal.name(), meaning(signal))
        }
        Kind::Edited if rule == Rule::EditedAfterResponse => {
            format!("{who} edited a message you have answered; it is now a {}", noun(intent))
        }
        Kind::Edited => format!("edited {} from {who}{}", noun(intent), place(rule)),
        Kind::Posted if rule == Rule::HopLimit => {
            "a chain of agents' messages reached its limit and was stopped".to_owned()
        }
        Kind::Posted => format!("{} from {who}{}", noun(intent), place(rule)),
    }
}

fn noun(intent: Intent) -> &'static str {
    match intent {
        Intent::Request => "request",
        Intent::Question => "question",
        Intent::Assignment => "assignment",
        Intent::Approval => "approval",
        Intent::Blocker => "blocker",
        Intent::Cancel => "cancellation",
        Intent::Thanks => "thanks",
        Intent::Social => "courtesy",
        Intent::Status => "status report",
        Intent::Statement => "message",
    }
}

/// What a reaction to a message means to the message's author (C2A "Reaction signals").
fn meaning(signal: Signal) -> &'static str {
    match signal {
        Signal::Seen => "read, no commitment",
        Signal::Agree => "go ahead",
        Signal::Working => "it is being worked on",
        Signal::Queued => "accepted for later",
        Signal::Claimed => "somebody owns it",
        Signal::Done => "already handled",
        Signal::Declined => "not as it is",
        Signal::Blocked => "it needs input",
        Signal::Unclear => "it needs clarification",
    }
}

fn place(rule: Rule) -> &'static str {
    match rule {
        Rule::RoleMention | Rule::RoleMentionOther => " to a role of yours",
        Rule::RepliedToOther => " in reply to you, naming somebody else",
        Rule::Reply | Rule::ThreadOfTwo | Rule::Continuation => " in reply to you",
        Rule::ThreadOwner => " in a thread you own",
        Rule::StreamOwner => " in a stream you own",
        Rule::ThreadParticipant => " in a thread you take part in",
        Rule::Flow | Rule::FlowLikely => " that is probably to you",
        Rule::FlowPerhaps => " that is perhaps to you",
        Rule::AnswerToQuestion => " in answer to a question of yours",
        Rule::AlwaysListen => " in a conversation you listen to",
        Rule::Escalated => " that nobody has answered",
        Rule::DirectMessage | Rule::Recipient | Rule::Delivered => " to you",
        Rule::Mention => " that names you",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: ATT-26
    #[test]
    fn a_topic_is_one_short_plain_line_whatever_was_decided() {
        let kinds = Signal::ALL.map(Kind::Reacted).into_iter().chain([Kind::Posted, Kind::Edited]);
        for kind in kinds {
            for rule in Rule::ALL {
                for intent in Intent::ALL {
                    let text = topic(*intent, rule, kind, true);
                    let plain = |c: char| c.is_ascii_lowercase() || " ,;:'".contains(c);
                    assert!(text.len() <= 90 && text.chars().all(plain), "{text}");
                }
            }
        }
        assert_eq!(
            topic(Intent::Question, Rule::ThreadOwner, Kind::Posted, false),
            "question from a person in a thread you own"
        );
    }
}
