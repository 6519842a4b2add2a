//! `chorus c2a`: C2A for a program that speaks over its standard streams, one JSON object a line.

use futures_util::{SinkExt, StreamExt};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio_tungstenite::tungstenite::Message;

use super::socket;
use crate::{Error, Result};

/// Longest line taken from the program, in bytes.
const LINE_BYTES: u64 = 1024 * 1024;

/// Carries lines from `input` to the host at `url` as frames, and frames to `output` as lines, until either
/// side ends. Nothing is read into them: the host judges what the program says.
pub async fn bridge<I, O>(url: &str, token: &str, mut input: I, mut output: O) -> Result<()>
where
    I: AsyncBufRead + Unpin,
    O: AsyncWrite + Unpin,
{
    let (mut sink, mut stream) = socket::open(url, token).await?.split();
    let broken = |e: &dyn std::fmt::Display| Error::unreachable(url, e);
    let mut line = Vec::new();
    loop {
        tokio::select! {
            read = read_line(&mut input, &mut line) => {
                if read? == 0 {
                    let _ = sink.close().await;
                    return Ok(());
                }
                let text = std::str::from_utf8(&line)
                    .map_err(|_| Error::Protocol("a line that is not UTF-8".to_owned()))?
                    .trim();
                if !text.is_empty() {
                    sink.send(Message::text(text)).await.map_err(|e| broken(&e))?;
                }
                line.clear();
            }
            frame = stream.next() => match frame {
                Some(Ok(Message::Text(text))) => write_line(&mut output, &text).await?,
                Some(Ok(Message::Close(_))) | None => return Ok(()),
                Some(Ok(_)) => {}
                Some(Err(e)) => return Err(broken(&e)),
            }
        }
    }
}

/// Reads a line onto what an interrupted call has already put into `line`, so that none of it is lost.
pub(crate) async fn read_line<I: AsyncBufRead + Unpin>(
    input: &mut I,
    line: &mut Vec<u8>,
) -> Result<usize> {
    let room = LINE_BYTES.saturating_sub(line.len() as u64);
    let read = input.take(room).read_until(b'\n', line).await;
    read.map_err(|e| Error::Protocol(format!("standard input: {e}")))?;
    if line.len() as u64 >= LINE_BYTES {
        return Err(Error::Protocol(format!("a line of over {LINE_BYTES} bytes")));
    }
    Ok(line.len())
}

async fn write_line<O: AsyncWrite + Unpin>(output: &mut O, text: &str) -> Result<()> {
    let gone = |e| Error::Protocol(format!("standard output: {e}"));
    // A frame may have been written over several lines; a line end inside a JSON text is only whitespace.
    let mut line = text.replace(['\n', '\r'], " ");
    line.push('\n');
    output.write_all(line.as_bytes()).await.map_err(gone)?;
    output.flush().await.map_err(gone)
}
