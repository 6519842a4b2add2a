//! What goes over a viewer's socket: length, type, and so many bytes. And the keys that end viewing.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::{Exit, Size};

/// More than a chunk of output and less than a peer could hurt with; a redraw goes in several.
const LONGEST: usize = 128 * 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// Viewer to terminal.
    Input(Vec<u8>),
    Size(Size),
    /// Terminal to viewer.
    Output(Vec<u8>),
    Exit(Exit),
    /// Of a later version: is left out.
    Unknown,
}

/// Writes output in frames, without a copy.
pub(super) async fn write_output(
    to: &mut (impl AsyncWrite + Unpin),
    bytes: &[u8],
) -> io::Result<()> {
    for part in bytes.chunks(LONGEST) {
        write(to, b'o', part).await?;
    }
    Ok(())
}

pub(super) async fn write_frame(
    to: &mut (impl AsyncWrite + Unpin),
    frame: &Frame,
) -> io::Result<()> {
    match frame {
        Frame::Input(bytes) => {
            for part in bytes.chunks(LONGEST) {
                write(to, b'i', part).await?;
            }
            Ok(())
        }
        Frame::Size(size) => {
            let [a, b] = size.rows.to_be_bytes();
            let [c, d] = size.columns.to_be_bytes();
            write(to, b's', &[a, b, c, d]).await
        }
        Frame::Output(bytes) => write_output(to, bytes).await,
        Frame::Exit(exit) => write(to, b'x', &[exit.code]).await,
        Frame::Unknown => Ok(()),
    }
}

async fn write(to: &mut (impl AsyncWrite + Unpin), kind: u8, bytes: &[u8]) -> io::Result<()> {
    let length = u32::try_from(bytes.len()).map_err(io::Error::other)?;
    let [a, b, c, d] = length.to_be_bytes();
    to.write_all(&[a, b, c, d, kind]).await?;
    to.write_all(bytes).await
}

/// The next frame, or nothing if the peer has gone between two.
pub(super) async fn read_frame(from: &mut (impl AsyncRead + Unpin)) -> io::Result<Option<Frame>> {
    let mut head = [0; 5];
    if from.read(&mut head[..1]).await? == 0 {
        return Ok(None);
    }
    from.read_exact(&mut head[1..]).await?;
    let [a, b, c, d, kind] = head;
    let length = usize::try_from(u32::from_be_bytes([a, b, c, d])).unwrap_or(usize::MAX);
    if length > LONGEST {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "a frame is too long"));
    }
    let mut bytes = vec![0; length];
    from.read_exact(&mut bytes).await?;
    Ok(Some(match (kind, bytes.as_slice()) {
        (b'i', _) => Frame::Input(bytes),
        (b'o', _) => Frame::Output(bytes),
        (b's', &[a, b, c, d]) => Frame::Size(Size {
            rows: u16::from_be_bytes([a, b]),
            columns: u16::from_be_bytes([c, d]),
        }),
        (b'x', &[code]) => Frame::Exit(Exit { code }),
        _ => Frame::Unknown,
    }))
}

/// Ctrl-\ as a byte, and as kitty's keyboards send it.
const KEYS: [&[u8]; 2] = [b"\x1c", b"\x1b[92;5u"];

/// Looks for Ctrl-\ twice. The first one is held back until it is clear whether a second comes.
#[derive(Debug, Default)]
pub(super) struct DetachKeys {
    held: Option<&'static [u8]>,
}

impl DetachKeys {
    /// Gives what is to be sent, and whether to detach after it.
    pub(super) fn feed(&mut self, mut bytes: &[u8]) -> (Vec<u8>, bool) {
        let mut out = Vec::with_capacity(bytes.len());
        while let Some(&first) = bytes.first() {
            match KEYS.into_iter().find(|key| bytes.starts_with(key)) {
                Some(_) if self.held.is_some() => {
                    self.held = None;
                    return (out, true);
                }
                Some(key) => {
                    self.held = Some(key);
                    bytes = &bytes[key.len()..];
                }
                None => {
                    out.extend(self.release());
                    out.push(first);
                    bytes = &bytes[1..];
                }
            }
        }
        (out, false)
    }

    pub(super) fn is_holding(&self) -> bool {
        self.held.is_some()
    }

    /// The key that was held back: there was no second.
    pub(super) fn release(&mut self) -> Vec<u8> {
        self.held.take().unwrap_or_default().to_vec()
    }
}
