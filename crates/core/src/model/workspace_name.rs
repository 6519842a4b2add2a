//! Names of workspaces: one word of a URL, that cannot be taken for another one's.

use std::fmt;

use unicode_security::confusable_detection::skeleton;

use crate::model::error::Refusal;

/// The longest that a name may be, in characters.
pub const MAX_LEN: usize = 40;

/// Names that would be taken for the host itself, or for the workspace in its own data folder.
const RESERVED: [&str; 16] = [
    "admin",
    "all",
    "api",
    "app",
    "chorus",
    "default",
    "host",
    "hosts",
    "mcp",
    "new",
    "none",
    "root",
    "system",
    "workspace",
    "workspaces",
    "www",
];

/// The name of a workspace: `acme`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkspaceName(Box<str>);

impl WorkspaceName {
    /// # Errors
    /// What a name may be, for one that is none.
    pub fn parse(name: &str) -> Result<Self, Refusal> {
        let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        let fits = (2..=MAX_LEN).contains(&name.len())
            && name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.ends_with(is_word)
            && name.chars().all(|c| is_word(c) || c == '-')
            && !name.contains("--");
        if !fits {
            let what = format!(
                "a workspace's name has 2 to {MAX_LEN} of a-z, 0-9 and -, begins with a letter, and has no - at its \
                 end or beside another: acme-labs"
            );
            return Err(Refusal::invalid(what));
        }
        if RESERVED.contains(&name) {
            let what = format!("the name {name:?} is reserved; choose another, as acme-{name}");
            return Err(Refusal::invalid(what));
        }
        Ok(Self(name.into()))
    }

    /// How it looks: names that a reader could take for each other look the same.
    pub fn look(&self) -> String {
        skeleton(&self.0).filter(|c| *c != '-').flat_map(char::to_lowercase).collect()
    }
}

impl std::ops::Deref for WorkspaceName {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for WorkspaceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    // covers: OPS-161
    #[test]
    fn a_name_is_one_word_of_a_url() {
        for good in ["acme", "a1", "acme-labs", "x-2-y", &"a".repeat(MAX_LEN)] {
            assert_eq!(&*WorkspaceName::parse(good).unwrap(), good);
        }
        let long = "a".repeat(MAX_LEN + 1);
        for bad in [
            "", "a", "1acme", "-acme", "acme-", "ac--me", "Acme", "ac me", "ac/me", "..", "ac.me",
            "äcme", "ac_me", "acme\n", &long,
        ] {
            let refused = WorkspaceName::parse(bad).unwrap_err();
            assert!(refused.message.contains("a-z"), "{bad:?}: {refused}");
        }
        for reserved in RESERVED {
            assert!(WorkspaceName::parse(reserved).unwrap_err().message.contains("reserved"));
        }
    }

    // covers: OPS-161
    #[test]
    fn names_that_could_be_taken_for_each_other_look_the_same() {
        let look = |name: &str| WorkspaceName::parse(name).unwrap().look();
        for (one, other) in
            [("acme", "acrne"), ("paypal", "paypa1"), ("c0de", "code"), ("acme-labs", "acmelabs")]
        {
            assert_eq!(look(one), look(other), "{one} {other}");
        }
        assert_ne!(look("acme"), look("acne"));
    }
}
