//! Short ids, as git has them: `evt_…f622a32` is shown on a terminal, and taken wherever an id is.

use crate::terminal;

/// What the host can complete.
const PREFIXES: [&str; 4] = ["ch_", "evt_", "msg_", "th_"];
/// Digits of a whole id.
const WHOLE: usize = 32;
/// Digits that are shown.
const SHOWN: usize = 7;
/// Digits that must at least be written.
const FEWEST: usize = 4;

/// The id as it is shown: short to people, whole to programs. What is no id stays as it is.
pub(crate) fn shown(id: &str) -> String {
    match parts(id) {
        Some((prefix, digits)) if digits.len() == WHOLE && terminal::columns().is_some() => {
            format!("{prefix}…{}", &digits[WHOLE - SHOWN..])
        }
        _ => id.to_owned(),
    }
}

/// Whether the word is an id with digits left out.
pub(crate) fn is_short(word: &str) -> bool {
    parts(word).is_some_and(|(_, digits)| (FEWEST..WHOLE).contains(&digits.len()))
}

/// The prefix and the digits of what looks like an id, whole or short.
fn parts(word: &str) -> Option<(&'static str, &str)> {
    PREFIXES.into_iter().find_map(|prefix| {
        let digits = word.strip_prefix(prefix)?.trim_start_matches(['…', '.']);
        let plain = digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        plain.then_some((prefix, digits))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: OPS-489
    #[test]
    fn an_id_with_digits_left_out_is_short() {
        for short in ["evt_…f622a32", "msg_...f622a32", "th_f622", "ch_0199aabb"] {
            assert!(is_short(short), "{short}");
        }
        let whole = format!("evt_{:032x}", 7);
        for word in ["evt_", "evt_f62", "ops", "evt_f622a3g", "apr_f622a32", &whole] {
            assert!(!is_short(word), "{word}");
        }
    }
}
