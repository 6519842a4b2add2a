//! Lines to frames and back.

use chorus_client::{Error, c2a};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader, duplex};

use crate::host;

#[tokio::test]
async fn lines_become_frames_and_frames_lines_until_the_input_ends() {
    let url = host::c2a(|mut socket| async move {
        let call = socket.read().await.unwrap();
        assert_eq!(call["method"], "tools/list");
        let frame = axum::extract::ws::Message::text("{\n  \"pretty\": true\n}");
        socket.0.send(frame).await.unwrap();
        assert!(socket.read().await.is_none());
    })
    .await;
    let (mut program, input) = duplex(1024);
    let (output, mut shown) = duplex(4096);
    let bridge =
        tokio::spawn(async move { c2a::bridge(&url, "jwt", BufReader::new(input), output).await });
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}});
    program.write_all(format!("{hello}\n\n").as_bytes()).await.unwrap();
    // A line that comes in pieces is one.
    program.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":2,").await.unwrap();
    tokio::task::yield_now().await;
    program.write_all(b"\"method\":\"tools/list\"}\n").await.unwrap();

    let mut text = String::new();
    while text.matches('\n').count() < 2 {
        let mut bytes = [0; 512];
        let read = shown.read(&mut bytes).await.unwrap();
        text.push_str(std::str::from_utf8(&bytes[..read]).unwrap());
    }
    let lines: Vec<_> = text.lines().collect();
    assert!(lines[0].contains(r#""session":{"id":"sess_1"}"#), "{text}");
    assert_eq!(lines[1], r#"{   "pretty": true }"#);
    drop(program);
    bridge.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_line_without_end_is_refused() {
    let url = host::c2a(|_| async {}).await;
    let (mut program, input) = duplex(1 << 16);
    let (output, _shown) = duplex(1 << 16);
    let bridge =
        tokio::spawn(async move { c2a::bridge(&url, "jwt", BufReader::new(input), output).await });
    let line = vec![b'x'; 1 << 16];
    while program.write_all(&line).await.is_ok() {}
    assert!(matches!(bridge.await.unwrap(), Err(Error::Protocol(_))));
}
