//! Stimuli: what a channel is asked without a person asking.

pub(crate) mod idle;
pub(crate) mod line;
pub(crate) mod made;
pub(crate) mod stimulus;
pub(crate) mod title;
