//! All that is found in a text without knowing the room it is posted to.

use std::borrow::Cow;
use std::sync::Arc;

use crate::language::features::{self, Features, Spoken};
use crate::language::intent::Wording;

/// What a text says by itself. It is found once for a message, by whoever submits it.
#[derive(Clone, Debug)]
pub struct Analysis {
    pub wording: Wording,
    pub features: Features,
    pub spoken: Spoken,
}

impl Analysis {
    pub fn of(text: &str) -> Self {
        let (features, spoken) = features::read(text);
        Self { wording: Wording::of(text), features, spoken }
    }
}

/// A text that was read.
#[derive(Clone)]
pub struct ReadText {
    text: Arc<str>,
    analysis: Analysis,
}

impl ReadText {
    pub fn of(text: &Arc<str>) -> Self {
        Self { text: text.clone(), analysis: Analysis::of(text) }
    }

    /// What a text says: as it was read before, if it is this one.
    pub fn analysis<'a>(read: Option<&'a Self>, text: &Arc<str>) -> Cow<'a, Analysis> {
        match read.filter(|read| Arc::ptr_eq(&read.text, text)) {
            Some(read) => Cow::Borrowed(&read.analysis),
            None => Cow::Owned(Analysis::of(text)),
        }
    }
}
