//! A host with agents behind connection strings, and the people who speak to them.

use std::net::SocketAddr;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::bench::host::rooms::{each, filled, id_of, person};
use crate::bench::host::server::{Host, Hosts};
use crate::bench::talk;

/// A host with so many agents, all of them in each of its channels.
pub(super) struct House {
    pub(super) host: Host,
    pub(super) channels: Vec<String>,
    pub(super) agents: Vec<String>,
    pub(super) token: String,
}

impl House {
    /// Agents at these connection strings, under a `[webhook]` of these lines.
    pub(super) fn open(
        hosts: Hosts<'_>,
        webhook: &str,
        strings: Vec<String>,
        channels: usize,
    ) -> Result<Self, String> {
        let ground = hosts.ground()?;
        let config = ground.folder.path().join("chorus.toml");
        std::fs::write(&config, format!("[webhook]\nquiet = \"0s\"\n{webhook}\n"))
            .map_err(|e| format!("{}: {e}", config.display()))?;
        let host = hosts.start_on(&[&format!("--config={}", config.display())], ground)?;
        let agents: Vec<_> = (0..strings.len()).map(|number| format!("agent{number}")).collect();
        let add = |(agent, url): (&String, String)| {
            ("POST", "/v1/endpoints".to_owned(), json!({"member": agent, "url": url}).to_string())
        };
        each(&host, agents.iter().zip(strings).map(add).collect())?;
        let (id, token) = person(&host, "speaker")?;
        let members: Vec<_> = agents.iter().cloned().chain([id]).collect();
        let channel = |number| {
            let title = format!("room {number}");
            let new = json!({"title": title, "members": members, "replies": "line"});
            id_of(&host.ask("POST", "/v1/channels", &new)?)
        };
        let channels = (0..channels).map(channel).collect::<Result<_, _>>()?;
        Ok(Self { host, channels, agents, token })
    }

    /// Somebody who says things on a connection of their own.
    pub(super) async fn speaker(&self, name: usize) -> Result<Speaker, String> {
        let addr: SocketAddr = self.host.addr;
        let door = TcpStream::connect(addr).await.map_err(|e| format!("connect: {e}"))?;
        door.set_nodelay(true).map_err(|e| format!("connect: {e}"))?;
        let text = filled("Can you look at this? ");
        Ok(Speaker { door, token: self.token.clone(), name, text, said: 0 })
    }
}

pub(super) struct Speaker {
    door: TcpStream,
    token: String,
    name: usize,
    text: String,
    said: u64,
}

impl Speaker {
    /// Posts once to these agents; the event's id.
    pub(super) async fn say(&mut self, channel: &str, to: &[String]) -> Result<String, String> {
        self.said += 1;
        let key = format!("{}:{}", self.name, self.said);
        let body = json!({"conversation": channel, "text": self.text, "mentions": to, "idempotency_key": key});
        let mut out = Vec::new();
        talk::request(&mut out, "POST", "/v1/messages", &self.token, &body.to_string());
        self.door.write_all(&out).await.map_err(|e| format!("post: {e}"))?;
        let mut got = Vec::new();
        loop {
            if self.door.read_buf(&mut got).await.map_err(|e| format!("post: {e}"))? == 0 {
                return Err("post: the host closed the connection".to_owned());
            }
            let Some((status, head, end)) = talk::head_and_body(&got) else { continue };
            let body = &got[head..end];
            if !(200..300).contains(&status) {
                return Err(format!("post: HTTP {status}: {}", String::from_utf8_lossy(body)));
            }
            let answer: Value = serde_json::from_slice(body).map_err(|e| format!("post: {e}"))?;
            let id = answer["event_id"].as_str().map(str::to_owned);
            return id.ok_or_else(|| format!("no event in {answer}"));
        }
    }
}
