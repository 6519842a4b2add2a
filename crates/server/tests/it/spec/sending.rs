//! What agents send, judged the same at every transport.

use chorus_client::c2a::call_tool;
use chorus_core::model::attention::Directedness;
use chorus_core::model::error::Code;
use chorus_wire::rest::messages::Visibility;
use serde_json::{Value, json};

use super::house::House;

fn letter(house: &House) -> Value {
    json!({
        "target": {"conversation": house.ops}, "idempotencyKey": "k1", "visibility": "channel",
        "directedness": "to_other", "text": "it is done",
    })
}

// covers: ATT-77
#[tokio::test]
async fn a_send_says_where_under_which_key_and_for_whom() {
    let house = House::open().await;
    let scout = house.client("scout").await;
    for field in ["target", "idempotencyKey", "visibility", "directedness", "text"] {
        let mut letter = letter(&house);
        letter.as_object_mut().unwrap().remove(field);
        let refused = call_tool(&scout, "chat.send_message", &letter).await.unwrap_err();
        assert_eq!(refused.code(), Some(Code::ValidationError), "without {field}: {refused}");
    }
    let mut misspelt = letter(&house);
    misspelt["inReplyto"] = json!("evt_1");
    let refused = call_tool(&scout, "chat.send_message", &misspelt).await.unwrap_err();
    assert_eq!(refused.code(), Some(Code::ValidationError));
    let sent = call_tool(&scout, "chat.send_message", &letter(&house)).await.unwrap();
    assert_eq!(sent["duplicate"], json!(false));
    let again = call_tool(&scout, "chat.send_message", &letter(&house)).await.unwrap();
    assert_eq!((&again["eventId"], &again["duplicate"]), (&sent["eventId"], &json!(true)));
}

// covers: ATT-82
#[tokio::test]
async fn a_visibility_is_that_of_the_place() {
    let house = House::open().await;
    for visibility in [Visibility::Dm, Visibility::Thread, Visibility::Ephemeral] {
        let mut message = house.message("it is done");
        message.visibility = Some(visibility);
        let refused = house.alice.post(&message).await.unwrap_err();
        assert_eq!(refused.code(), Some(Code::ValidationError), "{visibility:?}");
    }
    let mut message = house.message("it is done");
    message.visibility = Some(Visibility::Channel);
    house.alice.post(&message).await.unwrap();
}

// covers: ATT-95, ATT-3, ATT-86
#[tokio::test]
async fn a_reply_is_judged_alike_by_rest_post_and_socket() {
    let house = House::open().await;
    let asked = house.says("@reviewer is it done?").await;
    let reviewer = house.client("reviewer").await;
    let claimed = house.says("the build is red since this morning").await;
    reviewer.claim(&claimed.event_id).await.unwrap();
    let scout = house.client("scout").await;
    let connected = house.join("scout").await;
    for (event, code) in
        [(&asked.event_id, Code::PolicyForbidsReply), (&claimed.event_id, Code::ClaimedByOther)]
    {
        let mut message = house.message("I know!");
        message.in_reply_to = Some(event.clone());
        message.directedness = Some(Directedness::ToOther.into());
        let by_rest = scout.post(&message).await.unwrap_err();
        let mut letter = letter(&house);
        letter["inReplyTo"] = json!(event);
        let by_post = call_tool(&scout, "chat.send_message", &letter).await.unwrap_err();
        let by_socket = connected.connection.call_tool("chat.send_message", &letter).await;
        for refused in [by_rest, by_post, by_socket.unwrap_err()] {
            assert_eq!(refused.code(), Some(code), "{refused}");
        }
    }
}

// covers: ATT-92, ATT-62
#[tokio::test]
async fn a_turns_token_is_good_for_its_turn_and_nothing_else() {
    let house = House::open().await;
    let other = house.channel("other", &["alice", "scout"]).await;
    let mut scout = house.join("scout").await;
    house.says("@scout is it done?").await;
    let turn = scout.taken().await.turn.expect("a turn").token.into_owned();
    let runtime = house.operator.with_token(turn);
    let mut elsewhere = letter(&house);
    elsewhere["target"]["conversation"] = json!(other);
    let refused = call_tool(&runtime, "chat.send_message", &elsewhere).await.unwrap_err();
    assert_eq!(refused.code(), Some(Code::Forbidden), "{refused}");
    runtime.add_role("mine").await.expect_err("it administers nothing");
    let params = chorus_wire::attention::initialize::InitializeParams::new("test", "0");
    let token = runtime.token().unwrap().to_owned();
    let refused = chorus_client::c2a::connect(&house.running.url, &token, &params).await;
    assert!(refused.is_err(), "a runtime opens no connection in its agent's name");
    call_tool(&runtime, "chat.send_message", &letter(&house)).await.unwrap();
}
