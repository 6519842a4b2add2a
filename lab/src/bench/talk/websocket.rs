//! WebSocket text frames with JSON-RPC in them, as a client of the attention transport.
//!
//! Frames are masked with a zero key: the protocol wants a mask, and a zero one leaves the payload as it is.

use crate::bench::load::{Answer, Greeting, Talk};

/// The longest payload that fits a frame's two-byte length.
const TWO_BYTES: usize = 65_535;

/// Appends the request that turns a connection into a WebSocket.
fn upgrade(out: &mut Vec<u8>, path: &str, token: &str) {
    let head = format!(
        "GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {token}\r\nconnection: Upgrade\r\n\
         upgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    );
    out.extend_from_slice(head.as_bytes());
}

/// Appends one frame: opcode 1 is text, 10 is pong.
pub(crate) fn frame(out: &mut Vec<u8>, opcode: u8, payload: &[u8]) {
    out.push(0x80 | opcode);
    match payload.len() {
        short @ 0..=125 => out.push(0x80 | short as u8),
        middle @ 126..=TWO_BYTES => {
            out.push(0x80 | 126);
            out.extend_from_slice(&(middle as u16).to_be_bytes());
        }
        long => {
            out.push(0x80 | 127);
            out.extend_from_slice(&(long as u64).to_be_bytes());
        }
    }
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(payload);
}

/// Finds one frame from a server: its opcode, and where its payload begins and ends.
pub(crate) fn next_frame(got: &[u8]) -> Option<(u8, usize, usize)> {
    let (first, second) = (*got.first()?, *got.get(1)?);
    let (start, length) = match second & 0x7f {
        126 => (4, usize::from(u16::from_be_bytes(got.get(2..4)?.try_into().ok()?))),
        127 => (10, usize::try_from(u64::from_be_bytes(got.get(2..10)?.try_into().ok()?)).ok()?),
        short => (2, usize::from(short)),
    };
    (got.len() >= start + length).then_some((first & 0x0f, start, start + length))
}

/// One connection of the attention transport, with several calls on their way.
pub(crate) struct Calls {
    pub(crate) token: String,
    /// The whole JSON-RPC request for the number of the call.
    pub(crate) call: Box<dyn FnMut(u64) -> String + Send>,
    pub(crate) depth: usize,
    pub(crate) asked: u64,
    pub(crate) upgraded: bool,
}

/// The first thing a harness says.
const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2026-06-02","clientInfo":{"name":"bench","version":"1"},"capabilities":{}}}"#;

impl Talk for Calls {
    fn greet(&mut self, out: &mut Vec<u8>) {
        upgrade(out, "/v1/c2a", &self.token);
    }

    fn greeted(&mut self, got: &[u8], out: &mut Vec<u8>) -> Result<Greeting, String> {
        if !self.upgraded {
            let Some(end) = got.windows(4).position(|four| four == b"\r\n\r\n") else {
                return Ok(Greeting::More);
            };
            if !got.starts_with(b"HTTP/1.1 101") {
                return Err(String::from_utf8_lossy(got).into_owned());
            }
            self.upgraded = true;
            frame(out, 1, INITIALIZE.as_bytes());
            return Ok(Greeting::Next(end + 4));
        }
        match next_frame(got) {
            None => Ok(Greeting::More),
            Some((1, start, end)) if contains(&got[start..end], br#""result""#) => {
                Ok(Greeting::Done(end))
            }
            Some((_, start, end)) => Err(String::from_utf8_lossy(&got[start..end]).into_owned()),
        }
    }

    fn ask(&mut self, out: &mut Vec<u8>) {
        let call = (self.call)(self.asked);
        self.asked += 1;
        frame(out, 1, call.as_bytes());
    }

    /// An answer has `result`; whatever has a `method` came unasked.
    fn answer(&mut self, got: &[u8]) -> Result<Answer, String> {
        let Some((opcode, start, end)) = next_frame(got) else { return Ok(Answer::More) };
        let payload = &got[start..end];
        if opcode == 8 {
            return Err(format!("closed: {}", String::from_utf8_lossy(payload)));
        }
        if opcode != 1 || contains(payload, br#""method""#) {
            return Ok(Answer::Skip(end));
        }
        if contains(payload, br#""isError":true"#) || !contains(payload, br#""result""#) {
            return Err(String::from_utf8_lossy(payload).into_owned());
        }
        Ok(Answer::Done(end))
    }

    fn depth(&self) -> usize {
        self.depth
    }
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_read_as_it_was_written_but_for_the_mask() {
        for length in [0, 125, 126, 65_535, 65_536] {
            let mut out = Vec::new();
            frame(&mut out, 1, &vec![b'x'; length]);
            // A server's frame has neither the mask bit nor the key; take both out.
            let header = out.len() - length - 4;
            out[1] &= 0x7f;
            out.drain(header..header + 4);
            assert_eq!(next_frame(&out), Some((1, header, header + length)));
            assert_eq!(next_frame(&out[..out.len() - 1]), None);
        }
    }
}
