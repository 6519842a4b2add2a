//! Ranks search results.
//!
//! A text scores higher if it contains a term more often and is shorter (BM25 without term rarity:
//! every result contains every term, so rarity would weigh all alike). Terms that are adjacent as
//! in the query count more. Newer texts win between equal ones, but recency counts little: it adds
//! at most half of a score.

use super::{Query, Term};

/// How soon repetitions stop counting: BM25's k1.
const SATURATION: f32 = 1.2;
/// How much length counts: BM25's b.
const LENGTH: f32 = 0.75;
/// Number of words in a typical message.
const USUAL: f32 = 24.0;
/// The bonus when all terms are adjacent and in order.
const TOGETHER: f32 = 1.0;
/// The recency bonus halves after this time.
const HALF_LIFE_MS: f32 = 30.0 * 24.0 * 3_600_000.0;

/// The score of a text that contains every term, higher is better. `age_ms` is the age of the
/// message.
pub fn score<S: AsRef<str>>(query: &Query, words: &[S], age_ms: i64) -> f32 {
    let length = SATURATION * (1.0 - LENGTH + LENGTH * words.len() as f32 / USUAL);
    let weigh = |term: &Term| {
        let times = term.count_in(words) as f32;
        times * (SATURATION + 1.0) / (times + length)
    };
    let terms: f32 = query.terms.iter().map(weigh).sum::<f32>() / query.terms.len() as f32;
    let together = match query.terms.as_slice() {
        [_] => 0.0,
        terms => {
            let whole = Term(terms.iter().flat_map(|term| term.0.iter().cloned()).collect());
            if whole.count_in(words) > 0 { TOGETHER } else { 0.0 }
        }
    };
    let newness = 0.5 * (-(age_ms.max(0) as f32) / HALF_LIFE_MS).exp2();
    (terms + together) * (1.0 + newness)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const DAY: i64 = 24 * 3_600_000;

    // covers: CHN-123
    #[test]
    fn what_is_more_about_it_comes_first_and_then_what_is_newer() {
        let long = format!("deploy {}", "and so on ".repeat(40));
        for (query, better, worse) in [
            ("deploy", ("deploy failed", 0), (&*long, 0)),
            ("deploy", ("deploy deploy now", 0), ("deploy it all now", 0)),
            ("deploy failed", ("the deploy failed", 0), ("failed to see a deploy", 0)),
            ("deploy", ("deploy failed", 0), ("deploy failed", DAY)),
            // A better match beats a newer one.
            ("deploy", ("deploy failed", 300 * DAY), (&*long, 0)),
        ] {
            let query = Query::read(query).unwrap();
            let score = |(text, age): (&str, i64)| {
                score(&query, &text.split_whitespace().collect::<Vec<_>>(), age)
            };
            assert!(score(better) > score(worse), "{query:?}: {better:?} {worse:?}");
            assert!(score(worse).is_finite() && score(worse) > 0.0);
        }
    }
}
