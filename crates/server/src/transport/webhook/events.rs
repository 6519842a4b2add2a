//! The events of a callback's body as they come: a stream of JSON objects, with any white space between them. One over
//! many lines is one, and so is each line of NDJSON. What was sent is processed while the rest is still on its way.

use axum::body::{BodyDataStream, Bytes};
use bytes::{Buf, BytesMut};
use chorus_core::model::error::{Code, Refusal};
use chorus_wire::webhook::EVENT_BYTES;
use futures_util::StreamExt;

/// Most that one POST may bring, however it is cut.
const BODY_BYTES: usize = 16 * 1024 * 1024;
/// Some clients put it before whatever is UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// `wait` is over when the next event has not begun in time, or one that has is not whole: neither single bytes nor white
/// space keep a POST open.
pub(crate) struct Events<W> {
    body: BodyDataStream,
    /// Come, and not yet given out.
    held: BytesMut,
    /// Nothing has come but the beginning of a byte order mark, perhaps.
    at_start: bool,
    /// How much of it was looked through, and where in the object that leaves us.
    seen: usize,
    scan: Scan,
    total: usize,
    wait: W,
    over: bool,
}

/// Where in an object we are, as far as its end must be found. Whether it is JSON is for its reader to say.
#[derive(Clone, Copy, Default)]
struct Scan {
    depth: usize,
    in_text: bool,
    escaped: bool,
}

impl Scan {
    /// Takes one more byte; true when the object ends with it.
    fn ends_with(&mut self, byte: u8) -> bool {
        if self.escaped {
            self.escaped = false;
            return false;
        }
        match byte {
            b'\\' if self.in_text => self.escaped = true,
            b'"' => self.in_text = !self.in_text,
            _ if self.in_text => {}
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                return self.depth == 0;
            }
            _ => {}
        }
        false
    }
}

impl<W: Fn() -> F, F: Future<Output = ()>> Events<W> {
    pub(crate) fn of(body: BodyDataStream, wait: W) -> Self {
        let (held, scan) = Default::default();
        Self { body, held, at_start: true, seen: 0, scan, total: 0, wait, over: false }
    }

    /// The next object; none at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<BytesMut>, Refusal> {
        let late = (self.wait)();
        tokio::pin!(late);
        let mut begun = false;
        loop {
            if self.seen == 0 {
                if self.at_start && self.held.starts_with(BYTE_ORDER_MARK) {
                    self.held.advance(BYTE_ORDER_MARK.len());
                    self.at_start = false;
                }
                self.at_start &= BYTE_ORDER_MARK.starts_with(&self.held) && !self.over;
                let blank = self.held.len() - self.held.trim_ascii_start().len();
                self.held.advance(blank);
                if !self.at_start && self.held.first().is_some_and(|byte| *byte != b'{') {
                    return Err(Refusal::invalid("an event of a callback is a JSON object"));
                }
            }
            let scan = &mut self.scan;
            let ends = self.held[self.seen..].iter().position(|byte| scan.ends_with(*byte));
            if let Some(at) = ends {
                // Without copying the rest, which may be sixty thousand events more.
                let event = self.held.split_to(self.seen + at + 1);
                (self.seen, self.scan) = Default::default();
                check(event.len())?;
                return Ok(Some(event));
            }
            // Of half a mark nothing is known yet.
            self.seen = if self.at_start { 0 } else { self.held.len() };
            check(self.held.len())?;
            if self.over {
                return match self.held.is_empty() {
                    true => Ok(None),
                    false => Err(Refusal::invalid("the last event is not whole")),
                };
            }
            if !begun && !self.held.is_empty() {
                begun = true;
                late.set((self.wait)());
            }
            let more = tokio::select! {
                biased;
                next = self.body.next() => self.more(next)?,
                () = &mut late => return Err(Refusal::invalid(
                    "an event took too long to come; what came before was taken",
                )),
            };
            match more {
                Some(bytes) => self.held.extend_from_slice(&bytes),
                None => self.over = true,
            }
        }
    }

    fn more(&mut self, next: Option<Result<Bytes, axum::Error>>) -> Result<Option<Bytes>, Refusal> {
        match next {
            Some(Ok(bytes)) => {
                self.total += bytes.len();
                if self.total > BODY_BYTES {
                    let most = BODY_BYTES;
                    return Err(Refusal::new(
                        Code::PayloadTooLarge,
                        format!("one POST brings at most {most} bytes; begin another"),
                    ));
                }
                Ok(Some(bytes))
            }
            Some(Err(_)) => Err(Refusal::invalid("the body broke off; what came before was taken")),
            None => Ok(None),
        }
    }
}

fn check(length: usize) -> Result<(), Refusal> {
    if length <= EVENT_BYTES {
        return Ok(());
    }
    Err(Refusal::new(Code::PayloadTooLarge, format!("an event has at most {EVENT_BYTES} bytes")))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::cell::Cell;
    use std::future::{pending, ready};

    use axum::body::Body;

    use super::*;

    fn body(pieces: Vec<&'static [u8]>) -> BodyDataStream {
        let pieces = pieces.into_iter().map(|p| Ok::<_, std::io::Error>(Bytes::from_static(p)));
        Body::from_stream(futures_util::stream::iter(pieces)).into_data_stream()
    }

    async fn read(pieces: Vec<&'static [u8]>) -> Result<Vec<String>, Refusal> {
        let mut events = Events::of(body(pieces), pending::<()>);
        let mut found = Vec::new();
        while let Some(event) = events.next().await? {
            found.push(str::from_utf8(&event).unwrap().to_owned());
        }
        Ok(found)
    }

    // covers: WHK-405
    #[tokio::test]
    async fn objects_come_out_whole_however_they_were_written_and_cut() {
        let lines: &[&[u8]] = &[b"{\"a\":1}\n{\"b\":2}\n"];
        let beside: &[&[u8]] = &[b"{\"a\":1}{\"b\":2}"];
        let cut: &[&[u8]] = &[b"{\"a\"", b":1}\r\n\n  \n{\"b\":", b"2", b"}"];
        for pieces in [lines, beside, cut] {
            assert_eq!(read(pieces.to_vec()).await.unwrap(), ["{\"a\":1}", "{\"b\":2}"]);
        }
        let marked: &[&[u8]] = &[b"\xef", b"\xbb\xbf\r\n{\"a\":1}", b"{\"b\":2}"];
        assert_eq!(read(marked.to_vec()).await.unwrap(), ["{\"a\":1}", "{\"b\":2}"]);
        assert!(read(vec![b"\xef\xbb\xbf"]).await.unwrap().is_empty());
        let pretty = "{\n  \"a\": {\"b\": [\"}\\\"{\\\\\"]}\n}";
        assert_eq!(read(vec![pretty.as_bytes()]).await.unwrap(), [pretty]);
        let bytes = pretty.as_bytes().chunks(1).collect();
        assert_eq!(read(bytes).await.unwrap(), [pretty]);
        assert!(read(vec![b"", b"\n", b" \r\n"]).await.unwrap().is_empty());
    }

    #[tokio::test]
    async fn what_is_no_object_is_said_at_once() {
        for bad in [
            &b"hello"[..],
            b"[]",
            b"\"{}\"",
            b"5",
            b"}",
            b"{\"a\":1} x",
            b",{}",
            b"\xef\xbb",
            b"{}\xef\xbb\xbf{}",
        ] {
            assert_eq!(read(vec![bad]).await.unwrap_err().code, Code::ValidationError, "{bad:?}");
        }
    }

    #[tokio::test]
    async fn too_much_is_said_before_it_is_held() {
        let piece: &'static [u8] = Box::leak(vec![b'x'; 200_000].into_boxed_slice());
        let mut pieces = vec![&b"{\""[..]];
        pieces.extend([piece; 8]);
        assert_eq!(read(pieces).await.unwrap_err().code, Code::PayloadTooLarge);
    }

    #[tokio::test]
    async fn what_breaks_off_is_no_event() {
        let broken = [Ok(Bytes::from_static(b"{\"a\":1")), Err(std::io::Error::other("gone"))];
        let body = Body::from_stream(futures_util::stream::iter(broken));
        let mut events = Events::of(body.into_data_stream(), pending::<()>);
        assert!(events.next().await.is_err());
        assert_eq!(read(vec![b"{\"a\":1"]).await.unwrap_err().code, Code::ValidationError);
    }

    #[tokio::test]
    async fn who_says_nothing_is_not_waited_for() {
        let never = futures_util::stream::pending::<Result<Bytes, std::io::Error>>();
        let body = Body::from_stream(never);
        let mut events = Events::of(body.into_data_stream(), || ready(()));
        assert_eq!(events.next().await.unwrap_err().code, Code::ValidationError);
    }

    // covers: WHK-25
    #[tokio::test]
    async fn time_begins_with_an_event_and_not_with_each_byte() {
        let mut drip = vec![&b"{"[..]];
        drip.extend([&b" "[..]; 50]);
        drip.push(b"}");
        for (what, pieces, events, waits) in [
            ("nothing", vec![], 0, 1),
            ("blank lines", vec![&b"\n"[..]; 50], 0, 1),
            ("a drip", drip, 1, 3),
            ("three that drip", [&b"{"[..], b" ", b"}"].repeat(3), 3, 7),
        ] {
            let waited = Cell::new(0);
            let wait = || {
                waited.set(waited.get() + 1);
                pending::<()>()
            };
            let mut found = Events::of(body(pieces), wait);
            let mut count = 0;
            while found.next().await.unwrap().is_some() {
                count += 1;
            }
            assert_eq!((count, waited.get()), (events, waits), "{what}");
        }
    }
}
