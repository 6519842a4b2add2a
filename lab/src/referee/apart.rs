//! Two workspaces of one host, side by side: the scenes are played in both, with members of the same names.

use serde_json::Value;

use super::house::{House, Said, on_this_thread, text};
use super::ledger::Wrong;

/// Events and rooms of each that the other is asked for.
const ASKED: usize = 40;

/// The host's own workspace, and one beside it.
pub(super) fn two(own: House) -> Result<[House; 2], String> {
    let other = on_this_thread(async { own.again()?.beside("acme").await })?;
    Ok([own, other])
}

/// Whether neither shows anything of the other.
pub(super) fn verdict(houses: &[House; 2]) -> Result<(), Wrong> {
    let [one, other] = houses;
    let looked = on_this_thread(async {
        look(&one.again()?, &other.again()?).await?;
        look(&other.again()?, &one.again()?).await
    });
    looked.map_err(|seen| Wrong::new("a workspace shows nothing of the other", seen, &[]))
}

/// Looks from one workspace for what is in the other.
async fn look(from: &House, at: &House) -> Result<(), String> {
    let refused = from.ask_until(&at.operator, "GET", "/v1/members", &Value::Null).await;
    if refused.code() != Some("UNAUTHORIZED") {
        return Err(format!("a token of the other workspace: {refused:?}"));
    }
    let worker = at.member("visitor", "agent").await?;
    if from.get(&worker.token, "/v1/channels").await.is_ok() {
        return Err("a worker's token of the other workspace is taken".to_owned());
    }
    for room in rooms_of(at).await?.iter().take(ASKED) {
        must_be_unknown(from, &format!("/v1/channels/{room}")).await?;
        for event in at.log(room).await?.iter().rev().take(2) {
            let event = text(event, "event_id")?;
            must_be_unknown(from, &format!("/v1/events/{event}/attention")).await?;
        }
    }
    Ok(())
}

async fn rooms_of(house: &House) -> Result<Vec<String>, String> {
    let listed = house.get(&house.operator, "/v1/channels").await?;
    let rooms = listed["channels"].as_array().into_iter().flatten();
    rooms.map(|room| text(room, "id")).collect()
}

async fn must_be_unknown(house: &House, path: &str) -> Result<(), String> {
    match house.ask_until(&house.operator, "GET", path, &Value::Null).await {
        Said::Refused(404, ..) => Ok(()),
        seen => Err(format!("GET {path}: {seen:?}")),
    }
}
