use std::collections::BTreeSet;

use chorus_core::attention::compose;
use chorus_core::codec;
use chorus_core::model::attention::Attention;
use chorus_core::model::flow::Settings;
use chorus_core::model::limits;
use serde_json::Value;

use crate::lines::{Chat, Heard, parse};
use crate::replay::Replay;
use crate::report::Report;
use crate::score::{Played, score, score_pseudo};
use crate::{merge, pseudo};

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
    played.iter().map(|d| d.as_ref().map(|d| codec::attention(&d.attention))).collect()
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

/// Ann says these, so many seconds after the first, and ben asks in between what belongs to nothing of it.
fn pieces(at: &[(i64, &str)]) -> Chat {
    let lines = at.iter().enumerate().map(|(seq, (seconds, text))| {
        let line = serde_json::json!({
            "conv": "p", "seq": seq, "ts": 100 + seconds, "res": "sec", "author": "ann", "kind": "msg",
            "text": text, "gold": true, "cluster": 1, "to": ["ben"], "to_src": "reply",
        });
        line.to_string()
    });
    room(&lines.collect::<Vec<_>>().join("\n"))
}

#[test]
fn late_lines_join_a_run_that_is_silent_twice_and_each_wait_is_counted() {
    let merged = |at: &[(i64, &str)]| {
        let chat = pieces(at);
        let decided = vec![None; chat.heard.len()];
        let compose = compose::Settings::default();
        let set = [Played { chat: &chat, agents: Vec::new(), decided: &decided, compose }];
        let mut report = Report::new("pieces", false);
        merge::score(&set, &mut report);
        move |name: &str| {
            let line = report.lines.iter().find(|line| line["metric"] == name).unwrap();
            line["value"].as_f64().unwrap()
        }
    };
    // The window has closed after 2 s; the run says its first word at 12 s.
    let figure = merged(&[(0, "The build is red."), (11, "It was green before.")]);
    assert_eq!((figure("merge.f1"), figure("merge.window_f1")), (1.0, 0.0));
    assert_eq!((figure("merge.wait_p50_ms"), figure("merge.wait_p95_ms")), (2_000.0, 2_000.0));
    let figure = merged(&[(0, "The build is red."), (12, "It was green before.")]);
    assert_eq!(figure("merge.f1"), 0.0);
    // The third that comes late is a turn of its own: two of three pairs.
    let figure = merged(&[(0, "One."), (5, "Two."), (10, "Three."), (15, "Four.")]);
    assert_eq!((figure("merge.f1"), figure("merge.recall")), (0.8, 0.6667));
    // What looks unfinished is waited for.
    let figure = merged(&[(0, "the build of the"), (4, "other branch is red")]);
    assert_eq!((figure("merge.window_f1"), figure("merge.wait_p95_ms")), (1.0, 2_000.0));
}

#[test]
fn lines_that_are_not_of_the_format_are_refused_with_their_place() {
    assert!(parse("bad", "{\"conv\":\"r\"}\nnot json").unwrap_err().starts_with("2: "));
    assert_eq!(parse("bad", "{}").err(), Some("1: a line names its conversation in `conv`".into()));
}

/// Two talks at once in which most lines name nobody.
const TALKS: [(usize, &str, Option<usize>); 14] = [
    (0, "ben: did the build pass this morning?", Some(1)),
    (1, "no, the cache was full again", Some(0)),
    (0, "did you empty it by hand?", Some(1)),
    (1, "twice, and it came back", Some(0)),
    (2, "dan: could you read my page on the release?", Some(3)),
    (3, "which page do you mean?", Some(2)),
    (0, "then something writes the same key", Some(1)),
    (2, "the one about the release notes", Some(3)),
    (1, "that is what I think too", Some(0)),
    (3, "those notes need a date", Some(2)),
    (0, "can we look at the writer together?", Some(1)),
    (1, "after lunch", Some(0)),
    (2, "I will add the date to the notes", Some(3)),
    (3, "and the name of who wrote them", Some(2)),
];

fn talks() -> Chat {
    let names = ["ann", "ben", "cat", "dan"];
    let lines = TALKS.iter().enumerate().map(|(seq, (author, text, to))| {
        let to: Vec<_> = to.iter().map(|to| names[*to]).collect();
        let source = if text.contains(':') { "explicit" } else { "reply" };
        serde_json::json!({
            "conv": "t", "seq": seq, "ts": 100 + 20 * seq, "res": "sec", "author": names[*author],
            "kind": "msg", "text": text, "gold": true, "to": to, "to_src": source,
        })
        .to_string()
    });
    room(&lines.collect::<Vec<_>>().join("\n"))
}

#[test]
fn in_a_language_that_nobody_speaks_the_flow_is_no_worse_than_names() {
    let chat = talks();
    let strange = pseudo::chat(&chat);
    let agents: BTreeSet<usize> = (0..4).collect();
    let play = |chat: &Chat| {
        Replay::new(&chat.authors, &agents, 0, Settings::default()).unwrap().play(&chat.heard)
    };
    let (decided, pseudo) = (play(&chat), play(&strange));
    let mut report = Report::new("talks", false);
    let set = |decided| {
        let compose = compose::Settings::default();
        [Played { chat: &chat, agents: vec![0, 1, 2, 3], decided, compose }]
    };
    score(&set(&decided), &mut report);
    score_pseudo(&set(&pseudo), &mut report);
    for metric in ["addressee.implicit", "directedness.macro_f1", "turns.recall"] {
        let value = |suffix: &str| {
            let name = format!("{metric}.{suffix}");
            let line = report.lines.iter().find(|line| line["metric"] == *name);
            line.unwrap_or_else(|| panic!("{name}")).clone()
        };
        let (ours, names) = (value("pseudo"), value("mention_only"));
        assert_eq!((&ours["target"], &ours["holds"]), (&names["value"], &Value::Bool(true)));
        assert!(ours["value"].as_f64() > names["value"].as_f64(), "{ours} {names}");
    }
}

#[test]
fn a_made_up_language_keeps_names_and_marks_and_nothing_else() {
    let names = ["u001".to_owned(), "anna-2".to_owned()];
    let new = |text: &str| pseudo::text(text, &names);
    let text = new("U001: did you (or Anna-2's) build it, you 2?");
    let shape: String = text.chars().filter(|c| !c.is_alphabetic() && *c != '-').collect();
    assert_eq!(shape, "001:   ( 2')  ,  ?", "{text}");
    assert!(text.starts_with("U001: x") && text.contains("Anna-2'x)"), "{text}");
    let words: Vec<_> = text.split(' ').collect();
    assert_eq!(words[2], words[7], "the same word is the same");
    assert_eq!((words[1].len(), new("ünïcödé").chars().count()), (3, 7));
    assert_ne!(new("build"), new("guild"));
    assert_eq!(new(""), "");
}

/// What is decided of a text said after a talk of two, and what deciding it allocated.
fn said(authors: &[String], agents: &BTreeSet<usize>, text: &str, at: i64) -> (Attention, u64) {
    let line = |author, text: &str, at| Heard {
        author: Some(author),
        at: Some(at),
        said: true,
        text: text.to_owned(),
    };
    let mut replay = Replay::new(authors, agents, 0, Settings::default()).unwrap();
    replay.play(&[line(0, "ben: is it green?", 60_000), line(1, "yes, ann", 70_000)]);
    let next = [line(0, text, at)];
    let mut decided = Vec::new();
    let used = allocation_counter::measure(|| decided = replay.play(&next));
    (decided.remove(0).expect("somebody said it").attention, used.bytes_total)
}

/// Bytes that a decision and its message may take beside twelve times the text: half of it is a thousand who are named.
const ROOM_FOR: u64 = 512 * 1024;

#[test]
fn any_text_at_any_time_is_decided_with_a_trace_in_bounded_memory() {
    let mut authors: Vec<String> = ["ann", "ben"].map(str::to_owned).to_vec();
    authors.extend((0..1_500).map(|n| format!("agent-{n}")));
    let agents: BTreeSet<usize> = (1..authors.len()).collect();
    let everybody: String = authors.iter().map(|name| format!("@{name} ")).collect();
    let megabyte = |piece: &str| piece.repeat((1 << 20) / piece.len() + 1);
    let short = [
        "",
        " \n\t",
        "🙂",
        "👩‍👩‍👧🙂🙂",
        "ben",
        "@",
        "@ben",
        "?",
        "\0\u{7f}\u{feff}",
        "\u{202e}neb@ olleh",
        "שלום ben، как дела? 元気",
        "@bеn: is it green?",
        "ｂｅｎ: green?",
        "e\u{301}\u{301}\u{301}",
    ];
    let long = [
        everybody,
        "@ben ".repeat(1_000),
        megabyte("ben, do you know? "),
        megabyte("a"),
        megabyte("@"),
        megabyte("@ben "),
        megabyte("🙂"),
        megabyte("\u{202e}שלום"),
        megabyte("```\n"),
        megabyte("https://"),
        megabyte("? "),
        megabyte("\n> "),
        megabyte("\u{301}"),
    ];
    for text in short.into_iter().chain(long.iter().map(String::as_str)) {
        let times = [80_000, 0, i64::MIN, i64::MAX, 60_000];
        for at in times.into_iter().take(if text.len() > 100 { 2 } else { 5 }) {
            let (attention, bytes) = said(&authors, &agents, text, at);
            let begins: String = text.chars().take(20).collect();
            let most = limits::MENTIONS_PER_MESSAGE + 1;
            assert!(attention.told.len() <= most, "{begins:?}: {}", attention.told.len());
            // A trace: each who is told has its rule, and a guess names the rules that made it.
            let names = attention.told.iter().all(|told| !told.decision.rule.name().is_empty());
            assert!(names, "{begins:?}");
            assert!(attention.meant.is_none_or(|m| m.confidence <= 100), "{begins:?}");
            assert!(!codec::attention(&attention).is_empty());
            let bound = ROOM_FOR + 12 * text.len() as u64;
            assert!(bytes <= bound, "{begins:?} at {at}: {bytes} bytes of {bound}");
        }
    }
    // Letters that look like a handle's are not the handle.
    for (text, named) in [("@ben: green?", true), ("@bеn: green?", false)] {
        let (attention, _) = said(&authors, &agents, text, 80_000);
        assert_eq!(attention.told.iter().any(|told| told.member.0 == 2), named, "{text}");
    }
}

#[test]
fn gaps_in_the_numbers_and_times_that_go_back_change_no_decision() {
    let lines = |seq: fn(usize) -> usize, ts: fn(usize) -> i64| {
        let mut chat = talks();
        for (n, line) in chat.heard.iter_mut().enumerate() {
            line.at = Some(ts(n));
            chat.noted[n].seq = seq(n) as u64;
        }
        decisions(&chat)
    };
    let whole = lines(|n| n, |n| 100_000 + 20_000 * n as i64);
    assert!(whole.iter().all(Option::is_some));
    assert_eq!(lines(|n| n * n * 1_000 + 7, |n| 100_000 + 20_000 * n as i64), whole);
    // A clock that goes back stands still.
    let still = lines(|n| n, |_| 100_000);
    assert_eq!(lines(|n| n, |n| 100_000 - 20_000 * n as i64), still);
}
