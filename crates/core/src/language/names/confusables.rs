//! Lookalike names: invisible letters, and names that can be mistaken for each other (Unicode UTS
//! 39).
//!
//! Two names look alike if their skeletons are equal, as written or in lower case: `scout` and the
//! same with a Cyrillic `о`, `paypal` and `paypa1`. A name that differs only in case is the same
//! name, not a lookalike. The caller decides whether a name may be used twice.

use std::collections::HashMap;

use unicode_security::confusable_detection::skeleton;

use super::{Target, fold};
use crate::model::text::is_unseen;

/// Names by their skeleton, with the target that uses each.
#[derive(Clone, Debug, Default)]
pub struct Confusables {
    names: HashMap<Box<str>, Vec<(Box<str>, Target)>>,
}

impl Confusables {
    /// Records that `target` uses this name. Idempotent.
    pub fn insert(&mut self, name: &str, target: Target) {
        for look in looks_of(name) {
            let shown = self.names.entry(look.into()).or_default();
            if !shown.iter().any(|(n, t)| &**n == name && *t == target) {
                shown.push((name.into(), target));
            }
        }
    }

    /// `target` no longer uses this name.
    pub fn remove(&mut self, name: &str, target: Target) {
        for look in looks_of(name) {
            if let Some(shown) = self.names.get_mut(look.as_str()) {
                shown.retain(|(n, t)| &**n != name || *t != target);
                if shown.is_empty() {
                    self.names.remove(look.as_str());
                }
            }
        }
    }

    /// The same name in any case, if another target uses it.
    pub fn named(&self, name: &str, of: Target) -> Option<&str> {
        let folded = fold(name);
        let shown = looks_of(name).into_iter().filter_map(|look| self.names.get(look.as_str()));
        let mut others = shown.flatten().filter(|(n, t)| *t != of && fold(n) == folded);
        others.next().map(|(n, _)| &**n)
    }

    /// Another target's name that looks like this one, if there is one.
    pub fn resembled(&self, name: &str, of: Option<Target>) -> Option<&str> {
        let folded = fold(name);
        let shown = looks_of(name).into_iter().filter_map(|look| self.names.get(look.as_str()));
        let mut others = shown.flatten().filter(|(n, t)| Some(*t) != of && fold(n) != folded);
        others.next().map(|(n, _)| &**n)
    }
}

/// Whether two names look alike, including equal names.
pub fn look_alike(one: &str, other: &str) -> bool {
    let others = looks_of(other);
    looks_of(one).iter().any(|look| others.contains(look))
}

/// The first character that is invisible or that reorders the text around it. A joiner is allowed
/// where scripts and emoji need it: between two non-ASCII characters.
pub fn unseen(text: &str) -> Option<char> {
    let mut before: Option<char> = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let joins = super::is_joiner(c)
            && before.is_some_and(|c| !c.is_ascii())
            && chars.peek().is_some_and(|c| !c.is_ascii());
        if is_unseen(c) && !joins {
            return Some(c);
        }
        before = Some(c);
    }
    None
}

/// A name without surrounding space and without its leading sign.
pub fn bare(name: &str) -> &str {
    name.trim().trim_start_matches(['@', '#']).trim_start()
}

/// The skeletons of a name: in lower case as it is written, and in lower case as it looks. Readers
/// take `AIice` for `Alice`. Surrounding space and the leading sign do not distinguish names.
fn looks_of(name: &str) -> Vec<String> {
    let name = bare(name);
    let folded: String = skeleton(&fold(name)).collect();
    let written: String = skeleton(name).collect();
    let read: String = skeleton(&fold(&written)).collect();
    let mut looks = vec![folded];
    for look in [written, read] {
        if !looks.contains(&look) {
            looks.push(look);
        }
    }
    looks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ids::MemberKey;

    // covers: CHN-423, ATT-433
    #[test]
    fn a_name_is_known_by_what_it_looks_like() {
        let mut looks = Confusables::default();
        let (scout, other) = (Target::Member(MemberKey(1)), Target::Member(MemberKey(2)));
        looks.insert("scout", scout);
        looks.insert("paypal", scout);
        let taken = |name: &str| looks.resembled(name, Some(other)).map(str::to_owned);
        assert_eq!(taken("sc\u{43e}ut").as_deref(), Some("scout"), "Cyrillic");
        assert_eq!(taken("scou\u{200d}t").as_deref(), None, "a joiner folds away");
        assert_eq!(taken("scou\u{200b}t").as_deref(), Some("scout"), "no width");
        assert_eq!(taken("paypa1").as_deref(), Some("paypal"));
        assert_eq!(taken("PAYPAL"), None, "the same in another case");
        assert_eq!(taken("PayPaI").as_deref(), Some("paypal"), "read in lower case");
        for name in ["scout ", "\u{a0}scout", "scout\u{2003}", "\u{3000}scout", "@scout", "#Scout"]
        {
            assert_eq!(taken(name).as_deref(), Some("scout"), "{name:?}");
        }
        assert_eq!(taken("scouts"), None);
        assert_eq!(looks.resembled("sc\u{43e}ut", Some(scout)), None, "its own");
        looks.remove("scout", scout);
        assert_eq!(looks.resembled("sc\u{43e}ut", None), None);
        assert!(look_alike("incidents", "incident\u{455}") && look_alike("Ops", "ops"));
        assert!(!look_alike("ops", "dev"));
    }

    // covers: CHN-423
    #[test]
    fn letters_that_nobody_sees_are_found_and_pictures_are_let_be() {
        assert_eq!(unseen("in\u{200b}cidents"), Some('\u{200b}'));
        assert_eq!(unseen("\u{202e}stnedicni"), Some('\u{202e}'));
        assert_eq!(unseen("inci\u{200d}dents"), Some('\u{200d}'));
        assert_eq!(unseen("Familie \u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}"), None);
        assert_eq!(unseen("\u{645}\u{6cc}\u{200c}\u{62e}\u{648}\u{627}\u{647}\u{645}"), None);
        assert_eq!(unseen("Gr\u{fc}\u{df}e \u{2764}\u{fe0f}"), None);
    }
}
