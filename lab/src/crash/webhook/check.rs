//! The verdict: what must hold whatever the moment of a crash, and does not.

use std::collections::{BTreeMap, BTreeSet};

/// How an agent answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// Its answer has an id, and it says it again until it knows that it was taken.
    WithIds,
    /// Its answers have none. It says one again only if it had no answer to it, or the host could do nothing at the time.
    WithoutIds,
}

/// Everything the verdict is made of.
#[derive(Clone, Debug)]
pub struct Evidence {
    pub manner: Manner,
    pub agents: Vec<String>,
    /// The events that were said, each to all agents.
    pub said: Vec<String>,
    pub arrived: Vec<Arrived>,
    pub answered: Vec<Answered>,
    /// What the logs have of agents.
    pub replies: Vec<Reply>,
    /// What went wrong while it was gathered.
    pub wrong: Vec<String>,
}

/// A POST to an agent.
#[derive(Clone, Debug)]
pub struct Arrived {
    pub agent: String,
    pub event: String,
    pub attempt: u64,
}

/// A POST to a callback.
#[derive(Clone, Debug)]
pub struct Answered {
    pub agent: String,
    pub event: String,
    pub attempt: u64,
    /// What it said: unlike every other's, where it has no id.
    pub text: String,
    pub fate: Fate,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    Taken,
    Refused(String),
    /// No answer came.
    Lost,
}

/// An agent's message in a log.
#[derive(Clone, Debug)]
pub struct Reply {
    pub agent: String,
    pub to: String,
    pub text: String,
}

/// What does not hold, each as a sentence; empty when all does.
pub fn check(evidence: &Evidence) -> Vec<String> {
    let mut wrong = evidence.wrong.clone();
    let arrived: BTreeSet<_> =
        evidence.arrived.iter().map(|a| (a.agent.as_str(), a.event.as_str())).collect();
    let mut replies: BTreeMap<(&str, &str), Vec<&Reply>> = BTreeMap::new();
    for reply in &evidence.replies {
        replies.entry((&reply.agent, &reply.to)).or_default().push(reply);
    }
    let mut answers: BTreeMap<(&str, &str), Vec<&Answered>> = BTreeMap::new();
    for answer in &evidence.answered {
        answers.entry((&answer.agent, &answer.event)).or_default().push(answer);
    }
    for event in &evidence.said {
        for agent in &evidence.agents {
            let of = (agent.as_str(), event.as_str());
            if !arrived.contains(&of) {
                wrong.push(format!("{event} never came to {agent}"));
            }
            let heard = replies.remove(&of).unwrap_or_default();
            let tried = answers.get(&of).map_or(&[][..], Vec::as_slice);
            if heard.is_empty() {
                wrong.push(format!("{agent} is not heard on {event}: {tried:?}"));
            }
            match evidence.manner {
                Manner::WithIds if heard.len() > 1 => {
                    wrong.push(format!("{agent} is heard {} times on {event}", heard.len()));
                }
                Manner::WithIds => {}
                Manner::WithoutIds => of_one_attempt(of, &heard, tried, &mut wrong),
            }
            each_was_said(of, &heard, tried, &mut wrong);
        }
    }
    for ((agent, event), _) in replies {
        wrong.push(format!("{agent} answers {event}, which nobody said"));
    }
    wrong
}

/// All that was heard belongs to one attempt, and it is no more than may have been taken.
fn of_one_attempt(
    (agent, event): (&str, &str),
    heard: &[&Reply],
    tried: &[&Answered],
    wrong: &mut Vec<String>,
) {
    let said = |text: &str| tried.iter().find(|answer| answer.text == text);
    let attempts: BTreeSet<_> =
        heard.iter().filter_map(|reply| said(&reply.text)).map(|a| a.attempt).collect();
    if attempts.len() > 1 {
        wrong.push(format!("{agent} is heard on {event} in attempts {attempts:?}"));
    }
    let texts: BTreeSet<_> = heard.iter().map(|reply| &reply.text).collect();
    if texts.len() < heard.len() {
        wrong.push(format!("{agent} is heard twice for one answer to {event}"));
    }
}

/// Nobody has words in their mouth, and what was taken is there.
fn each_was_said(
    (agent, event): (&str, &str),
    heard: &[&Reply],
    tried: &[&Answered],
    wrong: &mut Vec<String>,
) {
    for reply in heard {
        let may_be = |answer: &&&Answered| {
            answer.text == reply.text && !matches!(answer.fate, Fate::Refused(_))
        };
        if !tried.iter().any(|answer| may_be(&answer)) {
            wrong.push(format!("{agent} did not say {:?} to {event}, or was refused", reply.text));
        }
    }
    for answer in tried {
        match &answer.fate {
            Fate::Taken if !heard.iter().any(|reply| reply.text == answer.text) => {
                wrong.push(format!("{agent}'s answer to {event} was taken and is lost"));
            }
            // Another attempt was heard, or the host could not do it at the time.
            Fate::Refused(code) if !matches!(&**code, "STALE_TURN" | "UNAVAILABLE") => {
                wrong.push(format!("{agent}'s answer to {event} was refused: {code}"));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn arrived(attempt: u64) -> Arrived {
        Arrived { agent: "a".to_owned(), event: "e".to_owned(), attempt }
    }

    fn answered(attempt: u64, text: &str, fate: Fate) -> Answered {
        let (agent, event) = ("a".to_owned(), "e".to_owned());
        Answered { agent, event, attempt, text: text.to_owned(), fate }
    }

    fn reply(text: &str) -> Reply {
        Reply { agent: "a".to_owned(), to: "e".to_owned(), text: text.to_owned() }
    }

    /// One delivery that came twice, whose second attempt was not heard.
    fn well(manner: Manner) -> Evidence {
        let stale = || Fate::Refused("STALE_TURN".to_owned());
        let second = match manner {
            Manner::WithIds => answered(2, "yes", Fate::Taken),
            Manner::WithoutIds => answered(2, "two", stale()),
        };
        Evidence {
            manner,
            agents: vec!["a".to_owned()],
            said: vec!["e".to_owned()],
            arrived: vec![arrived(1), arrived(2)],
            answered: vec![answered(1, "yes", Fate::Lost), second],
            replies: vec![reply("yes")],
            wrong: Vec::new(),
        }
    }

    #[test]
    fn what_went_well_is_no_reproach() {
        assert_eq!(check(&well(Manner::WithIds)), Vec::<String>::new());
        assert_eq!(check(&well(Manner::WithoutIds)), Vec::<String>::new());
    }

    // A checker that cannot fail is worth nothing.
    #[test]
    fn each_loss_is_noticed() {
        type Harm = fn(&mut Evidence);
        let both: [(&str, Harm); 7] = [
            ("never came", |e| e.arrived.clear()),
            ("is not heard", |e| e.replies.clear()),
            ("nobody said", |e| e.said.clear()),
            ("did not say", |e| e.replies[0].text = "no".to_owned()),
            ("did not say", |e| e.answered[0].fate = Fate::Refused("STALE_TURN".to_owned())),
            ("is lost", |e| e.answered.push(answered(1, "more", Fate::Taken))),
            ("was refused: FORBIDDEN", |e| {
                e.answered.push(answered(3, "x", Fate::Refused("FORBIDDEN".to_owned())));
            }),
        ];
        for (what, harm) in both {
            let mut evidence = well(Manner::WithoutIds);
            harm(&mut evidence);
            let wrong = check(&evidence);
            assert!(wrong.iter().any(|line| line.contains(what)), "{what}: {wrong:?}");
        }
        let mut twice = well(Manner::WithIds);
        twice.replies.push(reply("yes"));
        assert!(check(&twice)[0].contains("2 times"), "{:?}", check(&twice));
        let mut twice = well(Manner::WithoutIds);
        twice.replies.push(reply("yes"));
        assert!(check(&twice)[0].contains("twice"), "{:?}", check(&twice));
        let mut both = well(Manner::WithoutIds);
        both.answered[1].fate = Fate::Taken;
        both.replies.push(reply("two"));
        assert!(check(&both)[0].contains("in attempts {1, 2}"), "{:?}", check(&both));
    }

    #[test]
    fn one_attempt_may_be_heard_twice_that_had_no_answer() {
        let mut evidence = well(Manner::WithoutIds);
        evidence.answered.push(answered(1, "again", Fate::Taken));
        evidence.replies.push(reply("again"));
        assert_eq!(check(&evidence), Vec::<String>::new());
    }
}
