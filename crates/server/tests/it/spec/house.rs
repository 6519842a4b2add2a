//! A host with alice, who is a person, the agents scout and reviewer, and the channel `ops` with all of them.

use std::time::Duration;

use chorus_client::Client;
use chorus_client::c2a::{Connection, Incoming, connect};
use chorus_core::model::caller::Authority;
use chorus_core::model::conversation::{Replies, Visibility};
use chorus_core::model::member::MemberKind;
use chorus_server::{Config, Host, Running};
use chorus_wire::attention::deliver::Deliver;
use chorus_wire::attention::initialize::InitializeParams;
use chorus_wire::jsonrpc::Id;
use chorus_wire::rest::channels::NewChannel;
use chorus_wire::rest::members::NewMember;
use chorus_wire::rest::messages::{NewMessage, Posted};
use chorus_wire::rest::tokens::{NewToken, Token};
use tokio::sync::mpsc::Receiver;

/// Longer than anything here takes; a test that waits so long has failed.
const LONG: Duration = Duration::from_secs(20);

pub struct House {
    pub running: Running,
    pub operator: Client,
    pub alice: Client,
    pub ops: String,
    keys: std::cell::Cell<u32>,
    _folder: tempfile::TempDir,
}

/// A connected agent.
pub struct Agent {
    pub connection: Connection,
    incoming: Receiver<Incoming>,
}

impl House {
    pub async fn open() -> Self {
        chorus_statements::watch();
        let folder = tempfile::tempdir().unwrap();
        let mut config = Config::on(folder.path());
        config.listen.set_port(0);
        let running = Host::start(config).await.unwrap();
        let operator = Client::new(&running.url, running.operator_token.clone()).unwrap();
        let keys = std::cell::Cell::default();
        let mut house = Self {
            alice: operator.clone(),
            operator,
            running,
            ops: String::new(),
            keys,
            _folder: folder,
        };
        for (id, kind) in [
            ("alice", MemberKind::Human),
            ("scout", MemberKind::Agent),
            ("reviewer", MemberKind::Agent),
        ] {
            house.add(id, kind).await;
        }
        house.ops = house.channel("ops", &["alice", "scout", "reviewer"]).await;
        let token = house.token("alice", Authority::Worker).await.token;
        house.alice = house.operator.with_token(token);
        house
    }

    /// Takes a member in.
    pub async fn add(&self, id: &str, kind: MemberKind) {
        let new = NewMember {
            id: id.into(),
            kind: kind.into(),
            handle: None,
            display_name: None,
            owner_id: None,
            identities: Vec::new(),
            token_role: None,
        };
        self.operator.add_member(&new).await.unwrap();
    }

    /// A private channel on one line.
    pub async fn channel(&self, title: &str, members: &[&str]) -> String {
        let new = NewChannel {
            title: title.into(),
            visibility: Some(Visibility::Private.into()),
            members: members.iter().map(|m| (*m).to_owned()).collect(),
            // These tests are about deliveries; nobody waits for a turn in them.
            replies: Some(Replies::Line.into()),
            ..NewChannel::default()
        };
        self.operator.create_channel(&new).await.unwrap().id
    }

    pub async fn token(&self, member: &str, role: Authority) -> Token {
        let new = NewToken { agent: member.into(), role: role.into(), session: None, ttl_s: None };
        self.operator.issue_token(&new).await.unwrap()
    }

    /// The agent by REST and POST, with a token of its own.
    pub async fn client(&self, agent: &str) -> Client {
        self.operator.with_token(self.token(agent, Authority::Worker).await.token)
    }

    pub async fn join(&self, agent: &str) -> Agent {
        let token = self.token(agent, Authority::Worker).await;
        self.join_with(&token.token, InitializeParams::new("test", "0")).await
    }

    pub async fn join_with(&self, token: &str, params: InitializeParams) -> Agent {
        let (connection, incoming) = connect(&self.running.url, token, &params).await.unwrap();
        Agent { connection, incoming }
    }

    /// A message of alice in `ops`.
    pub fn message(&self, text: &str) -> NewMessage {
        self.keys.set(self.keys.get() + 1);
        NewMessage {
            conversation: self.ops.clone(),
            text: Some(text.into()),
            idempotency_key: Some(format!("key {}", self.keys.get())),
            ..NewMessage::default()
        }
    }

    pub async fn says(&self, text: &str) -> Posted {
        self.alice.post(&self.message(text)).await.unwrap()
    }
}

impl Agent {
    /// The next delivery, not acknowledged.
    pub async fn offered(&mut self) -> (Id, Deliver) {
        loop {
            if let Incoming::Deliver { request_id, deliver } = self.next().await {
                return (request_id, *deliver);
            }
        }
    }

    /// The next delivery, acknowledged.
    pub async fn taken(&mut self) -> Deliver {
        let (id, deliver) = self.offered().await;
        self.connection.ack(&id).await.unwrap();
        deliver
    }

    /// Whatever comes next.
    pub async fn next(&mut self) -> Incoming {
        let next = tokio::time::timeout(LONG, self.incoming.recv()).await;
        next.expect("something comes").expect("the connection stands")
    }

    /// Whether nothing more has come by the time the host answers a call made now.
    pub async fn is_quiet(&mut self) -> bool {
        self.connection.list_tools().await.unwrap();
        loop {
            match self.incoming.try_recv() {
                Ok(Incoming::Deliver { .. }) => return false,
                Ok(_) => {}
                Err(_) => return true,
            }
        }
    }
}
