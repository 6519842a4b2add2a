//! The signals for reading the flow of talk, the rule that each belongs to, and its weight.
//!
//! A weight is in log-odds: how much the signal favours one person, or "nobody", over the others.
//! `cargo xtask bench attention DIR --fit` computes the weights ([`super::weights`]) from annotated
//! rooms.

/// Defines the signals, their rules and their weights in one place.
macro_rules! signs {
    ($($sign:ident: $clue:ident, $weight:literal;)+) => {
        /// A property of one candidate, or of "nobody", that is weighed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Sign { $($sign),+ }

        /// The number of signals.
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

        /// The weight of each signal.
        pub const WEIGHTS: [f32; SIGNS] = [$($weight),+];
    };
}
