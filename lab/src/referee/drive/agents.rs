//! The agents: each has a temper, by which it answers, nods, puts off, declines, falls silent, acknowledges late or twice,
//! uses turns that are over, or drops its connection.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::Stage;
use crate::crash::chance::Chance;
use crate::referee::agent::{Agent, Offer, answer};
use crate::referee::house::{Member, Said};

/// How likely each manner is, of the sum of all.
struct Temper([(Manner, u64); 11]);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    Answers,
    AsksOn,
    PutsOut,
    Nods,
    Defers,
    Declines,
    Quiet,
    AcksLate,
    AcksTwice,
    SpeaksAgain,
    Drops,
}

impl Temper {
    /// Most answer, and each has its faults.
    fn draw(chance: &mut Chance) -> Self {
        use Manner::{
            AcksLate, AcksTwice, Answers, AsksOn, Declines, Defers, Drops, Nods, PutsOut, Quiet,
            SpeaksAgain,
        };
        let mut of = |manner, most: u64| (manner, chance.within(0..most + 1));
        Self([
            (Answers, 12),
            of(AsksOn, 6),
            of(PutsOut, 4),
            of(Nods, 3),
            of(Defers, 2),
            of(Declines, 2),
            of(Quiet, 2),
            of(AcksLate, 2),
            of(AcksTwice, 3),
            of(SpeaksAgain, 3),
            of(Drops, 2),
        ])
    }

    fn manner(&self, chance: &mut Chance) -> Manner {
        let sum = self.0.iter().map(|(_, weight)| weight).sum();
        let mut drawn = chance.within(0..sum);
        for (manner, weight) in &self.0 {
            match drawn.checked_sub(*weight) {
                Some(rest) => drawn = rest,
                None => return *manner,
            }
        }
        Manner::Answers
    }
}

pub(super) async fn live(stage: Arc<Stage>, member: Member, mut chance: Chance) {
    let temper = Temper::draw(&mut chance);
    let mut session: Option<String> = None;
    while !stage.is_over() {
        if chance.one_in(8) {
            // It lost its state, and comes back as a new run.
            session = None;
        }
        let Ok(agent) = Agent::connect(&stage.house, &member, session.as_deref()).await else {
            tokio::time::sleep(chance.millis(50..200)).await;
            continue;
        };
        session = Some(agent.session.clone());
        while !stage.is_over() && !agent.is_gone() {
            let Some(offer) = agent.offer(Duration::from_millis(500)).await else { continue };
            let manner = temper.manner(&mut chance);
            stage.ledger.count("offers in the free drive", 1);
            if manner == Manner::Drops {
                break;
            }
            handle(&stage, &agent, &offer, manner, &mut chance).await;
        }
        agent.drop_connection();
    }
}

async fn handle(stage: &Stage, agent: &Agent, offer: &Offer, manner: Manner, chance: &mut Chance) {
    if manner == Manner::AcksLate {
        tokio::time::sleep(chance.millis(500..3_000)).await;
    }
    agent.accept(offer).await;
    if manner == Manner::AcksTwice {
        agent.accept(offer).await;
    }
    if manner == Manner::Quiet {
        return;
    }
    tokio::time::sleep(chance.millis(0..250)).await;
    match offer.policy() {
        "must_respond" => act(stage, agent, offer, manner, chance).await,
        "may_respond" if chance.one_in(3) => {
            let claimed = agent.tool("chat.claim", json!({ "eventId": offer.event() })).await;
            if let Said::Given(claimed) = claimed {
                let mut args = answer(offer, &words(offer));
                args["turn"] = claimed["turn"]["token"].clone();
                say(stage, agent, args).await;
            }
        }
        "ack_only" => drop(agent.react(offer, "seen").await),
        _ => drop(agent.dispose(offer, "ignored").await),
    }
}

async fn act(stage: &Stage, agent: &Agent, offer: &Offer, manner: Manner, chance: &mut Chance) {
    match manner {
        Manner::AsksOn => {
            let other = &stage.agents[chance.index(stage.agents.len())].id;
            let words = format!("@{other} can you check {} as well?", offer.event());
            let mut args = answer(offer, &words);
            args["directedness"] = json!("to_me");
            say(stage, agent, args).await;
        }
        Manner::PutsOut => {
            let out = json!({ "text": words(offer), "turn": offer.turn() });
            let kept = agent.tool("emit_output", out).await;
            let end = if kept.code().is_none() { "acknowledged" } else { "responded" };
            drop(agent.dispose(offer, end).await);
        }
        Manner::Nods => {
            drop(agent.react(offer, ["working", "seen", "done"][chance.index(3)]).await)
        }
        Manner::Defers => {
            let mut args =
                json!({ "eventId": offer.event(), "reason": "later", "turn": offer.turn() });
            if chance.one_in(2) {
                args["until"] = json!("2s");
            }
            drop(agent.tool("chat.defer", args).await);
        }
        Manner::Declines => match chance.index(3) {
            0 => drop(agent.react(offer, "declined").await),
            1 => drop(agent.dispose(offer, "ignored").await),
            _ => drop(agent.dispose(offer, "failed").await),
        },
        Manner::SpeaksAgain => {
            say(stage, agent, answer(offer, &words(offer))).await;
            // The turn is over, or has been said enough in.
            let number = stage.house.number();
            let once_more = format!("And once more about {}: number {number}.", offer.event());
            let mut again = answer(offer, &once_more);
            again["idempotencyKey"] = json!(format!("again:{}:{number}", offer.event()));
            if chance.one_in(2) {
                // A send has to say who may see it.
                again["visibility"] = json!(null);
            }
            say(stage, agent, again).await;
        }
        _ => say(stage, agent, answer(offer, &words(offer))).await,
    }
}

/// The words of an answer: each run of an event has the same.
fn words(offer: &Offer) -> String {
    format!("I have looked at {}, and all is well.", offer.event())
}

async fn say(stage: &Stage, agent: &Agent, args: serde_json::Value) {
    let words = args["text"].as_str().unwrap_or_default().to_owned();
    let said = agent.tool("chat.send_message", args).await;
    match said.code() {
        // Another run of it may have said the same before.
        Some("IDEMPOTENCY_CONFLICT") | None => {}
        Some(_) if words.starts_with("And once more") => {
            stage.done().refused.insert(format!("{}: {words}", agent.id));
        }
        Some(_) => {}
    }
}
