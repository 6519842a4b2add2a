//! What is shown to whom: deliveries, tools, accounts.

use chorus_client::c2a::call_tool;
use chorus_core::model::attention::{Directedness, Policy};
use chorus_core::model::disposition::Disposition;
use chorus_core::model::error::Code;
use chorus_core::model::member::MemberKind;
use chorus_wire::attention::tools::{Events, ListEvents, ReadThread, ThreadWindow};
use chorus_wire::rest::messages::NewMessage;

use super::house::House;

// covers: ATT-27, ATT-23
#[tokio::test]
async fn who_else_was_told_is_said() {
    let house = House::open().await;
    let (mut scout, mut reviewer) = (house.join("scout").await, house.join("reviewer").await);
    house.says("@scout and @reviewer, what do you say?").await;
    assert_eq!(scout.taken().await.audience, ["reviewer"]);
    assert_eq!(reviewer.taken().await.audience, ["scout"]);
    house.says("@scout only you: is it done?").await;
    let alone = scout.taken().await;
    assert!(alone.audience.is_empty());
    assert_eq!(alone.target.mentions, ["scout"]);
    assert_eq!(alone.text().as_deref(), Some("@scout only you: is it done?"));
}

// covers: ATT-27
#[tokio::test]
async fn of_a_large_audience_some_are_named_and_the_rest_is_counted() {
    let house = House::open().await;
    let mut scout = house.join("scout").await;
    let ids: Vec<_> = (0..40).map(|n| format!("helper{n}")).collect();
    for id in &ids {
        house.add(id, MemberKind::Agent).await;
    }
    let all: Vec<_> = ids.iter().map(String::as_str).chain(["alice", "scout"]).collect();
    let channel = house.channel("everybody", &all).await;
    let named: String = ids.iter().map(|id| format!("@{id} ")).collect();
    let text = format!("@scout {named}what do you say?");
    let asked = NewMessage { conversation: channel, ..house.message(&text) };
    house.alice.post(&asked).await.unwrap();
    let delivery = scout.taken().await;
    assert_eq!((delivery.audience.len(), delivery.audience_more), (32, 8));
    assert_eq!(delivery.target.mentions.len(), 41);
    assert!(!delivery.audience.contains(&"scout".to_owned()));
}

// covers: ATT-24, ATT-79
#[tokio::test]
async fn a_knock_has_no_words_and_its_content_is_pulled() {
    let house = House::open().await;
    house.operator.add_role("helpers").await.unwrap();
    house.operator.add_to_role("helpers", "scout").await.unwrap();
    let mut scout = house.join("scout").await;
    let asked = house.says("@helpers could you look at the secret_marker?").await;
    let delivery = scout.taken().await;
    assert_eq!(delivery.content, None);
    let knock = delivery.knock.as_ref().expect("a knock");
    assert!(!serde_json::to_string(&delivery).unwrap().contains("secret_marker"));
    assert_eq!((&*knock.from, &*knock.place), ("human:alice", "channel:ops"));
    let retrieved = async |house: &House| {
        let why = house.alice.why(&asked.event_id).await.unwrap();
        let told = why.told.into_iter().find(|t| t.told.member == "scout").unwrap();
        told.receipt.unwrap().retrieved_at
    };
    assert_eq!(retrieved(&house).await, None);
    let pull = ReadThread { event_id: Some(delivery.event_id), ..ReadThread::default() };
    let window = scout.connection.call_tool(&knock.pull_with, &pull).await.unwrap();
    let window: ThreadWindow = serde_json::from_value(window).unwrap();
    let last = window.messages.last().unwrap();
    assert_eq!(last.text.as_deref(), Some("@helpers could you look at the secret_marker?"));
    assert!(retrieved(&house).await.is_some());
}

// covers: ATT-78, FAIL-10
#[tokio::test]
async fn events_are_found_by_what_they_are_to_the_caller() {
    let house = House::open().await;
    let client = house.client("scout").await;
    let list = async |query: ListEvents| {
        let events = call_tool(&client, "chat.list_events", &query).await;
        let events: Events = serde_json::from_value(events.unwrap()).unwrap();
        events.events.into_iter().map(|e| e.event_id).collect::<Vec<_>>()
    };
    let all = ListEvents::default;
    assert!(list(ListEvents { unsettled: Some(true), ..all() }).await.is_empty());
    let mine = house.says("@scout is it done?").await.event_id;
    let other = house.says("@reviewer is it done?").await.event_id;
    let talk = house.says("lunch was nice today").await.event_id;
    assert_eq!(list(all()).await, [&*mine, &*other, &*talk]);
    assert_eq!(list(ListEvents { unsettled: Some(true), ..all() }).await, [&*mine]);
    let policy = Some(Policy::MustRespond);
    assert_eq!(list(ListEvents { policy: policy.map(Into::into), ..all() }).await, [&*mine]);
    let directedness = Some(Directedness::ToOther);
    assert_eq!(
        list(ListEvents { directedness: directedness.map(Into::into), ..all() }).await,
        [&*other]
    );
    let directedness = Some(Directedness::Ambient);
    assert_eq!(
        list(ListEvents { directedness: directedness.map(Into::into), ..all() }).await,
        [&*talk]
    );
    let conversation = Some("ch_00000000000000000000000000000000".to_owned());
    let unknown = ListEvents { conversation, ..all() };
    let refused = call_tool(&client, "chat.list_events", &unknown).await;
    assert_eq!(refused.unwrap_err().code(), Some(Code::NotFound), "unknown is not empty");
}

// covers: ATT-83, ATT-131
#[tokio::test]
async fn what_one_may_not_see_is_unknown_at_every_door() {
    let house = House::open().await;
    let secret = house.channel("secret", &["alice", "reviewer"]).await;
    let mut message = house.message("the password is swordfish");
    message.conversation = secret.clone();
    let posted = house.alice.post(&message).await.unwrap();
    let scout = house.client("scout").await;
    let mut refusals = vec![
        scout.channel(&secret).await.map(drop).unwrap_err(),
        scout.message(&posted.message_id).await.map(drop).unwrap_err(),
        scout.why(&posted.event_id).await.map(drop).unwrap_err(),
        scout.preview(&message).await.map(drop).unwrap_err(),
        scout.post(&message).await.map(drop).unwrap_err(),
        scout.claim(&posted.event_id).await.map(drop).unwrap_err(),
    ];
    for read in [
        ReadThread { conversation: Some(secret.clone()), ..ReadThread::default() },
        ReadThread { event_id: Some(posted.event_id.clone()), ..ReadThread::default() },
    ] {
        refusals.push(call_tool(&scout, "chat.read_thread", &read).await.unwrap_err());
    }
    for refusal in refusals {
        assert_eq!(refusal.code(), Some(Code::NotFound), "{refusal}");
        assert!(!refusal.to_string().contains("swordfish"));
    }
    let listed = scout.channels().await.unwrap().channels;
    assert!(listed.iter().all(|c| c.id != secret));
    let events = call_tool(&scout, "chat.list_events", &ListEvents::default()).await.unwrap();
    assert!(!events.to_string().contains("swordfish"));
}

// covers: ATT-134, ATT-44, ATT-112
#[tokio::test]
async fn it_can_be_looked_up_who_was_told_why_and_what_came_of_it() {
    let house = House::open().await;
    let mut scout = house.join("scout").await;
    let asked = house.says("@scout is it done?").await;
    assert_eq!(asked.told.len(), 1);
    let delivery = scout.taken().await;
    let disposed =
        scout.connection.disposition(&delivery.event_id, Disposition::Acknowledged, None, None);
    disposed.await.unwrap();
    let why = house.alice.why(&asked.event_id).await.unwrap();
    assert_eq!((why.author.as_str(), why.hop, why.told.len()), ("alice", 0, 1));
    let told = &why.told[0];
    assert_eq!((told.told.member.as_str(), told.told.reason.as_str()), ("scout", "mention"));
    assert_eq!(told.told.policy, Policy::MustRespond);
    let receipt = told.receipt.as_ref().unwrap();
    assert_eq!(receipt.disposition, Some(Disposition::Acknowledged.into()));
    assert!(receipt.offered_at.unwrap() >= why.created_at);
    assert!(receipt.accepted_at >= receipt.offered_at);
    assert!(receipt.settled_at >= receipt.accepted_at);
}
