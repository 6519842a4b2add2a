//! Whom it is for: addressees, three-way directedness, and the turns that agents are given.
//!
//! How each figure is taken stands at its function; the definitions are those of the project's targets. A figure of
//! the annotations themselves (what people did) carries the suffix `.people`.

use std::collections::BTreeSet;

use chorus_core::attention::compose;
use chorus_core::model::attention::{Directedness, Mode};

use crate::lines::Chat;
use crate::replay::Decided;
use crate::report::{Report, share};

/// So many of a conversation's authors are taken for agents.
pub(crate) const AGENTS: usize = 10;

/// A conversation with how each of its lines was decided.
pub(crate) struct Played<'a> {
    pub chat: &'a Chat,
    pub agents: Vec<usize>,
    pub decided: &'a [Option<Decided>],
    pub compose: compose::Settings,
}

/// One scored line.
struct Line<'a> {
    at: usize,
    author: usize,
    to: &'a [usize],
    decided: &'a Decided,
}

impl Played<'_> {
    /// The gold lines that carry `to`.
    fn scored(&self) -> impl Iterator<Item = Line<'_>> {
        self.chat.noted.iter().enumerate().filter_map(|(at, noted)| {
            let to = noted.to.as_deref().filter(|_| noted.gold)?;
            let decided = self.decided[at].as_ref()?;
            Some(Line { at, author: self.chat.heard[at].author?, to, decided })
        })
    }
}

/// Who decides: the product, or a baseline.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Who {
    Us,
    /// The product, where every word but the names is one of no language.
    Pseudo,
    MentionOnly,
    Broadcast,
    People,
}

impl Who {
    const ALL: [Self; 4] = [Self::Us, Self::MentionOnly, Self::Broadcast, Self::People];

    fn is_product(self) -> bool {
        matches!(self, Self::Us | Self::Pseudo)
    }

    fn suffix(self) -> &'static str {
        match self {
            Self::Us => "",
            Self::Pseudo => ".pseudo",
            Self::MentionOnly => ".mention_only",
            Self::Broadcast => ".broadcast",
            Self::People => ".people",
        }
    }
}

pub(crate) fn score(set: &[Played<'_>], report: &mut Report) {
    if !set.iter().any(|played| played.scored().next().is_some()) {
        return;
    }
    for who in [Who::Us, Who::MentionOnly] {
        addressees(set, who, report);
    }
    for who in [Who::Us, Who::MentionOnly, Who::Broadcast] {
        directedness(set, who, report);
    }
    for who in Who::ALL {
        turns(set, who, report);
        open_questions(set, who, report);
    }
    people(set, report);
}

/// The same lines with words of no language. Structure alone is to be no worse than names alone.
pub(crate) fn score_pseudo(set: &[Played<'_>], report: &mut Report) {
    if set.iter().any(|played| played.scored().next().is_some()) {
        addressees(set, Who::Pseudo, report);
        directedness(set, Who::Pseudo, report);
        turns(set, Who::Pseudo, report);
        for metric in ["addressee.implicit", "directedness.macro_f1", "turns.recall"] {
            report.no_worse(&format!("{metric}.pseudo"), &format!("{metric}.mention_only"));
        }
    }
}

/// What people reach, as far as one annotation of each line can say it: where a line names somebody, the share of
/// those whose noted antecedents lead to somebody named.
fn people(set: &[Played<'_>], report: &mut Report) {
    let mut agree = (0, 0);
    for played in set {
        let noted = &played.chat.noted;
        for line in played.scored().filter(|l| noted[l.at].explicit && !l.to.is_empty()) {
            let answered = answered(played.chat, line.at, line.author);
            if !answered.is_empty() {
                count(&mut agree, answered.iter().any(|who| line.to.contains(who)));
            }
        }
    }
    report.figure("addressee.explicit.people", share(agree.0, agree.1), "share");
    const ONE: &str = "each line was annotated once, and that is what is scored against";
    for metric in ["addressee.implicit", "directedness.macro_f1"] {
        report.absent(&format!("{metric}.people"), ONE);
    }
}

/// Whom a line was noted to answer, back over its author's own lines to the first others.
fn answered(chat: &Chat, at: usize, author: usize) -> BTreeSet<usize> {
    let (mut who, mut next, mut seen) = (BTreeSet::new(), vec![at], BTreeSet::new());
    while let Some(at) = next.pop() {
        for seq in &chat.noted[at].answers {
            let Ok(before) = chat.noted.binary_search_by_key(seq, |noted| noted.seq) else {
                continue;
            };
            match chat.heard[before].author {
                Some(other) if other != author => drop(who.insert(other)),
                Some(_) if seen.insert(before) => next.push(before),
                _ => {}
            }
        }
    }
    who
}

/// A hit is a prediction in `to`, or none where `to` is empty.
fn addressees(set: &[Played<'_>], who: Who, report: &mut Report) {
    let (mut all, mut implicit) = ((0, 0), (0, 0));
    for played in set {
        for line in played.scored() {
            let predicted = match who.is_product() {
                true => line.decided.addressee(),
                false => line.decided.named.first().copied(),
            };
            let hit = predicted.map_or(line.to.is_empty(), |p| line.to.contains(&p));
            count(&mut all, hit);
            if !played.chat.noted[line.at].explicit {
                count(&mut implicit, hit);
            }
            if who == Who::Us && !hit {
                report.explain(played.chat, line.at, line.decided, line.to);
            }
        }
    }
    let name = |metric: &str| format!("addressee.{metric}{}", who.suffix());
    report.figure(&name("all"), share(all.0, all.1), "share");
    report.figure(&name("implicit"), share(implicit.0, implicit.1), "share");
}

fn count(of: &mut (usize, usize), hit: bool) {
    of.0 += usize::from(hit);
    of.1 += 1;
}

/// Of an agent that is not the author: 0 to me, 1 to somebody else, 2 to nobody.
fn class(to: &[usize], agent: usize) -> usize {
    match to {
        [] => 2,
        _ if to.contains(&agent) => 0,
        _ => 1,
    }
}

/// Over each line and each agent that is not its author. A knock that the flow of talk is the reason of says "to me"
/// as a turn does: what it is unsure of is what that costs, not who is meant.
fn directedness(set: &[Played<'_>], who: Who, report: &mut Report) {
    let table = three_ways(set, who);
    let total: usize = table.iter().flatten().sum();
    let right: usize = (0..3).map(|c| table[c][c]).sum();
    let name = |metric: &str| format!("directedness.{metric}{}", who.suffix());
    report.figure(&name("accuracy"), share(right, total), "share");
    report.figure(&name("macro_f1"), macro_f1(&table), "f1");
    report.figure(&name("to_me_f1"), f1_of(&table, 0), "f1");
}

/// How often each class (first) was decided as each (second).
type ThreeWays = [[usize; 3]; 3];

fn three_ways(set: &[Played<'_>], who: Who) -> ThreeWays {
    let mut table = ThreeWays::default();
    for played in set {
        for line in played.scored() {
            for agent in played.agents.iter().copied().filter(|a| *a != line.author) {
                let predicted = match who {
                    Who::Us | Who::Pseudo => ours(line.decided, agent),
                    Who::MentionOnly => class(&line.decided.named, agent),
                    Who::Broadcast | Who::People => 0,
                };
                table[class(line.to, agent)][predicted] += 1;
            }
        }
    }
    table
}

fn f1_of(table: &ThreeWays, class: usize) -> f64 {
    let predicted = (0..3).map(|gold| table[gold][class]).sum();
    f1(table[class][class], predicted, table[class].iter().sum())
}

fn macro_f1(table: &ThreeWays) -> f64 {
    (0..3).map(|class| f1_of(table, class)).sum::<f64>() / 3.0
}

fn ours(decided: &Decided, agent: usize) -> usize {
    match decided.of(agent).directedness {
        Directedness::ToMe | Directedness::ToMyRole => 0,
        Directedness::ToOther => 1,
        Directedness::Ambient => 2,
    }
}

/// The harmonic mean of precision and recall.
pub(crate) fn f1(right: usize, predicted: usize, wanted: usize) -> f64 {
    if predicted + wanted == 0 { 0.0 } else { 2.0 * right as f64 / (predicted + wanted) as f64 }
}

/// Whether the agent is given a turn, and whether it is knocked for.
fn given(decided: &Decided, who: Who, to: &[usize], agent: usize) -> (bool, bool) {
    match who {
        Who::Us | Who::Pseudo => {
            let mode = decided.of(agent).mode;
            (matches!(mode, Mode::Immediate | Mode::Buffered), mode == Mode::Notify)
        }
        Who::MentionOnly => (decided.named.contains(&agent), false),
        Who::Broadcast => (true, false),
        Who::People => (to.contains(&agent), false),
    }
}

/// Full injections for a hundred scored lines. Recall and precision are over directed pairs of line and agent.
fn turns(set: &[Played<'_>], who: Who, report: &mut Report) {
    let counted = Turns::count(set, who);
    let name = |metric: &str| format!("{metric}{}", who.suffix());
    let hundred = |n: usize| 100.0 * share(n, counted.lines);
    report.figure(&name("turns.per_100"), hundred(counted.turns), "turns/100 lines");
    report.figure(&name("turns.recall"), share(counted.right, counted.wanted), "share");
    report.figure(&name("turns.precision"), share(counted.right, counted.turns), "share");
    if who.is_product() {
        report.figure(&name("knocks.per_100"), hundred(counted.knocks), "knocks/100 lines");
        let precision = share(counted.knocked_right, counted.knocks);
        report.figure(&name("knocks.precision"), precision, "share");
        report.figure(&name("owed.per_100"), hundred(counted.owed), "obligations/100 lines");
        let precision = share(counted.owed_right, counted.owed);
        report.figure(&name("owed.precision"), precision, "share");
        report.figure(&name("owed.recall"), share(counted.owed_right, counted.wanted), "share");
    }
}

#[derive(Default)]
struct Turns {
    lines: usize,
    turns: usize,
    knocks: usize,
    right: usize,
    knocked_right: usize,
    /// Turns that must end in an answer.
    owed: usize,
    owed_right: usize,
    wanted: usize,
}

impl Turns {
    fn count(set: &[Played<'_>], who: Who) -> Self {
        let mut all = Self::default();
        for played in set {
            for line in played.scored() {
                all.lines += 1;
                for agent in played.agents.iter().copied().filter(|a| *a != line.author) {
                    let (turn, knock) = given(line.decided, who, line.to, agent);
                    let directed = line.to.contains(&agent);
                    all.turns += usize::from(turn);
                    all.knocks += usize::from(knock);
                    all.right += usize::from(turn && directed);
                    all.knocked_right += usize::from(knock && directed);
                    all.wanted += usize::from(directed);
                    let owed = who.is_product() && line.decided.owes(agent);
                    all.owed += usize::from(owed);
                    all.owed_right += usize::from(owed && directed);
                }
            }
        }
        all
    }
}

/// What the bounds of the flow are chosen by.
pub(crate) struct Merit {
    pub turns: usize,
    pub right: usize,
    pub knocks: usize,
    pub knocked_right: usize,
    /// The share of questions to nobody that an agent was given.
    pub answered: f64,
}

impl Merit {
    pub(crate) fn of(set: &[Played<'_>]) -> Self {
        let Turns { turns, right, knocks, knocked_right, .. } = Turns::count(set, Who::Us);
        let open = Open::count(set, Who::Us);
        let answered = share(open.answered, open.questions);
        Self { turns, right, knocks, knocked_right, answered }
    }
}

/// A gold line that asks and is directed at nobody: how many distinct agents are given a turn for it, and the share
/// that got one. Of people: how many distinct others were noted to have answered it.
fn open_questions(set: &[Played<'_>], who: Who, report: &mut Report) {
    let open = Open::count(set, who);
    let name = |metric: &str| format!("{metric}{}", who.suffix());
    let responders = share(open.responders, open.questions);
    report.figure(&name("responders.per_question"), responders, "agents");
    report.figure(&name("answered.per_question"), share(open.answered, open.questions), "share");
}

#[derive(Default)]
struct Open {
    questions: usize,
    responders: usize,
    answered: usize,
}

impl Open {
    fn count(set: &[Played<'_>], who: Who) -> Self {
        let mut open = Self::default();
        for played in set {
            for line in played.scored().filter(|line| line.to.is_empty() && line.decided.asks) {
                let agents = played.agents.iter().copied().filter(|a| *a != line.author);
                let count = match who {
                    Who::People => people_who_answered(played.chat, line.at, line.author),
                    _ => agents.filter(|a| given(line.decided, who, line.to, *a).0).count(),
                };
                open.questions += 1;
                open.responders += count;
                open.answered += usize::from(count > 0);
            }
        }
        open
    }
}

fn people_who_answered(chat: &Chat, at: usize, author: usize) -> usize {
    let seq = chat.noted[at].seq;
    let answers = chat.noted.iter().enumerate().filter(|(_, noted)| noted.answers.contains(&seq));
    let who: BTreeSet<usize> = answers.filter_map(|(at, _)| chat.heard[at].author).collect();
    who.iter().filter(|a| **a != author).count()
}
