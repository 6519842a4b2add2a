//! The messages of C2A as they are written; each is read back unchanged.

use std::fmt::Debug;

use chorus_core::model::attention::{Directedness, Mode, Policy, Priority};
use chorus_core::model::disposition::Disposition;
use chorus_core::model::ids::Timestamp;
use chorus_core::model::member::MemberKind;
use chorus_core::model::reaction::Signal;
use chorus_core::model::wake::{Lane, ReportResult};
use chorus_wire::attention::content::Author;
use chorus_wire::attention::deliver::Accepted;
use chorus_wire::attention::disposition::{DispositionParams, DispositionResult};
use chorus_wire::attention::entry::{Entry, EntryAttention, Reaction, Told};
use chorus_wire::attention::initialize::{
    Capabilities, InitializeParams, InitializeResult, Limits, MemberCard, Peer, Resume,
    SessionHello, SessionRef, WorkspaceRef,
};
use chorus_wire::attention::notifications::{
    Cancelled, Closing, Level, LogMessage, Progress, Typing,
};
use chorus_wire::attention::wake::{Wake, WakeReport, WakeReported, WakeThread};
use chorus_wire::jsonrpc::Id;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

fn wake() -> Wake {
    Wake {
        wake_id: text("wake_1"),
        fence: 2,
        reason: text("must_respond"),
        force: false,
        again: true,
        threads: vec![WakeThread {
            conversation_id: text("ch_1"),
            thread_id: Some(text("th_1")),
            title: text("deploys"),
            through_seq: 7,
            read_seq: 3,
        }],
        prompt: text("read th_1"),
        summary: None,
        skip: vec![Lane::Pty.into()],
    }
}

fn wake_report() -> WakeReport {
    WakeReport {
        wake_id: text("wake_1"),
        fence: 2,
        lane: Some(Lane::CodexSocket.into()),
        result: ReportResult::Confirmed.into(),
        why: None,
        evidence: Some(text("turn/started t1")),
        deferred_until: None,
        resume_id: Some(text("thr_1")),
        lines: None,
    }
}

/// The JSON of a message, after checking that it is read back unchanged.
fn written<T: Serialize + DeserializeOwned + PartialEq + Debug>(message: &T) -> Value {
    let json = serde_json::to_string(message).unwrap();
    assert_eq!(&serde_json::from_str::<T>(&json).unwrap(), message, "{json}");
    serde_json::from_str(&json).unwrap()
}

fn text(text: &str) -> String {
    text.to_owned()
}

// covers: ATT-19
#[test]
fn initialize_keeps_its_shape() {
    let params = InitializeParams {
        session: Some(SessionHello {
            id: Some(text("sess_1")),
            runtime: Some(text("cmd")),
            resumable: Some(true),
            managed: Some(false),
            runner: Some(true),
            folder: Some(text("/srv/app")),
            resume_id: Some(text("thr_1")),
        }),
        resume: Some(Resume { last_event_id: Some(text("evt_1")) }),
        glyphs: Some([(text("queued"), text("⏳"))].into()),
        ..InitializeParams::new("chorus-harness", "0.1.0")
    };
    let result = InitializeResult {
        protocol_version: text("2026-06-02"),
        server_info: Peer { name: text("chorus"), version: text("0.1.0") },
        capabilities: Capabilities::all(),
        session: SessionRef { id: text("sess_1") },
        member: MemberCard {
            id: text("scout"),
            handle: text("scout"),
            display_name: text("Scout"),
            kind: MemberKind::Agent.into(),
        },
        workspace: WorkspaceRef { id: text("wk_1") },
        glyphs: [(text("seen"), text("👀"))].into(),
        limits: Limits { unacked: 32 },
        turn_url: text("http://127.0.0.1:7600/v1/c2a"),
        mcp_url: Some(text("http://127.0.0.1:7600/v1/mcp")),
    };
    insta::assert_json_snapshot!([written(&params), written(&result)]);
}

#[test]
fn notifications_and_results_keep_their_shape() {
    let cancelled = Cancelled {
        request_id: Id::from("dlv_1.1"),
        event_id: Some(text("evt_1")),
        reason: Some(text("deleted")),
    };
    let typing = |author| Typing { conversation: text("ch_1"), author, typing: true };
    let progress = Progress {
        progress_token: Id::Number(1),
        progress: 2.into(),
        total: Some(5.into()),
        message: Some(text("half")),
        event_id: Some(text("evt_1")),
    };
    let log = LogMessage { level: Level::Warning, logger: None, data: json!({"a": 1}) };
    let disposition = DispositionParams {
        event_id: text("evt_1"),
        disposition: Disposition::Failed.into(),
        note: Some(text("exit code 1")),
        turn: None,
    };
    let disposed =
        DispositionResult { event_id: text("evt_1"), disposition: Disposition::Failed.into() };
    insta::assert_json_snapshot!([
        written(&cancelled),
        written(&typing(Some(text("will")))),
        written(&typing(None)),
        written(&wake()),
        written(&wake_report()),
        written(&WakeReported {
            wake_id: text("wake_1"),
            state: text("running"),
            lease_until: Some(Timestamp(45_000).into()),
        }),
        written(&Closing { reason: text("a newer connection took the session") }),
        written(&progress),
        written(&log),
        written(&disposition),
        written(&disposed),
        written(&Accepted { accepted: true }),
    ]);
}

#[test]
fn entries_keep_their_shape() {
    let bare = Entry {
        only: Vec::new(),
        event_id: text("evt_1"),
        conversation: text("ch_1"),
        thread_id: None,
        sequence: 1,
        thread_sequence: None,
        author: Author {
            id: "will".into(),
            kind: MemberKind::Human.into(),
            display_name: "Will".into(),
        },
        created_at: Timestamp(1_780_427_400_000).into(),
        content: None,
        text: None,
        in_reply_to: None,
        replaces: None,
        edited_at: None,
        deleted: true,
        reactions: vec![],
        attention: None,
    };
    let full = Entry {
        thread_id: Some(text("th_1")),
        thread_sequence: Some(2),
        text: Some(text("hi")),
        in_reply_to: Some(text("evt_0")),
        edited_at: Some(Timestamp(1_780_427_401_000).into()),
        deleted: false,
        reactions: vec![Reaction {
            signal: Signal::Done.into(),
            glyph: text("✅"),
            members: vec![text("scout")],
        }],
        attention: Some(EntryAttention {
            directedness: Directedness::ToMe.into(),
            policy: Policy::MustRespond.into(),
            reason: text("mention"),
            mode: Mode::Buffered.into(),
        }),
        ..bare.clone()
    };
    let told = |priority| Told {
        member: text("scout"),
        directedness: Directedness::ToMyRole.into(),
        policy: Policy::MayRespond.into(),
        mode: Mode::Notify.into(),
        reason: text("role_mention"),
        priority,
    };
    insta::assert_json_snapshot!([
        written(&bare),
        written(&full),
        written(&told(Priority::Normal.into())),
        written(&told(Priority::Urgent.into())),
    ]);
}

// covers: ATT-16
#[test]
fn unknown_fields_are_refused_in_arguments_and_ignored_in_messages() {
    let call = r#"{"eventId":"evt_1","disposition":"failed","notes":"x"}"#;
    assert!(serde_json::from_str::<DispositionParams>(call).is_err());
    let mut newer = serde_json::to_value(wake()).unwrap();
    newer["because"] = json!("mail");
    assert!(serde_json::from_value::<Wake>(newer).is_ok());
}
