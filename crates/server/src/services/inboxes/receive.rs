//! What a service POSTs to an inbox, made a message here (webhook spec section 2).
//!
//! Everything in it is untrusted: names become one bounded line, ids elsewhere are never ids here, and what the sender
//! states may take an obligation away and give none. Its callback and its tools' headers are sealed before core has them.

use std::net::IpAddr;
use std::sync::Arc;

use axum::http::HeaderMap;
use chorus_core::commands::inboxes::Receive;
use chorus_core::model::attention::{Directedness, Policy};
use chorus_core::model::caller::By;
use chorus_core::model::endpoint::Secret;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::event::{Hash, Idempotency, Message, MessageKind};
use chorus_core::model::inbox::{self, Inbox, Received};
use chorus_core::model::limits;
use chorus_core::model::member::MemberKind;
use chorus_core::model::text::is_unseen;
use chorus_wire::part::{Content, Part};
use chorus_wire::rest::messages::MessageSource;
use chorus_wire::webhook::{Channel, Delivery, Extension, Knock, McpServer, Reminder};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{checks, hash};
use crate::auth::Vault;
use crate::egress::check_url;
use crate::limits::Wait;
use crate::services::inboxes::InboxService;
use crate::services::posts::source_json;

/// Longest id of a channel or message elsewhere, in bytes.
const ID_BYTES: usize = 512;
/// Longest name of a sender that is kept, in characters: a line.
const NAME_CHARS: usize = 80;
/// Servers of tools that one delivery may bring, and all of them as JSON in bytes.
const MCP_SERVERS: usize = 8;
const MCP_BYTES: usize = 16 * 1024;
/// What the service is called where it does not say.
const NO_SERVICE: &str = "webhook";

/// What came with a message for the agent alone, as it is sealed.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct CameWith {
    pub(crate) callback: String,
    #[serde(default)]
    pub(crate) mcp: Vec<McpServer>,
}

impl CameWith {
    pub(crate) fn open(vault: &Vault, sealed: &Secret) -> Option<Self> {
        serde_json::from_str(&vault.open(sealed)?).ok()
    }
}

impl InboxService {
    /// The inbox behind a secret. One that is nobody's costs the same look.
    pub(crate) fn inbox_behind(&self, secret: &str) -> Result<Arc<Inbox>, Refusal> {
        let found = self.directory.load().inbox_of(&hash(secret)).cloned();
        found.ok_or_else(checks::unknown)
    }

    /// Whether somebody may deliver to an inbox now, as far as can be said without the body.
    pub(crate) fn may_deliver(
        &self,
        inbox: &Inbox,
        from: Option<IpAddr>,
        headers: &HeaderMap,
    ) -> Result<Result<(), Wait>, Refusal> {
        self.check_sender(inbox, from, headers)?;
        // The inbox has the bucket of a member.
        let by = By { member: inbox.people, ..By::host() };
        Ok(self.limits.call(by, self.clock.now()))
    }

    /// Takes a delivery in. When it returns, the message is on disk.
    pub(crate) async fn receive(&self, inbox: &Inbox, body: &[u8]) -> Result<(), Refusal> {
        // The agent here is reminded of what it owes by this host.
        let Some(delivery) = read(body)? else { return Ok(()) };
        let url = check_url(&delivery.callback, &self.webhooks.strangers)?;
        let Delivery { channel, message, mcp, chorus, .. } = delivery;
        let extension = chorus.unwrap_or_default();
        let mcp = mcp.map(|mcp| mcp.servers().to_vec()).unwrap_or_default();
        check_mcp(&mcp)?;
        check_id("channel", &channel.id)?;
        check_id("message", &message.id)?;
        let came_with = CameWith { callback: url.into(), mcp };
        let came_with = serde_json::to_string(&came_with)
            .map_err(|_| Refusal::new(Code::Internal, "a callback could not be written"))?;
        let is_agent = |s: &chorus_wire::webhook::Sender| s.kind == MemberKind::Agent;
        let from_agent = extension.hop > 0 || extension.sender.as_ref().is_some_and(is_agent);
        let kind = if from_agent { MemberKind::Agent } else { MemberKind::Human };
        let source = MessageSource {
            platform: line(channel.service.as_deref().unwrap_or_default(), NAME_CHARS)
                .unwrap_or_else(|| NO_SERVICE.to_owned()),
            workspace_id: None,
            id: line(&message.id, ID_BYTES / 4),
            author: line(&message.sender, NAME_CHARS),
        };
        let content = self.content(inbox, kind, &message.content, &extension).await?;
        if extension.test {
            return Ok(());
        }
        let received = Received {
            secret: inbox.secret,
            channel: inbox::Channel {
                hash: digest(&[&inbox.uid.0.to_be_bytes(), channel.id.as_bytes()]),
                title: title(&channel),
                context: bounded(&channel.context.unwrap_or_default(), limits::DESCRIPTION_BYTES),
            },
            message: Message {
                kind: MessageKind::Chat,
                text: content.text.into(),
                parts: content.parts.map(Into::into),
                metadata: None,
                source: Some(source_json(&source)?),
            },
            idempotency: key(inbox, &channel.id, &message.id),
            kind,
            hop: extension.hop,
            directedness: lowered(&extension),
            callback: self.auth.vault().seal(&came_with)?,
        };
        if !self.commands.submit(By::host(), Receive(received)).await?.duplicate {
            self.metrics.posted();
        }
        Ok(())
    }

    /// What is said: what the same author said just before, and then the text or the parts.
    async fn content(
        &self,
        inbox: &Inbox,
        kind: MemberKind,
        text: &str,
        extension: &Extension<'_>,
    ) -> Result<Content, Refusal> {
        // What was delivered before stands here already.
        let known = extension.earlier.iter().rposition(|m| extension.supersedes.contains(&m.id));
        let new = extension.earlier.iter().skip(known.map_or(0, |last| last + 1));
        let mut before: Vec<&str> = new.map(|m| &*m.content).collect();
        before.retain(|text| !text.trim().is_empty());
        if let Some(knock) = &extension.knock {
            return Content::read(Some(knocked(knock)), None);
        }
        if extension.parts.is_empty() {
            before.push(text);
            return Content::read(Some(before.join("\n\n")), None);
        }
        let earlier = before.into_iter().map(Part::text);
        let parts = earlier.chain(extension.parts.iter().cloned().map(part)).collect();
        // Files come to belong to who stands in for the sender.
        let by = By { member: inbox.stand_in(kind), ..By::host() };
        let parts = self.assets.keep_uploads(by, Some(parts)).await?;
        Content::read(None, parts)
    }
}

/// None of a reminder. Nothing of the body stands in the refusal: there are secrets in it.
fn read(body: &[u8]) -> Result<Option<Delivery<'static>>, Refusal> {
    if body.trim_ascii_start().first() != Some(&b'{') {
        return Err(Refusal::invalid("a delivery is a JSON object"));
    }
    let e = match serde_json::from_slice(body) {
        Ok(delivery) => return Ok(Some(delivery)),
        Err(_) if serde_json::from_slice::<Reminder>(body).is_ok() => return Ok(None),
        Err(e) => e,
    };
    let what = e.to_string();
    let missing = what.strip_prefix("missing field `").and_then(|rest| rest.split('`').next());
    let (line, column) = (e.line(), e.column());
    Err(Refusal::invalid(match missing {
        Some(field) => format!("the delivery has no {field}"),
        None => format!("this is no delivery, as of line {line}, column {column}"),
    }))
}

fn check_id(of: &str, id: &str) -> Result<(), Refusal> {
    if id.is_empty() || id.len() > ID_BYTES {
        return Err(Refusal::invalid(format!("the id of a {of} has 1 to {ID_BYTES} bytes")));
    }
    Ok(())
}

fn check_mcp(servers: &[McpServer]) -> Result<(), Refusal> {
    let bytes = serde_json::to_string(servers).map_or(usize::MAX, |json| json.len());
    if servers.len() > MCP_SERVERS || bytes > MCP_BYTES {
        let why = format!("mcp has at most {MCP_SERVERS} servers, of {MCP_BYTES} bytes together");
        return Err(Refusal::new(Code::PayloadTooLarge, why));
    }
    if servers.iter().any(|server| server.url.is_empty()) {
        return Err(Refusal::invalid("an MCP server has a url"));
    }
    Ok(())
}

/// The same message of the same channel is the same, whatever else came with it.
fn key(inbox: &Inbox, channel: &str, message: &str) -> Idempotency {
    let digest = digest(&[&inbox.uid.0.to_be_bytes(), channel.as_bytes(), message.as_bytes()]);
    let mut key = [0; 16];
    key.copy_from_slice(&digest[..16]);
    Idempotency { key, payload: key }
}

/// Over fields with their lengths, so that they cannot run into each other.
fn digest(fields: &[&[u8]]) -> Hash {
    let mut hasher = Sha256::new();
    for field in fields {
        hasher.update((field.len() as u64).to_be_bytes());
        hasher.update(field);
    }
    hasher.finalize().into()
}

/// What the sender says of its audience may take an obligation away.
fn lowered(extension: &Extension<'_>) -> Option<Directedness> {
    if extension.knock.is_some() {
        return Some(Directedness::Ambient);
    }
    let attention = extension.attention.as_ref()?;
    match attention.directedness.0 {
        stated @ (Directedness::Ambient | Directedness::ToOther) => Some(stated),
        _ if attention.policy != Policy::MustRespond => Some(Directedness::Ambient),
        _ => None,
    }
}

/// What a knock says here: that there is something, and what shows it.
fn knocked(knock: &Knock) -> String {
    match line(&knock.pull_with, NAME_CHARS) {
        Some(tool) => format!("(There is a message; the service's tool {tool} shows it.)"),
        None => "(There is a message; the service's tools show it.)".to_owned(),
    }
}

/// A part as it can stand here: what the service has is not what this host has.
fn part(part: Part) -> Part {
    let named = |what: &str, id: &str| {
        let id = line(id, NAME_CHARS).unwrap_or_default();
        Part::text(format!("[{what} {id} of the service]"))
    };
    match part {
        Part::Asset { asset_id } => named("file", &asset_id),
        Part::BoardReference { board_id, .. } => named("board", &board_id),
        part @ (Part::Text { .. } | Part::Upload { .. }) => part,
    }
}

/// The channel's name and the service's, else its id.
fn title(channel: &Channel) -> Arc<str> {
    let name = channel.name.as_deref().and_then(|name| line(name, NAME_CHARS));
    let service = channel.service.as_deref().and_then(|name| line(name, NAME_CHARS));
    let name = name.or_else(|| line(&channel.id, NAME_CHARS));
    let name = name.unwrap_or_else(|| "a channel".to_owned());
    let title = match service {
        Some(service) => format!("{name} · {service}"),
        None => name,
    };
    bounded(&title, limits::TITLE_BYTES)
}

/// One line without control characters, shortened to so many characters; none when nothing is left.
fn line(text: &str, most: usize) -> Option<String> {
    // What breaks a line parts words, and is not dropped with what has no width.
    let text: String = text.chars().filter(|c| c.is_whitespace() || !is_unseen(*c)).collect();
    let words: Vec<&str> = text.split(|c: char| c.is_whitespace() || c.is_control()).collect();
    let words = words.into_iter().filter(|word| !word.is_empty());
    let line: String = words.collect::<Vec<_>>().join(" ").chars().take(most).collect();
    let line = line.trim_end().to_owned();
    (!line.is_empty()).then_some(line)
}

/// As much of a text as so many bytes hold, without what no text may have.
fn bounded(text: &str, most: usize) -> Arc<str> {
    let text = text.replace('\0', "");
    let mut end = text.len().min(most);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].into()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn names_become_one_line() {
        assert_eq!(line(" a\nb\u{7}\t c\u{2028}d ", 80).as_deref(), Some("a b c d"));
        assert_eq!(line("\n \r\0", 80), None);
        assert_eq!(line(&"é".repeat(100), 80).unwrap().chars().count(), 80);
        let named = |name: &str| Channel { name: Some(name.into()), ..Channel::default() };
        assert_eq!(&*title(&named("ops")), "ops");
        assert_eq!(&*title(&Channel { id: "C1".into(), ..named(" ") }), "C1");
        let long = Channel { service: Some("東".repeat(200)), ..named(&"東".repeat(200)) };
        assert!(title(&long).len() <= limits::TITLE_BYTES);
    }

    // covers: WHK-63
    #[test]
    fn what_cannot_be_read_is_not_repeated() {
        for bad in [
            r#"{"channel": {"id": "c"}, "message": "https://a.example/cb/tok_secret"}"#,
            r#"["https://a.example/cb/tok_secret"]"#,
            r#"{"callback": "https://a.example/cb/tok_secret""#,
            r#"{"callback": "https://a.example/cb/tok_secret"}"#,
            "tok_secret",
            "",
        ] {
            let refusal = read(bad.as_bytes()).unwrap_err();
            assert_eq!(refusal.code, Code::ValidationError, "{bad}");
            assert!(!refusal.message.contains("secret"), "{refusal}");
        }
        let missing = read(br#"{"channel": {"id": "c"}, "callback": "x"}"#).unwrap_err();
        assert_eq!(missing.message, "the delivery has no message");
    }

    // covers: WHK-72
    #[test]
    fn what_the_sender_states_may_lower_and_never_raises() {
        let stated = |directedness: &str, policy: &str| {
            let json = format!(
                r#"{{"attention": {{"directedness": "{directedness}", "policy": "{policy}",
                    "intent": "question", "mode": "immediate", "priority": "normal", "reason": "x"}}}}"#
            );
            lowered(&serde_json::from_str(&json).unwrap())
        };
        assert_eq!(stated("to_me", "must_respond"), None);
        assert_eq!(stated("to_my_role", "must_respond"), None);
        assert_eq!(stated("to_me", "may_respond"), Some(Directedness::Ambient));
        assert_eq!(stated("to_me", "must_not_respond"), Some(Directedness::Ambient));
        assert_eq!(stated("to_other", "must_respond"), Some(Directedness::ToOther));
        assert_eq!(lowered(&Extension::default()), None);
    }
}
