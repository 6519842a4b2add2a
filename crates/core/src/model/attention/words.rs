//! The names of attention's enum values on the wire, in files and in the matrix.
//!
//! Every value has one spelling, taken from the C2A spec, and is read back from the same spelling.
//! Anything else is not accepted; the caller reports which field was wrong.

use super::{Directedness, Intent, Mode, Policy, Priority, Rule};

/// Gives an enum its list of variants and their names, so that the two cannot differ.
macro_rules! words {
    ($type:ident { $($variant:ident = $word:literal),+ $(,)? }) => {
        impl $type {
            /// Every variant, in the order of the spec.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The name on the wire.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $word),+
                }
            }

            /// Parses a name; none unless it matches exactly.
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($word => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }
    };
}

words!(Directedness {
    ToMe = "to_me",
    ToMyRole = "to_my_role",
    ToOther = "to_other",
    Ambient = "ambient",
});

words!(Policy {
    MustRespond = "must_respond",
    MayRespond = "may_respond",
    AckOnly = "ack_only",
    MustNotRespond = "must_not_respond",
});

words!(Mode {
    Immediate = "immediate",
    Buffered = "buffered",
    Notify = "notify",
    ToolMailbox = "tool_mailbox",
    Digest = "digest",
    Silent = "silent",
});

words!(Priority { Low = "low", Normal = "normal", High = "high", Urgent = "urgent" });

words!(Intent {
    Request = "request",
    Question = "question",
    Assignment = "assignment",
    Approval = "approval",
    Blocker = "blocker",
    Cancel = "cancel",
    Thanks = "thanks",
    Social = "social",
    Status = "status",
    Statement = "statement",
});

impl Rule {
    /// Parses the output of [`Rule::name`].
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_reads_back_and_no_other_does() {
        fn check<T: Copy + PartialEq + std::fmt::Debug>(
            all: &[T],
            name: fn(T) -> &'static str,
            read: fn(&str) -> Option<T>,
        ) {
            for &word in all {
                assert_eq!(read(name(word)), Some(word));
                assert_eq!(read(&name(word).to_uppercase()), None);
                assert_eq!(read(&format!("{} ", name(word))), None);
            }
            assert_eq!(read(""), None);
        }
        check(Directedness::ALL, Directedness::name, Directedness::from_name);
        check(Policy::ALL, Policy::name, Policy::from_name);
        check(Mode::ALL, Mode::name, Mode::from_name);
        check(Priority::ALL, Priority::name, Priority::from_name);
        check(Intent::ALL, Intent::name, Intent::from_name);
        check(&Rule::ALL, Rule::name, Rule::from_name);
    }
}
