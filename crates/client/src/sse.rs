//! Server-sent events (the WHATWG "event stream" format), as far as our host writes them: `id`, `event`
//! and `data` lines, comments as signs of life.

use std::collections::VecDeque;
use std::time::Duration;

use chorus_wire::rest::events::Event;
use reqwest::Response;
use serde_json::Value;

use crate::http::excerpt;
use crate::{Error, Result};

/// The host writes a comment at least every 20 s; three missed and the connection is taken for dead.
const SILENCE: Duration = Duration::from_secs(60);
/// Largest event in bytes.
const EVENT_BYTES: usize = 2 * 1024 * 1024;

/// What a stream brings.
#[derive(Clone, Debug)]
pub enum Item {
    /// An entry of the log.
    Event(Box<Event>),
    /// What is in no log: `progress`, `typing`, `receipt`, or `activity` of an agent.
    Activity { name: String, data: Value },
}

/// A conversation's events as they come.
#[derive(Debug)]
pub struct EventStream {
    answer: Response,
    url: String,
    parser: Parser,
}

impl EventStream {
    pub(crate) fn new(answer: Response) -> Result<Self> {
        let kind = answer.headers().get("content-type").and_then(|kind| kind.to_str().ok());
        if !kind.is_some_and(|kind| kind.starts_with("text/event-stream")) {
            return Err(Error::Protocol(format!("not an event stream but {kind:?}")));
        }
        let url = answer.url().origin().ascii_serialization();
        Ok(Self { answer, url, parser: Parser::default() })
    }

    /// The next event of the log; none when the host ended the stream.
    pub async fn next(&mut self) -> Result<Option<Event>> {
        loop {
            match self.next_item().await? {
                Some(Item::Event(event)) => return Ok(Some(*event)),
                Some(Item::Activity { .. }) => {}
                None => return Ok(None),
            }
        }
    }

    /// The next of anything; none when the host ended the stream.
    pub async fn next_item(&mut self) -> Result<Option<Item>> {
        loop {
            if let Some(frame) = self.parser.next() {
                let wrong =
                    |e| Error::Protocol(format!("{e}, in: {}", excerpt(frame.data.as_bytes())));
                // What has a place in the log has an id.
                if frame.id.is_some() {
                    let event = serde_json::from_str(&frame.data).map_err(wrong)?;
                    return Ok(Some(Item::Event(Box::new(event))));
                }
                let data = serde_json::from_str(&frame.data).map_err(wrong)?;
                let name = frame.event.unwrap_or_default();
                return Ok(Some(Item::Activity { name, data }));
            }
            let chunk = tokio::time::timeout(SILENCE, self.answer.chunk()).await;
            let chunk =
                chunk.map_err(|_| Error::unreachable(&self.url, "the stream went silent"))?;
            match chunk.map_err(|e| Error::exchange(&self.url, &e))? {
                Some(bytes) => self.parser.push(&bytes)?,
                None => return Ok(None),
            }
        }
    }
}

/// One event of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    pub id: Option<String>,
    pub event: Option<String>,
    pub data: String,
}

/// Reads the format from chunks cut anywhere. No I/O.
#[derive(Debug, Default)]
pub struct Parser {
    /// The line that is not yet whole.
    line: Vec<u8>,
    /// The event that is not yet whole.
    open: Frame,
    has_data: bool,
    ready: VecDeque<Frame>,
}

impl Parser {
    pub fn push(&mut self, bytes: &[u8]) -> Result<()> {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(piece);
            if self.line.len() + self.open.data.len() > EVENT_BYTES {
                return Err(Error::Protocol(format!("an event of over {EVENT_BYTES} bytes")));
            }
            if piece.ends_with(b"\n") {
                let line = std::mem::take(&mut self.line);
                let line = std::str::from_utf8(&line)
                    .map_err(|_| Error::Protocol("an event that is not UTF-8".to_owned()))?;
                self.line_ended(line.trim_end_matches(['\n', '\r']));
            }
        }
        Ok(())
    }

    fn line_ended(&mut self, line: &str) {
        if line.is_empty() {
            let frame = std::mem::take(&mut self.open);
            if std::mem::take(&mut self.has_data) {
                self.ready.push_back(frame);
            }
            return;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                if self.has_data {
                    self.open.data.push('\n');
                }
                self.open.data.push_str(value);
                self.has_data = true;
            }
            "id" => self.open.id = Some(value.to_owned()),
            "event" => self.open.event = Some(value.to_owned()),
            // A comment has an empty name; other fields are to be ignored.
            _ => {}
        }
    }
}

/// The next whole event; none until more is pushed.
impl Iterator for Parser {
    type Item = Frame;

    fn next(&mut self) -> Option<Frame> {
        self.ready.pop_front()
    }
}
