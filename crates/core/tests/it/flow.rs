//! Messages that name nobody, and the flow of talk that says whom they are for.

use chorus_core::model::attention::{Decision, Directedness, Mode, Policy, Rule};
use chorus_core::model::flow::{Clue, Clues, Settings};
use chorus_core::model::ids::{MemberKey, Timestamp, Uid};
use chorus_core::model::member::MemberKind;

use crate::house::{ALICE, BOB, House, REVIEWER, SCOUT, Say, WRITER};

/// Alice has asked scout something, and scout has answered.
fn talking(house: &mut House) -> Uid {
    house.says(ALICE, "@scout how is the build?");
    let offer = house.take(SCOUT);
    let answer = house.reply(&offer, "the build is red since noon").expect("scout was asked");
    house.pass(20_000);
    answer
}

fn decision(house: &House, event: Uid, member: MemberKey) -> Option<Decision> {
    house.decision(event, member)
}

// covers: ATT-194
#[test]
fn a_question_in_a_talk_of_two_is_for_the_other() {
    let mut house = House::new();
    talking(&mut house);
    let event = house.says(ALICE, "and do you know which test it is?");
    let told = decision(&house, event, SCOUT).expect("scout is told");
    assert_eq!((told.rule, told.directedness), (Rule::Flow, Directedness::ToMe));
    assert_eq!((told.policy, told.mode), (Policy::MustRespond, Mode::Buffered));
    let attention = house.attention(event);
    let meant = attention.meant.expect("a guess");
    assert_eq!(meant.member, SCOUT);
    assert!(meant.because.has(Clue::Answer), "{:?}", meant.because.iter().collect::<Vec<_>>());
    assert_eq!(attention.rest, Directedness::ToOther);
    assert_eq!(decision(&house, event, WRITER), None);
    // What it means it means for who comes later too, and nobody's first words are for scout.
    house.pass(600_000);
    let other = house.says(BOB, "morning everyone, I am back from lunch");
    assert_eq!(decision(&house, other, SCOUT), None);
}

// covers: ATT-194
#[test]
fn a_guess_obliges_as_far_as_it_is_sure() {
    let may = Policy::MayRespond;
    let shown = (Rule::FlowLikely, Directedness::ToMyRole, may, Mode::Buffered);
    let knock = (Rule::FlowPerhaps, Directedness::ToMyRole, may, Mode::Notify);
    let must = (Rule::Flow, Directedness::ToMe, Policy::MustRespond, Mode::Buffered);
    for (sure, likely, perhaps, want) in [
        (1, 1, 1, Some(must)),
        (100, 1, 1, Some(shown)),
        (100, 100, 1, Some(knock)),
        (100, 100, 100, None),
    ] {
        let mut house = House::new();
        house.ws = std::mem::take(&mut house.ws).with_flow(Settings {
            sure,
            likely,
            perhaps,
            ..Settings::default()
        });
        talking(&mut house);
        let event = house.says(ALICE, "and do you know which test it is?");
        let told = decision(&house, event, SCOUT);
        let told = told.map(|d| (d.rule, d.directedness, d.policy, d.mode));
        assert_eq!(told, want, "{sure} {likely} {perhaps}");
    }
    let usual = Settings::default();
    let rules = [100, 70, 69, 40, 39, 25, 24, 0].map(|percent| usual.rule_of(percent));
    let [flow, likely, perhaps] = [Rule::Flow, Rule::FlowLikely, Rule::FlowPerhaps].map(Some);
    assert_eq!(rules, [flow, flow, likely, likely, perhaps, perhaps, None, None]);
}

/// Who is told of a message though nobody is meant.
fn asked(house: &House, event: Uid) -> Vec<MemberKey> {
    let told = &house.attention(event).told;
    told.iter().filter(|t| t.decision.rule == Rule::AskedOne).map(|t| t.member).collect()
}

const OPEN: &str = "hi all, does anybody know when the release is?";

// covers: ATT-199
#[test]
fn a_question_to_nobody_is_given_to_one_agent_that_may_answer() {
    let mut house = House::new();
    house.says(ALICE, "@reviewer is the page ready?");
    let offer = house.take(REVIEWER);
    house.reply(&offer, "the page is ready").expect("reviewer was asked");
    talking(&mut house);
    house.pass(600_000);
    let event = house.says(BOB, OPEN);
    let [one] = asked(&house, event)[..] else { panic!("{:?}", house.attention(event).told) };
    assert!([SCOUT, REVIEWER].contains(&one));
    let told = decision(&house, event, one).expect("it is told");
    let may = (Directedness::Ambient, Policy::MayRespond, Mode::Buffered, None);
    assert_eq!((told.directedness, told.policy, told.mode, told.deadline_ms), may);
    assert_eq!(house.attention(event).told.len(), 1);
    // An edit is for the one that was asked, unless it asks nothing any more.
    let edit = house.edit(BOB, event, "hi all, when is the next release?").expect("his own");
    assert_eq!(asked(&house, edit), [one]);
    let edit = house.edit(BOB, event, "hi all, the release is at noon").expect("his own");
    assert_eq!(asked(&house, edit), []);
    // What was decided is kept over a restart.
    house.restart();
    assert_eq!(asked(&house, event), [one]);
}

// covers: ATT-199
#[test]
fn a_question_is_given_to_nobody_where_that_is_not_wanted() {
    let nobody = |settings: Settings, before: bool, say: fn(&House) -> Say| {
        let mut house = House::new();
        house.ws = std::mem::take(&mut house.ws).with_flow(settings);
        if before {
            talking(&mut house);
            house.pass(600_000);
        }
        let say = say(&house);
        let event = house.post(BOB, say).expect("people may speak");
        asked(&house, event).is_empty()
    };
    let open: fn(&House) -> Say = |house| Say::to(house.ops, OPEN);
    let on = Settings::default();
    assert!(!nobody(on, true, open));
    for (settings, before, say, why) in [
        (Settings { ask_one: false, ..on }, true, open, "switched off"),
        (Settings { on: false, ..on }, true, open, "the flow is not read"),
        (on, false, open, "no agent has spoken here"),
        (on, true, |h: &House| Say::to(h.ops, OPEN).meant(Directedness::Ambient), "it says so"),
        (on, true, |h: &House| Say::to(h.ops, "hi all, it is Friday"), "nothing is asked"),
        (on, true, |h: &House| Say::to(h.ops, "@nobody when is it?"), "it names somebody"),
    ] {
        assert!(nobody(settings, before, say), "{why}");
    }
    // Nor to whom has left, and not by an agent.
    let mut house = House::new();
    talking(&mut house);
    house.says(ALICE, "@scout please leave this channel");
    house.pass(600_000);
    let event = house.says(BOB, OPEN);
    assert_eq!(asked(&house, event), []);
    let mut house = House::new();
    talking(&mut house);
    house.says(ALICE, "@reviewer is the page ready?");
    let offer = house.take(REVIEWER);
    let event = house.reply(&offer, "does anybody know when the release is?").expect("asked");
    assert_eq!(asked(&house, event), []);
}

// covers: ATT-195
#[test]
fn a_name_always_wins_and_agents_are_not_guessed_at() {
    let mut house = House::new();
    house.add_member("elsewhere", MemberKind::Agent);
    for text in ["@reviewer and which test is it?", "reviewer: which test is it?"] {
        talking(&mut house);
        let event = house.says(ALICE, text);
        assert_eq!(decision(&house, event, SCOUT), None, "{text}");
        assert!(decision(&house, event, REVIEWER).is_some(), "{text}");
        assert_eq!(house.attention(event).meant, None, "{text}");
    }
    for text in ["@elsewhere which test is it?", "@nobody which test is it?"] {
        talking(&mut house);
        let event = house.says(ALICE, text);
        assert_eq!(house.attention(event).told, [], "{text}");
    }
    let answer = talking(&mut house);
    let event = house.post(BOB, Say::to(house.ops, "which test?").answering(answer));
    let event = event.expect("people may speak");
    assert_eq!(decision(&house, event, SCOUT).map(|d| d.rule), Some(Rule::Reply));
    assert_eq!(house.attention(event).meant, None);
    // An agent's message is for whom it answers, whatever the flow.
    let attention = house.attention(answer);
    assert!(attention.meant.is_none_or(|m| m.member == ALICE && m.because == Clues::NONE));
}

// covers: ATT-196
#[test]
fn rules_of_the_flow_can_be_switched_off_one_by_one_and_all_at_once() {
    let all = Clue::ALL.into_iter().fold(Clues::NONE, Clues::with);
    let ask = |settings: Settings| {
        let mut house = House::new();
        house.ws = std::mem::take(&mut house.ws).with_flow(settings);
        talking(&mut house);
        let event = house.says(ALICE, "and do you know which test it is?");
        house.attention(event).meant
    };
    assert_eq!(ask(Settings { on: false, ..Settings::default() }), None);
    for clue in Clue::ALL {
        let off = Clues::NONE.with(clue);
        let without = ask(Settings { off, ..Settings::default() });
        assert!(without.is_none_or(|m| !m.because.has(clue)), "{}", clue.name());
    }
    // With no rule everybody is as likely as nobody.
    let meant = ask(Settings { off: all, ..Settings::default() });
    assert!(meant.is_none_or(|m| m.confidence <= 50 && m.because == Clues::NONE));
}

// covers: ATT-197
#[test]
fn an_edit_is_for_whom_the_message_was_for() {
    let mut house = House::new();
    talking(&mut house);
    let event = house.says(ALICE, "and do you know which test it is?");
    let meant = house.attention(event).meant;
    house.says(BOB, "@writer the page is ready");
    let edit = house.edit(ALICE, event, "and do you know which tests these are?").expect("her own");
    assert_eq!(house.attention(edit).meant, meant);
}

// covers: ATT-198
#[test]
fn any_text_is_decided_in_bounded_time() {
    let mut house = House::new();
    talking(&mut house);
    let long = "scout, you know? ".repeat(60_000);
    let texts = [
        "",
        " ",
        "🙂",
        "🙂🙂🙂",
        "scout",
        "@",
        "?",
        "\u{202e}tuocs@ hello",
        "سكاوت هل يعمل؟",
        "ѕсоut: ok?",
        "שלום @scout 你好 scout",
        "\0\u{7f}",
        "e\u{301}\u{301}\u{301}",
        &"@scout ".repeat(1_000),
        &long[..16_000],
        &"a".repeat(16_000),
        &"? ".repeat(8_000),
        &"\u{1f9d1}\u{200d}".repeat(2_000),
    ];
    for (n, text) in texts.iter().enumerate() {
        // The clock goes to and fro.
        house.now = Timestamp(house.now.0 + [90_000, -3_600_000, 0][n % 3]);
        let said = house.post(ALICE, Say::to(house.ops, text));
        if let Ok(event) = said {
            let meant = house.attention(event).meant;
            assert!(meant.is_none_or(|m| m.confidence <= 100), "{text:.40}");
        }
    }
    // What transports refuse for its size alone is heard in bounded time too.
    let megabytes = "scout, you know? ".repeat(500_000);
    let heard = chorus_core::language::features::Features::of(&megabytes);
    assert!(heard.asks && heard.second_person && heard.length < 255);
}
