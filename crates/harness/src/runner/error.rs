//! Why a runner ended by itself.

use std::fmt;

use super::home;

/// Why a runner ended by itself.
#[derive(Debug)]
pub enum Error {
    /// The program cannot be started.
    Program(std::io::Error),
    Home(home::Error),
    /// The host refuses the token, or the agent: trying again would not help.
    Refused(chorus_client::Error),
    /// Another runner has connected as the same session.
    TakenOver,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Program(why) => write!(f, "the program cannot be started: {why}"),
            Self::Home(why) => why.fmt(f),
            Self::Refused(why) => write!(f, "the host refuses this agent: {why}"),
            Self::TakenOver => f.write_str("another runner has taken over this session"),
        }
    }
}

impl std::error::Error for Error {}

impl From<home::Error> for Error {
    fn from(why: home::Error) -> Self {
        Self::Home(why)
    }
}
