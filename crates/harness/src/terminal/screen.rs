//! The model of the screen. It is parsed lazily: output waits until somebody asks or a moment has passed, and of a flood
//! only the end is parsed, after the modes that the flood has set.

use std::collections::VecDeque;
use std::num::NonZeroU16;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use vt100::Parser;

use super::Size;
use super::modes::{Query, Scanner};

/// Output that waits to be parsed. More of it within a tenth of a second is a flood: no screen shows it, and people
/// cannot read it.
const WAITING: usize = 512 * 1024;
/// The end of a flood that is parsed.
const KEPT: usize = 128 * 1024;
/// Raw output kept for a foreground that begins after the program.
const FIRST: usize = 64 * 1024;

pub(super) struct Model {
    parser: Parser,
    scanner: Scanner,
    waiting: Vec<u8>,
    /// Places in `waiting` at which no sequence is open.
    cuts: VecDeque<usize>,
    first: Option<Vec<u8>>,
    printed: Instant,
}

impl Model {
    pub(super) fn new(size: Size, now: Instant) -> Self {
        Self {
            parser: parser(size),
            scanner: Scanner::default(),
            waiting: Vec::new(),
            cuts: VecDeque::new(),
            first: Some(Vec::new()),
            printed: now,
        }
    }

    /// Takes output; gives what the program asks its terminal.
    pub(super) fn print(&mut self, output: &[u8]) -> Vec<Query> {
        self.printed = Instant::now();
        if let Some(first) = &mut self.first {
            if first.len() + output.len() <= FIRST {
                first.extend_from_slice(output);
            } else {
                self.first = None;
            }
        }
        let scanned = self.scanner.scan(output);
        self.cuts.extend(scanned.ground.map(|cut| self.waiting.len() + cut));
        self.waiting.extend_from_slice(output);
        if self.waiting.len() > WAITING {
            self.shorten();
        }
        scanned.queries
    }

    /// Leaves out all but the end of a flood.
    fn shorten(&mut self) {
        let wanted = self.waiting.len().saturating_sub(KEPT);
        let cut = self.cuts.iter().copied().find(|cut| *cut >= wanted);
        let Some(cut) = cut else { return self.catch_up() };
        self.waiting.drain(..cut);
        self.cuts.retain(|place| *place >= cut);
        self.cuts.iter_mut().for_each(|place| *place -= cut);
        // Ends whatever sequence was open at the last parse.
        let mut modes = vec![0x18];
        if self.scanner.alternate() != self.parser.screen().alternate_screen() {
            let end = if self.scanner.alternate() { 'h' } else { 'l' };
            modes.extend(format!("\x1b[?1049{end}").bytes());
        }
        modes.extend(self.scanner.modes());
        self.parse(&modes);
    }

    pub(super) fn is_behind(&self) -> bool {
        whole(&self.waiting) > 0
    }

    /// Parses what waits.
    pub(super) fn catch_up(&mut self) {
        self.cuts.clear();
        let mut waiting = std::mem::take(&mut self.waiting);
        // The parser loses what comes after a character that was cut in two.
        let whole = whole(&waiting);
        self.parse(&waiting[..whole]);
        waiting.drain(..whole);
        self.waiting = waiting;
    }

    fn parse(&mut self, output: &[u8]) {
        let parsed = catch_unwind(AssertUnwindSafe(|| self.parser.process(output)));
        if parsed.is_err() {
            // A fault of the model costs the picture and not the program.
            self.parser = parser(self.size());
        }
    }

    fn size(&self) -> Size {
        let (rows, columns) = self.parser.screen().size();
        Size { rows: rows.get(), columns: columns.get() }
    }

    pub(super) fn resize(&mut self, size: Size) {
        self.catch_up();
        let (rows, columns) = nonzero(size);
        let resized = catch_unwind(AssertUnwindSafe(|| {
            self.parser.screen_mut().set_size(rows, columns);
        }));
        if resized.is_err() {
            self.parser = parser(size);
        }
    }

    pub(super) fn screen(&mut self) -> &vt100::Screen {
        self.catch_up();
        self.parser.screen()
    }

    pub(super) fn text(&mut self) -> String {
        self.catch_up();
        self.parser.screen().contents()
    }

    pub(super) fn printed(&self) -> Instant {
        self.printed
    }

    /// All output so far, unchanged, once and if it is not too much.
    pub(super) fn first_output(&mut self) -> Option<Vec<u8>> {
        self.first.take()
    }

    /// What makes any terminal show this screen, with its modes.
    pub(super) fn redraw(&mut self) -> Vec<u8> {
        self.catch_up();
        let screen = self.parser.screen();
        let mut out = b"\x1b[0m\x1b[r".to_vec();
        out.extend(if screen.alternate_screen() { b"\x1b[?1049h" } else { b"\x1b[?1049l" });
        // Row by row, each at its place: the crate's own redraw counts on wrapping, and loses rows of wide characters.
        // A width beyond the screen's keeps it from doing so here.
        out.extend(b"\x1b[?6l\x1b[H\x1b[2J");
        let (_, columns) = screen.size();
        for (row, text) in (1..).zip(screen.rows_formatted(0, columns.get().saturating_add(1))) {
            out.extend(format!("\x1b[{row};1H\x1b[0m{text}").bytes());
        }
        out.extend(self.scanner.modes());
        out.extend(screen.input_mode_formatted().bytes());
        out.extend(self.scanner.keys());
        // Setting a region moves the cursor.
        out.extend(self.scanner.region());
        out.extend(screen.cursor_state_formatted().bytes());
        out.extend(screen.attributes_formatted().bytes());
        out
    }

    pub(super) fn rows(&mut self) -> Vec<String> {
        self.catch_up();
        let screen = self.parser.screen();
        screen.rows(0, screen.size().1.get()).map(|row| row.trim_end().to_owned()).collect()
    }

    /// The answers of a terminal to these questions.
    pub(super) fn replies(&mut self, queries: &[Query]) -> Vec<u8> {
        self.catch_up();
        let (row, column) = self.parser.screen().cursor_position();
        let mut out = Vec::new();
        for query in queries {
            let reply = match query {
                Query::Status => "\x1b[0n".to_owned(),
                Query::Cursor => format!("\x1b[{};{}R", row + 1, column + 1),
                Query::Attributes => "\x1b[?62;22c".to_owned(),
                Query::SecondAttributes => "\x1b[>1;10;0c".to_owned(),
                Query::Keyboard => format!("\x1b[?{}u", self.scanner.keyboard()),
                Query::Foreground => "\x1b]10;rgb:d0d0/d0d0/d0d0\x1b\\".to_owned(),
                Query::Background => "\x1b]11;rgb:0000/0000/0000\x1b\\".to_owned(),
            };
            out.extend(reply.bytes());
        }
        out
    }
}

/// The length without a character at the end that is not whole yet.
fn whole(output: &[u8]) -> usize {
    let tail = &output[output.len().saturating_sub(3)..];
    let lead = tail.iter().rposition(|byte| byte & 0xc0 != 0x80);
    let Some(lead) = lead else { return output.len() };
    let needed = match tail[lead] {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => 1,
    };
    let there = tail.len() - lead;
    if there < needed { output.len() - there } else { output.len() }
}

fn nonzero(size: Size) -> (NonZeroU16, NonZeroU16) {
    let size = size.or_default();
    (
        NonZeroU16::new(size.rows).unwrap_or(Parser::DEFAULT_ROWS),
        NonZeroU16::new(size.columns).unwrap_or(Parser::DEFAULT_COLS),
    )
}

fn parser(size: Size) -> Parser {
    let (rows, columns) = nonzero(size);
    Parser::new(rows, columns, 0)
}
