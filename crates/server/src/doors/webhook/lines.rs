//! The JSON objects of a callback's body, as they come: one, or one a line. What was sent may be processed while the
//! rest is still on its way.

use axum::body::{BodyDataStream, Bytes};
use bytes::BytesMut;
use chorus_core::error::{Code, Refusal};
use chorus_wire::webhook::EVENT_BYTES;
use futures_util::StreamExt;

use std::time::Duration;

/// Most that one POST may bring, however it is cut.
const BODY_BYTES: usize = 16 * 1024 * 1024;

pub(super) struct Lines {
    body: BodyDataStream,
    /// Come, and not yet given out.
    held: BytesMut,
    /// How much of it was looked through for the end of a line.
    seen: usize,
    total: usize,
    /// How long the next bytes may take.
    patience: Duration,
    over: bool,
}

impl Lines {
    pub(super) fn of(body: BodyDataStream, patience: Duration) -> Self {
        Self { body, held: BytesMut::new(), seen: 0, total: 0, patience, over: false }
    }

    /// The next line that is not empty; none at the end. What stands behind the last line break is one too.
    pub(super) async fn next(&mut self) -> Result<Option<BytesMut>, Refusal> {
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
            match self.more().await? {
                Some(bytes) => self.held.extend_from_slice(&bytes),
                None => self.over = true,
            }
        }
    }

    async fn more(&mut self) -> Result<Option<Bytes>, Refusal> {
        let slow = |_| Refusal::invalid("nothing came for too long; what came before was taken");
        match tokio::time::timeout(self.patience, self.body.next()).await.map_err(slow)? {
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
    use axum::body::Body;

    use super::*;

    async fn read(pieces: Vec<&'static [u8]>) -> Result<Vec<String>, Refusal> {
        let pieces = pieces.into_iter().map(|p| Ok::<_, std::io::Error>(Bytes::from_static(p)));
        let body = Body::from_stream(futures_util::stream::iter(pieces));
        let mut lines = Lines::of(body.into_data_stream(), Duration::from_secs(1));
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
        let mut lines = Lines::of(body.into_data_stream(), Duration::from_secs(1));
        assert!(lines.next().await.is_err());
    }

    #[tokio::test]
    async fn who_drips_is_not_waited_for() {
        let never = futures_util::stream::pending::<Result<Bytes, std::io::Error>>();
        let body = Body::from_stream(never);
        let mut lines = Lines::of(body.into_data_stream(), Duration::from_millis(5));
        assert!(lines.next().await.is_err());
    }
}
