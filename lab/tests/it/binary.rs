//! The binary as it is shipped. The other tests are built with traces; it is built without.

use std::process::Command;

use chorus_lab::crash::binary::chorus;

// covers: OPS-128
#[test]
fn built_without_traces_it_refuses_an_endpoint_and_makes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let settings = folder.path().join("chorus.toml");
    std::fs::write(&settings, "[otlp]\nendpoint = \"http://127.0.0.1:4318\"\n").unwrap();
    let data = folder.path().join("data");
    let mut serve = Command::new(chorus().unwrap());
    serve.args(["serve", "--listen", "127.0.0.1:0"]).arg("--data").arg(&data);
    let output = serve.arg("--config").arg(&settings).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("--features otlp"), "{output:?}");
    assert!(!data.exists());
}
