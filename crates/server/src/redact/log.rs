//! Lines of the log, blacked out like everything else: whatever their fields are.

use std::io::{self, Write};
use std::sync::Arc;

use super::Redactor;

/// Writes what it is given without its secrets. A line of the log comes in one piece.
pub struct Lines<W> {
    redactor: Arc<Redactor>,
    to: W,
}

impl<W: Write> Lines<W> {
    pub fn new(redactor: Arc<Redactor>, to: W) -> Self {
        Self { redactor, to }
    }
}

impl<W: Write> Write for Lines<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        self.to.write_all(self.redactor.clean(&text).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}
