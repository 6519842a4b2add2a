//! One keep-alive connection to a host that may die at any byte.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::bench::talk;

/// Longest wait for an answer of a host that lives.
const ANSWER: Duration = Duration::from_secs(30);

/// Before a request that was refused for now is made again.
const AGAIN: Duration = Duration::from_millis(50);

/// A caller with its token.
pub(crate) struct Door {
    addr: SocketAddr,
    token: String,
    stream: Option<TcpStream>,
}

/// What came of a request.
#[derive(Debug)]
pub(crate) enum Answer {
    /// A status and a body, null when it is no JSON.
    Given(u16, Value),
    /// The request may have reached the host, or not; no answer came.
    Lost,
    /// Nobody listens: the request was not sent.
    Down,
}

impl Door {
    pub(crate) fn new(addr: SocketAddr, token: impl Into<String>) -> Self {
        Self { addr, token: token.into(), stream: None }
    }

    pub(crate) fn ask(&mut self, method: &str, path: &str, body: &Value) -> Answer {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        if self.stream.is_none() {
            let Ok(stream) = TcpStream::connect(self.addr) else { return Answer::Down };
            let timed = stream.set_read_timeout(Some(ANSWER)).and(stream.set_nodelay(true));
            if timed.is_err() {
                return Answer::Down;
            }
            self.stream = Some(stream);
        }
        match self.exchange(method, path, &body) {
            // The host that passed it on does not know what became of it.
            Some((502, _)) => Answer::Lost,
            Some((status, body)) => {
                Answer::Given(status, serde_json::from_slice(&body).unwrap_or(Value::Null))
            }
            None => {
                self.stream = None;
                Answer::Lost
            }
        }
    }

    /// A request to a host that is up: its answer must come and be a success. A host whose database was begun again
    /// may see that only now, and says that nothing was written: as any client, this one asks again.
    pub(crate) fn must(&mut self, method: &str, path: &str, body: &Value) -> Result<Value, String> {
        let began = Instant::now();
        let answer = loop {
            // A connection kept from before a restart is dead, which shows only now.
            let answer = match self.ask(method, path, body) {
                Answer::Lost if method == "GET" => self.ask(method, path, body),
                answer => answer,
            };
            match answer {
                Answer::Given(503, _) if began.elapsed() < ANSWER => std::thread::sleep(AGAIN),
                answer => break answer,
            }
        };
        match answer {
            Answer::Given(200..300, body) => Ok(body),
            Answer::Given(status, body) => Err(format!("{method} {path}: HTTP {status}: {body}")),
            Answer::Lost => Err(format!("{method} {path}: no answer")),
            Answer::Down => Err(format!("{method} {path}: nobody listens")),
        }
    }

    fn exchange(&mut self, method: &str, path: &str, body: &str) -> Option<(u16, Vec<u8>)> {
        let stream = self.stream.as_mut()?;
        let mut out = Vec::new();
        talk::request(&mut out, method, path, &self.token, body);
        stream.write_all(&out).ok()?;
        let (mut got, mut part) = (Vec::new(), [0_u8; 16 * 1024]);
        loop {
            if let Some((status, head, end)) = talk::head_and_body(&got) {
                return Some((status, got[head..end].to_vec()));
            }
            match stream.read(&mut part) {
                Ok(0) | Err(_) => return None,
                Ok(n) => got.extend_from_slice(&part[..n]),
            }
        }
    }
}
