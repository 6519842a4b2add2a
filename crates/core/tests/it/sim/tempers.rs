//! Agents of every temper: what each does with what it is shown.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Temper {
    /// Answers what it must, stays silent otherwise.
    Careful,
    /// Answers everything it is shown, and asks another agent back.
    Eager,
    /// Thanks whoever speaks to it.
    Grateful,
    /// Takes work and vanishes before it has answered.
    Flaky,
    /// Reads nothing.
    Deaf,
    /// Declines what it may decline.
    Shy,
    /// Tries to answer what it was never told, and what others hold.
    Rude,
    /// Says the same thing six times.
    Chatty,
}

pub(crate) const TEMPERS: [Temper; 8] = [
    Temper::Careful,
    Temper::Eager,
    Temper::Grateful,
    Temper::Flaky,
    Temper::Deaf,
    Temper::Shy,
    Temper::Rude,
    Temper::Chatty,
];
