//! The API against its own document: schemathesis makes requests, good and bad, out of `/v1/openapi.json` and
//! looks whether the answers are what the document says.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::Duration;

use crate::{python, repo, step};

const VERSION: &str = "4.32.5";
/// Requests of each kind for an operation.
const EXAMPLES: &str = "15";
const LIMIT: Duration = Duration::from_secs(180);
/// What a document can promise of single requests. Not that whatever fits a schema is accepted: an id that
/// is well-formed need not exist, and a text that is too long is refused.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,\
    response_headers_conformance,response_schema_conformance,negative_data_rejection,\
    missing_required_header,unsupported_method,ignored_auth";
/// What is not asked: the WebSocket and its calls, and MCP, which have protocols of their own; a page that works
/// once; a copy of everything, again and again; and streams that have no end.
const LEFT_OUT: &str = "^/(signin/|invite/|v1/c2a|v1/mcp|mcp/|v1/backups)";

/// Runs it against the release binary on a new folder. Says so when it cannot; in CI it has to.
pub(crate) fn check() -> Result<(), String> {
    let program = match python::installed("schemathesis", VERSION) {
        Ok(programs) => programs.join("schemathesis"),
        Err(why) if std::env::var_os("CI").is_some_and(|ci| ci == "true") => return Err(why),
        Err(why) => {
            eprintln!("SKIPPED: the API is not checked against its document: {why}");
            return Ok(());
        }
    };
    let folder = repo::target_dir().join("contract");
    // What an earlier run has left.
    let _ = fs::remove_dir_all(&folder);
    let (mut host, url) = serve(&folder)?;
    let checked = ask(&program, &folder, &url);
    let _ = host.kill();
    let _ = host.wait();
    checked
}

/// A host on a folder of its own, and its address.
fn serve(folder: &std::path::Path) -> Result<(Child, String), String> {
    let data = folder.display().to_string();
    let binary = std::env::var_os("CHORUS_BIN");
    let binary = binary.map_or_else(|| repo::release_binary("chorus"), PathBuf::from);
    // It tries every operation without a token, faster than whoever guesses tokens may.
    let settings = folder.with_extension("toml");
    fs::write(&settings, "[limits]\nfailures_per_second = 0\n")
        .map_err(|e| format!("{}: {e}", settings.display()))?;
    let settings = settings.display().to_string();
    let run =
        ["serve", "--json", "--listen", "127.0.0.1:0", "--data", &data, "--config", &settings];
    let mut command = step::command(binary, &run);
    let mut host = command.stdout(Stdio::piped()).spawn().map_err(|e| format!("chorus: {e}"))?;
    let mut line = String::new();
    let out = host.stdout.take().ok_or("chorus has no output")?;
    BufReader::new(out).read_line(&mut line).map_err(|e| format!("chorus: {e}"))?;
    let said: serde_json::Value =
        serde_json::from_str(&line).map_err(|e| format!("chorus said {line:?}: {e}"))?;
    let url = said["url"].as_str().ok_or("chorus said no address")?.to_owned();
    Ok((host, url))
}

fn ask(program: &std::path::Path, folder: &std::path::Path, url: &str) -> Result<(), String> {
    let token = fs::read_to_string(folder.join("operator.token"))
        .map_err(|e| format!("operator.token: {e}"))?;
    let document = format!("{url}/v1/openapi.json");
    let bearer = format!("Authorization: Bearer {}", token.trim());
    let run = [
        "--no-color",
        "run",
        &document,
        "--header",
        &bearer,
        "--checks",
        CHECKS,
        "--max-examples",
        EXAMPLES,
        "--phases",
        "examples,coverage,fuzzing",
        // The same requests in every run.
        "--generation-deterministic",
        "--request-timeout",
        "10",
        "--exclude-path-regex",
        LEFT_OUT,
        "--warnings",
        "off",
    ];
    let mut command = step::command(program, &run);
    command.current_dir(folder);
    step::run(command, LIMIT)
}
