//! The default matrix as data: each row of `data/matrix.csv` is decided as it says, every input has an
//! answer, and no answer contradicts itself (C2A "Default matrix"; design section 5, "Policy").

#![allow(clippy::unwrap_used, clippy::expect_used)]

use chorus_core::attention::policy::{Circumstances, MATRIX, When, decide};
use chorus_core::model::attention::{Decision, Directedness, Intent, Mode, Policy, Priority, Rule};
use chorus_core::model::limits;

/// The facts that a row joins by `+`.
fn facts(rule: Rule, text: &str) -> Circumstances {
    let mut facts = Circumstances::plain(rule);
    for fact in text.split('+') {
        match fact {
            "-" => {}
            "mine" => facts.thread_is_mine = true,
            "urgent" => facts.urgent = true,
            "by_agent" => facts.author_is_agent = true,
            "late" => facts.hop = limits::HOP_NO_OBLIGATION,
            "participates" => facts.participates = true,
            "follows" => facts.follows = true,
            "person" => facts.member_is_agent = false,
            "first" => facts.first_words = true,
            other => panic!("unknown fact {other:?}"),
        }
    }
    facts
}

/// Every combination of circumstances under one rule.
fn every_circumstance(rule: Rule) -> impl Iterator<Item = Circumstances> {
    (0u32..256).map(move |bits| {
        let bit = |n: u32| bits & (1 << n) != 0;
        Circumstances {
            rule,
            thread_is_mine: bit(0),
            urgent: bit(1),
            author_is_agent: bit(2),
            hop: if bit(3) { limits::HOP_NO_OBLIGATION } else { 1 },
            participates: bit(4),
            follows: bit(5),
            member_is_agent: bit(6),
            first_words: bit(7),
        }
    })
}

/// Every decision there is, with what it was made from.
fn every_decision() -> impl Iterator<Item = (Directedness, Intent, Circumstances, Decision)> {
    Directedness::ALL.iter().flat_map(|&directedness| {
        Intent::ALL.iter().flat_map(move |&intent| {
            Rule::ALL.into_iter().flat_map(every_circumstance).map(move |facts| {
                (directedness, intent, facts, decide(directedness, intent, &facts))
            })
        })
    })
}

// covers: ATT-39, ATT-40
#[test]
fn each_row_of_the_matrix_is_decided_as_it_says() {
    let mut rows = 0;
    for line in include_str!("data/matrix.csv").lines().filter(|l| !l.starts_with('#')).skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let [case, directedness, rule, intent, given, policy, mode, priority, deadline] =
            fields.try_into().unwrap_or_else(|_| panic!("nine fields: {line}"));
        let rule = Rule::from_name(rule).unwrap_or_else(|| panic!("a rule: {line}"));
        let directedness = Directedness::from_name(directedness).expect(line);
        let decision =
            decide(directedness, Intent::from_name(intent).expect(line), &facts(rule, given));
        let want = Decision {
            rule,
            directedness,
            policy: Policy::from_name(policy).expect(line),
            mode: Mode::from_name(mode).expect(line),
            priority: Priority::from_name(priority).expect(line),
            deadline_ms: (deadline != "-").then(|| deadline.parse().expect(line)),
        };
        assert_eq!(decision, want, "{case}");
        rows += 1;
    }
    assert!(rows > 60, "the table was read: {rows}");
}

// covers: ATT-39
#[test]
fn every_directedness_ends_in_a_row_for_anything() {
    for directedness in Directedness::ALL {
        let last = MATRIX.iter().rfind(|row| row.directedness == *directedness).expect("a row");
        assert!(last.rules.is_empty() && last.intents.is_empty(), "{}", last.event);
        assert_eq!(last.when, When::Always, "{}", last.event);
    }
}

// covers: ATT-5, ATT-41
#[test]
fn no_decision_contradicts_itself() {
    for (directedness, intent, facts, decision) in every_decision() {
        let what = format!("{directedness:?} {intent:?} {facts:?}: {decision:?}");
        let Decision { policy, mode, .. } = decision;
        match policy {
            Policy::MustRespond => {
                assert!(mode.shows_content(), "what must be answered is shown: {what}");
                assert_eq!(
                    directedness,
                    Directedness::ToMe,
                    "only what is aimed at me obliges: {what}"
                );
            }
            Policy::MayRespond => assert!(mode.tells(), "who may respond is told: {what}"),
            Policy::AckOnly => {
                assert!(!mode.shows_content(), "a receipt needs no turn: {what}");
                let leave = facts.rule == Rule::AskedToLeave;
                assert!(intent.is_courtesy() || leave, "only courtesies are acknowledged: {what}");
            }
            Policy::MustNotRespond => assert!(!mode.tells(), "silence is not told: {what}"),
        }
        let owed = policy == Policy::MustRespond && facts.member_is_agent;
        assert_eq!(decision.deadline_ms.is_some(), owed, "{what}");
        assert_eq!(decision.rule, facts.rule);
    }
}

// covers: ATT-42, ATT-97
#[test]
fn late_and_idle_agents_oblige_nobody() {
    for (_, intent, facts, decision) in every_decision().filter(|(_, _, f, _)| f.author_is_agent) {
        let late = facts.hop >= limits::HOP_NO_OBLIGATION;
        let idle = !intent.asks() && facts.rule != Rule::Escalated;
        if late || idle {
            assert_ne!(decision.policy, Policy::MustRespond, "{intent:?} {facts:?}");
        }
    }
}

#[test]
fn courtesies_and_the_low_are_never_urgent() {
    for (_, intent, _, decision) in every_decision() {
        if decision.priority == Priority::Urgent {
            assert!(matches!(decision.policy, Policy::MustRespond | Policy::MayRespond));
        }
        if intent.is_courtesy() {
            assert_ne!(decision.policy, Policy::MustRespond, "{intent:?} {decision:?}");
        }
    }
}
