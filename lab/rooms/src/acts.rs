//! What a line wants: acknowledgements and questions, as people or a sample have labelled them.

use std::collections::HashMap;

use chorus_core::model::attention::Intent;

use crate::lines::{Labelled, Set};
use crate::replay::Decided;
use crate::report::Report;
use crate::score::Played;

/// Right, predicted and wanted, by weight.
#[derive(Default)]
struct Tally {
    right: f64,
    predicted: f64,
    wanted: f64,
}

impl Tally {
    fn add(&mut self, predicted: bool, wanted: bool, weight: f64) {
        let weigh = |on: bool| if on { weight } else { 0.0 };
        self.right += weigh(predicted && wanted);
        self.predicted += weigh(predicted);
        self.wanted += weigh(wanted);
    }

    fn f1(&self) -> f64 {
        let of = self.predicted + self.wanted;
        if of > 0.0 { 2.0 * self.right / of } else { 0.0 }
    }
}

/// Questions of a set whose lines carry `acts` themselves.
pub(crate) fn questions(set: &[Played<'_>], report: &mut Report) {
    let mut tally = Tally::default();
    let mut noted = false;
    for played in set {
        for (line, decided) in played.chat.noted.iter().zip(played.decided) {
            let Some(decided) = decided.as_ref().filter(|_| line.gold) else { continue };
            noted |= !line.acts.is_empty();
            tally.add(decided.asks, line.acts.iter().any(|act| act == "question"), 1.0);
        }
    }
    if noted {
        report.figure("question.f1", tally.f1(), "f1");
    }
}

/// Each line of the sample, where it stands in its file.
pub(crate) fn labelled(
    sample: &[Labelled],
    sets: &[Set],
    decided: &HashMap<(String, String), Vec<Option<Decided>>>,
    report: &mut Report,
) {
    let (mut acks, mut questions) = (Tally::default(), Tally::default());
    for label in sample {
        let set = sets.iter().find(|set| set.name == label.file);
        let chat = set.and_then(|set| set.chats.iter().find(|chat| chat.conv == label.conv));
        let at = chat.and_then(|chat| chat.noted.iter().position(|n| n.seq == label.seq));
        let place = (label.file.clone(), label.conv.clone());
        let found = at.and_then(|at| decided.get(&place)?.get(at)?.as_ref());
        let (Some(found), Some(chat), Some(at)) = (found, chat, at) else {
            report.missing(&format!("{} {} {}", label.file, label.conv, label.seq));
            continue;
        };
        let intent = found.attention.intent;
        let courtesy = intent.is_courtesy();
        let asks = found.asks || (intent.asks() && intent != Intent::Cancel);
        acks.add(courtesy, label.label == "ack", label.weight);
        questions.add(asks, label.label == "ask", label.weight);
        if courtesy != (label.label == "ack") || asks != (label.label == "ask") {
            report.explain_act(chat, at, found, &label.label, label.weight);
        }
    }
    if !sample.is_empty() {
        report.figure("ack.f1", acks.f1(), "f1");
        report.figure("question.f1", questions.f1(), "f1");
    }
}
