//! A scanner of output: the modes that the screen model does not know, what the program asks of its terminal, and where
//! a sequence ends. It looks at every byte and keeps nothing of text.

use std::collections::BTreeMap;

/// A longer sequence is read to its end and not looked at.
const LONGEST: usize = 64;
/// Private modes kept, and flags of keyboards stacked; a program that sets more loses the rest.
const MOST: usize = 64;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Ground,
    Escape,
    /// After `ESC` and an intermediate byte.
    Charset,
    Csi,
    Osc,
    /// DCS, APC, PM, SOS: ended by ST only.
    Text,
    /// `ESC` within OSC (`true`) or another string.
    TextEscape(bool),
}

/// What a program asks its terminal, as far as one without people can answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Query {
    Status,
    Cursor,
    Attributes,
    SecondAttributes,
    Keyboard,
    Foreground,
    Background,
}

#[derive(Debug, Default)]
pub(super) struct Scanner {
    state: State,
    sequence: Vec<u8>,
    modes: BTreeMap<u16, bool>,
    keypad: bool,
    region: Option<(u16, u16)>,
    keyboard: Vec<u16>,
    other_keys: u16,
}

/// What a piece of output told.
#[derive(Debug, Default)]
pub(super) struct Scanned {
    pub(super) queries: Vec<Query>,
    /// The first place in the piece at which no sequence is open.
    pub(super) ground: Option<usize>,
}

impl Scanner {
    pub(super) fn scan(&mut self, output: &[u8]) -> Scanned {
        let mut scanned = Scanned::default();
        let mut at = 0;
        while at < output.len() {
            if self.state == State::Ground {
                // In the middle of a character no cut is made either.
                if scanned.ground.is_none() && !is_continuation(output[at]) {
                    scanned.ground = Some(at);
                }
                let next = memchr::memchr(0x1b, &output[at..]);
                let Some(next) = next else { break };
                if scanned.ground.is_none() {
                    scanned.ground = Some(at + next);
                }
                at += next + 1;
                self.state = State::Escape;
                self.sequence.clear();
                continue;
            }
            self.step(output[at], &mut scanned.queries);
            at += 1;
        }
        scanned
    }

    fn step(&mut self, byte: u8, queries: &mut Vec<Query>) {
        if byte == 0x18 || byte == 0x1a {
            self.state = State::Ground;
            return;
        }
        match self.state {
            State::Ground => {}
            State::Escape => self.escape(byte),
            State::Charset => {
                if !(0x20..=0x2f).contains(&byte) {
                    self.state = State::Ground;
                }
            }
            State::Csi => match byte {
                0x1b => self.restart(),
                0x40..=0x7e => {
                    self.state = State::Ground;
                    self.control(byte, queries);
                }
                0x20..=0x3f => self.keep(byte),
                _ => {}
            },
            State::Osc => match byte {
                0x07 => self.end_osc(queries),
                0x1b => self.state = State::TextEscape(true),
                byte => self.keep(byte),
            },
            State::Text => {
                if byte == 0x1b {
                    self.state = State::TextEscape(false);
                }
            }
            // `ESC` ends the string; with a backslash it is ST, and else it begins a sequence of its own.
            State::TextEscape(osc) => {
                if osc {
                    self.end_osc(queries);
                }
                self.restart();
                self.escape(byte);
            }
        }
    }

    fn restart(&mut self) {
        self.sequence.clear();
        self.state = State::Escape;
    }

    fn keep(&mut self, byte: u8) {
        if self.sequence.len() < LONGEST {
            self.sequence.push(byte);
        }
    }

    fn escape(&mut self, byte: u8) {
        self.state = match byte {
            b'[' => State::Csi,
            b']' => State::Osc,
            b'P' | b'X' | b'^' | b'_' => State::Text,
            0x1b => State::Escape,
            0x20..=0x2f => State::Charset,
            0x00..=0x1f => State::Escape,
            _ => State::Ground,
        };
        match byte {
            b'=' => self.keypad = true,
            b'>' => self.keypad = false,
            b'c' => *self = Self::default(),
            _ => {}
        }
    }

    fn end_osc(&mut self, queries: &mut Vec<Query>) {
        self.state = State::Ground;
        match self.sequence.as_slice() {
            b"10;?" => queries.push(Query::Foreground),
            b"11;?" => queries.push(Query::Background),
            _ => {}
        }
    }

    fn control(&mut self, end: u8, queries: &mut Vec<Query>) {
        if self.sequence.len() >= LONGEST {
            return;
        }
        let sequence = std::mem::take(&mut self.sequence);
        let (lead, rest) = match sequence.first() {
            Some(lead @ (b'?' | b'>' | b'<' | b'=')) => (*lead, &sequence[1..]),
            _ => (0, sequence.as_slice()),
        };
        let numbers = numbers(rest);
        let first = numbers.first().copied().unwrap_or(0);
        match (lead, end) {
            (b'?', b'h' | b'l') => {
                for mode in numbers {
                    if self.modes.len() < MOST || self.modes.contains_key(&mode) {
                        self.modes.insert(mode, end == b'h');
                    }
                }
            }
            (0, b'r') => {
                self.region = match (numbers.first().copied(), numbers.get(1).copied()) {
                    (top, Some(bottom)) if bottom > 0 => Some((top.unwrap_or(1).max(1), bottom)),
                    (Some(top), _) if top > 1 => Some((top, 0)),
                    _ => None,
                };
            }
            (b'>', b'u') if self.keyboard.len() < MOST => self.keyboard.push(first),
            (b'<', b'u') => {
                let left = self.keyboard.len().saturating_sub(usize::from(first.max(1)));
                self.keyboard.truncate(left);
            }
            (b'=', b'u') => match self.keyboard.last_mut() {
                Some(flags) => *flags = first,
                None => self.keyboard.push(first),
            },
            (b'>', b'm') if first == 4 => self.other_keys = numbers.get(1).copied().unwrap_or(0),
            (0, b'n') if first == 5 => queries.push(Query::Status),
            (0, b'n') if first == 6 => queries.push(Query::Cursor),
            (0, b'c') if first == 0 => queries.push(Query::Attributes),
            (b'>', b'c') if first == 0 => queries.push(Query::SecondAttributes),
            (b'?', b'u') => queries.push(Query::Keyboard),
            _ => {}
        }
    }

    pub(super) fn alternate(&self) -> bool {
        [47, 1047, 1049].iter().any(|mode| self.modes.get(mode) == Some(&true))
    }

    pub(super) fn keyboard(&self) -> u16 {
        self.keyboard.last().copied().unwrap_or(0)
    }

    /// All private modes but the screen and the cursor, which belong to what is drawn, and synchronised output,
    /// which is only ever on for a moment.
    pub(super) fn modes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for (mode, on) in &self.modes {
            if !matches!(mode, 3 | 6 | 25 | 47 | 1047 | 1048 | 1049 | 2026) {
                out.extend(format!("\x1b[?{mode}{}", if *on { 'h' } else { 'l' }).bytes());
            }
        }
        out.extend(if self.keypad { b"\x1b=" } else { b"\x1b>" });
        out
    }

    /// What only a keyboard knows.
    pub(super) fn keys(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for flags in &self.keyboard {
            out.extend(format!("\x1b[>{flags}u").bytes());
        }
        if self.other_keys > 0 {
            out.extend(format!("\x1b[>4;{}m", self.other_keys).bytes());
        }
        out
    }

    /// The scroll region, if there is one. The cursor must be put back after it.
    pub(super) fn region(&self) -> Vec<u8> {
        match self.region {
            Some((top, 0)) => format!("\x1b[{top}r").into_bytes(),
            Some((top, bottom)) => format!("\x1b[{top};{bottom}r").into_bytes(),
            None => Vec::new(),
        }
    }
}

fn numbers(bytes: &[u8]) -> Vec<u16> {
    let text = String::from_utf8_lossy(bytes);
    text.split(';').map(|n| n.parse().unwrap_or(0)).collect()
}

fn is_continuation(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}
