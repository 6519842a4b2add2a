//! The agents: one small HTTP server under an address for each, which answers 200 and notes what came.
//!
//! It runs on the generator's thread and reads no more of a request than it needs: whose it is, its `Idempotency-Key`
//! and where its body ends.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Notify;

use crate::bench::talk;

const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

/// What has come so far. Single-threaded, like everything that looks at it.
#[derive(Default)]
pub(super) struct Seen {
    /// Deliveries that came for the first time.
    pub(super) arrived: Cell<u64>,
    /// Bytes of their bodies.
    pub(super) bytes: Cell<u64>,
    /// When each delivery of an event came first, by its agent.
    events: RefCell<HashMap<String, Vec<(usize, Instant)>>>,
    whole: RefCell<HashMap<String, (usize, Rc<Notify>)>>,
    known: RefCell<HashSet<(String, usize)>>,
    /// Agents below this number give no answer.
    pub(super) hang: Cell<usize>,
    /// What broke.
    pub(super) wrong: RefCell<Option<String>>,
}

impl Seen {
    /// When all `count` deliveries of the event have come; each with its agent.
    pub(super) async fn all_of(&self, event: &str, count: usize) -> Vec<(usize, Instant)> {
        loop {
            let now = self.events.borrow().get(event).map_or(0, Vec::len);
            if now >= count {
                return self.of(event);
            }
            let told = Rc::new(Notify::new());
            self.whole.borrow_mut().insert(event.to_owned(), (count, told.clone()));
            told.notified().await;
        }
    }

    /// What has come of the event.
    pub(super) fn of(&self, event: &str) -> Vec<(usize, Instant)> {
        self.events.borrow().get(event).cloned().unwrap_or_default()
    }

    fn take(&self, event: &str, agent: usize, bytes: usize) {
        let now = Instant::now();
        if !self.known.borrow_mut().insert((event.to_owned(), agent)) {
            return;
        }
        self.arrived.set(self.arrived.get() + 1);
        self.bytes.set(self.bytes.get() + bytes as u64);
        let mut events = self.events.borrow_mut();
        let here = match events.get_mut(event) {
            Some(here) => here,
            None => events.entry(event.to_owned()).or_default(),
        };
        here.push((agent, now));
        if let Some((_, told)) = self.whole.borrow().get(event).filter(|(n, _)| *n <= here.len()) {
            told.notify_one();
        }
    }
}

/// Where so many agents are reached, on one port.
pub(super) fn strings(count: usize, port: u16) -> Vec<String> {
    (0..count).map(|n| format!("http://{}:{port}/inbox/{n}", address(n))).collect()
}

/// An address of this machine for each, as agents of many machines have.
fn address(number: usize) -> Ipv4Addr {
    let [high, low] = u16::try_from(number + 1).unwrap_or(u16::MAX).to_be_bytes();
    Ipv4Addr::new(127, 7, high, low)
}

/// Where all of them will be served.
pub(super) struct Place(TcpListener);

impl Place {
    pub(super) fn bind() -> Result<Self, String> {
        // All of 127.0.0.0/8 is this machine.
        let any = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
        let listener = TcpListener::bind(any).map_err(|e| format!("agents: {e}"))?;
        listener.set_nonblocking(true).map_err(|e| format!("agents: {e}"))?;
        Ok(Self(listener))
    }

    /// Where so many agents are reached.
    pub(super) fn strings(&self, count: usize) -> Result<Vec<String>, String> {
        let addr = self.0.local_addr().map_err(|e| format!("agents: {e}"))?;
        Ok(strings(count, addr.port()))
    }
}

/// Serves all of them from now on, on the runtime it is called in.
pub(super) fn serve(at: Place, seen: Rc<Seen>) -> Result<(), String> {
    let listener = tokio::net::TcpListener::from_std(at.0).map_err(|e| format!("agents: {e}"))?;
    tokio::task::spawn_local(async move {
        loop {
            match listener.accept().await {
                Ok((stream, _)) => {
                    let seen = seen.clone();
                    tokio::task::spawn_local(async move { answer(stream, &seen).await });
                }
                Err(why) => {
                    // Out of files, as a rule: what is measured then is that.
                    seen.wrong.replace(Some(format!("agents: {why}")));
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
            }
        }
    });
    Ok(())
}

async fn answer(mut stream: TcpStream, seen: &Seen) {
    let _ = stream.set_nodelay(true);
    let mut got = Vec::with_capacity(4 * 1024);
    loop {
        let Some((_, head, end)) = talk::head_and_body(&got) else {
            match stream.read_buf(&mut got).await {
                Ok(0) | Err(_) => return,
                Ok(_) => continue,
            }
        };
        let Some((agent, event)) = whose(&got[..head]) else {
            seen.wrong.replace(Some("a request to nobody".to_owned()));
            return;
        };
        if agent < seen.hang.get() {
            // Until the other side has had enough.
            while !matches!(stream.read_buf(&mut got).await, Ok(0) | Err(_)) {}
            return;
        }
        seen.take(&event, agent, end - head);
        got.drain(..end);
        if stream.write_all(OK).await.is_err() {
            return;
        }
    }
}

/// The agent's number and the event's id.
fn whose(head: &[u8]) -> Option<(usize, String)> {
    let text = std::str::from_utf8(head).ok()?;
    let agent = text.split(' ').nth(1)?.rsplit('/').next()?.parse().ok()?;
    let headers = text.lines().filter_map(|line| line.split_once(':'));
    let mut key = headers.filter(|(name, _)| name.eq_ignore_ascii_case("idempotency-key"));
    Some((agent, key.next()?.1.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_request_says_whose_it_is() {
        let head = b"POST /inbox/17 HTTP/1.1\r\nhost: x\r\nIdempotency-Key: evt_1\r\n\r\n";
        assert_eq!(whose(head).unwrap(), (17, "evt_1".to_owned()));
        assert_eq!(whose(b"POST /inbox/17 HTTP/1.1\r\n\r\n"), None);
    }

    #[test]
    fn agents_have_addresses_of_their_own() {
        let all: HashSet<_> = strings(1_000, 80).into_iter().collect();
        assert_eq!(all.len(), 1_000);
        assert!(all.contains("http://127.7.1.0:80/inbox/255"), "{all:?}");
    }
}
