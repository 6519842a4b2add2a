//! The official conformance suite, over the transport that serves Chorus' own tools.

use std::net::SocketAddr;

use chorus_clients::fixture::Fixture;
use chorus_clients::kit::{Kit, run};
use chorus_server::{Config, Host};

/// Scenarios that fail: those of the tasks extension, which the revision does not require. No tool of Chorus runs on
/// after its answer, so that none is a task.
const NO_TASKS: [&str; 9] = [
    "tasks-lifecycle",
    "tasks-capability-negotiation",
    "tasks-wire-fields",
    "tasks-request-state-removal",
    "tasks-mrtr-input",
    "tasks-request-headers",
    "tasks-dispatch-and-envelope",
    "tasks-required-task-error",
    "tasks-mrtr-composition",
];

/// What each revision's scenarios call, read and get. Some would pass if it were not there.
const CALLED: [(&str, &[&str]); 2] = [
    (
        "2025-11-25",
        &[
            "logging/setLevel",
            "ping",
            "completion/complete",
            "test_simple_text",
            "test_image_content",
            "test_audio_content",
            "test_embedded_resource",
            "test_multiple_content_types",
            "test_tool_with_logging",
            "test_error_handling",
            "test_tool_with_progress",
            "test_sampling",
            "test_elicitation",
            "test_elicitation_sep1034_defaults",
            "test_elicitation_sep1330_enums",
            "test://static-text",
            "test://static-binary",
            "resources/subscribe",
            "resources/unsubscribe",
            "test_simple_prompt",
            "test_prompt_with_arguments",
            "test_prompt_with_embedded_resource",
            "test_prompt_with_image",
        ],
    ),
    (
        "2026-07-28",
        &[
            "completion/complete",
            "subscriptions/listen",
            "test_simple_text",
            "test_image_content",
            "test_audio_content",
            "test_embedded_resource",
            "test_multiple_content_types",
            "test_error_handling",
            "test_tool_with_progress",
            "test_missing_capability",
            "test_logging_tool",
            "test://static-text",
            "test://static-binary",
            "test_simple_prompt",
            "test_prompt_with_arguments",
            "test_prompt_with_embedded_resource",
            "test_prompt_with_image",
            "test_input_required_result_prompt",
            "test_input_required_result_elicitation",
            "test_input_required_result_sampling",
            "test_input_required_result_list_roots",
            "test_input_required_result_request_state",
            "test_input_required_result_multiple_inputs",
            "test_input_required_result_multi_round",
            "test_input_required_result_tampered_state",
            "test_input_required_result_capabilities",
        ],
    ),
];

/// Runs what a revision requires, and gives the scenarios that failed.
async fn failed(revision: &str, called: &[&str]) -> Vec<String> {
    let kit = Kit::installed().expect("cargo xtask test installs the clients");
    let folder = tempfile::tempdir().unwrap();
    let listen = SocketAddr::from(([127, 0, 0, 1], 0));
    let host = Host::start(Config { listen, ..Config::on(folder.path()) }).await.unwrap();
    let token = std::fs::read_to_string(folder.path().join("operator.token")).unwrap();
    let fixture = Fixture::default();
    let calls = fixture.calls.clone();
    let router = host.mcp_fixture(token.trim().to_owned(), move || fixture.clone()).unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });

    let mut suite = kit.node("conformance");
    suite.args(["server", "--url", &url, "--requirements", revision]);
    suite.current_dir(folder.path());
    let output = run(suite).await.unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    println!("{}", said.rsplit("=== SUMMARY ===").next().unwrap_or_default());
    let calls = calls.all();
    for name in called {
        assert!(calls.contains(*name), "no scenario has called {name}: {calls:?}\n{said}");
    }
    let marked = |mark: char| {
        let line = move |line: &str| line.strip_prefix(mark)?.split(':').next().map(str::to_owned);
        said.lines().filter_map(line).map(|name| name.trim().to_owned()).collect::<Vec<_>>()
    };
    assert!(marked('✓').len() > 25, "{said}");
    marked('✗')
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_2025_11_25_requires() {
    let (revision, called) = CALLED[0];
    assert!(failed(revision, called).await.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_2026_07_28_requires() {
    let (revision, called) = CALLED[1];
    assert_eq!(failed(revision, called).await, NO_TASKS);
}
