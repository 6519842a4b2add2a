//! What a person has typed, seen at the input: which bytes are keys and which are answers of a terminal, and whether
//! text may be left in the prompt. Pure; time is passed in. In doubt it is a key, and in doubt there is a draft.

use std::time::Instant;

/// A longer sequence is no key.
const LONGEST: usize = 64;
/// An answer that goes on for longer than this was none.
const LONGEST_ANSWER: usize = 4096;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Ground,
    Escape,
    /// `ESC O`: a function key or an arrow.
    Single,
    Csi,
    /// After `ESC [ M`: so many more bytes of a mouse report.
    Mouse(u8),
    /// After `ESC ]`, `ESC P` or `ESC _`, whose next byte tells an answer from a key with Alt.
    Opening(u8),
    Answer,
    AnswerEscape,
    Paste,
}

#[derive(Debug, Default)]
pub struct Typing {
    state: State,
    sequence: Vec<u8>,
    answered: usize,
    last_key: Option<Instant>,
    keys: u64,
    characters: usize,
    /// Text of unknown length: recalled, completed, or left behind by an injection.
    unknown: bool,
    /// The last character was a backslash, after which Enter is a new line.
    continues: bool,
}

impl Typing {
    /// Takes input of a person's terminal. Tells whether there was a key in it.
    pub fn feed(&mut self, bytes: &[u8], now: Instant) -> bool {
        let before = self.keys;
        for &byte in bytes {
            self.step(byte);
        }
        // `ESC` with nothing after it is the key, or an answer in two pieces: then it costs a wait.
        if self.state == State::Escape {
            self.key();
        }
        let keys = self.keys != before;
        if keys {
            self.last_key = Some(now);
        }
        keys
    }

    #[must_use]
    pub fn last_key(&self) -> Option<Instant> {
        self.last_key
    }

    /// How many keys there were; only good for seeing that there was another one.
    #[must_use]
    pub fn keys(&self) -> u64 {
        self.keys
    }

    #[must_use]
    pub fn has_draft(&self) -> bool {
        self.characters > 0 || self.unknown || self.state == State::Paste
    }

    /// An injection was stopped and a part of its text is in the prompt.
    pub fn left_behind(&mut self) {
        self.unknown = true;
    }

    fn key(&mut self) {
        self.keys += 1;
    }

    fn character(&mut self) {
        self.characters += 1;
        self.continues = false;
    }

    fn submit(&mut self) {
        // A backslash before Enter makes a new line.
        if self.continues { self.character() } else { self.clear() }
    }

    fn clear(&mut self) {
        self.characters = 0;
        self.unknown = false;
        self.continues = false;
    }

    fn backspace(&mut self) {
        self.characters = self.characters.saturating_sub(1);
        self.continues = false;
    }

    fn step(&mut self, byte: u8) {
        match self.state {
            State::Ground => self.ground(byte),
            State::Escape => self.escape(byte),
            State::Single => {
                self.state = State::Ground;
                self.key();
                self.arrow(byte);
            }
            State::Csi => self.csi(byte),
            State::Mouse(left) => {
                self.state = if left > 1 { State::Mouse(left - 1) } else { State::Ground };
            }
            State::Opening(opening) => self.opening(opening, byte),
            State::Answer => {
                self.answered += 1;
                self.state = match byte {
                    0x07 => State::Ground,
                    0x1b => State::AnswerEscape,
                    _ if self.answered > LONGEST_ANSWER => State::Ground,
                    _ => State::Answer,
                };
            }
            State::AnswerEscape => {
                self.state = State::Ground;
                if byte != b'\\' {
                    self.escape(byte);
                }
            }
            State::Paste => self.paste(byte),
        }
    }

    fn ground(&mut self, byte: u8) {
        if byte == 0x1b {
            self.sequence.clear();
            self.state = State::Escape;
            return;
        }
        self.key();
        match byte {
            b'\r' => self.submit(),
            // Ctrl-C, Ctrl-U.
            0x03 | 0x15 => self.clear(),
            0x08 | 0x7f => self.backspace(),
            b'\n' => self.character(),
            // Tab completes, Ctrl-P, Ctrl-N and Ctrl-R recall, Ctrl-Y brings back what was cut.
            b'\t' | 0x10 | 0x0e | 0x12 | 0x19 => self.unknown = true,
            0x00..=0x1f => {}
            // The rest of a character in UTF-8.
            0x80..=0xbf => {}
            _ => {
                self.character();
                self.continues = byte == b'\\';
            }
        }
    }

    fn escape(&mut self, byte: u8) {
        self.state = State::Ground;
        match byte {
            b'[' => self.state = State::Csi,
            b'O' => self.state = State::Single,
            b']' | b'P' | b'_' => self.state = State::Opening(byte),
            0x1b => {
                self.key();
                self.state = State::Escape;
            }
            // Alt and Enter: a new line.
            b'\r' | b'\n' => {
                self.key();
                self.character();
            }
            // Other keys with Alt are commands, in some programs such that bring text.
            _ => {
                self.key();
                self.unknown |= !matches!(byte, b'b' | b'f' | b'd' | 0x7f | 0x08);
            }
        }
    }

    fn opening(&mut self, opening: u8, byte: u8) {
        let answer = match opening {
            b']' => byte.is_ascii_digit(),
            b'P' => byte.is_ascii_digit() || matches!(byte, b'>' | b'$' | b'!' | b'+' | b'|'),
            _ => byte == b'G',
        };
        if answer {
            self.answered = 0;
            self.state = State::Answer;
        } else {
            self.key();
            self.unknown = true;
            self.state = State::Ground;
            self.step(byte);
        }
    }

    fn csi(&mut self, byte: u8) {
        match byte {
            0x1b => {
                self.sequence.clear();
                self.state = State::Escape;
            }
            b'M' if self.sequence.is_empty() => self.state = State::Mouse(3),
            0x40..=0x7e => {
                self.state = State::Ground;
                let sequence = std::mem::take(&mut self.sequence);
                self.control(&sequence, byte);
            }
            _ if self.sequence.len() < LONGEST => self.sequence.push(byte),
            _ => {}
        }
    }

    fn control(&mut self, sequence: &[u8], end: u8) {
        if (sequence, end) == (b"200", b'~') {
            self.key();
            self.state = State::Paste;
        } else if !is_answer(sequence, end) {
            match end {
                b'u' => self.kitty(sequence),
                // `modifyOtherKeys`: 27 ; modifiers ; code.
                b'~' if sequence.starts_with(b"27;") => {
                    let mut parts = sequence[3..].split(|b| *b == b';');
                    let (modifiers, code) = (number(parts.next()), number(parts.next()));
                    self.with_modifiers(code, modifiers);
                }
                b'A' | b'B' if is_release(sequence) => {}
                _ => {
                    self.key();
                    self.arrow(end);
                }
            }
        }
    }

    fn arrow(&mut self, end: u8) {
        // Up and down recall what was sent before.
        self.unknown |= matches!(end, b'A' | b'B');
        if end == b'M' {
            self.submit();
        }
    }

    /// `code[:…];modifiers[:event];text u`.
    fn kitty(&mut self, sequence: &[u8]) {
        if is_release(sequence) {
            return;
        }
        let mut parts = sequence.split(|b| *b == b';');
        let code = number(parts.next().and_then(|part| part.split(|b| *b == b':').next()));
        let modifiers = number(parts.next().and_then(|part| part.split(|b| *b == b':').next()));
        self.with_modifiers(code, modifiers);
    }

    fn with_modifiers(&mut self, code: u32, modifiers: u32) {
        self.key();
        // Without Caps Lock and Num Lock.
        let pressed = modifiers.saturating_sub(1) & 0b0011_1111;
        let (shift, control) = (1, 4);
        match (code, pressed) {
            (13 | 57414, 0) => self.submit(),
            (13 | 57414, _) => self.character(),
            (127, 0 | 1) => self.backspace(),
            (99 | 67 | 117 | 85, pressed) if pressed & !shift == control => self.clear(),
            (9 | 57352 | 57353, _) => self.unknown = true,
            (27, _) => {}
            // Caps Lock and other keys by themselves.
            (57358..=57363 | 57441..=57454, _) => {}
            (32.., 0 | 1) => {
                self.character();
                self.continues = code == u32::from(b'\\');
            }
            _ => self.unknown = true,
        }
    }

    fn paste(&mut self, byte: u8) {
        const END: &[u8] = b"\x1b[201~";
        self.key();
        if self.sequence.len() == END.len() {
            self.sequence.remove(0);
        }
        self.sequence.push(byte);
        if self.sequence == END {
            self.sequence.clear();
            self.state = State::Ground;
        } else if byte >= 0x20 || byte == b'\n' || byte == b'\r' {
            // The end counts too: a paste is a draft, even an empty one.
            self.character();
        }
    }
}

/// Whether a terminal says this by itself, or when it is asked.
fn is_answer(sequence: &[u8], end: u8) -> bool {
    let lead = sequence.first().copied().unwrap_or(0);
    match end {
        // Focus.
        b'I' | b'O' => sequence.is_empty(),
        // Mouse: SGR, and the older form with numbers.
        b'M' | b'm' => !sequence.is_empty() && sequence != b"1",
        // Attributes, status, modes, window reports.
        b'c' | b'n' | b't' | b'y' => true,
        b'u' => lead == b'?',
        // The place of the cursor; F3 with modifiers looks like row 1, columns 2 to 9.
        b'R' => {
            sequence.contains(&b';')
                && !(sequence.len() == 3 && sequence.starts_with(b"1;") && sequence[2] != b'1')
        }
        _ => matches!(lead, b'?' | b'>' | b'<' | b'='),
    }
}

/// The third kind of a kitty event: a key that is let go.
fn is_release(sequence: &[u8]) -> bool {
    let modifiers = sequence.split(|b| *b == b';').nth(1).unwrap_or_default();
    modifiers.split(|b| *b == b':').nth(1) == Some(b"3")
}

fn number(bytes: Option<&[u8]>) -> u32 {
    bytes.and_then(|b| std::str::from_utf8(b).ok()).and_then(|t| t.parse().ok()).unwrap_or(0)
}
