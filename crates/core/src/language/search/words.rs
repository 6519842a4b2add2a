//! Splits a text into words.
//!
//! A run of letters, digits and their marks is one word. It is folded: without case, without the
//! accents of Latin, Greek and Cyrillic letters, and without full-width and other compatibility
//! forms. Scripts without spaces between words (Chinese, Japanese, Thai and others), and Korean,
//! which attaches particles to words, are split into single characters, so that a part of a run is
//! found as a phrase. Emoji are split the same way.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Longest word that is kept distinct, in bytes. A longer one is no word of a language; only its
/// beginning counts.
const WORD_BYTES: usize = 64;

/// One word of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// The word in the form that is compared: folded, never empty, without white space, and
    /// alphanumeric if ASCII.
    pub folded: String,
    /// Its byte range in the text.
    pub at: Range<usize>,
}

/// The words of a text, in order.
pub fn words(text: &str) -> Vec<Word> {
    let mut found = Vec::new();
    let mut run: Option<usize> = None;
    for (at, c) in text.char_indices() {
        let alone = stands_alone(c);
        let in_word = !alone && (c.is_alphanumeric() || run.is_some() && is_combining_mark(c));
        match (in_word, run) {
            (true, None) => run = Some(at),
            (false, Some(from)) => {
                found.extend(word(text, from..at));
                run = None;
            }
            _ => {}
        }
        if alone {
            let folded = folded_alone(c);
            found.push(Word { folded: folded.into(), at: at..at + c.len_utf8() });
        }
    }
    found.extend(run.and_then(|from| word(text, from..text.len())));
    found
}

fn word(text: &str, at: Range<usize>) -> Option<Word> {
    let run = &text[at.clone()];
    if run.is_ascii() {
        // Most words are, and have nothing to take apart: letters and digits.
        let folded = run[..run.len().min(WORD_BYTES)].to_ascii_lowercase();
        return Some(Word { folded, at });
    }
    let mut folded = String::with_capacity(at.len());
    let plain = run.nfkd().filter(|c| !is_accent(*c)).flat_map(char::to_lowercase);
    // Compatibility forms may introduce spaces and signs.
    for c in plain.filter(|c| c.is_alphanumeric() || !c.is_ascii() && !c.is_whitespace()) {
        // The final sigma is the same letter.
        let c = if c == 'ς' { 'σ' } else { c };
        if folded.len() + c.len_utf8() > WORD_BYTES {
            break;
        }
        folded.push(c);
    }
    (!folded.is_empty()).then_some(Word { folded, at })
}

/// Combining marks that are ignored in the scripts that use them as accents: U+0300 to U+036F.
fn is_accent(c: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&c)
}

fn folded_alone(c: char) -> char {
    let mut same = std::iter::once(c).nfkc().filter(|c| !c.is_whitespace());
    // A form that expands to several characters, or to ASCII ones, stays as it is: one character,
    // one word.
    match (same.next(), same.next()) {
        (Some(one), None) if !one.is_ascii() => one,
        _ => c,
    }
}

/// Whether a character is a word by itself.
fn stands_alone(c: char) -> bool {
    matches!(c,
        // Thai, Lao; Burmese; Khmer.
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        // Radicals, kana, bopomofo, Korean letters, ideographs, Korean syllables.
        | '\u{2e80}'..='\u{2fdf}' | '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{318e}'
        | '\u{31a0}'..='\u{31bf}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{a960}'..='\u{a97f}' | '\u{ac00}'..='\u{d7ff}'
        | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ffdc}' | '\u{1100}'..='\u{11ff}'
        | '\u{1b000}'..='\u{1b16f}' | '\u{20000}'..='\u{3fffd}'
        // Signs and emoji.
        | '\u{2600}'..='\u{27bf}' | '\u{1f300}'..='\u{1faff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(text: &str) -> String {
        words(text).into_iter().map(|word| word.folded).collect::<Vec<_>>().join(" ")
    }

    // covers: CHN-122
    #[test]
    fn a_text_is_cut_into_words_in_any_script() {
        for (text, cut) in [
            ("Deploy FAILED: retry_count=3!", "deploy failed retry count 3"),
            ("https://example.org/a-b.html", "https example org a b html"),
            ("Müller, naïve café", "muller naive cafe"),
            // The same letters in another composition.
            ("Mu\u{308}ller", "muller"),
            ("ΟΔΥΣΣΕΥΣ Οδυσσεύς", "οδυσσευσ οδυσσευσ"),
            ("Ёлка и чай", "елка и чаи"),
            ("İstanbul", "istanbul"),
            ("ＧＰＵ　サーバー", "gpu サ ー バ ー"),
            ("東京タワーへ行く", "東 京 タ ワ ー へ 行 く"),
            ("服务器重启v2", "服 务 器 重 启 v2"),
            ("서버를 재시작", "서 버 를 재 시 작"),
            ("ｻｰﾊﾞ", "サ ー ハ \u{3099}"),
            ("สวัสดี", "ส ว ั ส ด ี"),
            ("مرحبا بالعالم", "مرحبا بالعالم"),
            ("שלום עולם", "שלום עולם"),
            ("ship it 🚀🚀", "ship it 🚀 🚀"),
            ("½ ㎏ ﷺ", "1⁄2 صلىاللهعليهوسلم"),
            ("", ""),
            (" ,;\u{301}\u{0} \n", ""),
        ] {
            assert_eq!(folded(text), cut, "{text}");
        }
        // In Hindi the vowel signs are part of the word.
        assert_eq!(words("हिन्दी में लिखा").len(), 3);
        assert_eq!(words(&"x".repeat(1_000))[0].folded.len(), WORD_BYTES);
    }

    #[test]
    fn words_know_where_they_stand_and_are_never_empty() {
        let text = "a «Ünï» 東京!";
        let at: Vec<_> = words(text).into_iter().map(|word| &text[word.at]).collect();
        assert_eq!(at, ["a", "Ünï", "東", "京"]);
        for c in (0..=0x3ffff).filter_map(char::from_u32) {
            for word in words(&c.to_string()) {
                let fine =
                    |c: char| !c.is_whitespace() && (c.is_ascii_alphanumeric() || !c.is_ascii());
                assert!(
                    !word.folded.is_empty() && word.folded.chars().all(fine),
                    "{c:?}: {word:?}"
                );
            }
        }
    }
}
