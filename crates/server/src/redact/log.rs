//! Lines of the log, blacked out like everything else: whatever their fields are. An event is one line, so that no text
//! in a field looks like an event of its own.

use std::borrow::Cow;
use std::fmt::Write as _;
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
        self.to.write_all(one_line(&self.redactor.clean(&text)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// The text with every line break but the last, and every control character, as an escape. Tabs stay, and so does the
/// escape of colours: that of a field was taken out where the field was written.
fn one_line(text: &str) -> Cow<'_, str> {
    let odd = |c: char| c.is_control() && !matches!(c, '\t' | '\x1b');
    let (line, end) = text.strip_suffix('\n').map_or((text, ""), |line| (line, "\n"));
    if !line.contains(odd) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in line.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            // As JSON has it, since the line may be JSON.
            c if odd(c) => drop(write!(out, "\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push_str(end);
    Cow::Owned(out)
}
