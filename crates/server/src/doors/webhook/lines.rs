//! The JSON objects of a callback's body, as they come: one, or one a line. What was sent may be processed while the
//! rest is still on its way.

use axum::body::{BodyDataStream, Bytes};
use bytes::BytesMut;
use chorus_core::error::{Code, Refusal};
use chorus_wire::webhook::EVENT_BYTES;
use futures_util::StreamExt;

/// Most that one POST may bring, however it is cut.
const BODY_BYTES: usize = 16 * 1024 * 1024;

/// `wait` is over when the next event has not begun in time, or one that has is not whole: neither single bytes nor blank lines
/// keep a POST open.
pub(crate) struct Lines<W> {
    body: BodyDataStream,
    /// Come, and not yet given out.
    held: BytesMut,
    /// How much of it was looked through for the end of a line.
    seen: usize,
    total: usize,
    wait: W,
    over: bool,
}

impl<W: Fn() -> F, F: Future<Output = ()>> Lines<W> {
    pub(crate) fn of(body: BodyDataStream, wait: W) -> Self {
        Self { body, held: BytesMut::new(), seen: 0, total: 0, wait, over: false }
    }

    /// The next line that is not empty; none at the end. What stands behind the last line break is one too.
    pub(crate) async fn next(&mut self) -> Result<Option<BytesMut>, Refusal> {
        let late = (self.wait)();
        tokio::pin!(late);
        let mut begun = !self.held.trim_ascii().is_empty();
        loop {
            while let Some(at) = self.held[self.seen..].iter().position(|b| *b == b'\n') {
                // Without copying the rest, which may be sixty thousand lines more.
                let line = self.held.split_to(self.seen + at + 1);
                self.seen = 0;
                check(line.len())?;
                if !line.trim_ascii().is_empty() {
                    return Ok(Some(line));
                }
            }
            self.seen = self.held.len();
            check(self.held.len())?;
            if self.over {
                let line = std::mem::take(&mut self.held);
                self.seen = 0;
                return Ok(Some(line).filter(|line| !line.trim_ascii().is_empty()));
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
            if !begun && !self.held.trim_ascii().is_empty() {
                begun = true;
                late.set((self.wait)());
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
            // What broke off is no event, even if it could be read as one.
            Some(Err(_)) => Err(Refusal::invalid("the body broke off; what came before was taken")),
            None => Ok(None),
        }
    }
}

fn check(length: usize) -> Result<(), Refusal> {
    if length <= EVENT_BYTES + 1 {
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
        let mut lines = Lines::of(body(pieces), pending::<()>);
        let mut found = Vec::new();
        while let Some(line) = lines.next().await? {
            found.push(str::from_utf8(&line).unwrap().trim().to_owned());
        }
        Ok(found)
    }

    #[tokio::test]
    async fn lines_come_out_whole_however_they_were_cut() {
        let whole: &[&[u8]] = &[b"{\"a\":1}\n{\"b\":2}\n"];
        let cut: &[&[u8]] = &[b"{\"a\"", b":1}\n\n  \n{\"b\":", b"2}"];
        for pieces in [whole, cut] {
            assert_eq!(read(pieces.to_vec()).await.unwrap(), ["{\"a\":1}", "{\"b\":2}"]);
        }
        assert!(read(vec![b"", b"\n", b" \r\n"]).await.unwrap().is_empty());
    }

    #[tokio::test]
    async fn too_much_is_said_before_it_is_held() {
        let piece: &'static [u8] = Box::leak(vec![b'x'; 200_000].into_boxed_slice());
        let refused = read(vec![piece; 8]).await.unwrap_err();
        assert_eq!(refused.code, Code::PayloadTooLarge);
    }

    #[tokio::test]
    async fn what_breaks_off_is_no_line() {
        let broken = [Ok(Bytes::from_static(b"{\"a\":1}")), Err(std::io::Error::other("gone"))];
        let body = Body::from_stream(futures_util::stream::iter(broken));
        let mut lines = Lines::of(body.into_data_stream(), pending::<()>);
        assert!(lines.next().await.is_err());
    }

    #[tokio::test]
    async fn who_says_nothing_is_not_waited_for() {
        let never = futures_util::stream::pending::<Result<Bytes, std::io::Error>>();
        let body = Body::from_stream(never);
        let mut lines = Lines::of(body.into_data_stream(), || ready(()));
        assert_eq!(lines.next().await.unwrap_err().code, Code::ValidationError);
    }

    // covers: WHK-25
    #[tokio::test]
    async fn time_begins_with_an_event_and_not_with_each_byte() {
        for (what, pieces, lines, waits) in [
            ("nothing", vec![], 0, 1),
            ("blank lines", vec![&b"\n"[..]; 50], 0, 1),
            ("a drip", vec![&b"x"[..]; 50], 1, 3),
            ("three that drip", [&b"x"[..], b"y", b"\n"].repeat(3), 3, 7),
        ] {
            let waited = Cell::new(0);
            let wait = || {
                waited.set(waited.get() + 1);
                pending::<()>()
            };
            let mut found = Lines::of(body(pieces), wait);
            let mut count = 0;
            while found.next().await.unwrap().is_some() {
                count += 1;
            }
            assert_eq!((count, waited.get()), (lines, waits), "{what}");
        }
    }
}
