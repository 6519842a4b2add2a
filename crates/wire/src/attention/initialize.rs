//! `initialize`: version, capabilities, the session to resume, and the workspace's glyphs (C2A
//! "Initialization").

use std::collections::BTreeMap;

use chorus_core::model::attention::Mode;
use chorus_core::model::member::MemberKind;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::PROTOCOL_VERSION;
use crate::named::Named;

/// Glyphs by signal name. Unknown signals are ignored.
pub type Glyphs = BTreeMap<String, String>;

#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InitializeParams {
    pub protocol_version: String,
    pub client_info: Peer,
    #[serde(default = "Capabilities::all")]
    pub capabilities: Capabilities,
    /// The session that connects; without an id a new one is created.
    pub session: Option<SessionHello>,
    pub resume: Option<Resume>,
    /// Glyphs this connection wants for signals, instead of the workspace's.
    pub glyphs: Option<Glyphs>,
}

impl InitializeParams {
    /// The params of a harness that supports everything in C2A except hard interrupts.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            protocol_version: PROTOCOL_VERSION.to_owned(),
            client_info: Peer { name: name.into(), version: version.into() },
            capabilities: Capabilities::all(),
            session: None,
            resume: None,
            glyphs: None,
        }
    }
}

/// The name and version of one side, for logs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Peer {
    pub name: String,
    #[serde(default)]
    pub version: String,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SessionHello {
    /// The session of an earlier connection to resume, `sess_…`.
    pub id: Option<String>,
    /// What runs the model: `codex_cli`, `cmd`.
    pub runtime: Option<String>,
    pub resumable: Option<bool>,
    /// Whether the harness can start and stop the run.
    pub managed: Option<bool>,
    /// Whether it is a runner: it is offered no deliveries, and woken instead.
    pub runner: Option<bool>,
    /// Where the program works.
    pub folder: Option<String>,
    /// The runtime's own id of its session, by which it can be resumed.
    pub resume_id: Option<String>,
}

/// Only a hint. The host offers all unsettled events again, oldest first.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Resume {
    pub last_event_id: Option<String>,
}

/// What one side supports. A capability that is absent from its group is not supported; a group
/// that is absent is fully supported. The negotiated set is the intersection of both sides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Capabilities {
    #[serde(default = "DeliveryCapabilities::all")]
    pub delivery: DeliveryCapabilities,
    #[serde(default = "InjectionCapabilities::all")]
    pub injection: InjectionCapabilities,
    #[serde(default = "ChatToolCapabilities::all")]
    pub chat_tools: ChatToolCapabilities,
    #[serde(default = "UtilityCapabilities::all")]
    pub utilities: UtilityCapabilities,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DeliveryCapabilities {
    pub ack: bool,
    pub redelivery: bool,
    pub idempotency: bool,
}

/// These names are snake_case in the spec.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct InjectionCapabilities {
    pub immediate: bool,
    pub buffered: bool,
    pub notify: bool,
    pub tool_mailbox: bool,
    pub digest: bool,
    /// Whether a running turn can be interrupted.
    pub interrupt: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ChatToolCapabilities {
    pub list_events: bool,
    pub read_thread: bool,
    pub send_message: bool,
    pub react: bool,
    pub reaction_signals: bool,
    pub claim: bool,
    pub defer: bool,
    pub resolve: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UtilityCapabilities {
    pub progress: bool,
    pub cancellation: bool,
    pub logging: bool,
    pub typing: bool,
}

impl DeliveryCapabilities {
    fn all() -> Self {
        Self { ack: true, redelivery: true, idempotency: true }
    }
}

impl InjectionCapabilities {
    /// Everything except hard interrupts.
    fn all() -> Self {
        Self {
            immediate: true,
            buffered: true,
            notify: true,
            tool_mailbox: true,
            digest: true,
            interrupt: false,
        }
    }

    /// The mode in which a harness with these capabilities is shown an event of the given mode: the
    /// same one if it is supported, otherwise the nearest. None if it supports none; then it finds
    /// the event in its mailbox. A knock never becomes more than a knock.
    pub fn shows(&self, mode: Mode) -> Option<Mode> {
        let order: &[Mode] = match mode {
            Mode::Immediate => &[Mode::Immediate, Mode::Buffered, Mode::Notify],
            Mode::Buffered => &[Mode::Buffered, Mode::Immediate, Mode::Notify],
            Mode::Notify => &[Mode::Notify],
            Mode::ToolMailbox | Mode::Digest | Mode::Silent => &[],
        };
        let can = |mode: &Mode| match mode {
            Mode::Immediate => self.immediate,
            Mode::Buffered => self.buffered,
            _ => self.notify,
        };
        order.iter().copied().find(can)
    }
}

impl ChatToolCapabilities {
    fn all() -> Self {
        Self {
            list_events: true,
            read_thread: true,
            send_message: true,
            react: true,
            reaction_signals: true,
            claim: true,
            defer: true,
            resolve: true,
        }
    }
}

impl UtilityCapabilities {
    fn all() -> Self {
        Self { progress: true, cancellation: true, logging: true, typing: true }
    }
}

impl Capabilities {
    /// Everything except hard interrupts.
    pub fn all() -> Self {
        Self {
            delivery: DeliveryCapabilities::all(),
            injection: InjectionCapabilities::all(),
            chat_tools: ChatToolCapabilities::all(),
            utilities: UtilityCapabilities::all(),
        }
    }

    /// The capabilities that both sides have.
    pub fn and(self, other: Self) -> Self {
        let (d, i, c, u) = (other.delivery, other.injection, other.chat_tools, other.utilities);
        Self {
            delivery: DeliveryCapabilities {
                ack: self.delivery.ack && d.ack,
                redelivery: self.delivery.redelivery && d.redelivery,
                idempotency: self.delivery.idempotency && d.idempotency,
            },
            injection: InjectionCapabilities {
                immediate: self.injection.immediate && i.immediate,
                buffered: self.injection.buffered && i.buffered,
                notify: self.injection.notify && i.notify,
                tool_mailbox: self.injection.tool_mailbox && i.tool_mailbox,
                digest: self.injection.digest && i.digest,
                interrupt: self.injection.interrupt && i.interrupt,
            },
            chat_tools: ChatToolCapabilities {
                list_events: self.chat_tools.list_events && c.list_events,
                read_thread: self.chat_tools.read_thread && c.read_thread,
                send_message: self.chat_tools.send_message && c.send_message,
                react: self.chat_tools.react && c.react,
                reaction_signals: self.chat_tools.reaction_signals && c.reaction_signals,
                claim: self.chat_tools.claim && c.claim,
                defer: self.chat_tools.defer && c.defer,
                resolve: self.chat_tools.resolve && c.resolve,
            },
            utilities: UtilityCapabilities {
                progress: self.utilities.progress && u.progress,
                cancellation: self.utilities.cancellation && u.cancellation,
                logging: self.utilities.logging && u.logging,
                typing: self.utilities.typing && u.typing,
            },
        }
    }
}

#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InitializeResult {
    /// The host's own version if it does not know the harness's.
    pub protocol_version: String,
    pub server_info: Peer,
    pub capabilities: Capabilities,
    pub session: SessionRef,
    pub member: MemberCard,
    pub workspace: WorkspaceRef,
    /// The glyph of every signal on this connection.
    pub glyphs: Glyphs,
    pub limits: Limits,
    /// The HTTP address of `/v1/c2a`, for POSTs with a turn's token.
    pub turn_url: String,
    /// The HTTP address of `/v1/mcp`, which also accepts a turn's token.
    pub mcp_url: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRef {
    /// `sess_…`
    pub id: String,
}

/// The member the token speaks for.
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MemberCard {
    pub id: String,
    pub handle: String,
    #[redact(fixed = 3)]
    pub display_name: String,
    pub kind: Named<MemberKind>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkspaceRef {
    /// `wk_…`
    pub id: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Maximum number of unacknowledged deliveries on this connection.
    pub unacked: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: ATT-348
    #[test]
    fn an_unsupported_mode_becomes_the_nearest_supported_one() {
        use Mode::{Buffered, Digest, Immediate, Notify, Silent, ToolMailbox};
        let can = |immediate, buffered, notify| InjectionCapabilities {
            immediate,
            buffered,
            notify,
            ..InjectionCapabilities::default()
        };
        for (can, told) in [
            (can(true, true, true), [Some(Immediate), Some(Buffered), Some(Notify)]),
            (can(false, true, true), [Some(Buffered), Some(Buffered), Some(Notify)]),
            (can(true, false, true), [Some(Immediate), Some(Immediate), Some(Notify)]),
            (can(false, false, true), [Some(Notify), Some(Notify), Some(Notify)]),
            (can(true, true, false), [Some(Immediate), Some(Buffered), None]),
            (can(false, false, false), [None, None, None]),
        ] {
            assert_eq!([Immediate, Buffered, Notify].map(|mode| can.shows(mode)), told, "{can:?}");
            assert_eq!([ToolMailbox, Digest, Silent].map(|mode| can.shows(mode)), [None; 3]);
        }
    }
}
