//! Public turns: who may speak about a subject, and when agents pause.

pub(crate) mod pause;
pub(crate) mod turn;
