//! An hour of a busy workspace, replayed to somebody who was away: all events from the first, as server-sent
//! events, to four who come back together. Their number must not show in the host's memory.

use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::rows::Rows;
use crate::bench::load;

/// Members who come back at the same time, each to a room of its own.
const RETURNING: usize = 4;
/// Nothing comes for so long only when something is lost.
const PATIENCE: Duration = Duration::from_secs(20);

/// What a replay measured.
pub(super) struct Replayed {
    /// Events a second, over all who read.
    pub(super) rate: f64,
    /// How much memory the host had more, at its most, than before.
    pub(super) grown_mib: f64,
}

/// Replays `events` events in all.
pub(super) fn replay(rows: &Rows, events: u64) -> Result<Replayed, String> {
    let each = events / RETURNING as u64;
    rows.host.forget_peak()?;
    let before = rows.host.resident_mib();
    let began = Instant::now();
    let seen: u64 = load::runtime()?.block_on(async {
        let mut readers = JoinSet::new();
        for number in 0..RETURNING {
            let request = format!(
                "GET /v1/events?conversation={}&after=0 HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: text/event-stream\r\n\
                 authorization: Bearer {}\r\n\r\n",
                rows.room(number),
                rows.host.token
            );
            readers.spawn(follow(rows.host.addr, request, each));
        }
        let mut seen = 0;
        while let Some(read) = readers.join_next().await {
            seen += read.map_err(|e| e.to_string())??;
        }
        Ok::<_, String>(seen)
    })?;
    let rate = seen as f64 / began.elapsed().as_secs_f64();
    Ok(Replayed { rate, grown_mib: rows.host.peak_mib() - before })
}

/// Reads a stream until `events` events have come.
async fn follow(addr: std::net::SocketAddr, request: String, events: u64) -> Result<u64, String> {
    let told = |e: std::io::Error| format!("replay: {e}");
    let mut stream = TcpStream::connect(addr).await.map_err(told)?;
    stream.write_all(request.as_bytes()).await.map_err(told)?;
    let mut part = vec![0_u8; 64 * 1024];
    let (mut seen, mut matched) = (0, 0);
    while seen < events {
        let read = tokio::time::timeout(PATIENCE, stream.read(&mut part)).await;
        let n = read.map_err(|_| format!("replay: only {seen} of {events} came"))?.map_err(told)?;
        if n == 0 {
            return Err(format!("replay: the stream ended after {seen} of {events}"));
        }
        seen += count(&part[..n], &mut matched);
    }
    Ok(seen)
}

/// Events that begin in these bytes; `matched` is how much of the word the bytes before ended with.
fn count(bytes: &[u8], matched: &mut usize) -> u64 {
    const WORD: &[u8] = b"\ndata: ";
    let mut found = 0;
    for byte in bytes {
        *matched = match *byte {
            byte if byte == WORD[*matched] => *matched + 1,
            b'\n' => 1,
            _ => 0,
        };
        if *matched == WORD.len() {
            found += 1;
            *matched = 0;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_counts_once_however_its_bytes_come() {
        let text = b"id: 1\nevent: x\ndata: {}\n\n: alive\n\nid: 2\nevent: x\n\ndata: {}\n\n";
        for cut in 0..text.len() {
            let mut matched = 0;
            let seen = count(&text[..cut], &mut matched) + count(&text[cut..], &mut matched);
            assert_eq!(seen, 2, "{cut}");
        }
    }
}
