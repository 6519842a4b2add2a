use std::collections::BTreeSet;

use chorus_core::attention::compose;
use chorus_core::attention::flow::Settings;
use chorus_core::packed;
use serde_json::Value;

use crate::lines::{Chat, parse};
use crate::replay::Replay;
use crate::report::Report;
use crate::score::{Played, score};

/// A room in the format, with every annotation there is; the last ones are wrong on purpose.
const ROOM: &str = r#"
{"conv":"r","seq":0,"ts":100,"res":"sec","author":"ann","kind":"msg","text":"hi, does the build work for anyone?","mentions":[],"reply_to":null,"cluster":1,"root":true,"gold":true,"to":[],"to_src":"none"}
{"conv":"r","seq":1,"ts":105,"res":"sec","author":"ben","kind":"msg","text":"ann: yes, since noon","mentions":["ann"],"reply_to":0,"cluster":1,"gold":true,"to":["ann"],"to_src":"explicit"}
{"conv":"r","seq":2,"ts":106,"res":"sec","author":null,"kind":"system","text":"join","mentions":[],"reply_to":null,"cluster":null,"gold":false}
{"conv":"r","seq":3,"ts":111,"res":"sec","author":"ann","kind":"msg","text":"thanks","mentions":[],"reply_to":1,"reply_all":[1],"cluster":1,"gold":true,"to":["ben"],"to_src":"reply"}
{"conv":"r","seq":4,"ts":113,"res":"sec","author":"cat","kind":"action","text":"@ben what did you change?","mentions":["ben"],"reply_to":0,"cluster":2,"gold":true,"to":["ann"],"to_src":"reply","x":"x","acts":["question"]}
{"conv":"r","seq":5,"ts":114,"res":"sec","author":"ben","kind":"msg","text":"the cache key","mentions":[],"reply_to":0,"cluster":9,"gold":true,"to":["cat"],"to_src":"reply"}
"#;

/// What the format's page lists as noted by people or machines.
const NOTES: [&str; 10] = [
    "mentions",
    "to",
    "to_src",
    "reply_to",
    "reply_all",
    "cluster",
    "root",
    "gold",
    "label",
    "acts",
];

fn room(text: &str) -> Chat {
    parse("room", text).unwrap().chats.remove(0)
}

fn decisions(chat: &Chat) -> Vec<Option<Vec<u8>>> {
    let agents: BTreeSet<usize> = chat.most_active(2).into_iter().collect();
    let played =
        Replay::new(&chat.authors, &agents, 0, Settings::default()).unwrap().play(&chat.heard);
    played.iter().map(|d| d.as_ref().map(|d| packed::attention(&d.attention))).collect()
}

#[test]
fn decisions_are_the_same_bytes_without_annotations() {
    let stripped: Vec<String> = ROOM
        .lines()
        .filter(|line| !line.is_empty())
        .map(|line| {
            let mut line: Value = serde_json::from_str(line).unwrap();
            NOTES.iter().for_each(|note| drop(line.as_object_mut().unwrap().remove(*note)));
            line.to_string()
        })
        .collect();
    let (whole, bare) = (room(ROOM), room(&stripped.join("\n")));
    assert!(bare.noted.iter().all(|n| n.to.is_none() && !n.gold && n.cluster.is_none()));
    assert_eq!(decisions(&whole), decisions(&bare));
}

#[test]
fn decisions_know_nothing_of_what_comes_later() {
    let whole = room(ROOM);
    let mut begun = whole.clone();
    begun.heard.truncate(4);
    // The agents are chosen by who is most active in all of the log, so they are given here.
    let play = |chat: &Chat| {
        let agents = BTreeSet::from([0, 1]);
        let played =
            Replay::new(&chat.authors, &agents, 0, Settings::default()).unwrap().play(&chat.heard);
        played.iter().map(|d| d.as_ref().map(|d| d.attention.clone())).collect::<Vec<_>>()
    };
    assert_eq!(play(&whole)[..4], play(&begun)[..]);
}

#[test]
fn figures_are_taken_as_defined() {
    let chat = room(ROOM);
    let decided = Replay::new(&chat.authors, &BTreeSet::new(), 0, Settings::default())
        .unwrap()
        .play(&chat.heard);
    let mut report = Report::new("room", false);
    let compose = compose::Settings::default();
    score(&[Played { chat: &chat, agents: vec![0, 1], decided: &decided, compose }], &mut report);
    let figure = |name: &str| {
        let line = report.lines.iter().find(|line| line["metric"] == name);
        line.and_then(|line| line["value"].as_f64()).unwrap()
    };
    // Nobody is named in the first, the third and the last line, and the fourth names another than was noted.
    assert_eq!(figure("addressee.all.mention_only"), 0.4);
    assert_eq!(figure("addressee.implicit.mention_only"), 0.25);
    // Two agents are told of each line that neither said, one of the others.
    assert_eq!(figure("turns.per_100.broadcast"), 120.0);
    assert_eq!(figure("turns.per_100.people"), 60.0);
    assert_eq!(figure("turns.recall.mention_only"), 0.3333);
    assert_eq!(figure("turns.precision.mention_only"), 0.5);
    assert_eq!(figure("responders.per_question.people"), 2.0);
    assert_eq!(figure("responders.per_question.broadcast"), 1.0);
}

#[test]
fn lines_that_are_not_of_the_format_are_refused_with_their_place() {
    assert!(parse("bad", "{\"conv\":\"r\"}\nnot json").unwrap_err().starts_with("2: "));
    assert_eq!(parse("bad", "{}").err(), Some("1: a line names its conversation in `conv`".into()));
}
