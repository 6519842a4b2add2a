//! The demo's agents: small rules over the framed prompt on standard input, an answer on standard output.
//!
//! They know nothing but the prompt and the policy in it; that is the point. What an agent may say is
//! decided before it is asked, so that even one that would answer everything cannot.

mod prompt;

use std::io::Read;
use std::time::{Duration, Instant};

use chorus_client::Client;
use chorus_client::c2a::call_tool;
use nix::unistd::getppid;
use prompt::Prompt;
use serde_json::json;

use crate::commands::Context;
use crate::failure::{Failure, Result};

/// How long the long check takes.
const LONG: Duration = Duration::from_millis(2_500);

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// How the agent behaves
    #[arg(value_enum)]
    persona: Persona,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Persona {
    /// Looks things up.
    Scout,
    /// Does what it is asked.
    Builder,
    /// Reviews.
    Critic,
    /// Answers everything it is shown with a question to the other one.
    Eager,
}

pub(crate) async fn run(args: Args, _: &Context) -> Result {
    let mut text = String::new();
    std::io::stdin()
        .lock()
        .read_to_string(&mut text)
        .map_err(|e| Failure::here("cannot read the prompt", e))?;
    let Some(prompt) = Prompt::read(&text) else {
        return Err(Failure::usage("there is no event in the prompt"));
    };
    if is_long(args.persona, &prompt) {
        announce(&prompt).await;
        work()?;
    }
    if nods(args.persona, &prompt) {
        return nod(&prompt).await;
    }
    if let Some(answer) = answer(args.persona, &prompt) {
        println!("{answer}");
    }
    Ok(())
}

/// What the persona says; nothing is silence.
fn answer(persona: Persona, prompt: &Prompt) -> Option<String> {
    let may = match prompt.policy.as_str() {
        "must_respond" => true,
        // A role's event is shown to who has claimed it; other chances to speak are left to others.
        "may_respond" => {
            persona == Persona::Eager
                || prompt.reason == "role_mention"
                || prompt.reason == "claimed"
        }
        _ => false,
    };
    if !may {
        return None;
    }
    let asked = prompt.text();
    Some(match persona {
        Persona::Scout if asked.contains("long check") => {
            "The long check is done: 128 of 128 passed.".to_owned()
        }
        Persona::Scout if asked.contains("deploy") => {
            "Deploy 42 is live since 09:14; nothing is blocked.".to_owned()
        }
        Persona::Scout => format!("I looked into it: {asked}"),
        Persona::Builder if asked.contains("deploy") => "Nothing of mine waits for it.".to_owned(),
        Persona::Builder if asked.contains("review") => review(&asked),
        Persona::Builder => format!("Done: {asked}"),
        Persona::Critic => review(&asked),
        Persona::Eager => ask_on(prompt, &asked),
    })
}

fn review(asked: &str) -> String {
    let what = asked.rsplit_once("review ").map_or(asked, |(_, what)| what);
    format!("Reviewed {}: it holds up.", what.trim_end_matches(['.', '?', '!']))
}

/// A question back: to the agent that asked, or to the one a person says to ask.
fn ask_on(prompt: &Prompt, asked: &str) -> String {
    let (kind, author) = prompt.author.split_once(':').unwrap_or(("", prompt.author.as_str()));
    let named = asked.split_once("ask ").and_then(|(_, rest)| rest.split([' ', ',', '.']).next());
    let other = if kind == "agent" { author } else { named.unwrap_or(author) };
    let digits: String = asked.chars().filter(char::is_ascii_digit).collect();
    match digits.parse::<u64>() {
        Ok(number) => format!("@{other} what comes after {}?", number.saturating_add(1)),
        Err(_) => format!("@{other} what comes after 1?"),
    }
}

fn is_long(persona: Persona, prompt: &Prompt) -> bool {
    let owed = prompt.policy == "must_respond";
    persona == Persona::Scout && owed && prompt.text().contains("long check")
}

/// Of a deploy the critic has nothing to say that the scout does not know better.
fn nods(persona: Persona, prompt: &Prompt) -> bool {
    let owed = prompt.policy == "must_respond";
    persona == Persona::Critic && owed && prompt.text().contains("deploy")
}

/// Agrees with who has answered first, and says nothing.
async fn nod(prompt: &Prompt) -> Result {
    let variable = |name| std::env::var(name).unwrap_or_default();
    let turn = variable("CHORUS_TURN_TOKEN");
    let client = Client::new(&variable("CHORUS_URL"), turn.clone())?;
    let asked = json!({ "message_id": prompt.event_id });
    let thread = call_tool(&client, "read_channel_thread", &asked).await?;
    let answer = thread["messages"].as_array().and_then(|messages| messages.get(1));
    if let Some(answer) = answer.and_then(|message| message["eventId"].as_str()) {
        let nod = json!({ "message_id": answer, "signal": "agree", "turn": turn });
        call_tool(&client, "set_channel_reaction", &nod).await?;
    }
    Ok(())
}

/// Says by a reaction that it will take a while; that costs nobody a turn.
async fn announce(prompt: &Prompt) {
    eprintln!("progress: the long check has begun");
    let variable = |name| std::env::var(name).unwrap_or_default();
    let react = json!({
        "inReplyTo": prompt.event_id,
        "signal": "working",
        "eta": "a few seconds",
        "turn": variable("CHORUS_TURN_TOKEN"),
    });
    let client = Client::new(&variable("CHORUS_URL"), variable("CHORUS_TURN_TOKEN"));
    if let Ok(client) = client
        && let Err(error) = call_tool(&client, "chat.react", &react).await
    {
        // It will be seen to work when it answers.
        eprintln!("the reaction was not taken: {error}");
    }
}

/// Works for a while, unless whoever wanted it has gone: a killed harness cannot stop its runtime.
fn work() -> Result {
    let (parent, began) = (getppid(), Instant::now());
    while began.elapsed() < LONG {
        if getppid() != parent {
            return Err(Failure::here("the harness has gone", "nobody wants the answer"));
        }
        std::thread::sleep(Duration::from_millis(25));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use chorus_core::attention::framing::{EventHeader, frame};
    use chorus_core::model::attention::{Directedness, Policy, Priority};

    use super::*;

    fn check(
        persona: Persona,
        author: (&str, &str),
        policy: Policy,
        text: &str,
        expect: Option<&str>,
    ) {
        let header = EventHeader {
            event_id: "evt_1",
            conversation_kind: "channel",
            conversation_id: "ch_1",
            conversation_title: Some("ops"),
            channel_context: None,
            thread: None,
            author_kind: author.0,
            author_id: author.1,
            author_name: None,
            directedness: Directedness::ToMe,
            policy,
            priority: Priority::Normal,
            reason: "mention",
            reply_target: "channel:ch_1",
            in_reply_to: None,
            replaces: None,
            deadline_ms: None,
            audience: &[],
            audience_more: 0,
            files: &[],
        };
        let prompt = Prompt::read(&frame(&header, text, "n0")).unwrap();
        assert_eq!(prompt.event_id, "evt_1");
        assert_eq!(answer(persona, &prompt).as_deref(), expect);
    }

    #[test]
    fn an_agent_obeys_the_policy_of_its_prompt() {
        let alice = ("human", "alice");
        let deploy = "@scout what is the deploy status?";
        let live = "Deploy 42 is live since 09:14; nothing is blocked.";
        check(Persona::Scout, alice, Policy::MustRespond, deploy, Some(live));
        for policy in [Policy::MayRespond, Policy::AckOnly, Policy::MustNotRespond] {
            check(Persona::Scout, alice, policy, deploy, None);
        }
        let text = "@critic please review module B.";
        check(
            Persona::Critic,
            alice,
            Policy::MustRespond,
            text,
            Some("Reviewed module B: it holds up."),
        );
    }

    #[test]
    fn an_eager_one_asks_on_whatever_it_is_asked() {
        let eager = Persona::Eager;
        let begin = "@ping ask pong something, and never stop.";
        let one = Some("@pong what comes after 1?");
        check(eager, ("human", "alice"), Policy::MustRespond, begin, one);
        let three = Some("@ping what comes after 3?");
        check(eager, ("agent", "ping"), Policy::MayRespond, "@pong what comes after 2?", three);
    }
}
