//! The demo's stage: a host on a temporary folder, two people, two channels and a private corner, and
//! agents that run as real harness processes.

use std::time::{Duration, Instant};

use chorus_client::Client;
use chorus_core::model::caller::Authority;
use chorus_core::model::conversation::{Replies, Visibility};
use chorus_core::model::member::MemberKind;
use chorus_wire::rest::attention::Why;
use chorus_wire::rest::channels::NewChannel;
use chorus_wire::rest::deliveries::{ListDeliveries, StateFilter};
use chorus_wire::rest::members::NewMember;
use chorus_wire::rest::messages::{NewMessage, Posted};
use chorus_wire::rest::stimuli::ListStimuli;
use chorus_wire::rest::tokens::NewToken;
use tempfile::TempDir;

use super::agent::{Agent, Plan};
use super::host::HostProcess;
use super::room::{PATIENCE, Room};
use super::show::Show;
use crate::commands::post::new_key;
use crate::failure::{Failure, Result};

/// How often something is looked at that no event tells of.
const LOOK: Duration = Duration::from_millis(40);

/// Waits for the room's quiet moment this long; people type slower, so a lasting room waits longer.
const QUIET_MS: u32 = 400;
const CAP_MS: u32 = 5_000;

pub(crate) struct Stage {
    pub(crate) show: Show,
    pub(crate) folder: TempDir,
    pub(crate) operator: Client,
    pub(crate) alice: Client,
    pub(crate) bob: Client,
    pub(crate) ops: Room,
    pub(crate) random: Room,
    /// Where two agents are alone with Alice.
    pub(crate) corner: Room,
    /// Where answers go into threads, and agents take turns.
    pub(crate) design: Room,
    pub(crate) agents: Vec<Agent>,
    pub(crate) host: HostProcess,
}

impl Stage {
    pub(crate) async fn set(show: Show) -> Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix("chorus-demo-")
            .tempdir()
            .map_err(|e| Failure::here("cannot make a temporary folder", e))?;
        let (host, operator) = HostProcess::start(folder.path()).await?;
        let alice = person(&operator, "alice", "Alice").await?;
        let bob = person(&operator, "bob", "Bob").await?;

        let mut agents = Vec::new();
        for plan in plans() {
            let token = token(&operator, plan.id).await?;
            agents.push(Agent::start(plan, &host.url, token, &folder.path().join("agents"))?);
        }
        operator.add_role("reviewers").await?;
        for reviewer in ["builder", "critic"] {
            operator.add_to_role("reviewers", reviewer).await?;
        }
        let all = ["alice", "bob", "scout", "builder", "critic"];
        let ops = on_one_line("ops", "keeping things running", &all);
        let ops = room(&operator, ops, show).await?;
        let random = on_one_line("random", "everything else", &all);
        let random = room(&operator, random, show).await?;
        let corner =
            on_one_line("corner", "two that answer everything", &["alice", "ping", "pong"]);
        let corner = NewChannel { visibility: Some(Visibility::Private.into()), ..corner };
        let corner = room(&operator, corner, show).await?;
        // With several agents, and nothing said about where they answer.
        let design = channel("design", "one subject a thread", &all);
        let design = room(&operator, design, show).await?;
        let stage =
            Self { show, folder, operator, alice, bob, ops, random, corner, design, agents, host };
        stage.all_here().await?;
        Ok(stage)
    }

    pub(crate) fn url(&self) -> &str {
        &self.host.url
    }

    /// Waits until every agent is connected.
    async fn all_here(&self) -> Result {
        let began = Instant::now();
        loop {
            let there = self.operator.agents().await?.agents;
            let missing: Vec<_> =
                there.iter().filter(|a| !a.online).map(|a| &a.member.id).collect();
            if missing.is_empty() {
                return Ok(());
            }
            if began.elapsed() > PATIENCE {
                let words: Vec<_> = self.agents.iter().map(Agent::last_words).collect();
                let what = format!("{missing:?} did not join");
                return Err(Failure::here(&what, words.join(" / ")));
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    pub(crate) fn agent(&mut self, id: &str) -> Result<&mut Agent> {
        let found = self.agents.iter_mut().find(|agent| agent.plan.id == id);
        found.ok_or_else(|| Failure::here("no such agent", id))
    }

    /// Waits until nothing is owed for an event any more, and tells how it came.
    pub(crate) async fn settled(&self, event: &str) -> Result<Why> {
        let began = Instant::now();
        loop {
            let why = self.operator.why(event).await?;
            let mut receipts = why.told.iter().filter_map(|told| told.receipt.as_ref());
            let open =
                receipts.any(|receipt| !matches!(receipt.state.as_str(), "settled" | "dead"));
            if !open || began.elapsed() > PATIENCE {
                return Ok(why);
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Waits until a stimulus was said.
    pub(crate) async fn said(&self, room: &Room, stimulus: &str) -> Result {
        let began = Instant::now();
        loop {
            let all = self.operator.stimuli(&room.id, &ListStimuli::default()).await?.stimuli;
            let found = all.iter().find(|one| one.id == stimulus);
            if found.is_none_or(|one| !one.state.is_open()) || began.elapsed() > PATIENCE {
                return Ok(());
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// How many deliveries the agent has that have not ended.
    pub(crate) async fn open(&self, agent: &str) -> Result<usize> {
        let member = Some(agent.to_owned());
        let query = ListDeliveries { state: Some(StateFilter::Open), member };
        Ok(self.operator.deliveries(&query).await?.deliveries.len())
    }

    /// Ends the agents, then the host, then removes the folder.
    pub(crate) async fn strike(mut self) -> Result {
        for agent in &mut self.agents {
            agent.stop().await;
        }
        drop((self.ops, self.random, self.corner, self.design));
        self.host.stop().await;
        self.folder.close().map_err(|e| Failure::here("cannot remove the temporary folder", e))
    }
}

/// Says something as whoever the client is.
pub(crate) async fn say(
    who: &Client,
    room: &Room,
    text: &str,
    in_reply_to: Option<&str>,
) -> Result<Posted> {
    let message = NewMessage {
        conversation: room.id.clone(),
        text: Some(text.to_owned()),
        in_reply_to: in_reply_to.map(str::to_owned),
        idempotency_key: Some(new_key()?),
        ..NewMessage::default()
    };
    Ok(who.post(&message).await?)
}

fn plans() -> [Plan; 5] {
    let plan =
        |id, persona| Plan { id, persona, quiet_ms: QUIET_MS, cap_ms: CAP_MS, knocks: "hold" };
    let eager = |id| Plan { quiet_ms: 50, cap_ms: 100, knocks: "turn", ..plan(id, "eager") };
    let (scout, builder) = (plan("scout", "scout"), plan("builder", "builder"));
    [scout, builder, plan("critic", "critic"), eager("ping"), eager("pong")]
}

async fn person(operator: &Client, id: &str, name: &str) -> Result<Client> {
    let new = NewMember {
        id: id.to_owned(),
        kind: MemberKind::Human.into(),
        handle: None,
        display_name: Some(name.to_owned()),
        owner_id: None,
        identities: Vec::new(),
        token_role: None,
    };
    operator.add_member(&new).await?;
    Ok(operator.with_token(token(operator, id).await?))
}

async fn token(operator: &Client, member: &str) -> Result<String> {
    let agent = member.to_owned();
    let new =
        NewToken { agent, role: Authority::Worker.into(), session: None, ttl_s: Some(24 * 3_600) };
    Ok(operator.issue_token(&new).await?.token)
}

fn channel(title: &str, purpose: &str, members: &[&str]) -> NewChannel {
    NewChannel {
        title: title.to_owned(),
        purpose: Some(purpose.to_owned()),
        members: members.iter().map(|member| (*member).to_owned()).collect(),
        ..NewChannel::default()
    }
}

/// A channel whose agents answer beside what they answer, however many they are.
fn on_one_line(title: &str, purpose: &str, members: &[&str]) -> NewChannel {
    NewChannel { replies: Some(Replies::Line.into()), ..channel(title, purpose, members) }
}

async fn room(operator: &Client, new: NewChannel, show: Show) -> Result<Room> {
    let id = operator.create_channel(&new).await?.id;
    Ok(Room::follow(operator.clone(), id, new.title, show))
}
