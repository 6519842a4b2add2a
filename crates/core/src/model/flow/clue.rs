//! The named rules of the flow of talk, which explain a guess.

/// A rule of the flow of talk. It can be switched off, and it is named where a guess is explained.
///
/// The worth of a rule: of a hundred lines that name nobody, how many more get the wrong addressee
/// without it, in Ubuntu's channel and in four other rooms (`cargo xtask bench attention DIR
/// --without RULE`, with the other weights unchanged). The standard errors are 1.1 and 1.3, so a
/// single value below 2 is not distinguishable from zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Clue {
    /// Recent speakers are likelier addressees than those who have long been silent. Worth 4.7 and
    /// 5.4.
    Lately,
    /// A member who has addressed the author since the author last spoke gets an answer. Worth 16.2
    /// and 8.9.
    Answer,
    /// Authors continue with their previous partner, or with nobody. Worth 2.2 and 0.5.
    OwnLine,
    /// Who talks with whom, how often and how exclusively. Worth 1.6 and 0.
    Exchange,
    /// The member who spoke immediately before. Worth 2.2 and 3.0.
    JustBefore,
    /// A member who asked the room and got no answer. Worth 0 and 0.6.
    OpenQuestion,
    /// Words that a member's talk and this text share. Worth 2.7 and 4.2.
    SharedWords,
    /// A handle in the text without a mark of address. Worth 3.4 and 0.7.
    Passing,
    /// The first message of a member who was silent is for the room. Worth 0.5 and 0.1.
    FirstWords,
    /// "you" refers to a particular member. Worth 0.2 and 0.1.
    SecondPerson,
    /// "anyone", "guys": for all. Worth 0.5 and -0.4.
    ToAll,
    /// Thanks and greetings. Worth 0.1 and 0.5.
    Courtesy,
    /// A text that begins with "yes", "no" or "ah" answers somebody. Worth 0.7 and 0.8.
    Assent,
    /// Whether it asks, and its length. Worth 1.6 and 0.3.
    Shape,
}

impl Clue {
    pub const ALL: [Self; 14] = [
        Self::Lately,
        Self::Answer,
        Self::OwnLine,
        Self::Exchange,
        Self::JustBefore,
        Self::OpenQuestion,
        Self::SharedWords,
        Self::Passing,
        Self::FirstWords,
        Self::SecondPerson,
        Self::ToAll,
        Self::Courtesy,
        Self::Assent,
        Self::Shape,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Lately => "lately",
            Self::Answer => "answer",
            Self::OwnLine => "own_line",
            Self::Exchange => "exchange",
            Self::JustBefore => "just_before",
            Self::OpenQuestion => "open_question",
            Self::SharedWords => "shared_words",
            Self::Passing => "passing",
            Self::FirstWords => "first_words",
            Self::SecondPerson => "second_person",
            Self::ToAll => "to_all",
            Self::Courtesy => "courtesy",
            Self::Assent => "assent",
            Self::Shape => "shape",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|clue| clue.name() == name)
    }
}

/// A set of rules of the flow of talk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clues(pub u16);

impl Clues {
    pub const NONE: Self = Self(0);

    pub fn with(self, clue: Clue) -> Self {
        Self(self.0 | 1 << clue as u16)
    }

    pub fn has(self, clue: Clue) -> bool {
        self.0 & (1 << clue as u16) != 0
    }

    pub fn iter(self) -> impl Iterator<Item = Clue> {
        Clue::ALL.into_iter().filter(move |clue| self.has(*clue))
    }
}
