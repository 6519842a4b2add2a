//! A harness with nothing behind it: it accepts what it is offered and says that it has seen it.
//!
//! It reads no more of a delivery than its ids, so that what is measured is the host.

use std::collections::HashSet;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::bench::load::{Greeting, Talk};
use crate::bench::talk::{Calls, frame, next_frame};

/// One connected agent.
pub(super) struct Harness {
    stream: TcpStream,
    input: Vec<u8>,
    out: Vec<u8>,
    asked: u64,
    /// Events it has been told of, so that one told twice counts once.
    known: HashSet<String>,
}

/// What a harness waits for.
pub(super) enum Heard {
    /// A delivery.
    Offer(Offer),
    /// The host has taken a disposition.
    Answer,
}

/// A delivery as far as the harness reads it.
pub(super) struct Offer {
    /// The JSON-RPC id, quotes and all.
    id: String,
    event: String,
}

impl Harness {
    /// Connects and introduces itself.
    pub(super) async fn connect(addr: SocketAddr, token: String) -> Result<Self, String> {
        let stream = TcpStream::connect(addr).await.map_err(|e| format!("harness: {e}"))?;
        stream.set_nodelay(true).map_err(|e| format!("harness: {e}"))?;
        let mut harness =
            Self { stream, input: Vec::new(), out: Vec::new(), asked: 0, known: HashSet::new() };
        let mut talk =
            Calls { token, call: Box::new(|_| String::new()), depth: 1, asked: 0, upgraded: false };
        talk.greet(&mut harness.out);
        loop {
            harness.flush().await?;
            match talk.greeted(&harness.input, &mut harness.out)? {
                Greeting::More => harness.receive().await?,
                Greeting::Next(bytes) => drop(harness.input.drain(..bytes)),
                Greeting::Done(bytes) => {
                    drop(harness.input.drain(..bytes));
                    return Ok(harness);
                }
            }
        }
    }

    /// The next delivery, or the next answer to a disposition.
    ///
    /// # Errors
    /// The connection ended, or the host refused something.
    pub(super) async fn hear(&mut self) -> Result<Heard, String> {
        loop {
            let text = self.text().await?;
            if let Some(offer) = Offer::read(&text) {
                if self.known.insert(offer.event.clone()) {
                    return Ok(Heard::Offer(offer));
                }
                // Deliveries come at least once; one that is known is accepted again and that is all.
                self.accept(&offer);
                self.flush().await?;
                continue;
            }
            // An error without an id is about an acknowledgement that was one too many.
            if text.contains(r#""error""#) && !text.contains(r#""id":null"#) {
                return Err(text);
            }
            if text.contains(r#""result""#) {
                return Ok(Heard::Answer);
            }
        }
    }

    /// Acknowledges a delivery and says that it is dealt with, in one write; waits for neither answer.
    pub(super) async fn settle(&mut self, offer: &Offer) -> Result<(), String> {
        self.accept(offer);
        self.dispose(offer);
        self.flush().await
    }

    /// Acknowledges a delivery, and nothing more.
    pub(super) async fn acknowledge(&mut self, offer: &Offer) -> Result<(), String> {
        self.accept(offer);
        self.flush().await
    }

    /// Says of deliveries that it acknowledged that they are dealt with.
    pub(super) async fn settle_all(&mut self, offers: &[Offer]) -> Result<(), String> {
        offers.iter().for_each(|offer| self.dispose(offer));
        self.flush().await
    }

    fn dispose(&mut self, offer: &Offer) {
        self.asked += 1;
        let seen = format!(
            r#"{{"jsonrpc":"2.0","id":{},"method":"chat/disposition","params":{{"eventId":"{}","disposition":"acknowledged"}}}}"#,
            self.asked, offer.event
        );
        frame(&mut self.out, 1, seen.as_bytes());
    }

    fn accept(&mut self, offer: &Offer) {
        let accepted =
            format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"accepted":true}}}}"#, offer.id);
        frame(&mut self.out, 1, accepted.as_bytes());
    }

    async fn text(&mut self) -> Result<String, String> {
        loop {
            let Some((opcode, start, end)) = next_frame(&self.input) else {
                self.receive().await?;
                continue;
            };
            let payload = self.input[start..end].to_vec();
            self.input.drain(..end);
            match opcode {
                1 => return Ok(String::from_utf8_lossy(&payload).into_owned()),
                8 => return Err(format!("closed: {}", String::from_utf8_lossy(&payload))),
                9 => {
                    frame(&mut self.out, 10, &payload);
                    self.flush().await?;
                }
                _ => {}
            }
        }
    }

    async fn flush(&mut self) -> Result<(), String> {
        if !self.out.is_empty() {
            self.stream.write_all(&self.out).await.map_err(|e| format!("harness: {e}"))?;
            self.out.clear();
        }
        Ok(())
    }

    async fn receive(&mut self) -> Result<(), String> {
        match self.stream.read_buf(&mut self.input).await {
            Ok(0) => Err("the host closed the harness's connection".to_owned()),
            Ok(_) => Ok(()),
            Err(e) => Err(format!("harness: {e}")),
        }
    }
}

impl Offer {
    fn read(text: &str) -> Option<Self> {
        if !text.contains(r#""method":"chat/deliver""#) {
            return None;
        }
        let id = quoted(text, r#""id":"dlv_"#)?;
        let event = quoted(text, r#""eventId":""#)?;
        Some(Self { id: format!(r#""dlv_{id}""#), event: event.to_owned() })
    }
}

/// What stands between `start` and the next quote.
fn quoted<'a>(text: &'a str, start: &str) -> Option<&'a str> {
    text.split_once(start)?.1.split('"').next()
}
