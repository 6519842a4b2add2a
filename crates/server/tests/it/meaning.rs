//! A message is understood in its place: answers, first words, names that fit nobody, and guesses.

use serde_json::{Value, json};

use crate::harness::Harness;
use crate::test_host::TestHost;

/// Ann has asked the agent for something, and it asks back; gives the id of its question.
async fn asked_back(host: &TestHost, bot: &mut Harness, room: &str, question: &str) -> Value {
    let ann = host.token("ann").await;
    let asks = format!("@bot what about the PR? ({})", host.length(room).await);
    host.say(&ann, room, &asks).await;
    let event = bot.take().await;
    bot.reply(&event, question).await.unwrap()["eventId"].clone()
}

async fn answer(host: &TestHost, room: &str, text: &str, to: &Value) -> Value {
    let key = format!("answer {text} to {to}");
    let body =
        json!({"conversation": room, "text": text, "in_reply_to": to, "idempotency_key": key});
    host.post(&host.token("ann").await, "/v1/messages", body).await.ok()
}

// covers: ATT-360, ATT-361, ATT-362
#[tokio::test]
async fn a_reply_to_an_agents_question_reaches_it_in_full() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let mut bot = host.connect(&host.token("bot").await).await;
    for text in ["yes, merge it", "yes", "no", "do it", "sure", "ok", "👍"] {
        let asked = asked_back(&host, &mut bot, &room, "Shall I merge the PR now?").await;
        let ann = host.token("ann").await;
        host.say(&ann, &room, &format!("lunch was nice before {text}")).await;
        let posted = answer(&host, &room, text, &asked).await;
        let told = &posted["told"][0];
        assert_eq!((&told["member"], &told["policy"]), (&json!("bot"), &json!("must_respond")));
        assert_eq!(told["reason"], "answer_to_question", "{text}");
        let event = loop {
            let event = bot.take().await;
            if event["eventId"] == posted["event_id"] {
                break event;
            }
        };
        assert_eq!(event["content"][0]["text"], text);
        assert_eq!(event["inReplyTo"], asked);
        bot.reply(&event, "all right").await.unwrap();
    }
}

// covers: ATT-360, ATT-361
#[tokio::test]
async fn answer_in_a_thread_goes_to_the_agent_that_asked() {
    let host = TestHost::open().await;
    let room = host.room(&["bot", "other"]).await;
    let (ann, operator) = (host.token("ann").await, host.operator());
    let mut bot = host.connect(&host.token("bot").await).await;
    let new =
        json!({"conversation": room, "title": "the PR", "participants": ["ann", "bot", "other"]});
    let thread = host.post(&ann, "/v1/threads", new).await.ok()["id"].clone();
    let say = async |token: &str, text: &str| {
        let body = json!({"conversation": room, "thread": thread, "text": text,
            "idempotency_key": format!("thread {text}")});
        host.post(token, "/v1/messages", body).await.ok()
    };
    say(&ann, "@bot what about the PR?").await;
    let event = bot.take().await;
    bot.reply(&event, "Should it go in before the weekend?").await.unwrap();
    say(&operator, "lunch was nice today").await;
    let posted = say(&ann, "yes, merge it").await;
    let told = posted["told"].as_array().unwrap().iter().find(|t| t["member"] == "bot");
    let told = told.unwrap_or_else(|| panic!("{posted}"));
    assert_eq!(
        (&told["policy"], &told["mode"]),
        (&json!("must_respond"), &json!("buffered")),
        "{posted}"
    );
}

// covers: ATT-364
#[tokio::test]
async fn a_persons_first_words_to_an_agent_are_shown_to_it() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let mut bot = host.connect(&host.token("bot").await).await;
    let ann = host.token("ann").await;
    let greeting = host.say(&ann, &room, "morning all").await;
    assert_eq!(greeting["told"], json!([]), "a greeting to the room");
    let posted = host.say(&ann, &room, "@bot hello").await;
    assert_eq!(posted["told"][0]["policy"], "may_respond");
    let event = bot.take().await;
    assert_eq!(event["content"][0]["text"], "@bot hello");
    bot.reply(&event, "hello, what can I do for you?").await.unwrap();
    let again = host.say(&ann, &room, "@bot hi").await;
    assert_eq!(again["told"][0]["policy"], "ack_only");

    let new = json!({"kind": "dm", "members": ["ann", "bot"]});
    let dm = host.post(&ann, "/v1/channels", new).await.ok()["id"].as_str().unwrap().to_owned();
    let posted = host.say(&ann, &dm, "hi").await;
    assert_eq!(posted["told"][0]["policy"], "may_respond", "{posted}");
    let event = loop {
        let event = bot.take().await;
        if event["eventId"] == posted["event_id"] {
            break event;
        }
    };
    assert_eq!(event["content"][0]["text"], "hi");
    let again = host.say(&ann, &dm, "hi there").await;
    assert_eq!(again["told"][0]["policy"], "ack_only");
}

// covers: ATT-365, ATT-366, ATT-367
#[tokio::test]
async fn a_name_that_fits_nobody_is_said_to_the_sender_everywhere() {
    let host = TestHost::open().await;
    let room = host.room(&["parrot"]).await;
    let elsewhere = json!({"title": "secret", "visibility": "private", "members": ["ann", "bob"]});
    let operator = host.operator();
    for id in ["bob", "parot2"] {
        let new = json!({"id": id, "kind": "human"});
        host.post(&operator, "/v1/members", new).await;
    }
    host.post(&operator, "/v1/channels", elsewhere).await;
    let (ann, parrot) = (host.token("ann").await, host.token("parrot").await);
    let unknown = json!([{"name": "parot", "nearest": "parrot",
        "message": "nobody here is called @parot; did you mean @parrot?"}]);
    let text = "@parot can you look at @angular/core and `@scope`?";

    let draft = json!({"conversation": room, "text": text});
    let preview = host.post(&ann, "/v1/attention/preview", draft).await.ok();
    assert_eq!(preview["unknown_names"], unknown);
    let posted = host.say(&ann, &room, text).await;
    assert_eq!(posted["unknown_names"], unknown);
    assert_eq!(posted["told"], json!([]), "nothing else is refused or changed for it");

    let letter = json!({"target": {"conversation": room}, "idempotencyKey": "k", "visibility": "channel",
        "directedness": "ambient", "text": "@an look at this"});
    let sent = host.tool(&parrot, "chat.send_message", letter).await.unwrap();
    assert_eq!(sent["unknownNames"][0]["nearest"], "ann");

    let posted = host.say(&ann, &room, "@zebra please").await;
    let names = json!([{"name": "zebra", "message": "nobody here is called @zebra"}]);
    assert_eq!(posted["unknown_names"], names, "and nobody is like it");
    // Who is elsewhere is not suggested; who is named and not here is said not to be told.
    let posted = host.say(&ann, &room, "@bobb and @bob please").await;
    let names = json!([
        {"name": "bobb", "message": "nobody here is called @bobb"},
        {"name": "bob", "message": "@bob is not in this conversation, and is not told"},
    ]);
    assert_eq!(posted["unknown_names"], names);
    let fine = host.say(&ann, &room, "@parrot mail ann@example.org").await;
    assert!(fine.get("unknown_names").is_none(), "{fine}");
}

// covers: ATT-194
#[tokio::test]
async fn a_sure_guess_obliges_as_a_name_does() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let mut bot = host.connect(&host.token("bot").await).await;
    asked_back(&host, &mut bot, &room, "the build is red since noon").await;
    let ann = host.token("ann").await;
    let posted = host.say(&ann, &room, "and do you know which test it is?").await;
    let told = &posted["told"][0];
    assert_eq!((&told["reason"], &told["policy"]), (&json!("flow"), &json!("must_respond")));
}

// covers: ATT-194, ATT-368
#[tokio::test]
async fn an_uncertain_guess_is_shown_and_obliges_nobody() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let mut bot = host.connect(&host.token("bot").await).await;
    let ann = host.token("ann").await;
    host.say(&ann, &room, "@bot how is the build?").await;
    let event = bot.take().await;
    bot.reply(&event, "the build is red since noon").await.unwrap();
    host.pass(3_600_000).await;
    let ann = host.token("ann").await;
    let posted = host.say(&ann, &room, "does anybody know when lunch is?").await;
    let told = &posted["told"][0];
    assert_eq!(told["reason"], "flow_likely", "{posted}");
    let may = (&json!("may_respond"), &json!("buffered"));
    assert_eq!((&told["policy"], &told["mode"]), may);
    assert!(told.get("deadline_ms").is_none(), "{told}");
    let id = posted["event_id"].as_str().unwrap();
    let why = host.get(&ann, &format!("/v1/events/{id}/attention")).await.ok();
    let confidence = why["flow"]["confidence"].as_u64().unwrap();
    assert!((40..70).contains(&confidence), "{why}");
    assert_eq!(why["bounds"], json!({"sure": 70, "likely": 40, "perhaps": 25}));
}
