//! What the flow of talk extracts from a text: a few marks and some words, in a few dozen bytes.
//!
//! Only the first [`BYTES`] and [`WORDS`] are read, so a megabyte costs as much as a line. The
//! words are English. In another language only question marks, names and repeated words are
//! recognised, and the structure of the talk decides.

/// Only this much of a text is read.
const BYTES: usize = 1_024;
/// Words of one text that are kept for comparison.
pub(crate) const WORDS: usize = 12;
/// Words with more letters than this carry a subject; shorter ones are mostly grammar.
const SUBJECT_LETTERS: usize = 3;
/// Words with the same prefix of this many bytes count as one: "install", "installed".
const STEM: usize = 6;

/// The features of one text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features {
    pub asks: bool,
    /// "you", "your".
    pub second_person: bool,
    pub thanks: bool,
    pub greets: bool,
    /// It begins like an answer: "yes", "no", "ah", "well".
    pub assents: bool,
    /// "anyone", "guys".
    pub to_all: bool,
    /// "help", "trying", "error".
    pub wants_help: bool,
    /// It begins like a continuation: "and", "but", "because".
    pub goes_on: bool,
    /// It begins like advice: "try", "use", "check".
    pub advises: bool,
    /// "i", "my".
    pub first_person: bool,
    /// The number of words, at most 255.
    pub length: u8,
    words: [u32; WORDS],
    kept: u8,
    /// One bit for each kept word: a quick test that rules out most other words.
    bits: u64,
}

/// The features of a text, and its words.
pub fn read(text: &str) -> (Features, Spoken) {
    let (mut heard, mut spoken) = (Features::default(), Spoken::default());
    let text = beginning(text, BYTES);
    if !(text.contains("://") || text.contains("www.")) {
        heard.piece(text, |key| spoken.word(key));
        return (heard, spoken);
    }
    let is_link = |piece: &&str| piece.contains("://") || piece.starts_with("www.");
    let pieces = text.split_whitespace().filter(|piece| !is_link(piece));
    pieces.for_each(|piece| heard.piece(piece, |_| {}));
    words(text).for_each(|word| spoken.word(hash(word)));
    (heard, spoken)
}

impl Features {
    pub fn of(text: &str) -> Self {
        read(text).0
    }

    /// Reads a piece of the text that contains no link, and says the hash of each of its words.
    fn piece(&mut self, piece: &str, mut said: impl FnMut(u32)) {
        self.asks |= match piece.is_ascii() {
            true => piece.as_bytes().contains(&b'?'),
            false => piece.contains(['?', '？', '؟', '⁇', '\u{37e}', '՞']),
        };
        for word in words(piece) {
            let key = hash(word);
            self.word(word, key);
            said(key);
        }
    }

    fn word(&mut self, word: &str, key: u32) {
        let first = self.length == 0;
        self.length = self.length.saturating_add(1);
        if is_listed(key) {
            self.listed(key, first);
        }
        let number = word.len() > 1 && word.bytes().any(|b| b.is_ascii_digit());
        let says_more = word.len() > SUBJECT_LETTERS || number;
        let subject = says_more && !(is_listed(key) && GRAMMAR.contains(&key));
        let key = if word.len() > STEM { hash(beginning(word, STEM)) } else { key };
        if subject && usize::from(self.kept) < WORDS && !self.says(key) {
            self.words[usize::from(self.kept)] = key;
            self.kept += 1;
            self.bits |= 1 << (key % 64);
        }
    }

    /// Records a word that may be in one of the lists.
    fn listed(&mut self, key: u32, first: bool) {
        self.second_person |= SECOND.contains(&key);
        self.thanks |= THANKS.contains(&key);
        self.greets |= first && GREETINGS.contains(&key);
        self.assents |= first && ASSENT.contains(&key);
        self.to_all |= ALL.contains(&key);
        self.wants_help |= HELP.contains(&key);
        self.goes_on |= first && GOES_ON.contains(&key);
        self.advises |= first && ADVICE.contains(&key);
        self.first_person |= FIRST.contains(&key);
    }

    fn says(&self, key: u32) -> bool {
        self.bits & (1 << (key % 64)) != 0 && self.words[..usize::from(self.kept)].contains(&key)
    }

    /// The number of kept words.
    pub fn kept(&self) -> u32 {
        u32::from(self.kept)
    }

    /// Which of this text's words occur in the other, one bit a word.
    pub fn shared(&self, other: &Self) -> u32 {
        let words = self.words[..usize::from(self.kept)].iter().enumerate();
        words.filter(|(_, word)| other.says(**word)).map(|(n, _)| 1 << n).sum()
    }
}

/// Where a text mentions somebody in passing, without `@` or another mark of address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passing {
    Not,
    Within,
    /// It is the last word: "what do you think, scout?".
    Last,
}

/// The words of a text, in which handles are searched for.
#[derive(Clone, Copy, Debug)]
pub struct Spoken {
    words: [u32; SPOKEN],
    count: usize,
    /// The text had more words than are kept.
    goes_on: bool,
}

/// A handle later in the text than this is not found in passing.
const SPOKEN: usize = 64;

impl Default for Spoken {
    fn default() -> Self {
        Self { words: [0; SPOKEN], count: 0, goes_on: false }
    }
}

impl Spoken {
    fn word(&mut self, key: u32) {
        match self.words.get_mut(self.count) {
            Some(word) => {
                *word = key;
                self.count += 1;
            }
            None => self.goes_on = true,
        }
    }

    /// Whether the handle occurs in the text as a separate word.
    pub fn names(&self, handle: &str) -> Passing {
        let key = hash(handle);
        match self.words[..self.count].iter().rposition(|word| *word == key) {
            Some(at) if at + 1 == self.count && !self.goes_on => Passing::Last,
            Some(_) => Passing::Within,
            None => Passing::Not,
        }
    }
}

/// At most this many bytes of a text.
fn beginning(text: &str, bytes: usize) -> &str {
    let mut end = text.len().min(bytes);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '_' | '-' | '.');
    let pieces = text.split(move |c| !is_part(c)).map(|w| w.trim_matches(['.', '-', '\'']));
    pieces.filter(|word| !word.is_empty())
}

/// FNV-1a over the lower-case bytes. A collision makes two words count as shared, which never
/// decides alone.
const fn hash(word: &str) -> u32 {
    let bytes = word.as_bytes();
    let mut hash = 0x811c_9dc5_u32;
    let mut at = 0;
    while at < bytes.len() {
        hash = (hash ^ bytes[at].to_ascii_lowercase() as u32).wrapping_mul(0x0100_0193);
        at += 1;
    }
    hash
}

const fn hashes<const N: usize>(words: [&str; N]) -> [u32; N] {
    let mut all = [0; N];
    let mut at = 0;
    while at < N {
        all[at] = hash(words[at]);
        at += 1;
    }
    all
}

const SECOND: [u32; 10] =
    hashes(["you", "u", "your", "ur", "yours", "you're", "youre", "you'll", "you've", "yourself"]);
const THANKS: [u32; 9] =
    hashes(["thanks", "thank", "thx", "thanx", "thnx", "tnx", "ty", "cheers", "thankyou"]);
const GREETINGS: [u32; 9] =
    hashes(["hi", "hello", "hey", "hiya", "yo", "howdy", "morning", "greetings", "helo"]);
const ASSENT: [u32; 32] = hashes([
    "yes", "yeah", "yep", "yup", "no", "nope", "nah", "ya", "sure", "right", "ok", "okay", "k",
    "correct", "true", "exactly", "ah", "oh", "lol", "haha", "heh", "hmm", "indeed", "well", "but",
    "so", "and", "because", "it's", "that's", "then", "ahh",
]);
const ALL: [u32; 9] = hashes([
    "anyone",
    "anybody",
    "someone",
    "somebody",
    "everyone",
    "everybody",
    "guys",
    "folks",
    "all",
]);
const GOES_ON: [u32; 8] = hashes(["and", "but", "so", "because", "or", "cause", "then", "also"]);
const ADVICE: [u32; 22] = hashes([
    "try", "use", "type", "run", "check", "look", "see", "go", "click", "open", "install", "read",
    "just", "maybe", "do", "you", "if", "make", "get", "add", "did", "have",
]);
const FIRST: [u32; 8] = hashes(["i", "my", "i'm", "im", "i've", "i'll", "me", "ive"]);
const HELP: [u32; 8] =
    hashes(["help", "problem", "question", "trying", "install", "error", "issue", "problems"]);
const GRAMMAR: [u32; 34] = hashes([
    "this", "that", "with", "have", "just", "what", "from", "there", "don't", "dont", "like",
    "will", "would", "then", "they", "know", "about", "some", "when", "does", "need", "your",
    "it's", "that's", "yeah", "thanks", "okay", "here", "been", "them", "than", "also", "well",
    "i'm",
]);

/// One bit for each word of the lists, by its hash: a quick test that rules out most other words.
static LISTED: [u64; 64] = {
    let lists: [&[u32]; 10] =
        [&SECOND, &THANKS, &GREETINGS, &ASSENT, &ALL, &HELP, &GOES_ON, &ADVICE, &FIRST, &GRAMMAR];
    let (mut bits, mut list) = ([0; 64], 0);
    while list < lists.len() {
        let mut word = 0;
        while word < lists[list].len() {
            let key = lists[list][word];
            bits[(key >> 6) as usize % 64] |= 1 << (key % 64);
            word += 1;
        }
        list += 1;
    }
    bits
};

/// Whether a word may be in a list. False is certain.
fn is_listed(key: u32) -> bool {
    LISTED[(key >> 6) as usize % 64] & (1 << (key % 64)) != 0
}
