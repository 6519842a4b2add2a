//! The signs by which the flow of talk is read, the rule that each belongs to, and what it weighs.
//!
//! A weight is in log-odds: what the sign adds to one person, or to nobody, against the others. `cargo xtask bench
//! attention DIR --fit` finds the weights ([`super::weights`]) from annotated rooms.

/// Makes the list of signs, their rules and their weights in one place.
macro_rules! signs {
    ($($sign:ident: $clue:ident, $weight:literal;)+) => {
        /// What is known of one candidate, or of "nobody", before a message is weighed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Sign { $($sign),+ }

        /// How many signs there are.
        pub const SIGNS: usize = [$(Sign::$sign),+].len();

        impl Sign {
            pub const ALL: [Self; SIGNS] = [$(Self::$sign),+];

            pub fn clue(self) -> Clue {
                match self { $(Self::$sign => Clue::$clue),+ }
            }

            pub fn name(self) -> &'static str {
                match self { $(Self::$sign => stringify!($sign)),+ }
            }
        }

        /// What each sign weighs.
        pub const WEIGHTS: [f32; SIGNS] = [$($weight),+];
    };
}
