//! A conversation in a language that nobody speaks: every word is another, made-up one, and names stay.
//!
//! The same word is the same made-up one wherever it comes again, of as many letters; marks, numbers of words, times and who
//! speaks stay. No word of English begins as these do, so that what is found in them is found by structure.

use crate::lines::Chat;

/// The conversation in that language; what was noted of it holds for it too.
pub(crate) fn chat(chat: &Chat) -> Chat {
    let names: Vec<String> = chat.authors.iter().map(|name| name.to_lowercase()).collect();
    let mut chat = chat.clone();
    chat.heard.iter_mut().for_each(|line| line.text = text(&line.text, &names));
    chat
}

/// The text with all words but the names replaced.
pub(crate) fn text(text: &str, names: &[String]) -> String {
    let mut new = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        let (piece, after) = if is_part(first) {
            rest.split_at(rest.find(|c| !is_part(c)).unwrap_or(rest.len()))
        } else {
            rest.split_at(first.len_utf8())
        };
        match is_part(first) && !names.contains(&piece.to_lowercase()) {
            true => word(piece, &mut new),
            false => new.push_str(piece),
        }
        rest = after;
    }
    new
}

/// `x`, and a letter for each further one of the word's.
fn word(word: &str, new: &mut String) {
    let mut hash = word.to_lowercase().bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    new.push('x');
    for _ in word.chars().skip(1) {
        new.push(char::from(b"aeioubdgklmnprstvz"[(hash >> 40) as usize % 18]));
        hash = hash.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
    }
}
