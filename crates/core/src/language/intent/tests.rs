#![allow(clippy::unwrap_used, clippy::expect_used)]

use proptest::prelude::*;

use super::*;

fn check(want: Intent, texts: &[&str]) {
    for text in texts {
        assert_eq!(intent(text, None), want, "{text:?}");
    }
}

const PREVIOUS: Before =
    Before { intent: Intent::Question, same_author: false, link: Link::Previous, by_person: true };

fn check_after(before: (&str, Intent), cases: &[(&str, Intent)]) {
    let before = Before { intent: before.1, ..PREVIOUS };
    for (text, want) in cases {
        assert_eq!(intent(text, Some(before)), *want, "{text:?} after a {:?}", before.intent);
        let alone = Before { same_author: true, ..before };
        assert_eq!(intent(text, Some(alone)), intent(text, None), "{text:?} after oneself");
    }
}

#[test]
fn questions() {
    check(
        Intent::Question,
        &[
            "@scout what is the state of the deploy?",
            "scout: is prod down?",
            "is there a way to do that",
            "anyone know why the tests fail",
            "¿qué hora es?",
            "今天部署吗？",
            "هل نجح البناء؟",
            "?",
            "@scout ?",
            "hi all, how do i restart it",
            "so why does it fail",
            "see https://x.y/z?",
        ],
    );
}

#[test]
fn requests() {
    check(
        Intent::Request,
        &[
            "Can you check whether the deploy is blocked?",
            "@scout please look at the logs",
            "thanks! could you also update the docs",
            "@scout run the tests",
            "scout, deploy it to staging",
            "pls help",
            "would you mind taking a look",
        ],
    );
}

#[test]
fn what_obliges_more() {
    check(
        Intent::Assignment,
        &[
            "@scout this is assigned to you",
            "you own the migration now",
            "please take over from here",
            "@scout your task: fix the flaky test",
            "can you take this one?",
        ],
    );
    check(
        Intent::Approval,
        &[
            "@ann please approve the rollout",
            "approve?",
            "LGTM?",
            "I need sign-off for this",
            "ok to merge?",
            "shall I proceed?",
            "@scout approved",
            "LGTM",
            "ship it",
        ],
    );
    check(
        Intent::Blocker,
        &[
            "I'm blocked on the schema change",
            "prod is down",
            "the login bug is blocking us",
            "@scout we are stuck on your PR",
            "blocked by CI",
        ],
    );
    check(
        Intent::Cancel,
        &[
            "stop",
            "@scout stop",
            "cancel that",
            "never mind, found it",
            "Abort!",
            "please stop the rollout",
            "scratch that",
            "@scout hold off",
        ],
    );
}

#[test]
fn what_only_looks_like_it() {
    check(
        Intent::Statement,
        &[
            "stop by my desk at noon",
            "we are unblocked again",
            "the stop button is red",
            "thanks to the new cache the page is fast now and nobody complains about it any more",
        ],
    );
    check(
        Intent::Question,
        &["are we blocked on the schema?", "how do i stop the service?", "who owns this?"],
    );
}

// covers: ATT-43
#[test]
fn courtesies() {
    check(
        Intent::Thanks,
        &[
            "thanks!",
            "@scout thank you so much",
            "ok thanks",
            "thx u074",
            "great, thanks for the quick fix",
            "cheers mate",
            "thanks",
        ],
    );
    check(
        Intent::Social,
        &[
            "hi",
            "hello everyone",
            "lol",
            "+1",
            "👍",
            "🎉🎉",
            ":)",
            "ok",
            "ok cool",
            "good morning",
            "nice work @scout",
            "sounds good",
            "np",
            "on it",
            "got it",
            "see ya",
            "haha yeah",
            "congrats!",
        ],
    );
}

#[test]
fn reports() {
    check(
        Intent::Status,
        &[
            "deployed v1.2 to staging",
            "build passed",
            "FYI the cache was cleared",
            "migrating: 3/5",
            "indexing 40%",
            "[ci] job 812 finished",
            "2026-06-02 12:03 worker up",
            "status: all green",
            "tests passed on main",
        ],
    );
    check(
        Intent::Statement,
        &[
            "the cache lives in /var/lib/x",
            "I think the index is wrong",
            "either/or works",
            "it follows the 1/x rule",
        ],
    );
}

#[test]
fn code_and_quotations_want_nothing() {
    check(
        Intent::Statement,
        &["`what?`", "> can you do it?\nthat was the text", "```\nplease stop?\n```", "", "   "],
    );
}

// covers: ATT-43
#[test]
fn an_answer_is_no_courtesy() {
    let question = ("should the job run at night?", Intent::Question);
    check_after(
        question,
        &[
            ("yes", Intent::Statement),
            ("no", Intent::Statement),
            ("go ahead", Intent::Statement),
            ("sure", Intent::Statement),
            ("thanks", Intent::Thanks),
            ("why?", Intent::Question),
            ("lol", Intent::Social),
        ],
    );
    let approval = ("please approve the rollout", Intent::Approval);
    check_after(
        approval,
        &[
            ("yes", Intent::Approval),
            ("go ahead", Intent::Approval),
            ("no, wait for Ann", Intent::Approval),
            ("👍", Intent::Approval),
            ("ok", Intent::Approval),
            ("which one?", Intent::Question),
        ],
    );
    let statement = ("it is done", Intent::Statement);
    check_after(statement, &[("yes", Intent::Social), ("ok", Intent::Social)]);
}

// covers: ATT-360, ATT-362
#[test]
fn an_answer_is_read_with_the_question_that_it_is_tied_to() {
    use Answers::{Freely, No, Plainly};
    let reply = Before { link: Link::Reply, ..PREVIOUS };
    let approval = Before { intent: Intent::Approval, ..reply };
    let request = Before { intent: Intent::Request, ..reply };
    let statement = Before { intent: Intent::Statement, ..reply };
    let asked = |alone| Before { link: Link::Asked { alone }, ..PREVIOUS };
    for (before, text, intent, answers) in [
        (reply, "yes", Intent::Statement, Plainly),
        (reply, "no", Intent::Statement, Plainly),
        (reply, "sure", Intent::Statement, Plainly),
        (reply, "ok", Intent::Statement, Plainly),
        (reply, "👍", Intent::Statement, Plainly),
        (reply, "no, thanks", Intent::Statement, Plainly),
        (reply, "do it", Intent::Request, Plainly),
        (reply, "yes, merge it", Intent::Request, Plainly),
        (reply, "yes, but wait for the tests", Intent::Request, Plainly),
        (reply, "no, the tests are red", Intent::Statement, Plainly),
        (reply, "the blue one", Intent::Statement, Freely),
        (reply, "great", Intent::Statement, Freely),
        (reply, "why?", Intent::Question, Freely),
        (reply, "stop", Intent::Cancel, Freely),
        (reply, "thanks!", Intent::Thanks, No),
        (reply, "🎉", Intent::Social, No),
        (approval, "yes", Intent::Approval, Plainly),
        (approval, "yes, merge it", Intent::Approval, Plainly),
        (approval, "👍", Intent::Approval, Plainly),
        (request, "ok", Intent::Statement, Plainly),
        (statement, "yes, merge it", Intent::Request, No),
        (statement, "great", Intent::Social, No),
        (asked(false), "yes", Intent::Statement, Plainly),
        (asked(false), "yes, merge it", Intent::Request, Plainly),
        (asked(false), "the lights are green", Intent::Statement, No),
        (asked(true), "the lights are green", Intent::Statement, Freely),
        (asked(true), "lol", Intent::Social, No),
        (PREVIOUS, "yes", Intent::Statement, No),
    ] {
        let read = read(text, Some(before));
        assert_eq!((read.intent, read.answers), (intent, answers), "{text:?} to {before:?}");
    }
    // Courtesies between two agents stay courtesies.
    let by_agent = Before { by_person: false, ..request };
    for text in ["ok", "on it", "great", "👍"] {
        assert!(intent(text, Some(by_agent)).is_courtesy(), "{text:?}");
    }
}

// covers: ATT-362
#[test]
fn do_it_is_a_request() {
    check(Intent::Request, &["do it", "@scout do it", "ok, do it now", "just do that please"]);
    check(Intent::Statement, &["do it twice and the door opens by itself", "I do it every day"]);
}

#[test]
fn urgency_is_said_in_words() {
    for text in [
        "URGENT: prod is down",
        "need this asap",
        "@scout do it now!",
        "please fix it immediately",
        "this is an emergency",
        "Now!",
    ] {
        assert!(Wording::of(text).urgent, "{text:?}");
    }
    for text in [
        "not urgent",
        "it crashes immediately",
        "now it works",
        "`urgent`",
        "> asap",
        "we know!",
        "",
    ] {
        assert!(!Wording::of(text).urgent, "{text:?}");
    }
}

#[test]
fn hostile_texts_take_linear_time() {
    for piece in
        ["a ", "?", "can you ", "thanks ", "3/5 ", "a.", "😀", "hi, ", "'", "[x] ", "1/", "(", ", "]
    {
        let text = piece.repeat((1 << 18) / piece.len());
        intent(&text, None);
    }
}

proptest! {
    #[test]
    fn no_text_at_all_breaks_it(text in any::<String>(), same_author: bool) {
        let read = intent(&text, None);
        intent(&text, Some(Before { intent: read, same_author, ..PREVIOUS }));
    }

    #[test]
    fn names_change_nothing(text in "(can you|stop|thanks|yes|the|build|passed|\\?|,| ){1,8}") {
        prop_assert_eq!(intent(&format!("@scout {text}"), None), intent(&format!("@ann.b {text}"), None));
    }
}
