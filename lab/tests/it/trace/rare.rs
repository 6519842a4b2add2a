//! What happens once in a while: agents that use their budget up and are let go on, and what was said in private
//! and an agent is about to carry to others, for which a person is asked.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::house::House;
use super::people::People;

/// Rounds of talk between two lines that agents talk until they pause.
const PAUSES: u64 = 25;
/// Rounds of talk between two things told to an agent in private.
const PRIVATE: u64 = 10;

#[derive(Default)]
pub(crate) struct Rare {
    rounds: u64,
    /// Thread, its room, and a message that was refused there.
    paused: Vec<Paused>,
    /// Texts that were to be carried, and what a person said to that.
    pub(crate) decided: HashMap<String, bool>,
    pub(crate) pauses: usize,
    /// Messages that were refused by a pause and taken after it.
    pub(crate) went_on: usize,
}

struct Paused {
    room: usize,
    agent: usize,
    refused: Value,
}

impl Rare {
    /// What happens after this round of talk.
    pub(crate) async fn happen(&mut self, house: &House, people: &mut People) {
        self.rounds += 1;
        self.go_on(house, people).await;
        self.decide(house, people, false).await;
        if self.rounds % PAUSES == 1 {
            self.pause(house, people).await;
        }
        if self.rounds % PRIVATE == 2 {
            people.confide(house).await;
        }
    }

    /// Nothing is left waiting for a person.
    pub(crate) async fn finish(&mut self, house: &House, people: &mut People) {
        self.go_on(house, people).await;
        self.decide(house, people, true).await;
        let pauses = house.must(house.operator(), "GET", "/v1/pauses", None).await;
        for pause in pauses["pauses"].as_array().into_iter().flatten() {
            let thread = pause["thread_id"].as_str().unwrap();
            let path = format!("/v1/threads/{thread}/continue");
            house.must(house.operator(), "POST", &path, None).await;
        }
    }

    /// Agents talk in a thread until they are refused.
    async fn pause(&mut self, house: &House, people: &mut People) {
        let room = people.draw_workflow();
        // More often than the budget goes: what a turn refuses after its fifth message is not said.
        for turn in 0..240 {
            // Of others, what they say without a turn waits for a person.
            let open = people.open_agents();
            let agent = open.start + turn % open.len();
            let text = format!("Step {turn} of part {} is behind us.", self.rounds);
            let body = json!({
                "conversation": people.room(room), "thread": people.thread(room), "text": text,
                "idempotency_key": text,
            });
            let token = &people.agents()[agent].1;
            let (status, answer) = house.ask(token, "POST", "/v1/messages", Some(&body)).await;
            // Of a turn that has said its five too: then the line goes on for the others.
            let path = format!("/v1/threads/{}", people.thread(room));
            let refused = status == 429 && answer["error"]["code"] == "REPLY_BUDGET_SPENT";
            if refused && house.must(token, "GET", &path, None).await["paused"] == true {
                self.pauses += 1;
                self.paused.push(Paused { room, agent, refused: body });
                return;
            }
        }
        panic!("agents in room {room} are never told to pause");
    }

    /// A person lets those go on that have paused, in one of three ways; what was refused is taken then.
    async fn go_on(&mut self, house: &House, people: &mut People) {
        for Paused { room, agent, refused } in std::mem::take(&mut self.paused) {
            match self.rounds % 3 {
                0 => people.say(house, people.words_in(room, "@chorus continue")).await,
                1 => people.say(house, people.words_in(room, "Carry on, all of you.")).await,
                _ => {
                    let path = format!("/v1/threads/{}/continue", people.thread(room));
                    house.must(people.somebody(), "POST", &path, None).await;
                }
            }
            let token = &people.agents()[agent].1;
            let path = format!("/v1/threads/{}", people.thread(room));
            let thread = house.must(token, "GET", &path, None).await;
            assert_eq!(thread["paused"], json!(false), "{thread}");
            // The turn that it was said in may have ended meanwhile; else it is taken now.
            let (status, _) = house.ask(token, "POST", "/v1/messages", Some(&refused)).await;
            self.went_on += usize::from(status < 300);
        }
    }

    /// A person approves most of what agents ask for, denies some, and forgets some of it for good.
    async fn decide(&mut self, house: &House, people: &mut People, all: bool) {
        let waiting = house.must(house.operator(), "GET", "/v1/approvals", None).await;
        for approval in waiting["approvals"].as_array().into_iter().flatten() {
            let (id, text) = (approval["id"].as_str().unwrap(), approval["text"].as_str().unwrap());
            let drawn = people.draw(10);
            // Forgotten in nine rounds of ten: some expire.
            if !all && text.len() % 4 == 0 && drawn < 9 {
                continue;
            }
            let yes = drawn % 3 != 2;
            let decision = json!({"approved": yes, "reason": "as agreed"});
            let path = format!("/v1/approvals/{id}");
            house.must(house.operator(), "POST", &path, Some(&decision)).await;
            self.decided.insert(text.to_owned(), yes);
        }
    }
}
