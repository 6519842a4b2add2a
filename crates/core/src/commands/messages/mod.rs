//! Messages: posted, edited, erased, reacted to.

pub(crate) mod answer;
pub(crate) mod edit;
pub(crate) mod erase;
pub(crate) mod guard;
pub(crate) mod output;
pub(crate) mod place;
pub(crate) mod post;
pub(crate) mod react;
pub(crate) mod wakes;
