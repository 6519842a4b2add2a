//! Names: which target each name belongs to, and where a text names somebody.
//!
//! A name is matched whole and longest first, in any case and script (design section 5,
//! "Directedness"): `@scout-2` is not `@scout`, and `@scout.` is. A name shared by two targets
//! resolves to nobody. Only the author's own prose names anybody ([`super::prose`]).
//!
//! Folding is by letter, without normalisation: two encodings of one accented letter are two names,
//! and so are lookalike letters of two scripts. [`looks`] prevents a member from getting a name
//! that can be mistaken for another's.

pub mod confusables;
pub mod rules;
mod scan;
mod unknown;

use std::collections::HashMap;

use crate::model::ids::{MemberKey, RoleKey};
use crate::model::limits;
pub use scan::{Mention, mentions};
pub use unknown::mentions_and_unknown;

/// The target of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    Member(MemberKey),
    Role(RoleKey),
}

/// Every name of a workspace, folded, with the targets that use it.
#[derive(Clone, Debug, Default)]
pub struct Index {
    claims: HashMap<Box<str>, Vec<Target>>,
}

impl Index {
    /// Adds `name` for `target`. Idempotent.
    pub fn insert(&mut self, name: &str, target: Target) {
        let claims = self.claims.entry(fold(name).into()).or_default();
        if !claims.contains(&target) {
            claims.push(target);
        }
    }

    /// Removes the name from `target`; other targets keep it.
    pub fn remove(&mut self, name: &str, target: Target) {
        let name = fold(name);
        if let Some(claims) = self.claims.get_mut(name.as_str()) {
            claims.retain(|claim| *claim != target);
            if claims.is_empty() {
                self.claims.remove(name.as_str());
            }
        }
    }

    pub fn rename(&mut self, old: &str, new: &str, target: Target) {
        self.remove(old, target);
        self.insert(new, target);
    }

    /// The target of the name, in any case; none when no target or more than one uses it.
    pub fn get(&self, name: &str) -> Option<Target> {
        self.folded(&fold(name))
    }

    /// Whether any target uses the name, even if it is ambiguous.
    pub fn is_taken(&self, name: &str) -> bool {
        self.claims.contains_key(fold(name).as_str())
    }

    /// The number of names; ambiguous ones count once.
    pub fn len(&self) -> usize {
        self.claims.len()
    }

    pub fn is_empty(&self) -> bool {
        self.claims.is_empty()
    }

    fn folded(&self, name: &str) -> Option<Target> {
        match self.claims.get(name)?.as_slice() {
            [only] => Some(*only),
            _ => None,
        }
    }

    /// Whether the folded name is known at all, so that a shorter one is not tried instead.
    fn knows(&self, name: &str) -> bool {
        self.claims.contains_key(name)
    }
}

/// Whether a handle, role name or member id is valid: 1 to 64 bytes of letters and digits of any
/// script, `_`, `-` and `.`, with at least one letter or digit.
pub fn valid_handle(name: &str) -> bool {
    if name.is_empty() || name.len() > limits::HANDLE_BYTES {
        return false;
    }
    let mut before: Option<char> = None;
    let mut chars = name.chars().peekable();
    let mut has_letter = false;
    while let Some(c) = chars.next() {
        // A joiner is invisible, so it is allowed only where scripts need one: inside a non-ASCII
        // word.
        let inside = |c: Option<char>| {
            c.is_some_and(|c| !c.is_ascii() && (c.is_alphanumeric() || is_mark(c)))
        };
        let fits = match c {
            _ if is_joiner(c) => inside(before) && inside(chars.peek().copied()),
            _ if is_mark(c) => before.is_some(),
            _ => is_name_char(c),
        };
        if !fits {
            return false;
        }
        has_letter |= c.is_alphanumeric();
        before = Some(c);
    }
    has_letter
}

/// A name in the form that is compared: lower case, without joiners, with one small sigma.
pub fn fold(name: &str) -> String {
    let mut folded = String::with_capacity(name.len());
    name.chars().for_each(|c| fold_char(c, &mut folded));
    folded
}

fn fold_char(c: char, into: &mut String) {
    match c {
        'ς' => into.push('σ'),
        _ if c.is_ascii() => into.push(c.to_ascii_lowercase()),
        _ if is_joiner(c) => {}
        _ => into.extend(c.to_lowercase()),
    }
}

/// A letter, digit or mark that a name may contain.
fn is_name_char(c: char) -> bool {
    matches!(c, '_' | '-' | '.') || c.is_alphanumeric() || is_mark(c) || is_joiner(c)
}

/// The joiners. Persian and Indic names need them, and folding removes them.
fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}')
}

/// Combining marks and viramas that the standard library does not call alphabetic.
fn is_mark(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{591}'..='\u{5bd}' | '\u{5bf}'
        | '\u{5c1}'..='\u{5c2}' | '\u{5c4}'..='\u{5c5}' | '\u{5c7}' | '\u{610}'..='\u{61a}'
        | '\u{64b}'..='\u{65f}' | '\u{670}' | '\u{6d6}'..='\u{6dc}' | '\u{6df}'..='\u{6e4}'
        | '\u{6e7}'..='\u{6e8}' | '\u{6ea}'..='\u{6ed}' | '\u{93c}' | '\u{94d}' | '\u{9bc}'
        | '\u{9cd}' | '\u{a3c}' | '\u{a4d}' | '\u{abc}' | '\u{acd}' | '\u{b3c}' | '\u{b4d}'
        | '\u{bcd}' | '\u{c4d}' | '\u{cbc}' | '\u{ccd}' | '\u{d4d}' | '\u{dca}' | '\u{e31}'
        | '\u{e34}'..='\u{e3a}' | '\u{e47}'..='\u{e4e}' | '\u{eb1}' | '\u{eb4}'..='\u{ebc}'
        | '\u{ec8}'..='\u{ece}' | '\u{1037}' | '\u{1039}'..='\u{103a}' | '\u{17b4}'..='\u{17d3}'
        | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}'
        | '\u{fe20}'..='\u{fe2f}')
}

/// Scripts that put no space between words or attach particles to a name, so that a name may end
/// inside a run of letters: Han, kana, Hangul, Thai, Lao, Myanmar, Khmer.
fn is_spaceless(c: char) -> bool {
    !is_mark(c)
        && matches!(c,
            '\u{e01}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
            | '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}'
            | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests;
